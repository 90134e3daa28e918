r"""The action of linear attention with all four order parameters, as quadratic forms.

In coordinates v = (c1, T, tau, kappa), T = c1 + sqrt(L) c_G, the attention of ``complete.py`` has g = T - a and
a = c1 - (kappa + c tau)/(L - 1), c = 1 - 1/V: c1 and c_G are the coefficients of the *mean* attention, as for a fit.  Then

    S = p [L/2 - F] + v.Q v / (2 g_W),  F = sum_i q alpha_i (l_i.v)^2 / (2 D_i),  D_i = 1 + q [omega_i (l_i.v)^2 + v.O_i v],

p = P/sigma2, q = g_O p: one term for the V - 1 modes that tell tokens apart (l.v = T), one for the mode shared by all tokens
(l.v = m, L times the row sum).  With O_i, what the best readout leaves unexplained, nothing cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from copyhead.data_term import Array


@dataclass(frozen=True)
class Term:
    """alpha, omega, l and O of one term of F; alpha / omega is its label power."""

    alpha: float
    omega: float
    label: Array
    off: Array

    def parts(self, v: Array, q: Array) -> tuple[Array, Array]:
        """(n, D) with n = 1 + q v.O v: the unexplained share of the label power is n / D."""
        n = 1 + q * square(v, self.off)
        return n, n + q * self.omega * (v @ self.label) ** 2


class CompleteForms:
    """Everything in the action that depends on L and V only.

    ``size`` is the number of coordinates: 4, or 3 for L = 2, where kappa is redundant and fixed to zero.  ``Q`` is the
    prior, ``root`` the inverse of its Cholesky factor.
    """

    def __init__(self, L: int, V: int) -> None:
        self.L, self.V, self.size = L, V, 4 if L > 2 else 3
        w, c = 1 / (L - 1), 1 - 1 / V
        b, d = (L + V - 2) / V, (L**2 + 3 * L * V - 6 * L + V**2 - 5 * V + 6) / V**2
        c1, T, tau, kappa = np.eye(4)[:, : self.size]
        a = c1 - w * (kappa + c * tau)
        g, m = T - a, T + (L - 1) * c1
        mean = a + (g + kappa) / L
        off = (L - 1) * form(a, a) + 2 * form(a, kappa + b * tau) + form(kappa, kappa)
        off += 2 * b * form(tau, kappa) + d * form(tau, tau)
        beta = (L + V) / (L**2 * V)
        self.terms = (Term((V - 1) / V**2, 1 / (L * V), T, off / (L * V)),
                      Term((L + V) / (L * V**2), beta, m, beta * (L - 1) * c / V * form(tau, tau)))
        norm = (L * V / (L + V)) ** 2 * form(mean, mean) + (V - 1) * form(tau, tau)
        self.Q = norm + L * (form(g, g) + form(kappa, kappa)) - form(g + kappa, g + kappa)
        self.root = np.linalg.inv(np.linalg.cholesky(self.Q))
        # (c1, T, tau, kappa) from (c1, c_G, tau, kappa)
        self.chart = np.eye(4)[: self.size]
        self.chart[1, :2] = 1.0, math.sqrt(L)
        half = np.stack([math.sqrt(term.alpha) * self.root @ term.label for term in self.terms])
        values, vectors = np.linalg.eigh(half @ half.T)
        soft = self.root.T @ (half.T @ vectors[:, -1])
        self.gain = float(values[-1])                           # the critical point has g_O g_W p^2 = 1 / gain,
        self.soft = soft * np.sign(m @ soft)                    # in this direction

    def pull(self, y: Array, e: Array) -> tuple[Array, Array, Array]:
        """(dF/de)/y at q = y, v = e, shape (..., size), with its derivatives in e and in y."""
        y = np.asarray(y)[..., None]
        pull, by_e, by_y = np.zeros(e.shape), np.zeros((*e.shape, self.size)), np.zeros(e.shape)
        for term in self.terms:
            label, x, Oe = term.label, (e @ term.label)[..., None], e @ term.off
            o = np.sum(e * Oe, axis=-1, keepdims=True)
            power = o + term.omega * x**2
            D, dD = 1 + y * power, 2 * y * (Oe + term.omega * x * label)
            N = label * (1 + y * o) - x * y * Oe
            dN = 2 * y[..., None] * label[:, None] * Oe[..., None, :] - (y * Oe)[..., None] * label
            dN = dN - (x * y)[..., None] * term.off
            pull = pull + term.alpha * x / D**2 * N
            turn = label / D**2 - 2 * x * dD / D**3
            by_e = by_e + term.alpha * (N[..., None] * turn[..., None, :] + (x / D**2)[..., None] * dN)
            by_y = by_y + term.alpha * x * ((label * o - x * Oe) / D**2 - 2 * N * power / D**3)
        return pull, by_e, by_y

    def lowest_on_ray(self, sign: float, r: Array, Lambda: float) -> tuple[Array, Array]:
        """Scan over the angle: (slope in r of the lowest action on the ray, its sqrt(q) v); NaN where that is the origin.

        alpha (l.v)^2/D is the maximum over mu of alpha (2 mu l.v - mu^2 D).  So the action is a minimum over two
        multipliers, and quadratic in v where they are fixed.  Without v it is a function of (mu_1, mu_2) with the same
        minima, and convex in the squared length along each ray (1, ``sign`` e^r): a scan over r misses no minimum.
        ``Lambda`` = g_O g_W p^2.
        """
        mu = np.stack([1 / np.sqrt(1 + np.exp(2 * r)), sign / np.sqrt(1 + np.exp(-2 * r))])
        w, C, cost = np.zeros((len(r), self.size)), np.zeros((len(r), self.size, self.size)), np.zeros(len(r))
        for m, term in zip(mu, self.terms, strict=True):
            w = w + term.alpha * m[:, None] * term.label
            C = C + term.alpha * m[:, None, None] ** 2 * (term.omega * form(term.label, term.label) + term.off)
            cost = cost + term.alpha * m**2
        values, vectors = np.linalg.eigh(self.root @ C @ self.root.T)
        values = np.maximum(values, 0.0)
        part = np.einsum("nij,ni->nj", vectors, w @ self.root.T) ** 2
        ordered = Lambda * np.sum(part, axis=1) > cost
        x = np.zeros(len(r))                                    # Newton from below on a decreasing convex function
        for _ in range(200):
            D = 1 + Lambda * x[:, None] * values
            f = Lambda * np.sum(part / D**2, axis=1) - cost
            fall = 2 * Lambda**2 * np.sum(part * values / D**3, axis=1)
            step = np.divide(f, fall, out=np.zeros_like(f), where=ordered)
            x = x + step
            if np.all(step <= 1e-12 * x):
                break
        K = self.Q / Lambda + x[:, None, None] * C
        z = np.sqrt(x)[:, None] * np.linalg.solve(K, w[..., None])[..., 0]
        slope = np.zeros(len(r))
        for m, turn, term in zip(mu, (-mu[1], mu[0]), self.terms, strict=True):
            D = term.parts(z, np.ones(len(r)))[1]
            slope = slope - sign * turn * term.alpha * ((z @ term.label) - np.sqrt(x) * m * D)
        return np.where(ordered, slope, np.nan), z


def form(x: Array, y: Array) -> Array:
    """Symmetric matrix of the quadratic form (x.v)(y.v)."""
    return (np.outer(x, y) + np.outer(y, x)) / 2


def square(v: Array, matrix: Array) -> Array:
    """v.matrix v over the last axis."""
    return np.sum(v @ matrix * v, axis=-1)
