"""The actions as SymPy expressions in the printed form, differences and all: an independent route for the tests."""

from __future__ import annotations

from functools import cache

import sympy as sp

L, V, P, s2, g_O, g_W = sp.symbols("L V P sigma2 g_O g_W", positive=True)
c1, c_G = sp.symbols("c1 c_G", real=True)
a_G = sp.symbols("a_G", real=True)


def _data(T: sp.Expr, u2: sp.Expr, rho: sp.Expr) -> sp.Expr:
    """Eq. (15)."""
    shared = (P * L / V) / (2 * (g_O * P * rho**2 * (L / V + 1) + s2))
    tokens = (V - 1) / 2 * (P * L / (V * s2) - g_O * P**2 * T**2 / (V**2 * s2 * (s2 + g_O * P * u2 / V)))
    return shared + tokens


@cache
def linear_action() -> sp.Expr:
    """Eqs. (12) + (15)."""
    form = V**2 * c1**2 + 2 * V**2 / sp.sqrt(L) * c1 * c_G + ((L + V) ** 2 - L - 2 * V) * c_G**2
    prior = L**2 / (2 * g_W * (L + V) ** 2) * form
    u2 = c1**2 + 2 * c1 * c_G / sp.sqrt(L) + c_G**2
    return prior + _data(c1 + sp.sqrt(L) * c_G, u2, c1 + c_G / sp.sqrt(L))


@cache
def softmax_action(prior: str) -> sp.Expr:
    """Eq. (19), with the integrated-out prior ("exact") or the c1 = 0 slice ("paper")."""
    stiffness = L - 1 if prior == "exact" else L * ((L + V) ** 2 - L - 2 * V) / (L + V) ** 2
    m = (1 + (L - 1) / sp.sqrt(L) * a_G) / L
    ell = sp.log((L - 1) * m / (1 - m))
    u2 = L * (m**2 + (1 - m) ** 2 / (L - 1))
    return stiffness / (2 * g_W) * ell**2 + _data(L * m, u2, sp.Integer(1))


def loss(action: sp.Expr) -> sp.Expr:
    """Loss per token from -sigma2^2 dS/dsigma2 at fixed order parameters, times 2/(P L)."""
    return -2 * s2**2 / (P * L) * sp.diff(action, s2)
