"""Wrong actions of the mean of loaded coins."""

import sympy as sp

m, q = sp.symbols("m q", real=True)
x = (1 + m) / 2

ANSWERS = [
    x * sp.log(2 * x) + (1 - x) * sp.log(2 * (1 - x)) + 0 * q,  # a fair coin
    x * sp.log(x / (1 - q)) + (1 - x) * sp.log((1 - x) / q),  # heads and tails exchanged
    x * sp.log(x) + (1 - x) * sp.log(1 - x),  # the entropy only
    -x * sp.log(x / q) - (1 - x) * sp.log((1 - x) / (1 - q)),  # the sign
    (m - (2 * q - 1)) ** 2 / (8 * q * (1 - q)),  # the Gaussian at the minimum
]
