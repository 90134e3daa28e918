"""Wrong decays that go with a mean loss."""

import sympy as sp

P, L, sigma2, variance = sp.symbols("P L sigma2 variance", positive=True)

ANSWERS = [
    1 / variance,  # the decay of the action itself
    sigma2 / variance,  # of the summed loss, without a half
    sigma2 / (P * L * variance),  # the factor 2 of the square forgotten
    2 * sigma2 * variance / (P * L),  # variance in place of precision
]
