r"""Linear attention around its second-order point, on given sequences: Landau coefficients, and the delay by noise.

Around zero attention S(M) = S(0) + sum over eigenmodes of lambda_i x_i^2 / 2 + quartic terms.  One mode goes soft; along
it, M = t e with ||e|| = 1,

    S = S(0) + r t^2 / 2 + u t^4 / 4 + O(t^6).

At finite chi the other modes fluctuate with variance 1 / (chi lambda_i), and what they feel depends on t.  Integrating
them out in Gaussian approximation, with the readout's log-determinant S_1, leaves to first order in 1 / chi

    r -> r + zeta / chi,    zeta = d^2/dt^2 [ 1/2 ln det H_perp(t e) + S_1(t e) ]  at t = 0,

H_perp the Hessian across the mode.  zeta > 0 delays the onset by zeta / (chi |dr/dP|).  Equation: eq-precursors-delay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from copyhead.reduced import ReducedAction
from copyhead.susceptibility import numerical_hessian
from copyhead.validation import positive_number

Array = NDArray[np.float64]
STEP = 0.02                      # t at which t^2 terms are read off, in units of the prior width


@dataclass(frozen=True, eq=False)
class SoftMode:
    """What decides about the onset of pooling on one data set.

    Attributes
    ----------
    r, u : float
        Landau coefficients along the mode; zero attention is stable while r > 0.
    zeta : float
        Shift of r by noise, times chi; NaN where another mode is unstable too.
    c1 : float
        c1 at t = 1, positive: c1 = ``c1`` t along the mode.
    background : float
        chi times the variance of c1 from all other modes.
    stiffness : ndarray
        Eigenvalues of the Hessian at zero across the mode, smallest first.
    shares : ndarray
        What each of these directions contributes to ``zeta``; the rest of it is the log-determinant's.
    """

    r: float
    u: float
    zeta: float
    c1: float
    background: float
    stiffness: Array
    shares: Array

    def mean_square(self, chi: float, r: float | None = None, zeta: float | None = None) -> float:
        """<c1^2> at chi: t weighted with exp(-chi [(r + zeta/chi) t^2/2 + u t^4/4]), and the background.

        ``r`` and ``zeta`` replace the mode's own (zeta=0 switches the delay off).
        """
        chi = positive_number("chi", chi)
        mass = (self.r if r is None else r) + (self.zeta if zeta is None else zeta) / chi
        well = np.sqrt(max(-mass, 0.0) / self.u)
        t = np.linspace(0, well + 12 * min((chi * self.u) ** -0.25, 3 / np.sqrt(chi * max(abs(mass), 1e-12))), 4001)
        exponent = chi * (mass * t**2 / 2 + self.u * t**4 / 4)
        weight = np.exp(exponent.min() - exponent)
        square = np.trapezoid(weight * t**2, t) / np.trapezoid(weight, t)
        return float(self.c1**2 * square + self.background / chi)


def soft_mode(action: ReducedAction) -> SoftMode:
    """The soft mode of linear attention on the sequences of ``action``; two numerical Hessians.

    Raises ValueError for softmax attention, which has no zero to leave.
    """
    if action.attention_kind != "linear":
        raise ValueError(f"action must be of linear attention, got {action.attention_kind!r}")
    setup = action.setup
    shape = (setup.V + setup.L,) * 2
    step = STEP * np.sqrt(setup.g_W)

    def gradient(M: Array) -> Array:
        return action.value_and_gradient(M)[1]

    zero = np.zeros(shape)
    H = numerical_hessian(gradient, zero)
    values, vectors = np.linalg.eigh(H)
    e = vectors[:, 0].reshape(shape)
    moved = numerical_hessian(gradient, step * e)
    across, stiffness = vectors[:, 1:], values[1:]
    change = np.einsum("ij,ik,kj->j", across, 2 * (moved - H) / step**2, across, optimize=True)
    A, _ = action.normal_equations(action.features(action.attention(e)))
    shares, zeta = change / stiffness / 2, np.nan
    if stiffness[0] > 0:
        zeta = shares.sum() + setup.V * setup.g_O / setup.sigma2 * np.trace(A)
    u = 4 * (action.value(step * e) - action.value(zero) - values[0] * step**2 / 2) / step**4
    slope = _c1_slope(action)
    background = (((across.T @ slope.ravel()) ** 2) / np.abs(stiffness)).sum()
    return SoftMode(float(values[0]), float(u), float(zeta), float(abs(np.vdot(slope, e))), float(background), stiffness,
                    shares)


def _c1_slope(action: ReducedAction) -> Array:
    """Gradient of c1 of the mean attention in M; it is constant, for attention is linear in M."""
    n, L = action.setup.V + action.setup.L, action.setup.L
    Phi = action.features(np.broadcast_to(np.eye(L), (len(action.tokens), L, L))).reshape(-1, L, n)
    field = (np.ones((L, L)) - np.roll(np.eye(L), -1, axis=1)) / (L - 1)           # d c1 / dG
    slope: Array = np.einsum("pai,ab,pbj->ij", Phi, field, Phi, optimize=True) / (L * len(Phi))
    return slope
