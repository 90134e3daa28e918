"""Wrong steps towards equal action."""

import sympy as sp

P, gap, loss_u, loss_c, L, sigma2 = sp.symbols("P gap loss_uniform loss_copy L sigma2", positive=True)

ANSWERS = [
    P - 2 * sigma2 * gap / (L * (loss_u - loss_c)),  # the wrong way
    P + sigma2 * gap / (L * (loss_u - loss_c)),  # half a step
    P + 2 * sigma2 * gap / (loss_u - loss_c),  # not per token
    P + gap * L * (loss_u - loss_c) / (2 * sigma2),  # times the slope
]
