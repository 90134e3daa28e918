"""Wrong sizes of the noise of attention."""

import sympy as sp

L, V, k, g_W, chi = sp.symbols("L V k g_W chi", positive=True)
BLOCKS = [(V**2, 1 / V**2), (2 * V * L, 1 / (V * L)), (L**2, 1 / L**2)]


def noise(blocks, slope, factor=2):
    return sum(number * share * g_W / chi / (1 + factor * slope * share * g_W) for number, share in blocks)



ANSWERS = [
    noise([(V**2, 1 / V**2), (V * L, 1 / (V * L)), (L**2, 1 / L**2)], k),  # one mixed block
    noise(BLOCKS, k, factor=1),  # the factor two forgotten
    4 * g_W / chi,  # the noise of the prior at any k
    noise([(4 * L**2, 1 / L**2)], k),  # every entry alike
    noise(BLOCKS, chi * k),  # chi in the stiffness
]
