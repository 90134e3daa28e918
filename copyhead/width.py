r"""Theory of a network whose embeddings learn: the limit d, chi -> infinity with nu = d / chi fixed.

The posterior of the metric C = E^T E / d has the density exp(-d/2 [tr C - ln det C]) times exp(-chi S), so in this limit
it sits at the minimum of S + nu/2 [tr C - ln det C - (V + L)].  nu = infinity freezes C = 1: the paper's order of
limits.  In span{J, G*} the action knows three eigenvalues x of C only, of multiplicity n,

    zeta   n = 1       the mean feature (all tokens and all positions alike): pooled logits, and the k = 0 mode of the data
    alpha  n = V - 1   tokens against each other: the readout's k >= 1 modes
    gamma  n = L - 1   positions against each other: the copy logits

and each one by a term that is minimised on its own,

    S = p L / 2 + sum over the three of  min_x [ w / x^2 - g x / (1 + k x) + n nu/2 (x - 1 - ln x) ],     p = P / sigma2.

w / x^2 is the cost of logits made with embeddings of squared length x, g x / (1 + k x) the gain of the data from a readout
that acts on them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize, root

from copyhead.linear import LinearAction
from copyhead.reduced import Attention, check_attention
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction
from copyhead.validation import positive_number, sample_number

Array = NDArray[np.float64]


class Modes(NamedTuple):
    """w, g, k and n of the three eigenvalues, arrays of shape (..., 3) in the order zeta, alpha, gamma."""

    w: Array
    g: Array
    k: Array
    n: Array


@dataclass(frozen=True)
class WidthState:
    """A minimum.  Linear attention has ``c1`` and ``c_G`` (T >= 0); softmax ``a_G`` and ``ell``; the others are NaN."""

    action: float
    loss: float
    zeta: float
    alpha: float
    gamma: float
    c1: float = math.nan
    c_G: float = math.nan
    a_G: float = math.nan
    ell: float = math.nan


class WidthTransition(NamedTuple):
    """Equal action at ``P``; ``low`` is the uniform, zero or pooled state, ``high`` the other one."""

    P: float
    low: WidthState
    high: WidthState


class WidthAction:
    """Action in the equivalent-kernel approximation with the metric minimised out, chi divided out.

    Parameters
    ----------
    setup : Setup
    attention : "linear" or "softmax"
    nu : float, positive
        d / chi; the frozen theory is reached as it grows.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    def __init__(self, setup: Setup, attention: Attention, nu: float) -> None:
        if not isinstance(setup, Setup):
            raise ValueError(f"setup must be a copyhead.Setup, got {setup!r}")
        check_attention(attention)
        self.setup, self.attention_kind, self.nu = setup, attention, positive_number("nu", nu)

    def __repr__(self) -> str:
        return f"WidthAction({self.setup!r}, {self.attention_kind!r}, nu={self.nu:g})"

    def modes(self, order: ArrayLike, P: float) -> Modes:
        """What the three eigenvalues see at an order parameter: ell of shape (...), or (c1, c_G) of shape (..., 2)."""
        setup, order = self.setup, np.asarray(order, dtype=np.float64)
        L, V = setup.L, setup.V
        p, q = P / setup.sigma2, setup.g_O * P / setup.sigma2
        if self.attention_kind == "softmax":
            m = 1 / (1 + (L - 1) * np.exp(-order))
            T, u2, rho2 = L * m, L * (m**2 + (1 - m) ** 2 / (L - 1)), np.ones_like(m)
            pooled, copied = np.zeros_like(m), (L - 1) * order**2 / setup.g_W
        else:
            c1, c_G = order[..., 0], order[..., 1]
            T, u2 = c1 + math.sqrt(L) * c_G, c1**2 + 2 * c1 * c_G / math.sqrt(L) + c_G**2
            rho2 = (c1 + c_G / math.sqrt(L)) ** 2
            pooled, copied = (L * V / (L + V)) ** 2 * rho2 / setup.g_W, L * (L - 1) * c_G**2 / setup.g_W
        zero, shared = np.zeros_like(T), q * rho2 * (L / V + 1)
        w = np.stack([pooled / 2, zero, copied / 2], axis=-1)
        g = np.stack([p * L / (2 * V) * shared, (V - 1) * p * q * T**2 / (2 * V**2), zero], axis=-1)
        return Modes(w, g, np.stack([shared, q * u2 / V, zero], axis=-1), np.array([1.0, V - 1.0, L - 1.0]))

    def scales(self, order: ArrayLike, P: float) -> Array:
        """zeta, alpha, gamma at an order parameter, shape (..., 3)."""
        return _relaxed(self.modes(order, P), self.nu)

    def action(self, order: ArrayLike, P: float) -> Array:
        """S with the metric minimised out, shape (...)."""
        modes = self.modes(order, P)
        terms = _terms(modes, _relaxed(modes, self.nu), self.nu)
        return P * self.setup.L / (2 * self.setup.sigma2) + terms.sum(axis=-1)

    def minima(self, P: float) -> list[WidthState]:
        """All local minima at one P, by increasing action."""
        P = float(sample_number(P, self.setup.sigma2, scalar=True))
        starts = self._gaps(P) if self.attention_kind == "softmax" else self._corners(P)
        states: list[WidthState] = []
        for state in sorted((self._descend(np.atleast_1d(start), P) for start in starts), key=lambda state: state.action):
            if not any(abs(state.loss - other.loss) < 1e-5 for other in states):
                states.append(state)
        return states

    def minimum(self, P: float) -> WidthState:
        """The lowest of them."""
        return self.minima(P)[0]

    def transition(self, low: float, high: float, points: int = 40) -> WidthTransition | None:
        """The first-order transition in low < P < high: where two minima exchange.  None if no grid point has two.

        The lower state may be zero, for linear attention below its second-order point.
        """
        grid = [float(P) for P in np.geomspace(low, high, points)]
        both = [(P, found) for P in grid if len(found := _by_loss(self.minima(P))) == 2]
        if not both:
            return None
        middle = (both[0][1][0].loss + both[0][1][1].loss) / 2

        def gap(P: float) -> float:
            """Action of the state of smaller loss minus that of the other; only a sign where there is one state."""
            found = _by_loss(self.minima(P))
            return found[1].action - found[0].action if len(found) == 2 else math.copysign(1.0, found[0].loss - middle)

        ends = max(low, both[0][0] * 0.98), min(high, both[-1][0] * 1.02)
        if not gap(ends[0]) > 0 > gap(ends[1]):
            return None
        P = float(brentq(gap, *ends, xtol=1e-7, rtol=1e-10))
        found = _by_loss(self.minima(P))
        return WidthTransition(P, *found) if len(found) == 2 else None

    def _slopes(self, order: Array, P: float) -> tuple[Array, Array, Array]:
        """Derivatives of w, g and k by the order parameter(s), each of shape (1 or 2, 3)."""
        setup = self.setup
        L, V = setup.L, setup.V
        p, q = P / setup.sigma2, setup.g_O * P / setup.sigma2
        if self.attention_kind == "softmax":
            m = 1 / (1 + (L - 1) * np.exp(-order))
            T, dT = L * m, np.array([L * m * (1 - m)])
            du2 = 2 * L * m * (1 - m) * np.array([m - (1 - m) / (L - 1)])
            drho2, dpooled, dcopied = np.zeros(1), np.zeros(1), np.array([2 * (L - 1) * order / setup.g_W])
        else:
            c1, c_G = order
            side = math.sqrt(L)
            T, dT = c1 + side * c_G, np.array([1.0, side])
            du2 = 2 * np.array([c1 + c_G / side, c_G + c1 / side])
            drho2 = 2 * (c1 + c_G / side) * np.array([1.0, 1 / side])
            dpooled = (L * V / (L + V)) ** 2 * drho2 / setup.g_W
            dcopied = 2 * L * (L - 1) * np.array([0.0, c_G]) / setup.g_W
        zero, dshared = np.zeros_like(dT), q * drho2 * (L / V + 1)
        dg = np.stack([p * L / (2 * V) * dshared, (V - 1) * p * q * T * dT / V**2, zero], axis=-1)
        return np.stack([dpooled / 2, zero, dcopied / 2], axis=-1), dg, np.stack([dshared, q * du2 / V, zero], axis=-1)

    def _gaps(self, P: float) -> list[float]:
        """Local minima of the action on a grid of ell."""
        ell = np.concatenate([np.geomspace(1e-9, 0.05, 60), np.linspace(0.06, 1, 95), np.linspace(1.01, 12, 400)])
        return list(ell[_dips(self.action(ell, P))])

    def _corners(self, P: float) -> list[Array]:
        """Local minima on a grid of directions and lengths in (c1, c_G), and zero where it is one."""
        L = self.setup.L
        angles = np.tan(np.linspace(0, np.pi / 2 - 1e-3, 36)) / math.sqrt(L)
        length = np.geomspace(0.02, 3, 50)
        c1 = length / np.sqrt(1 + angles[:, None] ** 2)
        S = self.action(np.stack([c1, c1 * angles[:, None]], axis=-1), P)
        starts = [np.array([c1[i, j], c1[i, j] * angles[i]]) for i in range(len(angles)) for j in _dips(S[i])
                  if all(S[i, j] <= S[k, max(0, j - 2) : j + 3].min() for k in (i - 1, i + 1) if 0 <= k < len(angles))]
        stable = P <= LinearAction(self.setup).critical_P
        return starts + ([np.zeros(2)] if stable or not starts else [])

    def _descend(self, start: Array, P: float) -> WidthState:
        softmax = self.attention_kind == "softmax"

        def value_and_slope(x: Array) -> tuple[float, Array]:
            order = x[0] if softmax else x
            modes = self.modes(order, P)
            scales = _relaxed(modes, self.nu)
            dw, dg, dk = self._slopes(order, P)
            y = 1 + modes.k * scales
            slope = dw / scales**2 - dg * scales / y + modes.g * dk * (scales / y) ** 2      # at the minimum over scales
            return float(_terms(modes, scales, self.nu).sum()), slope.sum(axis=-1)

        x = start
        if start.any():
            x = minimize(value_and_slope, start, jac=True, method="BFGS", options=dict(gtol=1e-6)).x
            x = root(lambda x: value_and_slope(x)[1], x, tol=1e-13).x       # the value is too flat for the last digits
        order = x[0] if softmax else x
        modes = self.modes(order, P)
        scales = _relaxed(modes, self.nu)
        y = modes.k * scales
        p, L = P / self.setup.sigma2, self.setup.L
        loss = 1 - 2 / (p * L) * float((modes.g * scales * (2 + y) / (1 + y) ** 2).sum())
        zeta, alpha, gamma = (float(scale) for scale in scales)
        common = dict(action=float(self.action(order, P)), loss=loss, zeta=zeta, alpha=alpha, gamma=gamma)
        if self.attention_kind == "linear":
            return WidthState(**common, c1=float(x[0]), c_G=float(x[1]))
        return WidthState(**common, ell=float(x[0]), a_G=float(SoftmaxAction(self.setup)._weight(x[0])))


