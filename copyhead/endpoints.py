r"""Where a line of first-order transitions ends, with the sequence length as a real number.

Two minima and the saddle between them merge at the end of the line.  There the Hessian has a null vector v and the action
has no cubic term along it: with the order parameters x, 2 n + 2 equations

    grad S = 0,   H v = 0,   v . v = 1,   d^3 S(x + t v) / dt^3 = 0

for the 2 n + 2 unknowns x, v, P, L.  ``critical_endpoint`` solves them for any action that is analytic in x.

Actions of both kinds of attention for real L, in the paper's closure and the complete one, at sigma2 = 1:

    linear    x = (a, g) or (a, g, tau, kappa),   G = [a + g G* + tau (same token - 1/V) + kappa I] / L
    softmax   x = (ell,) or (ell, tau, kappa),    logits ell G* + tau (same token) + kappa I

For softmax the averages run over N, the number of other positions with the same token, N ~ Bin(L - 2, 1/V).  With
1/Z^r = int t^(r-1) exp(-t Z) dt / (r-1)! they become integrals over t of powers of the generating function of N, in which
L may be any real number: the only continuation that does not grow too fast to be unique.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import roots_laguerre

from copyhead.ordered import critical_ratios, ordered_point
from copyhead.validation import positive_number

Array = NDArray[np.float64]
Action = Callable[[NDArray[Any], float, float], Any]            # (x, P / sigma2, L) -> S, with x real or complex
CLOSURES = {"paper": 0, "complete": 2}                          # how many order parameters each adds
ITERATIONS, SOLVED = 40, 1e-7                    # largest residual, relative to what a tenth of the state costs
NODES, WEIGHTS = roots_laguerre(60)


@dataclass(frozen=True, eq=False)
class Endpoint:
    """The end of a first-order line: jumps for longer sequences than ``L``, none for shorter ones.

    ``P`` is the number of sequences over sigma2, ``x`` the order parameters of the state (see the module).
    """

    L: float
    P: float
    x: Array


@dataclass(frozen=True)
class _Length:
    """Stands for a ``Setup`` where L may be real."""

    L: float
    V: float
    sigma2: float = 1.0
    g_O: float = 1.0
    g_W: float = 1.0


def linear_endpoint(V: float, closure: str = "paper", *, g_O: float = 1.0, g_W: float = 1.0) -> Endpoint:
    """End of the first-order line of linear attention; ``L`` does not depend on g_O and g_W.  2 <= V <= 100.

    Raises ValueError for an unknown closure or a V outside its range.
    """
    V, extra = _vocabulary(V), _extra(closure)
    L = brentq(lambda L: _flattest(L, V)[0], 5 * V + 20, 40 * V**2, rtol=1e-7)
    _, P, k, rho = _flattest(L, V)
    scale = (g_W / g_O) ** 0.25                                  # S(s c; g_O / s^2, s^2 g_W) does not depend on s
    a = rho * (1 - k / (L - 1)) * scale
    start = np.array([a, L / (L - 1) * k * rho * scale])
    return _released(lambda x, p, L: linear_action(x, p, L, V, g_O, g_W), start, P / np.sqrt(g_O * g_W), L, extra)


def softmax_endpoint(V: float, closure: str = "paper", *, g_O: float = 1.0, g_W: float = 1.0) -> Endpoint:
    """End of the first-order line of softmax attention (prior "exact").  2 <= V <= 100.

    Raises ValueError for an unknown closure or a V outside its range.
    """
    V, extra = _vocabulary(V), _extra(closure)
    v = (V - 1) * g_W / g_O
    L = brentq(lambda L: _steady(L, v)[0], 6.0, 23.0, xtol=1e-9)
    _, y, ell = _steady(L, v)
    return _released(lambda x, p, L: softmax_action(x, p, L, V, g_O, g_W), np.array([ell]), V * y / g_O, L, extra)


# --- The general problem ---------------------------------------------------------------------------------------------


def critical_endpoint(action: Action, x: Array, P: float, L: float) -> Endpoint:
    """Solve for the endpoint from a nearby guess; ``action(x, P, L)`` must accept complex x.

    Derivatives: complex steps for the gradient (exact to rounding), differences of those of fourth order.  Raises
    RuntimeError if the equations are not solved.
    """
    x = np.asarray(x, dtype=np.float64)
    n = len(x)

    def gradient(x: Array, P: float, L: float) -> Array:
        return np.array([action(x + 1e-30j * e, P, L).imag / 1e-30 for e in np.eye(n)])

    def along(x: Array, v: Array, P: float, L: float) -> Array:
        return np.array([gradient(x + i * v, P, L) for i in (-2, -1, 0, 1, 2)])

    def hessian(x: Array, P: float, L: float, scale: Array) -> Array:
        step = 1e-3 * scale
        return np.array([[1, -8, 0, 8, -1] @ along(x, e, P, L) / 12e-3 for e in np.diag(step)]) * scale

    size = np.full(n, np.abs(x).max() / 10)
    stiff = np.diag(hessian(x, 1e-12 * P, L, size)) / size**2       # of the prior alone
    scale = size[0] * np.sqrt(stiff.min() / stiff)                  # steps that cost the same
    unit = stiff.min() * size[0] ** 2                               # and what they cost

    def equations(q: Array) -> Array:
        z, v, P, L = q[:n] * scale, q[n : 2 * n], np.exp(q[-2]), np.exp(q[-1])
        third = v @ (scale * ([-1, 16, -30, 16, -1] @ along(z, 0.1 * v * scale, P, L))) / 0.12
        forces = np.concatenate([gradient(z, P, L) * scale, hessian(z, P, L, scale) @ v, [third]]) / unit
        return np.append(forces, v @ v - 1)

    soft = np.linalg.eigh(hessian(x, P, L, scale))[1][:, 0]
    q = np.concatenate([x / scale, soft, [np.log(P), np.log(L)]])
    step = 1e-4 * np.maximum(np.abs(q), 0.1)
    for _ in range(ITERATIONS):
        residual = equations(q)
        if np.abs(residual).max() < SOLVED:
            return Endpoint(float(np.exp(q[-1])), float(np.exp(q[-2])), q[:n] * scale)
        slopes = np.array([(equations(q + e) - equations(q - e)) / (2 * e.max()) for e in np.diag(step)]).T
        move = np.linalg.solve(slopes, -residual)
        q = q + move * min(1.0, 0.2 / np.abs(move[-2:]).max())
    raise RuntimeError(f"no endpoint found near L = {L:.6g}, P = {P:.6g}: residual {np.abs(residual).max():.2g}")


def _released(action: Action, x: Array, P: float, L: float, extra: int) -> Endpoint:
    """The endpoint with ``extra`` more order parameters, which first relax at the endpoint without them."""
    rest = minimize(lambda e: action(np.concatenate([x, e]), P, L), np.zeros(extra), tol=1e-12).x if extra else []
    return critical_endpoint(action, np.concatenate([x, rest]), P, L)


# --- The two curves of stationary states, for the first guess --------------------------------------------------------


def _flattest(L: float, V: float) -> tuple[float, float, float, float]:
    """Linear: smallest d ln P / ds on the ordered branch, and P, k, rho there."""
    length: Any = _Length(L, V)
    a, b, k_c = (L * V / (L + V)) ** 2, L**2 / (L - 1), critical_ratios(length.L, length.V)[0]
    k = np.geomspace(max(0.02, 1.01 * k_c), 0.5 * (L - 1), 4000)
    s = np.log((k - k_c) / (L - 1 - k))
    i = int(np.clip(np.argmin(ordered_point(length, a, b, s)[1]), 2, len(s) - 3))
    best = minimize_scalar(lambda x: ordered_point(length, a, b, np.array([x]))[1][0], bounds=(s[i - 2], s[i + 2]),
                           method="bounded", options={"xatol": 1e-10})
    log_p, slope, y, ratio, _ = (float(value[0]) for value in ordered_point(length, a, b, np.array([best.x])))
    return slope, float(np.exp(log_p)), ratio, float(np.sqrt(y / np.exp(log_p)))


def _steady(L: float, v: float) -> tuple[float, float, float]:
    """Softmax: smallest slope D (eq-softmax-endpoint-slope) on the curve of stationary states, and y, ell there."""
    def state(m: float) -> tuple[float, float, float]:
        ell, u2, R = np.log((L - 1) * m / (1 - m)), L * (m**2 + (1 - m) ** 2 / (L - 1)), L * (1 - m) / (L - 1)
        B, K = v * L**2 * m**2 * (1 - m), (L - 1) * ell
        roots = np.roots([B * R, B - K * u2**2, -2 * K * u2, -K])
        y = max(r.real for r in roots if abs(r.imag) < 1e-9 * abs(r))
        rise = 2 * L * m * (1 - m) * (L * m - 1) / (L - 1)
        return float(1 / ell - 2 + 3 * m + 2 * y * rise / (1 + y * u2) + y * R * m / (1 + y * R)), float(y), float(ell)

    coarse = np.linspace(1.5 / L, 0.6, 60)
    best = coarse[np.argmin([state(m)[0] for m in coarse])]
    at = minimize_scalar(lambda m: state(m)[0], bounds=(best - 0.01, best + 0.01), method="bounded", options={"xatol": 1e-9})
    return state(float(at.x))


# --- The actions for real L ------------------------------------------------------------------------------------------


def linear_action(x: NDArray[Any], P: float, L: float, V: float, g_O: float = 1.0, g_W: float = 1.0) -> Any:
    """S of linear attention at P / sigma2 = ``P``; x = (a, g) or (a, g, tau, kappa)."""
    a, g = x[0], x[1]
    tau, kappa = (x[2], x[3]) if len(x) == 4 else (0.0, 0.0)
    c, b, A = 1 - 1 / V, (L + V - 2) / V, (L + V) / (L * V)
    d = (L**2 + 3 * L * V - 6 * L + V**2 - 5 * V + 6) / V**2
    total = L * a + g + kappa + c * tau                          # L times the mean row sum
    U = L * a**2 + 2 * a * (g + kappa + b * tau) + g**2 + kappa**2 + 2 * b * tau * kappa + d * tau**2
    norm = (L * V / (L + V)) ** 2 * (a + (g + kappa) / L) ** 2
    norm = norm + (V - 1) * tau**2 + L * (g**2 + kappa**2) - (g + kappa) ** 2
    tokens = (V - 1) * g_O * P**2 * ((a + g) / V) ** 2 / (1 + g_O * P * U / (L * V))
    spread = total**2 + tau**2 * (L - 1) * c / V
    shared = g_O * P**2 * A * total**2 / V / (1 + g_O * P * A * spread / L)
    return (P * L - tokens - shared) / 2 + norm / (2 * g_W)


def softmax_action(x: NDArray[Any], P: float, L: float, V: float, g_O: float = 1.0, g_W: float = 1.0) -> Any:
    """S of softmax attention at P / sigma2 = ``P``; x = (ell,) or (ell, tau, kappa); exact to rounding for L >= 4."""
    ell = x[0]
    tau, kappa = (x[1], x[2]) if len(x) == 3 else (0.0, 0.0)
    hit, square = _row_moments(ell, tau, kappa, L, V)
    prior = ((V - 1) * tau**2 + L * (ell**2 + kappa**2) - (ell + kappa) ** 2) / (2 * g_W)
    shared = P * L / V / (2 * (g_O * P * (L / V + 1) + 1))
    a, b = L * square / (V - 1), L * hit / (V - 1)
    return prior + shared + (V - 1) / 2 * (P * L / V - g_O * P**2 * b**2 / (1 + g_O * P * a))


def _row_moments(ell: Any, tau: Any, kappa: Any, L: float, V: float) -> tuple[Any, Any]:
    """E[mass on the target token] - 1/V and E[sum of squared token masses] - 1/V of one row of attention."""
    n, p, q = L - 2, 1 / V, 1 - 1 / V
    same, copied, own = np.exp(tau), np.exp(ell), np.exp(tau + kappa)
    t, w = NODES / L, WEIGHTS / L
    hit, square = -1 / V, -1 / V
    generating = p * np.exp(-t * same) + q * np.exp(-t)
    for equal, share in ((True, p), (False, q)):                  # whether the predecessor carries the query's token
        fixed = own + copied * (same if equal else 1.0)
        G = [np.exp(NODES - t * fixed) * generating ** (n - i) for i in range(3)]
        N, N2 = n * p * np.exp(-t * same) * G[1], n * (n - 1) * p**2 * np.exp(-2 * t * same) * G[2]      # E N, E N(N-1)
        K, K2 = n * q * np.exp(-t) * G[1], n * (n - 1) * q**2 * np.exp(-2 * t) * G[2]                    # K = n - N
        mine = own + copied * same if equal else own
        squares = mine**2 * G[0] + 2 * mine * same * N + same**2 * (N2 + N) + K + K2 / (V - 1)
        squares = squares if equal else squares + 2 * copied * K / (V - 1) + copied**2 * G[0]
        target = mine * G[0] + same * N if equal else K / (V - 1) + copied * G[0]
        hit, square = hit + share * np.sum(w * target), square + share * np.sum(w * t * squares)
    return hit, square


def _vocabulary(V: float) -> float:
    V = positive_number("V", V)
    if not 2 <= V <= 100:
        raise ValueError(f"V must be a number from 2 to 100, got {V!r}")
    return V


def _extra(closure: str) -> int:
    if closure not in CLOSURES:
        raise ValueError(f"closure must be 'paper' or 'complete', got {closure!r}")
    return CLOSURES[closure]


