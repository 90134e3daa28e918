"""Wrong widths at which pooling changes its order."""

import sympy as sp

V, chi, g_O, g_W = sp.symbols("V chi g_O g_W", positive=True)
ratio = sp.Rational(9, 2) * V

ANSWERS = [
    ratio * chi,  # variances forgotten
    ratio / sp.sqrt(g_O * g_W),  # nu, not d
    ratio * chi / (g_O * g_W),  # a root lost
    2 * V * chi / sp.sqrt(g_O * g_W),  # the pull of the readout forgotten
]
