"""Wrong lengths of learned position embeddings."""

import numpy as np
from scipy.optimize import brentq

ANSWERS = [
    lambda ell, nu, g_W: 1 + 2 * ell**2 / (nu * g_W),                                       # first order only
    lambda ell, nu, g_W: float(np.cbrt(2 * ell**2 / (nu * g_W))),                           # entropy forgotten
    lambda ell, nu, g_W: brentq(lambda x: x**2 - x - 2 * ell**2 / (nu * g_W), 1, 1e6),      # one factor of C only
    lambda ell, nu, g_W: brentq(lambda x: x**3 - x**2 - ell**2 / (nu * g_W), 1, 1e6),       # half of the cost
]
