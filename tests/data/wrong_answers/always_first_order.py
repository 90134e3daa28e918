"""Wrong lengths from which softmax attention always jumps under another prior."""

import sympy as sp

n = sp.Symbol("n", positive=True)


def bound(tanh, ell):
    return 1 + sp.exp(2 * (ell - sp.atanh(tanh)))


root = sp.sqrt((n - 1) / (n + 1))

ANSWERS = [
    bound(-1 / sp.sqrt(3), sp.sqrt(3) / 2),  # that of the Gaussian prior
    bound(-sp.sqrt(n / (n + 2)), sp.sqrt(n * (n + 2)) / 2),  # the power not reduced by one
    bound(-root, 1 / (2 * root)),  # the gap not rescaled
    bound(root, sp.sqrt(n**2 - 1) / 2),  # the sign of the tanh
]
