"""Minima of the linear action with a negative row sum: c1 < 0 < c_G.

With kappa = h / |rho| > 1 (notation of ``linear.py``) the ray condition gives y = q rho^2 uniquely; what is left is the sign
of dS/dkappa along the profile of ray minima.  The slope rises through zero at a minimum,
which never is the global one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from copyhead.roots import all_roots
from copyhead.setup import Setup

Array = NDArray[np.float64]

_GRID = np.linspace(-30.0, 40.0, 1401)  # ln(kappa - 1)


def mirror_ratios(setup: Setup, a: float, b: float, P: float) -> Iterator[tuple[float, float]]:
    """Yield (kappa, y) of each minimum with opposite signs of rho and h; ``a``, ``b`` are the prior's stiffnesses."""
    for s, rises in all_roots(lambda s: _profile(setup, a, b, P, s)[0], _GRID):
        if rises:
            yield 1 + float(np.exp(s)), float(_profile(setup, a, b, P, np.array([s]))[1][0])


def _profile(setup: Setup, a: float, b: float, P: float, s: Array) -> tuple[Array, Array]:
    """(sign-carrying slope dS/dkappa up to a positive factor, y); NaN where the ray's minimum is the origin."""
    L, V, p = setup.L, setup.V, P / setup.sigma2
    gap, w, A = np.exp(s), 1 / (L - 1), L / V + 1
    kappa, Pi = 1 + gap, setup.g_O * p * p
    g, j = 1 + w * kappa**2, 1 + w * kappa
    # ray: stiff = F0/(1 + A y)^2 + F1/(1 + g y/V)^2, right side decreasing and convex in y
    stiff, F0, F1 = a + b * kappa**2, Pi * L * A / V, Pi * (V - 1) / V**2 * gap**2
    ordered = F0 + F1 > stiff
    y = np.maximum((np.sqrt(F0 / stiff) - 1) / A, (np.sqrt(F1 / stiff) - 1) * V / g)
    y = np.where(ordered, np.maximum(y, 0.0), 0.0)
    for _ in range(100):
        d0, d1 = 1 + A * y, 1 + g * y / V
        f = stiff - F0 / d0**2 - F1 / d1**2
        step = np.where(ordered, f / (2 * A * F0 / d0**3 + 2 * g / V * F1 / d1**3), 0.0)
        y = y - step
        if np.all(step >= -1e-9 * y):  # monotone from below, quadratic
            break
    # dS/drho of the ray's minimum; equal to |h/rho| dS/dh there, but free of cancellation at large kappa
    slope = F0 / (1 + A * y) ** 2 - a - Pi * (V - 1) / V * gap * (V + kappa * j * y) / (V + g * y) ** 2
    return np.where(ordered, slope, np.nan), y
