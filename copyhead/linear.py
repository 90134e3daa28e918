r"""Linear attention: pooling turns on continuously, copying follows by a crossover or by a second, first-order jump.

G = c1 J/L + c_G G*/sqrt(L).  The action, eqs. (12) + (15), is even under (c1, c_G) -> -(c1, c_G), and convex in the squared
length on every ray, so each direction holds at most one minimum.

Internally the orthogonal pair  rho = c1 + c_G/sqrt(L)  (row sum) and  h = (L-1) c_G/sqrt(L)  (copy weight above pooling) is
used, with w = 1/(L-1):  T = rho + h,  u^2 = rho^2 + w h^2,  c1 = rho - w h,  prior = (a rho^2 + b h^2)/2.
Stationarity in h and rho, with q = g_O P/sigma2, Pi = q P/sigma2, D = V + q u^2, A = 1 + V^-1 L, reads

    b h D^2 = Pi (V-1)/V T (V + q rho c1),
    a rho D^2 = Pi [ L A D^2 rho / (V (1 + q A rho^2)^2) + (V-1)/V T (V - q h c1) ].

Signs allow solutions only for k_c < h/rho < L - 1 (``ordered.py``) and for h/rho < -1 (``mirror.py``).  Flipping the sign of
rho at fixed |rho|, h only lowers T^2, so the global minimum always lies on the ordered branch or at the origin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from copyhead.branch import Branch
from copyhead.complete import check_closure
from copyhead.data_term import Array, loss_per_token, shared_mode, token_modes
from copyhead.mirror import mirror_ratios
from copyhead.ordered import ORDERED_GRID, critical_ratios, ordered_point
from copyhead.setup import Setup
from copyhead.transition import FirstOrderTransition, coexistence
from copyhead.validation import real_array, sample_number, scalar_or_array


@dataclass(frozen=True)
class LinearState:
    """A stationary state with T = c1 + sqrt(L) c_G >= 0; fields are floats, or arrays of the shape of P.

    ``c1`` coefficient of J/L; ``c_G`` coefficient of G*/sqrt(L); ``action``; ``loss`` per token.
    """

    c1: float | Array
    c_G: float | Array
    action: float | Array
    loss: float | Array


@dataclass(frozen=True)
class LandauExpansion:
    """S = S_0 + r t^2/2 + u t^4/4 along the unit null vector at the critical point, r = ``r_prime`` (P - critical_P).

    ``direction`` is (e_1, e_G) with e_1 > 0; above the critical point |t| = ``amplitude`` sqrt(P - critical_P).
    """

    r_prime: float
    u: float
    direction: tuple[float, ...]
    amplitude: float


class LinearAction:
    """Action of linear attention in the equivalent-kernel approximation, chi divided out.

    Parameters
    ----------
    setup : Setup
    closure : {"paper", "complete"}
        "paper" keeps the two patterns J and G*.  "complete" keeps everything that the symmetry of the task allows; its
        methods take ``tau`` and ``kappa`` as well and its states carry them (``complete_linear.CompleteLinearAction``).
    """

    def __new__(cls, setup: Setup, closure: str = "paper") -> LinearAction:
        check_closure(closure)
        if closure == "complete" and cls is LinearAction:
            from copyhead.complete_linear import CompleteLinearAction

            return super().__new__(CompleteLinearAction)
        return super().__new__(cls)

    def __init__(self, setup: Setup, closure: str = "paper") -> None:
        if not isinstance(setup, Setup):
            raise ValueError(f"setup must be a copyhead.Setup, got {setup!r}")
        self.setup, self.closure = setup, closure
        L, V = setup.L, setup.V
        self._w = 1 / (L - 1)
        self._a = (L * V / (L + V)) ** 2 / setup.g_W
        self._b = L**2 / (L - 1) / setup.g_W
        self._k_c = critical_ratios(L, V)[0]

    def __repr__(self) -> str:
        return f"LinearAction({self.setup!r}" + (")" if self.closure == "paper" else f", closure={self.closure!r})")

    def __reduce__(self) -> tuple[type[LinearAction], tuple[Setup, str]]:
        return LinearAction, (self.setup, self.closure)

    # --- the action on any (c1, c_G) -----------------------------------------------------------------------------------

    def action(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike) -> float | Array:
        """Action S(c1, c_G; P), all terms included; broadcasts, scalars give a float."""
        c1, c_G, P = self._arguments(c1, c_G, P)
        return scalar_or_array(self._action(*self._sums(c1, c_G), P))

    def loss(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike) -> float | Array:
        """Loss per token (1 at zero output); broadcasts, scalars give a float."""
        c1, c_G, P = self._arguments(c1, c_G, P)
        return scalar_or_array(self._loss(*self._sums(c1, c_G), P))

    def gradient(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike) -> Array:
        """(dS/dc1, dS/dc_G), shape (..., 2)."""
        c1, c_G, P = self._arguments(c1, c_G, P)
        d_rho, d_h, _ = self._derivatives(*self._sums(c1, c_G), P)
        root = math.sqrt(self.setup.L)
        return np.stack(np.broadcast_arrays(d_rho, d_rho / root + d_h / (self._w * root)), axis=-1)

    def hessian(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike) -> Array:
        """Second derivatives in (c1, c_G), shape (..., 2, 2)."""
        c1, c_G, P = self._arguments(c1, c_G, P)
        _, _, (rr, rh, hh) = self._derivatives(*self._sums(c1, c_G), P)
        s, t = 1 / math.sqrt(self.setup.L), 1 / (self._w * math.sqrt(self.setup.L))
        cross = rr * s + rh * t
        rows = [[rr, cross], [cross, rr * s**2 + 2 * rh * s * t + hh * t**2]]
        return np.stack([np.stack(np.broadcast_arrays(*row), axis=-1) for row in rows], axis=-2)

    # --- thresholds ------------------------------------------------------------------------------------------------------

    @property
    def critical_P(self) -> float:
        """Exact second-order point: the smallest P at which the Hessian at the origin is singular."""
        L, V, k = self.setup.L, self.setup.V, self._k_c
        ratio = L**2 * V**2 * k / ((L - 1) * (V - 1) * (1 + k))
        return self.setup.sigma2 * math.sqrt(ratio / (self.setup.g_O * self.setup.g_W))

    @property
    def pooling_P(self) -> float:
        """Eq. (16): P at which the diagonal Hessian entry of c1 at the origin vanishes."""
        L, V = self.setup.L, self.setup.V
        root = math.sqrt(self.setup.g_O * self.setup.g_W * (L + 1) * (L + V - 1))
        return L * V**2 * self.setup.sigma2 / ((L + V) * root)

    @property
    def copy_P(self) -> float:
        """Eq. (17): P at which the diagonal Hessian entry of c_G at the origin vanishes; scale of the crossover."""
        L, V = self.setup.L, self.setup.V
        norm = (L + V) ** 2 - L - 2 * V
        return self.setup.sigma2 * L / (L + V) * math.sqrt(V * norm / (self.setup.g_O * self.setup.g_W * (L + 1)))

    def landau(self) -> LandauExpansion:
        """Landau coefficients of the second-order transition at ``critical_P``."""
        L, V, P = self.setup.L, self.setup.V, self.critical_P
        p, q = P / self.setup.sigma2, self.setup.g_O * P / self.setup.sigma2
        e1, eG = 1 - self._w * self._k_c, math.sqrt(L) * self._w * self._k_c
        norm = math.hypot(e1, eG)
        rho, h = 1 / norm, self._k_c / norm
        T2, u2 = (rho + h) ** 2, rho**2 + self._w * h**2
        # On the ray, x = t^2: S = x (a rho^2 + b h^2)/2 + A0/(1 + kappa x) - B x/(1 + d x); r and u are its coefficients.
        r_prime = -2 / P * (self._a * rho**2 + self._b * h**2)
        kappa = q * (L / V + 1) * rho**2
        B = (V - 1) * p * q / (2 * V**2) * T2
        u = 4 * (p * L / (2 * V) * kappa**2 + B * q * u2 / V)
        return LandauExpansion(r_prime, u, (e1 / norm, eG / norm), math.sqrt(-r_prime / u))

    # --- minima ----------------------------------------------------------------------------------------------------------

    def minimum(self, P: ArrayLike) -> LinearState:
        """Global minimum at each P, T >= 0 (float fields for a scalar, arrays of P's shape otherwise)."""
        P = sample_number(P, self.setup.sigma2)
        flat = np.atleast_1d(P)
        log_p = np.log(flat / self.setup.sigma2)
        rising = [segment for segment in self._branch.segments if segment.rising]
        found = [self._on_branch(self._branch.solve(segment, log_p), flat) for segment in rising]
        points = [np.array(part) for part in zip(*found, strict=True)]
        actions = self._action(points[0], points[1], points[2], flat)
        best = np.argmin(np.where(np.isnan(actions), np.inf, actions), axis=0)[None]
        points = [np.take_along_axis(part, best, axis=0)[0] for part in points]
        ordered = (flat > self.critical_P) & ~np.isnan(points[0])
        rho, h, c1 = (np.where(ordered, part, 0.0).reshape(P.shape) for part in points)
        return self._state(rho, h, c1, P)

    def minima(self, P: float) -> list[LinearState]:
        """All local minima at one P modulo the global sign, without saddles, sorted by action."""
        samples = sample_number(P, self.setup.sigma2, scalar=True)
        if samples <= self.critical_P:
            return [self._state(np.array(0.0), np.array(0.0), np.array(0.0), samples)]
        log_p = np.log(np.atleast_1d(samples) / self.setup.sigma2)
        found = [
            self._on_branch(self._branch.solve(seg, log_p), samples[None]) for seg in self._branch.segments if seg.rising
        ]
        points = [(rho[0], h[0], c1[0]) for rho, h, c1 in found if not np.isnan(rho[0])]
        for k, y in mirror_ratios(self.setup, self._a, self._b, float(samples)):
            rho = math.sqrt(y * self.setup.sigma2 / (self.setup.g_O * float(samples)))
            points.append((-rho, k * rho, -rho * (1 + self._w * k)))
        states = [self._state(np.asarray(rho), np.asarray(h), np.asarray(c1), samples) for rho, h, c1 in points]
        return sorted(states, key=lambda state: state.action)

    def first_order_transition(self) -> FirstOrderTransition | None:
        """Coexistence of the pooled and the copy state with both spinodals, or None where the change is a crossover.

        Good to L = 10^6; far beyond, rounding fakes turning points of the branch and a RuntimeError says so.
        """
        return self._transition

    @cached_property
    def _transition(self) -> FirstOrderTransition | None:
        sigma2 = self.setup.sigma2

        def state(s: float, log_p: float) -> LinearState:
            P = np.array([sigma2 * math.exp(log_p)])
            rho, h, c1 = self._on_branch(np.array([s]), P)
            return self._state(rho[0], h[0], c1[0], P[0])

        return coexistence(self._branch, state, scale=sigma2, slope=self.setup.L / (2 * sigma2))

    @cached_property
    def _branch(self) -> Branch:
        return Branch(lambda s: ordered_point(self.setup, self._a, self._b, s)[:2], ORDERED_GRID)

    # --- internals ---------------------------------------------------------------------------------------------------------

    @staticmethod
    def _arguments(c1: ArrayLike, c_G: ArrayLike, P: ArrayLike) -> tuple[Array, Array, Array]:
        return real_array("c1", c1), real_array("c_G", c_G), real_array("P", P, low=0.0)

    # A point is the triple (rho, h, c1).  c1 = rho - w h is carried along because that difference loses its digits where
    # pooling has died out, and the action at large P depends on them.

    def _sums(self, c1: Array, c_G: Array) -> tuple[Array, Array, Array]:
        root = math.sqrt(self.setup.L)
        return c1 + c_G / root, c_G / (self._w * root), c1

    def _action(self, rho: Array, h: Array, c1: Array, P: Array) -> Array:
        prior = (self._a * rho**2 + self._b * h**2) / 2
        tokens = token_modes(self.setup, rho**2 + self._w * h**2, c1**2, P)
        return prior + shared_mode(self.setup, rho**2, P) + tokens

    def _loss(self, rho: Array, h: Array, c1: Array, P: Array) -> Array:
        return loss_per_token(self.setup, rho**2, rho**2 + self._w * h**2, c1**2, P)

    def _state(self, rho: Array, h: Array, c1: Array, P: Array) -> LinearState:
        c_G = math.sqrt(self.setup.L) * self._w * h
        values = (c1, c_G, self._action(rho, h, c1, P), self._loss(rho, h, c1, P))
        return LinearState(*(scalar_or_array(value) for value in values))

    def _derivatives(self, rho: Array, h: Array, c1: Array, P: Array) -> tuple[Array, Array, tuple[Array, Array, Array]]:
        """Gradient and Hessian in (rho, h): prior + shared mode - N T^2 / D + const."""
        V, w, p = self.setup.V, self._w, P / self.setup.sigma2
        q, A = self.setup.g_O * p, self.setup.L / V + 1
        N, T = (V - 1) / (2 * V) * p * q, rho + h
        D, D0 = V + q * (rho**2 + w * h**2), 1 + q * A * rho**2
        along_rho, along_h = V - q * h * c1, V + q * rho * c1  # D - q T rho and D - q T w h
        shared = p * self.setup.L / V * q * A
        d_rho = (self._a - shared / D0**2) * rho - 2 * N * T * along_rho / D**2
        d_h = self._b * h - 2 * N * T * along_h / D**2
        rr = self._a - shared * (1 - 3 * q * A * rho**2) / D0**3
        rr = rr - 2 * N / D**2 * (along_rho - q * h * T - 4 * q * rho * T * along_rho / D)
        rh = -2 * N / D**2 * (along_rho - q * T * (c1 - w * h) - 4 * q * w * h * T * along_rho / D)
        hh = self._b - 2 * N / D**2 * (along_h - q * w * rho * T - 4 * q * w * h * T * along_h / D)
        return d_rho, d_h, (rr, rh, hh)

    def _on_branch(self, s: Array, P: Array) -> tuple[Array, Array, Array]:
        """The branch point s at the given P (P is consistent with s up to rounding)."""
        _, _, y, k, j = ordered_point(self.setup, self._a, self._b, s)
        rho = np.sqrt(y * self.setup.sigma2 / (self.setup.g_O * P))
        return rho, k * rho, j * rho
