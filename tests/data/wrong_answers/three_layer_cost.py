"""Wrong costs of a product of three."""

import sympy as sp

t, k1, k2, k3 = sp.symbols("t k_1 k_2 k_3", positive=True)

ANSWERS = [
    sp.sqrt(k1 * k2) * t,  # two layers
    sp.cbrt(k1 * k2 * k3 * t**2),  # without the factor
    (k1 + k2 + k3) * sp.cbrt(t**2) / 2,  # equal factors, not equal costs
    sp.Rational(3, 2) * sp.cbrt(k1 * k2 * k3 * t),  # the square forgotten
]
