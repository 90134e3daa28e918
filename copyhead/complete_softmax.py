"""Softmax attention with all three order parameters: ``SoftmaxAction(setup, closure="complete")``.

The logits are  ell G*_ab + tau delta(x^a, x^b) + kappa delta_ab.  With b and s of ``complete_moments.py`` the action is

    S = prior + shared mode + (V-1)/(2V) p L [1 - q L V b^2 / (1 + q L s)],    p = P/sigma2, q = g_O p,
    prior = [(V-1) tau^2 + L (ell^2 + kappa^2) - (ell + kappa)^2] / (2 g_W).

Its stationary states form one curve, single valued in ell, that is followed from the curve without tau and kappa.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from copyhead.branch import Branch
from copyhead.complete import StationaryCurve, complete_weights, order_parameter_arrays
from copyhead.complete_moments import SoftmaxMoments
from copyhead.data_term import Array, shared_mode
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction, SoftmaxState
from copyhead.transition import FirstOrderTransition, coexistence
from copyhead.validation import real_array, scalar_or_array

_SMALL = np.linspace(-40.0, math.log(0.03), 100, endpoint=False)
_GRID = np.concatenate([_SMALL, np.log(np.arange(0.03, 40.0, 0.04))])         # of ln ell
_LARGEST = 1e7                                                                # P / sigma2; beyond, rounding takes over


@dataclass(frozen=True)
class CompleteSoftmaxState(SoftmaxState):
    """A stationary state of the complete theory: the fields of ``SoftmaxState`` and ``tau``, ``kappa``.

    ``m`` is the mean copy weight and ``a_G`` the coefficient of the mean attention, comparable to a fit's; ``ell``, ``tau``
    and ``kappa`` are logits.
    """

    tau: float | Array
    kappa: float | Array


class CompleteSoftmaxAction(SoftmaxAction):
    """``SoftmaxAction(setup, closure="complete")``: the action of softmax attention in (a_G, tau, kappa).

    ``a_G`` is the coefficient of the mean attention.  ``stiffness`` is that of ell alone.
    """

    def __init__(self, setup: Setup, prior: str = "exact", closure: str = "complete") -> None:
        super().__init__(setup, prior, closure)
        if prior != "exact":
            raise ValueError(f"prior must be 'exact' with closure='complete', got {prior!r}")
        L, V = setup.L, setup.V
        self._moments = SoftmaxMoments(L, V)
        self._size = self._moments.size                           # for L = 2 kappa is redundant and fixed to zero
        self._K = np.array([[L - 1, 0, -1], [0, V - 1, 0], [-1, 0, L - 1]])[: self._size, : self._size] / setup.g_W

    # --- the action on any (a_G, tau, kappa) ---------------------------------------------------------------------------

    def action(self, a_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0, kappa: ArrayLike = 0.0) -> float | Array:
        """Action S, all terms included; broadcasts, scalars give a float.  Equation: eq-same-token-softmax."""
        theta, P = self._point(a_G, tau, kappa, P)
        return scalar_or_array(self._value(theta, P))

    def loss(self, a_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0, kappa: ArrayLike = 0.0) -> float | Array:
        """Loss per token (1 at zero output); broadcasts, scalars give a float."""
        theta, P = self._point(a_G, tau, kappa, P)
        return scalar_or_array(self._error(theta, P))

    def gradient(self, a_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0, kappa: ArrayLike = 0.0) -> Array:
        """(dS/da_G, dS/dtau, dS/dkappa), shape (..., 3)."""
        return self._in_weights(*self._point(a_G, tau, kappa, P))[0]

    def hessian(self, a_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0, kappa: ArrayLike = 0.0) -> Array:
        """Second derivatives in (a_G, tau, kappa), shape (..., 3, 3)."""
        return self._in_weights(*self._point(a_G, tau, kappa, P))[1]

    def curvature(self, a_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0, kappa: ArrayLike = 0.0) -> float | Array:
        """d^2 S/da_G^2 at fixed tau and kappa; broadcasts, scalars give a float."""
        return scalar_or_array(self.hessian(a_G, P, tau, kappa)[..., 0, 0])

    # --- minima and the transition ---------------------------------------------------------------------------------------

    def minimum(self, P: ArrayLike) -> CompleteSoftmaxState:
        """Global minimum at each P (float fields for a scalar, arrays of P's shape otherwise)."""
        P = self._in_range(P)
        flat = np.atleast_1d(P).ravel()
        theta = np.stack([self._on_branch(self._branch.solve(segment, np.log(flat)))
                          for segment in self._branch.segments if segment.rising])
        best = np.nanargmin(self._value(theta, flat), axis=0)
        chosen = np.take_along_axis(theta, best[None, :, None], axis=0)[0]
        return self._complete(chosen.reshape(*P.shape, self._size), P)

    def minima(self, P: float) -> list[CompleteSoftmaxState]:  # type: ignore[override]
        """All local minima on the curve of stationary states at one P, sorted by action."""
        samples = self._in_range(P, scalar=True)
        points = [self._on_branch(self._branch.solve(segment, np.log(samples[None])))[0]
                  for segment in self._branch.segments if segment.rising]
        states = [self._complete(theta, samples) for theta in points if np.isfinite(theta).all()]
        return sorted(states, key=lambda state: state.action)

    def weights(self, state: CompleteSoftmaxState) -> Array:
        """The attention weights M of smallest norm with this state, shape (V + L, V + L)."""
        ell, tau, kappa = float(state.ell), float(state.tau), float(state.kappa)
        return complete_weights(-(ell + kappa) / self.setup.L, ell, tau, kappa, self.setup.L, self.setup.V)

    @cached_property
    def _transition(self) -> FirstOrderTransition | None:
        def state(s: float, log_P: float) -> CompleteSoftmaxState:
            return self._complete(self._on_branch(np.array([s]))[0], np.asarray(math.exp(log_P)))

        return coexistence(self._branch, state, scale=1.0, slope=self.setup.L / (2 * self.setup.sigma2))

    # --- internals -----------------------------------------------------------------------------------------------------

    def _point(self, a_G: ArrayLike, tau: ArrayLike, kappa: ArrayLike, P: ArrayLike) -> tuple[Array, Array]:
        """((ell, tau, kappa), P): ell by Newton's method on the log odds of the mean copy weight, nearly linear in it."""
        root = math.sqrt(self.setup.L)
        real_array("a_G", a_G, low=-root / (self.setup.L - 1), high=root)
        a, tau, kappa, P = order_parameter_arrays({"a_G": a_G, "tau": tau, "kappa": kappa}, P)
        theta = np.stack([self._gap(a), tau, kappa], axis=-1)[..., : self._size]
        odds = np.log1p((self.setup.L - 1) / root * a) - np.log((self.setup.L - 1) * (1 - a / root))
        for _ in range(50):
            _, _, (m, slope) = self._moments(theta, 1)
            step = (odds - np.log(m / (1 - m))) * m * (1 - m) / slope[..., 0]
            theta[..., 0] += step
            if np.all(np.abs(step) <= 1e-12 * (1 + np.abs(theta[..., 0]))):
                break
        return theta, P

    def _in_weights(self, theta: Array, P: Array) -> tuple[Array, Array]:
        """Gradient and Hessian of the action in (a_G, tau, kappa), from those in (ell, tau, kappa)."""
        p, L = np.asarray(P) / self.setup.sigma2, self.setup.L
        _, slope, bend, _ = self._data(theta, self.setup.g_O * p)
        slope, bend = theta @ self._K + p[..., None] * slope, self._K + p[..., None, None] * bend
        _, _, (_, rise, turn) = self._moments(theta)
        scale = math.sqrt(L) * L / (L - 1)
        rise, turn = scale * rise, scale * turn
        X = np.broadcast_to(np.eye(self._size), (*P.shape, self._size, self._size)).copy()
        X[..., 0, :] = -rise / rise[..., :1]
        X[..., 0, 0] = 1 / rise[..., 0]
        XT = np.swapaxes(X, -1, -2)
        first = np.einsum("...ji,...j->...i", X, slope)
        second = XT @ (bend - (slope[..., 0] / rise[..., 0])[..., None, None] * turn) @ X
        room = [(0, 0)] * P.ndim
        lack = (0, 3 - self._size)
        return np.pad(first, [*room, lack]), np.pad(second, [*room, lack, lack])

    def _in_range(self, P: ArrayLike, scalar: bool = False) -> Array:
        """P as an array; ValueError outside the tabulated curve."""
        P = real_array("P", P, low=0.0)
        if scalar and P.ndim:
            raise ValueError(f"P must be one number, got an array of shape {P.shape}")
        ends = self._branch.segments[0].log_P[0], self._branch.segments[-1].log_P[-1]
        return real_array("P", P, low=math.exp(ends[0]), high=math.exp(ends[1]))

    @cached_property
    def _branch(self) -> Branch:
        return Branch(self._stationary, self._stationary.grid)

    @cached_property
    def _stationary(self) -> StationaryCurve:
        log_q, _ = self._curve(_GRID)
        known = log_q < math.log(_LARGEST * self.setup.g_O)
        start = np.column_stack([np.zeros((known.sum(), self._size - 1)), log_q[known]])
        return StationaryCurve(self._equations, _GRID[known], start, 1.0, math.log(self.setup.sigma2 / self.setup.g_O))

    def _equations(self, s: Array, u: Array) -> tuple[Array, Array, Array]:
        """K e + (p/ell) dD/dtheta = 0 at theta = ell e, ell = exp(s); unknowns (tau/ell, kappa/ell, ln q)."""
        ell, q = np.exp(s)[:, None], np.exp(u[:, -1])[:, None]
        e = np.column_stack([np.ones_like(s), u[:, :-1]])
        _, slope, bend, by_q = self._data(ell * e, q[:, 0])
        p = q / self.setup.g_O
        matrix = self._K + p[..., None] * bend
        by_u = np.concatenate([matrix[..., 1:], (p / ell * (slope + q * by_q))[..., None]], axis=-1)
        return e @ self._K + p / ell * slope, by_u, p * (np.einsum("nij,nj->ni", bend, e) - slope / ell)

    def _on_branch(self, s: Array) -> Array:
        """(ell, tau, kappa) at the branch points s, NaN where s is."""
        known = np.isfinite(s)
        u = self._stationary.unknowns(np.where(known, s, 0.0))
        theta = np.exp(np.where(known, s, np.nan))[:, None] * np.column_stack([np.ones_like(s), u[:, :-1]])
        return theta

    def _data(self, theta: Array, q: Array) -> tuple[Array, Array, Array, Array]:
        """D = -(V-1)/2 q L^2 b^2/(1 + q L s), its gradient and Hessian in theta, and the gradient's derivative in q."""
        L, V = self.setup.L, self.setup.V
        (b, b1, b2), (s, s1, s2), _ = self._moments(theta)
        q = np.asarray(q)
        x, D = q[..., None], (1 + q * L * s)[..., None]
        scale, b, y = -(V - 1) / 2 * L**2, b[..., None], x * L
        slope = scale * x * (2 * b * b1 / D - y * b**2 * s1 / D**2)
        by_q = scale * (2 * b * b1 / D**2 - 2 * y * b**2 * s1 / D**3)
        outer = 2 * b1[..., :, None] * b1[..., None, :] / D[..., None] + 2 * (b / D)[..., None] * b2
        cross = b1[..., :, None] * s1[..., None, :]
        outer = outer - 2 * (y * b / D**2)[..., None] * (cross + np.swapaxes(cross, -1, -2))
        outer = outer + 2 * (y**2 * b**2 / D**3)[..., None] * s1[..., :, None] * s1[..., None, :]
        outer = outer - (y * b**2 / D**2)[..., None] * s2
        value = scale * q * b[..., 0] ** 2 / D[..., 0]
        return value, slope, scale * x[..., None] * outer, by_q

    def _value(self, theta: Array, P: Array) -> Array:
        p = np.asarray(P) / self.setup.sigma2
        (b,), (s,), _ = self._moments(theta, 0)
        L, V, q = self.setup.L, self.setup.V, self.setup.g_O * p
        tokens = (V - 1) / (2 * V) * p * L * (1 + q * L * (s - V * b**2)) / (1 + q * L * s)
        prior = np.einsum("...i,ij,...j->...", theta, self._K, theta) / 2
        return prior + shared_mode(self.setup, 1.0, np.asarray(P)) + tokens

    def _error(self, theta: Array, P: Array) -> Array:
        """Loss per token, 2/L times the derivative of the data term in p."""
        (b,), (s,), _ = self._moments(theta, 0)
        L, V, q = self.setup.L, self.setup.V, self.setup.g_O * np.asarray(P) / self.setup.sigma2
        n, D = 1 + q * L * (s - V * b**2), 1 + q * L * s
        return (V - 1) / V * (n + (n - 1) * D) / D**2 + 1 / (V * (1 + q * (L / V + 1)) ** 2)

    def _complete(self, theta: Array, P: Array) -> CompleteSoftmaxState:
        full = np.concatenate([theta, np.zeros((*theta.shape[:-1], 3 - self._size))], axis=-1)
        _, _, (m,) = self._moments(theta, 0)
        a_G = math.sqrt(self.setup.L) * (self.setup.L * m - 1) / (self.setup.L - 1)
        fields = (a_G, m, full[..., 0], self._value(theta, P), self._error(theta, P), full[..., 1], full[..., 2])
        return CompleteSoftmaxState(*(scalar_or_array(np.asarray(field)) for field in fields))
