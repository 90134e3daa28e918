"""Wrong generating functions of an attention element."""

import sympy as sp

t, v, d_k = sp.symbols("t v d_k", positive=True)

ANSWERS = [
    v * t**2 / 2,  # Gaussian
    -sp.log(1 - v * t**2 / d_k) / 2,  # the logarithm of one of the d_k terms
    -d_k / 2 * sp.log(1 + v * t**2 / d_k),  # an imaginary source: the characteristic function
    -d_k / 2 * sp.log(1 - v * t**2 / (2 * d_k)),  # the variance not shared
]
