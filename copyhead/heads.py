"""Several heads side by side: the action of copy attention when H heads add up, for both kinds of attention.

Heads have readouts of their own, so their kernels add: K = g_O sum_h G_h C G_h^T.

**Linear attention.**  K and the prior depend on the heads through one matrix only, Q = sum_h c_h c_h^T with
c_h = (c1, c_G) of head h: rotating the heads into each other, c_h -> sum_k O_hk c_k, changes nothing.  In Q the prior is
linear and the data term convex (a matrix inverse of a linear function), so with H >= 2 heads, which reach every Q >= 0,
all minima are one.

**Softmax attention.**  Only permutations of the heads are left.  With m_h the copy weight of a head, t_h = L m_h and
overlaps N_hk = L [m_h m_k + (1 - m_h)(1 - m_k) / (L - 1)],

    S = (L-1)/(2 g_W) sum ell_h^2 + (P L / V) / (2 [sigma2 + H g_O P (L/V + 1)])
        + P (V-1) / (2 V sigma2) [L - t^T (N + V sigma2 / (g_O P))^-1 t].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize

from copyhead.reduced import ReducedAction
from copyhead.setup import Setup
from copyhead.validation import positive_number, whole_number

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HeadsState:
    """A minimum: ``order`` is Q of shape (2, 2) for linear attention and the logit gaps, (H,), for softmax."""

    order: Array
    action: float


class LinearHeads:
    """Action of linear attention with H heads in the matrix Q, shape (2, 2), symmetric and positive semidefinite."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        L, V = setup.L, setup.V
        cost = [[V**2, V**2 / L**0.5], [V**2 / L**0.5, (L + V) ** 2 - L - 2 * V]]
        self.cost = L**2 / (setup.g_W * (L + V) ** 2) * np.array(cost)            # S_prior = tr(cost Q) / 2
        self._row = np.array([1.0, L**-0.5])                                      # row sum of a head: _row . c
        self._modes = np.array([[1.0, L**-0.5], [0.0, (1 - 1 / L) ** 0.5]])       # its two components on token modes
        self._target = np.array([1.0, (L - 1) ** 0.5])

    def action(self, Q: ArrayLike, P: float) -> float:
        """S(Q); with Q = c c^T the action of one head."""
        return self._terms(np.asarray(Q, dtype=float), positive_number("P", P))[0]

    def gradient(self, Q: ArrayLike, P: float) -> Array:
        """The symmetric matrix dS/dQ, shape (2, 2)."""
        return self._terms(np.asarray(Q, dtype=float), positive_number("P", P))[1]

    def idle_strength(self, Q: ArrayLike, P: float) -> float:
        """s: one more head stays off at Q if and only if s <= 1.

        s^2 is the largest gain of data over cost that a head c has, c^T (-dS_data/dQ) c / (c^T cost c / 2).
        """
        gain = self.cost / 2 - self.gradient(Q, P)
        return float(np.sqrt(max(eigh(gain, self.cost / 2, eigvals_only=True)[-1], 0.0)))

    def minimum(self, P: float, H: int = 2) -> HeadsState:
        """The global minimum for H >= 2 heads (one minimum, so any search finds it)."""
        H, P = whole_number("H", H, minimum=2), positive_number("P", P)

        def objective(flat: Array) -> tuple[float, Array]:
            heads = flat.reshape(2, H)
            S, slope = self._terms(heads @ heads.T, P)
            return S, (2 * slope @ heads).ravel()

        start = 0.3 * np.eye(2, H).ravel() + 0.01
        result = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
        heads = result.x.reshape(2, H)
        return HeadsState(heads @ heads.T, float(result.fun))

    def _terms(self, Q: Array, P: float) -> tuple[float, Array]:
        L, V, s2, q = self.setup.L, self.setup.V, self.setup.sigma2, self.setup.g_O * P
        channels = q * (L / V + 1)
        shared = s2 + channels * self._row @ Q @ self._row
        fit = np.linalg.solve(q / V * self._modes @ Q @ self._modes.T + s2 * np.eye(2), self._target)
        S = np.vdot(self.cost, Q) / 2 + P * L / V / (2 * shared) + (V - 1) * P / (2 * V) * self._target @ fit
        slope = self.cost / 2 - P * L / V * channels / (2 * shared**2) * np.outer(self._row, self._row)
        back = self._modes.T @ fit
        return float(S), slope - (V - 1) * P * q / (2 * V**2) * np.outer(back, back)


