"""Wrong estimates of the point of equal action."""

import sympy as sp

x, gap, pooled, copy, L = sp.symbols("x gap pooled copy L", positive=True)

ANSWERS = [
    x - gap / (L * (pooled - copy) / 2),  # the other way
    x + gap / (L * (pooled - copy)),  # without the half
    x + gap / ((pooled - copy) / 2),  # without the length
    x + gap / (L * (pooled + copy) / 2),  # the mean loss for the difference
]
