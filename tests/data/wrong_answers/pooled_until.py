"""Wrong ends of the pooled state."""

import sympy as sp

L, V, k1 = sp.symbols("L V k_1", positive=True)
alpha = (V - L) / (L * V * (V - 1))
r = sp.sqrt(k1 * (V - 1)) * L**3 / (L - 1)


def larger_root(r):
    return r + sp.sqrt(r**2 + r / alpha)



ANSWERS = [
    2 * r,  # the limit only
    larger_root(sp.sqrt(r)),  # the condition squared
    r - sp.sqrt(r**2 + r / alpha),  # the other root
    larger_root(L**3),  # the stiffness of the factors forgotten
]
