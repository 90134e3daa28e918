"""Wrong prices of constant attention."""

import sympy as sp

c1, c_G = sp.symbols("c_1 c_G", real=True)
L, V, g_W = sp.symbols("L V g_W", positive=True)
rho, discount = c1 + c_G / sp.sqrt(L), V / (L + V)
rest = (1 - 1 / L) * c_G**2

ANSWERS = [
    L**2 / (2 * g_W) * (discount**2 * c1**2 + rest),  # leaves the copy part out of the row sum
    L**2 / (2 * g_W) * (discount * rho**2 + rest),  # the discount not squared
    L**2 / (2 * g_W) * (rho**2 + rest),  # the size of G, without the discount
    L / (2 * g_W) * (discount**2 * rho**2 + rest),  # one power of the length
]
