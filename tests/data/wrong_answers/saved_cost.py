import sympy as sp

eps, G0, g_W = sp.symbols("epsilon G0 g_W", positive=True)

ANSWERS = [
    2 * eps**2 * G0**4 / g_W**2,  # the cost of moving Q forgotten
    -(eps**2) * G0**4 / g_W**2,  # sign
    eps * G0**2 / (2 * g_W),  # the whole cost instead of what is saved of it
    eps**2 * G0**4 / g_W,  # a square forgotten
    eps**2 * G0**4 / g_W**2 - 4 * eps**3 * G0**6 / g_W**3,  # more than the leading order
    2 * eps * G0**2 / g_W,  # the shift of Q
]
