r"""Linear attention with all four order parameters (``closure="complete"``).

In coordinates v = (c1, T, tau, kappa), T = c1 + sqrt(L) c_G, the attention of ``complete.py`` has a = c1 - (kappa + c tau)/(L-1)
and g = T - a, with c = 1 - 1/V: so c1 and c_G are the coefficients of the *mean* attention, as for a fit.  The action is

    S = p [L/2 - F(v)] + v.Qv / (2 g_W),    F = sum_i q alpha_i (l_i.v)^2 / (2 D_i),   D_i = 1 + q [omega_i (l_i.v)^2 + v.O_i v],

one term for the V - 1 modes that tell tokens apart (l.v = T) and one for the mode shared by all (l.v = m, L times the row sum).
Written with O_i, what the best readout leaves unexplained, nothing cancels.  F depends on P through the lengths only, so all
stationary states of all P, g_O, g_W at one (L, V) lie on one curve Lambda(v), Lambda = g_O g_W p^2.

**One angle finds all minima.**  alpha l^2 / D = max over mu of alpha (2 mu l - mu^2 D), so the action is a minimum over two
multipliers and, at fixed multipliers, a quadratic function of v.  Eliminating v leaves a function of (mu_1, mu_2) whose minima
are those of S, and which is convex in the squared length on each ray: a scan over the angle misses none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from copyhead.branch import Branch
from copyhead.complete import StationaryCurve, order_parameter_arrays
from copyhead.data_term import Array
from copyhead.linear import LandauExpansion, LinearAction, LinearState
from copyhead.ordered import ordered_point
from copyhead.roots import all_roots
from copyhead.setup import Setup
from copyhead.transition import FirstOrderTransition, coexistence
from copyhead.validation import real_array, sample_number, scalar_or_array

_GRID = np.linspace(-32.0, 32.0, 641)               # of ln[(k - k_c)/(L - 1 - k)], as in ``ordered.py``
_ANGLES = np.linspace(-25.0, 25.0, 1001)            # of ln |mu_2 / mu_1|


@dataclass(frozen=True)
class CompleteLinearState(LinearState):
    """A stationary state of the complete theory: the fields of ``LinearState`` and ``tau``, ``kappa``.

    ``c1`` and ``c_G`` are the coefficients of the mean attention, comparable to those of a fit.
    """

    tau: float | Array
    kappa: float | Array


class CompleteLinearAction(LinearAction):
    """``LinearAction(setup, closure="complete")``: the action of linear attention in (c1, c_G, tau, kappa).

    ``pooling_P`` and ``copy_P`` are those of the paper's closure: they are diagonal entries of the same Hessian.
    """

    def __init__(self, setup: Setup, closure: str = "complete") -> None:
        super().__init__(setup, closure)
        L, V = setup.L, setup.V
        w, c = 1 / (L - 1), 1 - 1 / V
        b, d = (L + V - 2) / V, (L**2 + 3 * L * V - 6 * L + V**2 - 5 * V + 6) / V**2
        size = 4 if L > 2 else 3                                  # for L = 2 kappa is redundant and fixed to zero
        c1, T, tau, kappa = np.vstack([np.eye(size), np.zeros((4 - size, size))])
        a = c1 - w * (kappa + c * tau)
        g, m, mean = T - a, T + (L - 1) * c1, a + (T - a + kappa) / L
        off = (L - 1) * _form(a, a) + 2 * _form(a, kappa + b * tau) + _form(kappa, kappa)
        off = (off + 2 * b * _form(tau, kappa) + d * _form(tau, tau)) / (L * V)
        beta = (L + V) / (L**2 * V)
        self._alpha, self._omega = ((V - 1) / V**2, (L + V) / (L * V**2)), (1 / (L * V), beta)
        self._label, self._off = (T, m), (off, beta * (L - 1) * c / V * _form(tau, tau))
        norm = (L * V / (L + V)) ** 2 * _form(mean, mean) + (V - 1) * _form(tau, tau)
        self._Q = norm + L * (_form(g, g) + _form(kappa, kappa)) - _form(g + kappa, g + kappa)
        self._size = size
        self._root = np.linalg.inv(np.linalg.cholesky(self._Q))

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
        return slope @ self._chart

    def hessian(self, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike, tau: ArrayLike = 0.0,
                kappa: ArrayLike = 0.0) -> Array:
        """Second derivatives in (c1, c_G, tau, kappa), shape (..., 4, 4)."""
        _, bend = self._slopes(*self._point(c1, c_G, tau, kappa, P))
        return self._chart.T @ bend @ self._chart

    # --- thresholds ------------------------------------------------------------------------------------------------------

    @property
    def critical_P(self) -> float:
        """Exact second-order point: below it zero attention is the global minimum.  Equation: eq-same-token-critical."""
        return self.setup.sigma2 / math.sqrt(self.setup.g_O * self.setup.g_W * self._critical[0])

    def landau(self) -> LandauExpansion:
        """Landau coefficients at ``critical_P``; ``direction`` is (e_1, e_G, e_tau, e_kappa) with e_1^2 + e_G^2 = 1."""
        P = self.critical_P
        p, q = P / self.setup.sigma2, self.setup.g_O * P / self.setup.sigma2
        e = self._critical[1]
        c_G = (e[1] - e[0]) / math.sqrt(self.setup.L)
        e = e / math.hypot(e[0], c_G)
        r_prime = -2 / P * float(e @ self._Q @ e) / self.setup.g_W
        u = 0.0
        for alpha, omega, label, off in self._terms:
            u += 2 * p * q**2 * alpha * float((label @ e) ** 2 * (omega * (label @ e) ** 2 + e @ off @ e))
        direction = np.zeros(4)
        direction[: self._size] = e
        direction[1] = (e[1] - e[0]) / math.sqrt(self.setup.L)
        return LandauExpansion(r_prime, u, tuple(direction.tolist()), math.sqrt(-r_prime / u))

    @cached_property
    def _critical(self) -> tuple[float, Array]:
        """1/Lambda_c, the larger eigenvalue of Gamma, and its direction e in v, with positive row sum."""
        half = np.stack([math.sqrt(alpha) * self._root @ label for alpha, _, label, _ in self._terms])
        values, vectors = np.linalg.eigh(half @ half.T)
        e = self._root.T @ (half.T @ vectors[:, -1])
        return float(values[-1]), e * np.sign(self._label[1] @ e)

    # --- minima ----------------------------------------------------------------------------------------------------------

    def minimum(self, P: ArrayLike) -> CompleteLinearState:
        """Global minimum at each P, T >= 0 (float fields for a scalar, arrays of P's shape otherwise)."""
        P = sample_number(P, self.setup.sigma2)
        flat = np.atleast_1d(P).ravel()
        log_p = np.log(flat / self.setup.sigma2)
        found = np.stack([self._on_branch(self._branch.solve(segment, log_p), flat)
                          for segment in self._branch.segments if segment.rising])
        best = np.argmin(np.where(np.isnan(actions := self._value(found, flat)), np.inf, actions), axis=0)
        v = np.take_along_axis(found, best[None, :, None], axis=0)[0]
        v[flat <= self.critical_P] = 0.0
        start = np.isnan(v[:, 0])                               # between the critical point and the first of the table
        v[start] = self._near_critical(flat[start])
        return self._state(v.reshape(*P.shape, self._size), P)

    def minima(self, P: float) -> list[CompleteLinearState]:
        """All local minima at one P modulo the global sign, without saddles, sorted by action; P up to 10^6 critical_P."""
        samples = real_array("P", sample_number(P, self.setup.sigma2, scalar=True), high=1e6 * self.critical_P)
        if samples <= self.critical_P:
            return [self._state(np.zeros(self._size), samples)]
        e = self._critical[1]
        soft = math.log(self._label[1] @ e / (self._label[0] @ e))                  # near critical_P only angles beside it
        beside = np.geomspace(1e-7, 1.0, 60)
        angles = np.unique(np.concatenate([_ANGLES, soft - beside, [soft], soft + beside]))
        found = []
        for sign in (1.0, -1.0):
            for r, rises in all_roots(lambda r, sign=sign: self._profile(sign, r, float(samples))[0], angles):
                if rises:
                    v = self._polished(self._profile(sign, np.array([r]), float(samples))[1][0], samples)
                    found.append(self._state(v * np.sign(v[1]), samples))
        return sorted(found, key=lambda state: state.action) or [self.minimum(samples)]

    def first_order_transition(self) -> FirstOrderTransition | None:
        """Coexistence of the pooled and the copy state with both spinodals, or None where the change is a crossover."""
        return self._transition

    @cached_property
    def _transition(self) -> FirstOrderTransition | None:
        sigma2 = self.setup.sigma2

        def state(s: float, log_p: float) -> CompleteLinearState:
            P = np.array([sigma2 * math.exp(log_p)])
            return self._state(self._on_branch(np.array([s]), P)[0], P[0])

        return coexistence(self._branch, state, scale=sigma2, slope=self.setup.L / (2 * sigma2))

    # --- internals ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _curve(self) -> StationaryCurve:
        log_p, _, y, _, _ = ordered_point(self.setup, self._a, self._b, _GRID)
        rate = math.log(self.setup.g_O * self.setup.g_W)
        start = np.column_stack([y, np.zeros((len(y), self._size - 2)), 2 * log_p + rate])
        return StationaryCurve(self._equations, _GRID, start, 0.5, -rate / 2)

    @cached_property
    def _branch(self) -> Branch:
        return Branch(self._curve, _GRID)

    @property
    def _terms(self) -> list[tuple[float, float, Array, Array]]:
        return list(zip(self._alpha, self._omega, self._label, self._off, strict=True))

    @cached_property
    def _chart(self) -> Array:
        """d(c1, T, tau, kappa)/d(c1, c_G, tau, kappa)."""
        chart = np.eye(4)[: self._size]
        chart[1, :2] = 1.0, math.sqrt(self.setup.L)
        return chart

    def _point(self, c1: ArrayLike, c_G: ArrayLike, tau: ArrayLike, kappa: ArrayLike, P: ArrayLike) -> tuple[Array, Array]:
        """(v, P) with v of shape (..., size)."""
        *parts, samples = order_parameter_arrays({"c1": c1, "c_G": c_G, "tau": tau, "kappa": kappa}, P)
        return np.stack(parts, axis=-1) @ self._chart.T, samples

    def _value(self, v: Array, P: Array) -> Array:
        """The action, each data term as what is left unexplained: 1 - w (l v)^2/D = (1 + q v.O v)/D up to the label power."""
        p = np.asarray(P) / self.setup.sigma2
        S = _square(v, self._Q) / (2 * self.setup.g_W)
        for power, unexplained, D in self._shares(v, P):
            S = S + p * power / 2 * unexplained / D
        return S

    def _error(self, v: Array, P: Array) -> Array:
        """Loss per token, 2/L times the derivative of the data terms in p at fixed v."""
        total: Array | float = 0.0
        for power, unexplained, D in self._shares(v, P):
            total = total + power * (unexplained + (unexplained - 1) * D) / D**2
        return np.asarray(total) / self.setup.L

    def _shares(self, v: Array, P: Array) -> list[tuple[float, Array, Array]]:
        """(label power, unexplained, D) of both terms."""
        q = self.setup.g_O * np.asarray(P) / self.setup.sigma2
        shares = []
        for alpha, omega, label, off in self._terms:
            unexplained = 1 + q * _square(v, off)
            shares.append((alpha / omega, unexplained, unexplained + q * omega * (v @ label) ** 2))
        return shares

    def _slopes(self, v: Array, P: Array) -> tuple[Array, Array]:
        """Gradient and Hessian of the action in v."""
        p = np.asarray(P) / self.setup.sigma2
        q = self.setup.g_O * p
        pull, bend, _ = self._pull(q, v)
        scale = (p * q)[..., None]
        return v @ self._Q / self.setup.g_W - scale * pull, self._Q / self.setup.g_W - scale[..., None] * bend

    def _pull(self, y: Array, e: Array) -> tuple[Array, Array, Array]:
        """(dF/de)/y at squared length y, its derivatives in e and in y; F as in the module's text with q = y, v = e."""
        y = np.asarray(y)[..., None]
        pull, by_e, by_y = np.zeros(e.shape), np.zeros((*e.shape, self._size)), np.zeros(e.shape)
        for alpha, omega, label, off in self._terms:
            l, Oe = (e @ label)[..., None], e @ off
            o = np.sum(e * Oe, axis=-1, keepdims=True)
            D, dD = 1 + y * (o + omega * l**2), 2 * y * (Oe + omega * l * label)
            N = label * (1 + y * o) - l * y * Oe
            dN = 2 * y[..., None] * label[:, None] * Oe[..., None, :] - (y * Oe)[..., None] * label
            dN = dN - (l * y)[..., None] * off
            pull = pull + alpha * l / D**2 * N
            by_e = by_e + alpha * (N[..., None] * (label / D**2 - 2 * l * dD / D**3)[..., None, :] + (l / D**2)[..., None] * dN)
            by_y = by_y + alpha * l * ((label * o - l * Oe) / D**2 - 2 * N * (o + omega * l**2) / D**3)
        return pull, by_e, by_y

    def _equations(self, s: Array, u: Array) -> tuple[Array, Array, Array]:
        """Lambda dF/de / y = Q e at e = (c1, T, tau, kappa) / rho, with k = h/rho given by s; unknowns (y, tau, kappa, ln Lambda)."""
        e, d_s = self._direction(s, u)
        Lambda = np.exp(u[:, -1])[:, None]
        pull, by_e, by_y = self._pull(u[:, 0], e)
        matrix = Lambda[..., None] * by_e - self._Q
        by_u = np.concatenate([(Lambda * by_y)[..., None], matrix[..., 2:], (Lambda * pull)[..., None]], axis=-1)
        return Lambda * pull - e @ self._Q, by_u, np.einsum("nij,nj->ni", matrix, d_s)

    def _direction(self, s: Array, u: Array) -> tuple[Array, Array]:
        """e and de/ds: c1/rho = 1 - k/(L - 1) and T/rho = 1 + k, the former without cancellation."""
        L = self.setup.L
        critical = self._critical[1]
        rho = self._label[1] @ critical / L
        width = (L - 1) * critical[0] / rho                     # L - 1 - k_c
        above, below = width * expit(s), width * expit(-s)
        slope = above * below / width
        near = s < 0                                            # count from the nearer end: both differences are small
        first = np.where(near, critical[0] / rho - above / (L - 1), below / (L - 1))
        e = np.column_stack([first, np.where(near, critical[1] / rho + above, L - below), u[:, 1:-1]])
        d_s = np.zeros_like(e)
        d_s[:, 0], d_s[:, 1] = -slope / (L - 1), slope
        return e, d_s

    def _near_critical(self, P: Array) -> Array:
        """The minimum just above the critical point, from its Landau amplitude."""
        landau, e = self.landau(), self._critical[1]
        amplitude = landau.amplitude * np.sqrt(np.maximum(P - self.critical_P, 0.0)) * landau.direction[0] / e[0]
        return self._polished(amplitude[:, None] * e, P)

    def _polished(self, v: Array, P: Array) -> Array:
        """v after Newton steps to the stationary point beside it."""
        for _ in range(6):
            slope, bend = self._slopes(v, P)
            v = v - np.linalg.solve(bend, slope[..., None])[..., 0]
        return v

    def _on_branch(self, s: Array, P: Array) -> Array:
        """v at the branch points s, NaN where s is; P is consistent with s up to rounding."""
        known = np.isfinite(s)
        u = self._curve.unknowns(np.where(known, s, 0.0))
        e, _ = self._direction(np.where(known, s, 0.0), u)
        rho = np.sqrt(np.maximum(u[:, 0], 0.0) * self.setup.sigma2 / (self.setup.g_O * P))
        return np.where(known, rho, np.nan)[:, None] * e

    def _profile(self, sign: float, r: Array, P: float) -> tuple[Array, Array]:
        """(slope in r = ln |mu_2/mu_1| of the lowest action on the ray, its v); NaN where that is the origin."""
        q = self.setup.g_O * P / self.setup.sigma2
        Lambda = self.setup.g_W * q * P / self.setup.sigma2
        mu = np.stack([1 / np.sqrt(1 + np.exp(2 * r)), sign / np.sqrt(1 + np.exp(-2 * r))])
        w, C, cost = np.zeros((len(r), self._size)), np.zeros((len(r), self._size, self._size)), np.zeros(len(r))
        for m, (alpha, omega, label, off) in zip(mu, self._terms, strict=True):
            w = w + alpha * m[:, None] * label
            C = C + alpha * m[:, None, None] ** 2 * (omega * np.outer(label, label) + off)
            cost = cost + alpha * m**2
        values, vectors = np.linalg.eigh(self._root @ C @ self._root.T)
        values = np.maximum(values, 0.0)
        part = np.einsum("nij,ni->nj", vectors, w @ self._root.T) ** 2
        ordered = np.sum(part, axis=1) * Lambda > cost
        x = np.zeros(len(r))                                    # Newton from below on a decreasing convex function
        for _ in range(200):
            D = 1 + Lambda * x[:, None] * values
            f = Lambda * np.sum(part / D**2, axis=1) - cost
            fall = 2 * Lambda**2 * np.sum(part * values / D**3, axis=1)
            step = np.divide(f, fall, out=np.zeros_like(f), where=ordered)
            x = x + step
            if np.all(~ordered | (step <= 1e-12 * x)):
                break
        K = self._Q / Lambda + x[:, None, None] * C
        z = np.sqrt(x)[:, None] * np.linalg.solve(K, w[..., None])[..., 0]
        slope = np.zeros(len(r))
        for m, turn, (alpha, omega, label, off) in zip(mu, (-mu[1], mu[0]), self._terms, strict=True):
            D = 1 + omega * (z @ label) ** 2 + _square(z, off)
            slope = slope - sign * turn * alpha * ((z @ label) - np.sqrt(x) * m * D)
        return np.where(ordered, slope, np.nan), z / math.sqrt(q)

    def _state(self, v: Array, P: Array) -> CompleteLinearState:
        full = np.concatenate([v, np.zeros((*v.shape[:-1], 4 - self._size))], axis=-1)
        c_G = (full[..., 1] - full[..., 0]) / math.sqrt(self.setup.L)
        fields = (full[..., 0], c_G, self._value(v, P), self._error(v, P), full[..., 2], full[..., 3])
        return CompleteLinearState(*(scalar_or_array(np.asarray(field)) for field in fields))


def _form(x: Array, y: Array) -> Array:
    """Symmetric matrix of the quadratic form (x.v)(y.v)."""
    return (np.outer(x, y) + np.outer(y, x)) / 2


def _square(v: Array, form: Array) -> Array:
    return np.einsum("...i,ij,...j->...", v, form, v)
