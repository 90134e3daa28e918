"""Wrong corrections to Laplace's formula."""

import sympy as sp

s2, s3, s4, scale = sp.symbols("s2 s3 s4 Lambda", positive=True)
gauss = sp.log(2 * sp.pi / (scale * s2)) / 2
cubic, quartic = 5 * s3**2 / (24 * s2**3), s4 / (8 * s2**2)

ANSWERS = [
    gauss,  # the leading order
    gauss + sp.log(1 + (cubic + quartic) / scale),  # the sign of the quartic term
    gauss + sp.log(1 + (5 * s3 / (24 * s2**2) - quartic) / scale),  # the cubic term not squared
    gauss + sp.log(1 + (cubic - quartic / 3) / scale),  # a fourth moment of one
    gauss + sp.log(1 + cubic - quartic),  # Lambda forgotten
]