class SoftmaxHeads:
    """Action of softmax attention with H heads in their logit gaps, shape (H,)."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    def action(self, ell: ArrayLike, P: float) -> float:
        """S(ell_1, ..., ell_H)."""
        ell, P = np.asarray(ell, dtype=float), positive_number("P", P)
        L, V, s2, q = self.setup.L, self.setup.V, self.setup.sigma2, self.setup.g_O * P
        m, r = 1 / (1 + (L - 1) * np.exp(-ell)), 1 / (1 + np.exp(ell) / (L - 1))
        N = L * (np.outer(m, m) + np.outer(r, r) / (L - 1))
        gain = L * m @ np.linalg.solve(N + V * s2 / q * np.eye(len(ell)), L * m)
        prior = (L - 1) / (2 * self.setup.g_W) * ell @ ell
        return float(prior + P * L / V / (2 * (s2 + len(ell) * q * (L / V + 1))) + P * (V - 1) / (2 * V * s2) * (L - gain))

    def minimum(self, start: ArrayLike, P: float) -> HeadsState:
        """The minimum downhill from the gaps ``start``."""
        result = minimize(self.action, np.asarray(start, dtype=float), args=(P,), method="BFGS", options={"gtol": 1e-8})
        return HeadsState(result.x, float(result.fun))

    def hessian(self, ell: ArrayLike, P: float, step: float = 1e-3) -> Array:
        """Second derivatives by central differences, shape (H, H)."""
        ell, h = np.asarray(ell, dtype=float), step * np.eye(len(np.asarray(ell)))
        S = [[[[self.action(ell + s * a + t * b, P) for t in (1, -1)] for s in (1, -1)] for b in h] for a in h]
        return np.array([[(x[0][0] - x[0][1] - x[1][0] + x[1][1]) / (4 * step**2) for x in row] for row in S])


def idle_head(action: ReducedAction, M: Array) -> tuple[float, Array]:
    """Whether one more head would help a linear network with weights M on its data: (s, mode).

    A small second head M' changes the action by ||M'||^2 / (2 g_W) - g_O ||Psi(M')^T R||^2 / (2 sigma2^2), with R the
    residuals of the fit.  So s = sqrt(g_O g_W) / sigma2 times the largest singular value of M' -> Psi(M')^T R: what
    ``starts.softest_mode`` is for zero attention, with the residuals in the place of the targets.  The mode, of the shape of
    M, has norm 1.  If M is a minimum and s <= 1, M is the global minimum, for any number of heads.

    Raises ValueError for softmax attention.
    """
    if action.attention_kind != "linear":
        raise ValueError("action must be of linear attention")
    setup, tokens = action.setup, action.tokens
    P, n, V = len(tokens), setup.L + setup.V, setup.V
    Phi = action.features(np.broadcast_to(np.eye(setup.L), (P, setup.L, setup.L))).reshape(P, -1, n).astype(float)
    W = action.readout(M)
    targets = np.eye(V)[np.roll(tokens, 1, axis=-1)]
    residual = targets - (action.features(action.attention(M)) @ W).reshape(P, setup.L, V)
    F = (Phi.transpose(0, 2, 1) @ Phi).reshape(P, -1)
    E = (residual.transpose(0, 2, 1) @ Phi).reshape(P, -1)
    T = (F.T @ E / setup.L).reshape(n, n, V, n).transpose(3, 1, 2, 0).reshape(n * n, V * n)
    values, vectors = np.linalg.eigh(T.T @ T)
    mode = (T @ vectors[:, -1]).reshape(n, n)
    return float(np.sqrt(setup.g_O * setup.g_W * max(values[-1], 0.0)) / setup.sigma2), mode / np.linalg.norm(mode)
