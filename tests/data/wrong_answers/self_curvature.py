"""Wrong curvatures of the prior along attention to oneself."""

import sympy as sp

L, g_W = sp.symbols("L g_W", positive=True)

ANSWERS = [
    L / g_W,  # leaves out that the mean is fixed
    (L - 1) / g_W,  # at fixed a and g: L kappa^2 - kappa^2
    L * (L - 2) / (2 * (L - 1) * g_W),  # half
    L * (L - 2) / (L - 1) * g_W,  # the variance multiplied
]