def tricritical_nu(setup: Setup) -> float:
    """nu below which linear attention turns on by a jump: where the quartic coefficient of S along the soft mode is zero.

    Relaxing the metric lowers S by sum n K^2 / (4 nu), n K = 2 (2 w + g), and w and g are of second order.
    """
    linear = LinearAction(setup)
    landau = linear.landau()
    w, g, _, n = WidthAction(setup, "linear", 1.0).modes(np.array(landau.direction), linear.critical_P)
    return float(4 / landau.u * ((2 * w + g) ** 2 / n).sum())


def _terms(modes: Modes, x: Array, nu: float) -> Array:
    w, g, k, n = modes
    return w / x**2 - g * x / (1 + k * x) + n * nu / 2 * (x - 1 - np.log(x))


def _relaxed(modes: Modes, nu: float) -> Array:
    """The minimising x >= 1 of each term.

    Its slope times x, n nu/2 (x - 1) - 2 w / x^2 - g x / (1 + k x)^2, is at most 0 at 1 and positive beyond the bound;
    a grid finds the lowest basin, Newton's method with bisection its bottom.
    """
    w, g, k, n = modes
    stiff = n * nu / 2
    bound = 1 + (2 * w + g * np.minimum(1.0, 1 / np.maximum(4 * k, 1e-300))) / stiff
    grid = bound[..., None] ** np.linspace(0, 1, 20)
    wide = Modes(*(np.broadcast_to(x, w.shape)[..., None] for x in modes))
    best = _terms(wide, grid, nu).argmin(axis=-1)[..., None]
    low = np.take_along_axis(grid, np.maximum(best - 1, 0), -1)[..., 0]
    high = np.take_along_axis(grid, np.minimum(best + 1, 19), -1)[..., 0]
    x = (low + high) / 2
    for _ in range(50):
        slope = stiff * (x - 1) - 2 * w / x**2 - g * x / (1 + k * x) ** 2
        low, high = np.where(slope < 0, x, low), np.where(slope < 0, high, x)
        newton = x - slope / np.maximum(stiff + 4 * w / x**3 - g * (1 - k * x) / (1 + k * x) ** 3, 1e-300)
        last, x = x, np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
        if np.all(np.abs(newton - last) <= 1e-15 * last):
            break
    return x


def _by_loss(states: list[WidthState]) -> list[WidthState]:
    """The two lowest states, the one of larger loss first."""
    return sorted(states[:2], key=lambda state: -state.loss)


def _dips(values: Array) -> NDArray[np.intp]:
    """Indices of the local minima of a sequence, its ends left out."""
    return np.flatnonzero((values[1:-1] < values[:-2]) & (values[1:-1] <= values[2:])) + 1
