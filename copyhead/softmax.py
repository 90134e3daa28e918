r"""Softmax attention: one order parameter, two competing minima.

Softmax removes the uniform direction: every row of A sums to one, and within span{J, G*} one number is left.  It can be
written as the logit gap ``ell`` (copy logit minus any other), the copy weight ``m = A[a, a-1]``, or the coefficient ``a_G``
of G*/sqrt(L):

    m = e^ell / (L - 1 + e^ell) = (1 + (L-1) a_G / sqrt(L)) / L,    -sqrt(L)/(L-1) < a_G < sqrt(L).

Action, eq. (19):  S = K ell^2 / (2 g_W) + data(a_G), with K = L - 1 (prior "exact": the coefficient c1 of J/L, which drops
out of A, is integrated out) or K = L [(L+V)^2 - L - 2V] / (L+V)^2 (prior "paper": the slice c1 = 0).

Stationary points lie on one curve q(ell), q = g_O P / sigma2: the positive root of a cubic with one change of sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.branch import Branch
from copyhead.complete import check_closure
from copyhead.data_term import Array, loss_per_token, shared_mode, token_modes
from copyhead.setup import Setup
from copyhead.transition import FirstOrderTransition, coexistence
from copyhead.validation import real_array, sample_number, scalar_or_array

# Grid of ln(ell): fine where the curve can fold (ell of order one to ln L), coarse where it is a power law or exponential.
_GRID = np.log(
    np.concatenate(
        [np.geomspace(1e-120, 1e-6, 80), np.geomspace(2e-6, 0.02, 60), np.arange(0.03, 40, 0.03), np.geomspace(40, 300, 60)]
    )
)


@dataclass(frozen=True)
class SoftmaxState:
    """A stationary state; fields are floats, or arrays of the shape of P.

    ``a_G`` coefficient of G*/sqrt(L); ``m`` copy weight; ``ell`` logit gap; ``action``; ``loss`` per token.
    """

    a_G: float | Array
    m: float | Array
    ell: float | Array
    action: float | Array
    loss: float | Array


class SoftmaxAction:
    """Action of softmax attention in the equivalent-kernel approximation, chi divided out.

    Parameters
    ----------
    setup : Setup
    prior : {"exact", "paper"}
        "exact" integrates c1 out (K = L - 1); "paper" keeps the slice c1 = 0 of the published figures.
    closure : {"paper", "complete"}
        "paper" keeps one order parameter.  "complete" keeps everything that the symmetry of the task allows; its methods
        take ``tau`` and ``kappa`` as well and its states carry them (``complete_softmax.CompleteSoftmaxAction``).
    """

    def __new__(cls, setup: Setup, prior: str = "exact", closure: str = "paper") -> SoftmaxAction:
        check_closure(closure)
        if closure == "complete" and cls is SoftmaxAction:
            from copyhead.complete_softmax import CompleteSoftmaxAction

            return super().__new__(CompleteSoftmaxAction)
        return super().__new__(cls)

    def __init__(self, setup: Setup, prior: str = "exact", closure: str = "paper") -> None:
        if not isinstance(setup, Setup):
            raise ValueError(f"setup must be a copyhead.Setup, got {setup!r}")
        if prior not in ("exact", "paper"):
            raise ValueError(f"prior must be 'exact' or 'paper', got {prior!r}")
        self.setup, self.prior, self.closure = setup, prior, closure
        L, V = setup.L, setup.V
        self.stiffness = float(L - 1 if prior == "exact" else L * ((L + V) ** 2 - L - 2 * V) / (L + V) ** 2)

    def __repr__(self) -> str:
        closure = "" if self.closure == "paper" else f", closure={self.closure!r}"
        return f"SoftmaxAction({self.setup!r}, prior={self.prior!r}{closure})"

    def __reduce__(self) -> tuple[type[SoftmaxAction], tuple[Setup, str, str]]:
        return SoftmaxAction, (self.setup, self.prior, self.closure)

    # --- the action on any a_G -------------------------------------------------------------------------------------

    def action(self, a_G: ArrayLike, P: ArrayLike) -> float | Array:
        """Action S(a_G; P), all terms included; broadcasts, scalars give a float.  ValueError outside the domain."""
        a, P = self._arguments(a_G, P)
        return scalar_or_array(self._action(self._gap(a), a, P))

    def loss(self, a_G: ArrayLike, P: ArrayLike) -> float | Array:
        """Loss per token at a_G (1 at zero output); broadcasts, scalars give a float."""
        a, P = self._arguments(a_G, P)
        return scalar_or_array(self._loss(a, P))

    def gradient(self, a_G: ArrayLike, P: ArrayLike) -> float | Array:
        """dS/da_G; broadcasts, scalars give a float."""
        a, P = self._arguments(a_G, P)
        first, _ = self._data_derivatives(a, P)
        jacobian, _ = self._gap_derivatives(a)
        return scalar_or_array(self.stiffness / self.setup.g_W * self._gap(a) * jacobian + first)

    def curvature(self, a_G: ArrayLike, P: ArrayLike) -> float | Array:
        """d^2 S/da_G^2; broadcasts, scalars give a float."""
        a, P = self._arguments(a_G, P)
        _, second = self._data_derivatives(a, P)
        jacobian, bend = self._gap_derivatives(a)
        return scalar_or_array(self.stiffness / self.setup.g_W * (jacobian**2 + self._gap(a) * bend) + second)

    # --- minima and the transition -----------------------------------------------------------------------------------

    def minimum(self, P: ArrayLike) -> SoftmaxState:
        """Global minimum of the action at each P (float fields for a scalar, arrays of P's shape otherwise)."""
        P = sample_number(P, self.setup.sigma2)
        log_q = np.log(np.atleast_1d(self.setup.g_O * P / self.setup.sigma2))
        rising = [segment for segment in self._branch.segments if segment.rising]
        ell = np.exp([self._branch.solve(segment, log_q) for segment in rising])
        actions = self._action(ell, self._weight(ell), np.atleast_1d(P))
        best = np.nanargmin(actions, axis=0)
        return self._state(np.take_along_axis(ell, best[None], axis=0)[0].reshape(P.shape), P)

    def minima(self, P: float) -> list[SoftmaxState]:
        """All local minima at one P, sorted by action."""
        samples = sample_number(P, self.setup.sigma2, scalar=True)
        log_q = np.log(np.atleast_1d(self.setup.g_O * samples / self.setup.sigma2))
        gaps = [np.exp(self._branch.solve(segment, log_q)[0]) for segment in self._branch.segments if segment.rising]
        states = [self._state(np.asarray(gap), samples) for gap in gaps if np.isfinite(gap)]
        return sorted(states, key=lambda state: state.action)

    def first_order_transition(self) -> FirstOrderTransition | None:
        """Coexistence of the uniform and the copy state with both spinodals, or None where the change is smooth."""
        return self._transition

    @cached_property
    def _transition(self) -> FirstOrderTransition | None:
        setup = self.setup

        def state(s: float, log_q: float) -> SoftmaxState:
            return self._state(np.exp(np.asarray(s)), np.asarray(setup.sigma2 / setup.g_O * math.exp(log_q)))

        return coexistence(self._branch, state, scale=setup.sigma2 / setup.g_O, slope=setup.L / (2 * setup.sigma2))

    @cached_property
    def _branch(self) -> Branch:
        return Branch(self._curve, _GRID)

    # --- internals: a_G <-> ell, the curve of stationary points --------------------------------------------------------

    def _arguments(self, a_G: ArrayLike, P: ArrayLike) -> tuple[Array, Array]:
        root = math.sqrt(self.setup.L)
        return real_array("a_G", a_G, low=-root / (self.setup.L - 1), high=root), real_array("P", P, low=0.0)

    def _gap(self, a: Array) -> Array:
        root = math.sqrt(self.setup.L)
        return np.log1p((self.setup.L - 1) / root * a) - np.log1p(-a / root)

    def _gap_derivatives(self, a: Array) -> tuple[Array, Array]:
        """First and second derivative of ell with respect to a_G."""
        L, root = self.setup.L, math.sqrt(self.setup.L)
        rise, fall = 1 + (L - 1) / root * a, 1 - a / root
        return root / (rise * fall), 1 / (L * fall**2) - ((L - 1) / root / rise) ** 2

    def _weight(self, ell: Array) -> Array:
        """a_G of a logit gap, without the cancelling difference L m - 1."""
        return -math.sqrt(self.setup.L) * np.expm1(-ell) / (1 + (self.setup.L - 1) * np.exp(-ell))

    def _action(self, ell: Array, a: Array, P: Array) -> Array:
        L = self.setup.L
        prior = self.stiffness / (2 * self.setup.g_W) * ell**2
        tokens = token_modes(self.setup, 1 + (L - 1) / L * a**2, (1 - a / math.sqrt(L)) ** 2, P)
        return prior + shared_mode(self.setup, 1.0, P) + tokens

    def _loss(self, a: Array, P: Array) -> Array:
        L = self.setup.L
        return loss_per_token(self.setup, 1.0, 1 + (L - 1) / L * a**2, (1 - a / math.sqrt(L)) ** 2, P)

    def _data_derivatives(self, a: Array, P: Array) -> tuple[Array, Array]:
        """First and second derivative of the data term in a_G: with T = 1 + (L-1) a/sqrt(L), it is const - c T^2 / D."""
        L, V, root, p = self.setup.L, self.setup.V, math.sqrt(self.setup.L), P / self.setup.sigma2
        q = self.setup.g_O * p
        c = (V - 1) / (2 * V) * p * q
        T, T1 = 1 + (L - 1) / root * a, (L - 1) / root
        D, D1 = V + q * (1 + (L - 1) / L * a**2), 2 * q * (L - 1) / L * a
        # T1 D - T D1 / 2 = T1 (V + q (1 - a / sqrt(L))): one cancellation done by hand
        inner = T1 * (V + q * (1 - a / root))
        first = -2 * c * T * inner / D**2
        second = -2 * c * ((T1 * inner - T * T1 * q / root) / D**2 - 2 * T * inner * D1 / D**3)
        return first, second

    def _state(self, ell: Array, P: Array) -> SoftmaxState:
        L = self.setup.L
        a = self._weight(ell)
        m = 1 / (1 + (L - 1) * np.exp(-ell))
        values = (a, m, ell, self._action(ell, a, P), self._loss(a, P))
        return SoftmaxState(*(scalar_or_array(value) for value in values))

    def _curve(self, s: NDArray[np.float64]) -> tuple[Array, Array]:
        """(ln q, d ln q/ds) at s = ln ell on the curve of stationary points,

        K (g_O/g_W) ell (V + q u^2)^2 = (V-1) L^2/V q^2 m^2 (1-m) [V + q L (1-m)/(L-1)].
        """
        L, V = self.setup.L, self.setup.V
        ell = np.exp(s)
        m, r = 1 / (1 + (L - 1) * np.exp(-ell)), 1 / (1 + np.exp(ell) / (L - 1))  # r = 1 - m
        u2 = L * (m**2 + r**2 / (L - 1))
        C = self.stiffness * self.setup.g_O / self.setup.g_W * ell
        B = (V - 1) * L**2 / V * m**2 * r
        R = L * r / (L - 1)
        z = _positive_root(C, B, u2, R, V)
        q = 1 / z
        # implicit derivative of  ln C + 2 ln(V + q u2) - ln B - 2 ln q - ln(V + q R) = 0
        D, E = V + q * u2, V + q * R
        dm = m * r
        du2 = 2 * L * dm * (m - r / (L - 1))
        d_ell = 1 / ell + 2 * q * du2 / D - (2 * r - m) + q * L * dm / ((L - 1) * E)
        d_log_q = 2 * q * u2 / D - 2 - q * R / E
        return np.log(q), -d_ell / d_log_q * ell


def _positive_root(C: Array, B: Array, u2: Array, R: Array, V: int) -> Array:
    """Root z = 1/q > 0 of C z (V z + u2)^2 = B (V z + R).

    One change of sign, hence one positive root, and the cubic is convex for z > 0: Newton's method from an upper bound
    descends to it monotonically.
    """
    a3, a2, a1, a0 = C * V**2, 2 * C * V * u2, C * u2**2 - B * V, -B * R
    z = np.maximum((np.sqrt(2 * B * V / C) - u2) / V, np.minimum(-2 * a0 / (C * u2**2), np.cbrt(-2 * a0 / a3)))
    for _ in range(100):
        step = (((a3 * z + a2) * z + a1) * z + a0) / ((3 * a3 * z + 2 * a2) * z + a1)
        z = z - step
        if np.all(step <= 1e-9 * z):  # convergence is quadratic: the step just made leaves rounding only
            break
    return z
