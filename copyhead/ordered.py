"""The ordered branch of linear attention: from the critical point (pooling) to pure copying.

Notation of ``linear.py``.  Eliminating Pi from the two stationarity conditions leaves, at each ratio k = h/rho, a cubic in
y = q rho^2 with one positive root, and then Pi itself:

    (V-1) (1+k) (1 + A y)^2 [a E - b k F] = b k L A D^2,   Pi = b k V D^2 / ((V-1) (1+k) E),
    D = V + (1 + w k^2) y,   E = V + (1 - w k) y,   F = V - k (1 - w k) y.

k_c < k < L - 1 is mapped to s = ln[(k - k_c)/(L - 1 - k)], so that neither end loses digits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from copyhead.setup import Setup

Array = NDArray[np.float64]

ORDERED_GRID = np.linspace(-64.0, 64.0, 1281)


def critical_ratios(L: int, V: int) -> tuple[float, float]:
    """k_c and kappa_0: the null directions h/rho = k_c and h/rho = -kappa_0 of the Hessian at the origin.

    Roots of (V-1)(1+k)(a - b k) = b k L (L+V), written without cancellation.
    """
    r0 = V**2 * (L - 1) / (L + V) ** 2  # a / b
    half = ((V - 1) * (1 - r0) + L * (L + V)) / 2
    root = math.sqrt(half**2 + (V - 1) ** 2 * r0)
    return (V - 1) * r0 / (half + root), (half + root) / (V - 1)


def ordered_point(setup: Setup, a: float, b: float, s: Array) -> tuple[Array, Array, Array, Array, Array]:
    """(ln(P/sigma2), its derivative in s, y, k, c1/rho) on the ordered branch; ``a``, ``b``: the prior's stiffnesses."""
    L, V, w = setup.L, setup.V, 1 / (setup.L - 1)
    k_c, kappa_0 = critical_ratios(L, V)
    width = L - 1 - k_c
    above, below = width * expit(s), width * expit(-s)  # k - k_c and L - 1 - k, both without cancellation
    k, j, A = k_c + above, w * below, L / V + 1
    g = 1 + w * k**2
    M = b * k * L * A / ((V - 1) * (1 + k))
    slope = j * (a + b * k**2)
    start = V * b * above * (k + kappa_0) / (1 + k)  # minus the cubic at y = 0
    y = _ordered_root(slope, start, M, g, A, V)
    D, E = V + g * y, V + j * y
    log_p = 0.5 * np.log(b * k * V * D**2 / (setup.g_O * (V - 1) * (1 + k) * E))
    # implicit differentiation: dy/dk = -phi_k / phi_y with phi = slope y + a V - b k V - M ratio^2
    ratio = (V + g * y) / (1 + A * y)
    phi_y = slope - 2 * M * ratio * (g - A * V) / (1 + A * y) ** 2
    phi_k = y * (2 * b * k * j - w * (a + b * k**2)) - b * V - M / (k * (1 + k)) * ratio**2
    phi_k = phi_k - 2 * M * ratio * 2 * w * k * y / (1 + A * y)
    dy = -phi_k / phi_y
    d_log = 1 / (k * (1 + k)) + 2 * (2 * w * k * y + g * dy) / D - (j * dy - w * y) / E
    return log_p, 0.5 * d_log * above * below / width, y, k, j


def _ordered_root(slope: Array, start: Array, M: Array, g: Array, A: float, V: int) -> Array:
    """Root y >= 0 of phi(y) = slope y - start + M (V^2 - ((V + g y)/(1 + A y))^2).

    g < A V on the branch, so phi is increasing and concave: Newton's method from a lower bound climbs to it monotonically.
    The difference of squares is factored so that phi keeps its relative precision at small y.
    """
    floor = g / A
    y = np.maximum(0.0, (start - M * (V - floor) * (V + floor)) / slope)
    for _ in range(200):
        ratio = (V + g * y) / (1 + A * y)
        phi = slope * y - start + M * y * (A * V - g) / (1 + A * y) * (V + ratio)
        step = phi / (slope + 2 * M * ratio * (A * V - g) / (1 + A * y) ** 2)
        y = y - step
        if np.all(step >= -1e-9 * y):  # convergence is quadratic: the step just made leaves rounding only
            break
    return y
