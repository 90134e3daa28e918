"""Wrong noise floors of uniform softmax attention."""

import sympy as sp

L, V, g_W, chi = sp.symbols("L V g_W chi", positive=True)
place, token = 1 - 1 / L, 1 - 1 / V

ANSWERS = [
    4 * g_W / chi,  # linear attention's
    2 * g_W / chi * (place + token),  # tokens as if sequences were endless
    g_W / chi * place * (1 + token),  # a query with one 1
    2 * g_W / chi * place * token,  # tokens alone
    2 * g_W * place * (1 + token),  # chi forgotten
]
