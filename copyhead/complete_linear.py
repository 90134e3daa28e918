"""Linear attention with all four order parameters: ``LinearAction(setup, closure="complete")``.

The action is in ``complete_forms.py``.  Its stationary states on the ordered branch form one curve, the same for all noise
and prior variances; the curve gives the global minimum and the transition, a scan over one angle all minima at one P.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from copyhead.branch import Branch
from copyhead.complete import StationaryCurve, complete_weights, order_parameter_arrays
from copyhead.complete_forms import CompleteForms, square
from copyhead.data_term import Array
from copyhead.linear import LandauExpansion, LinearAction, LinearState
from copyhead.ordered import ordered_point
from copyhead.roots import all_roots
from copyhead.setup import Setup
from copyhead.transition import FirstOrderTransition, coexistence
from copyhead.validation import real_array, sample_number, scalar_or_array

_GRID = np.linspace(-32.0, 32.0, 641)               # of ln[(k - k_c)/(L - 1 - k)], as in ``ordered.py``
_ANGLES = np.linspace(-25.0, 25.0, 1001)            # of ln |mu_2 / mu_1|
_BESIDE = np.geomspace(1e-7, 1.0, 60)


@dataclass(frozen=True)
class CompleteLinearState(LinearState):
    """A stationary state of the complete theory: the fields of ``LinearState`` and ``tau``, ``kappa``.

    ``c1`` and ``c_G`` are the coefficients of the mean attention, comparable to those of a fit.
    """

    tau: float | Array
    kappa: float | Array


class CompleteLinearAction(LinearAction):
    """The action of linear attention in (c1, c_G, tau, kappa), equivalent-kernel approximation, chi divided out.

    ``pooling_P`` and ``copy_P`` are those of the paper's closure: they are diagonal entries of the same Hessian.
    """

    def __init__(self, setup: Setup, closure: str = "complete") -> None:
        super().__init__(setup, closure)
        self._forms = CompleteForms(setup.L, setup.V)

    # --- the action on any (c1, c_G, tau, kappa) ----------------------------------------------------------------------

    def action(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0,
               kappa: ArrayLike = 0.0) -> float | Array:
        """Action S, all terms included; broadcasts, scalars give a float.  Equation: eq-same-token-linear."""
        return scalar_or_array(self._value(*self._point(c1, c_G, tau, kappa, P)))

    def loss(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0,
             kappa: ArrayLike = 0.0) -> float | Array:
        """Loss per token (1 at zero output); broadcasts, scalars give a float."""
        return scalar_or_array(self._error(*self._point(c1, c_G, tau, kappa, P)))

    def gradient(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0,
                 kappa: ArrayLike = 0.0) -> Array:
        """(dS/dc1, dS/dc_G, dS/dtau, dS/dkappa), shape (..., 4)."""
        slope, _ = self._slopes(*self._point(c1, c_G, tau, kappa, P))
        return slope @ self._forms.chart

    def hessian(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0,
                kappa: ArrayLike = 0.0) -> Array:
        """Second derivatives in (c1, c_G, tau, kappa), shape (..., 4, 4)."""
        _, bend = self._slopes(*self._point(c1, c_G, tau, kappa, P))
        return np.asarray(self._forms.chart.T @ bend @ self._forms.chart)

    # --- thresholds ------------------------------------------------------------------------------------------------------

    @property
    def critical_P(self) -> float:
        """Exact second-order point: below it zero attention is the global minimum.  Equation: eq-same-token-critical."""
        return self.setup.sigma2 / math.sqrt(self.setup.g_O * self.setup.g_W * self._forms.gain)

    def landau(self) -> LandauExpansion:
        """Landau coefficients at ``critical_P``; ``direction`` is (e_1, e_G, e_tau, e_kappa) with e_1^2 + e_G^2 = 1."""
        P, e = self.critical_P, self._unit
        p, q = P / self.setup.sigma2, self.setup.g_O * P / self.setup.sigma2
        r_prime = -2 / P * float(square(e, self._forms.Q)) / self.setup.g_W
        u = 0.0
        for term in self._forms.terms:
            label2 = float(term.label @ e) ** 2
            u += 2 * p * q**2 * term.alpha * label2 * (term.omega * label2 + float(square(e, term.off)))
        direction = np.zeros(4)
        direction[: len(e)] = e
        direction[1] = (e[1] - e[0]) / math.sqrt(self.setup.L)
        return LandauExpansion(r_prime, u, tuple(direction.tolist()), math.sqrt(-r_prime / u))

    # --- minima ----------------------------------------------------------------------------------------------------------

    def minimum(self, P: ArrayLike) -> CompleteLinearState:
        """Global minimum at each P, T >= 0 (float fields for a scalar, arrays of P's shape otherwise)."""
        P = sample_number(P, self.setup.sigma2)
        flat = np.atleast_1d(P).ravel()
        log_p = np.log(flat / self.setup.sigma2)
        found = np.stack([self._ordered(self._branch.solve(segment, log_p), flat)
                          for segment in self._branch.segments if segment.rising])
        actions = self._value(found, flat)
        best = np.argmin(np.where(np.isnan(actions), np.inf, actions), axis=0)
        v = np.take_along_axis(found, best[None, :, None], axis=0)[0]
        v[flat <= self.critical_P] = 0.0
        start = np.isnan(v[:, 0])                               # between the critical point and the first of the table
        v[start] = self._near_critical(flat[start])
        return self._complete(v.reshape(*P.shape, self._forms.size), P)

    def minima(self, P: float) -> list[CompleteLinearState]:  # type: ignore[override]
        """All local minima at one P modulo the global sign, without saddles, sorted by action; P up to 10^6 critical_P."""
        samples = real_array("P", sample_number(P, self.setup.sigma2, scalar=True), high=1e6 * self.critical_P)
        if samples <= self.critical_P:
            return [self._complete(np.zeros(self._forms.size), samples)]
        q = self.setup.g_O * float(samples) / self.setup.sigma2
        Lambda = self.setup.g_W * q * float(samples) / self.setup.sigma2
        first, second = self._forms.terms
        soft = math.log(second.label @ self._forms.soft / (first.label @ self._forms.soft))
        angles = np.unique(np.concatenate([_ANGLES, soft - _BESIDE, [soft], soft + _BESIDE]))   # narrow near critical_P
        found = []
        for sign in (1.0, -1.0):

            def slope(r: Array, sign: float = sign) -> Array:
                return self._forms.lowest_on_ray(sign, r, Lambda)[0]

            for r in [r for r, rises in all_roots(slope, angles) if rises]:
                z = self._forms.lowest_on_ray(sign, np.array([r]), Lambda)[1][0]
                v = self._polished(z / math.sqrt(q), samples)
                found.append(self._complete(v * np.sign(v[1]), samples))
        return sorted(found, key=lambda state: float(state.action)) or [self.minimum(samples)]

    def weights(self, state: CompleteLinearState) -> Array:
        """The attention weights M of smallest norm with this state, shape (V + L, V + L)."""
        L, V = self.setup.L, self.setup.V
        a = float(state.c1) - (float(state.kappa) + (1 - 1 / V) * float(state.tau)) / (L - 1)
        copy = float(state.c1) + math.sqrt(L) * float(state.c_G) - a
        return complete_weights(a, copy, float(state.tau), float(state.kappa), L, V)

    def first_order_transition(self) -> FirstOrderTransition | None:
        """Coexistence of the pooled and the copy state with both spinodals, or None where the change is a crossover."""
        return self._transition

    @cached_property
    def _transition(self) -> FirstOrderTransition | None:
        sigma2 = self.setup.sigma2

        def state(s: float, log_p: float) -> CompleteLinearState:
            P = np.array([sigma2 * math.exp(log_p)])
            return self._complete(self._ordered(np.array([s]), P)[0], P[0])

        return coexistence(self._branch, state, scale=sigma2, slope=self.setup.L / (2 * sigma2))

    # --- internals: the action in v = (c1, T, tau, kappa) ------------------------------------------------------------------

    def _point(self, c1: ArrayLike, c_G: ArrayLike, tau: ArrayLike, kappa: ArrayLike, P: ArrayLike) -> tuple[Array, Array]:
        *parts, samples = order_parameter_arrays({"c1": c1, "c_G": c_G, "tau": tau, "kappa": kappa}, P)
        return np.stack(parts, axis=-1) @ self._forms.chart.T, samples

    def _value(self, v: Array, P: Array) -> Array:
        p = P / self.setup.sigma2
        S = square(v, self._forms.Q) / (2 * self.setup.g_W)
        for term in self._forms.terms:
            n, D = term.parts(v, self.setup.g_O * p)
            S = S + p * term.alpha / term.omega / 2 * n / D
        return S

    def _error(self, v: Array, P: Array) -> Array:
        """2/L times the derivative of the data terms in p at fixed v."""
        total = np.zeros(P.shape)
        for term in self._forms.terms:
            n, D = term.parts(v, self.setup.g_O * P / self.setup.sigma2)
            total = total + term.alpha / term.omega * (n + (n - 1) * D) / D**2
        return total / self.setup.L

    def _slopes(self, v: Array, P: Array) -> tuple[Array, Array]:
        """Gradient and Hessian of the action in v."""
        p, Q = P / self.setup.sigma2, self._forms.Q / self.setup.g_W
        q = self.setup.g_O * p
        pull, bend, _ = self._forms.pull(q, v)
        scale = np.asarray(p * q)[..., None]
        return v @ Q - scale * pull, Q - scale[..., None] * bend

    def _complete(self, v: Array, P: Array) -> CompleteLinearState:
        full = np.concatenate([v, np.zeros((*v.shape[:-1], 4 - self._forms.size))], axis=-1)
        c_G = (full[..., 1] - full[..., 0]) / math.sqrt(self.setup.L)
        fields = (full[..., 0], c_G, self._value(v, P), self._error(v, P), full[..., 2], full[..., 3])
        return CompleteLinearState(*(scalar_or_array(np.asarray(field)) for field in fields))

    # --- internals: the ordered branch -------------------------------------------------------------------------------------

    @cached_property
    def _branch(self) -> Branch:
        return Branch(self._curve, _GRID)

    @cached_property
    def _curve(self) -> StationaryCurve:
        log_p, _, y, _, _ = ordered_point(self.setup, self._a, self._b, _GRID)
        rate = math.log(self.setup.g_O * self.setup.g_W)
        start = np.column_stack([y, np.zeros((len(y), self._forms.size - 2)), 2 * log_p + rate])
        return StationaryCurve(self._equations, _GRID, start, 0.5, -rate / 2)

    def _equations(self, s: Array, u: Array) -> tuple[Array, Array, Array]:
        """Lambda (dF/de)/y = Q e at e = v / rho, y = q rho^2, with T : c1 given by s; unknowns (e_tau, ..., ln Lambda)."""
        e, d_s = self._direction(s, u)
        Lambda = np.exp(u[:, -1])[:, None]
        pull, by_e, by_y = self._forms.pull(u[:, 0], e)
        matrix = Lambda[..., None] * by_e - self._forms.Q
        by_u = np.concatenate([(Lambda * by_y)[..., None], matrix[..., 2:], (Lambda * pull)[..., None]], axis=-1)
        return Lambda * pull - e @ self._forms.Q, by_u, np.einsum("nij,nj->ni", matrix, d_s)

    def _direction(self, s: Array, u: Array) -> tuple[Array, Array]:
        """e and de/ds: c1/rho = 1 - k/(L - 1) and T/rho = 1 + k with k = h/rho of ``ordered.py``, between k_c and L - 1."""
        L, critical = self.setup.L, self._forms.soft / (self._forms.terms[1].label @ self._forms.soft / self.setup.L)
        width = (L - 1) * critical[0]                           # L - 1 - k_c
        above, below = width * expit(s), width * expit(-s)
        near = s < 0                                            # count from the nearer end: both differences are small
        first = np.where(near, critical[0] - above / (L - 1), below / (L - 1))
        e = np.column_stack([first, np.where(near, critical[1] + above, L - below), u[:, 1:-1]])
        d_s, slope = np.zeros_like(e), above * below / width
        d_s[:, 0], d_s[:, 1] = -slope / (L - 1), slope
        return e, d_s

    def _ordered(self, s: Array, P: Array) -> Array:
        """v at the branch points s, NaN where s is; P is consistent with s up to rounding."""
        known = np.isfinite(s)
        u = self._curve.unknowns(np.where(known, s, 0.0))
        e, _ = self._direction(np.where(known, s, 0.0), u)
        rho = np.sqrt(np.maximum(u[:, 0], 0.0) * self.setup.sigma2 / (self.setup.g_O * P))
        return np.where(known, rho, np.nan)[:, None] * e

    @property
    def _unit(self) -> Array:
        """The soft direction with c1^2 + c_G^2 = 1."""
        e = self._forms.soft
        return e / math.hypot(e[0], (e[1] - e[0]) / math.sqrt(self.setup.L))

    def _near_critical(self, P: Array) -> Array:
        """The minimum just above the critical point, from its Landau amplitude."""
        t = self.landau().amplitude * np.sqrt(P - self.critical_P)
        return self._polished(t[:, None] * self._unit, P)

    def _polished(self, v: Array, P: Array) -> Array:
        """v after Newton steps to the stationary point beside it."""
        for _ in range(6):
            slope, bend = self._slopes(v, P)
            v = v - np.linalg.solve(bend, slope[..., None])[..., 0]
        return v
