"""Wrong widths at which pooling changes its order."""

import numpy as np

ANSWERS = [
    lambda V, chi, g_O, g_W: 4.5 * V * chi,                                         # variances forgotten
    lambda V, chi, g_O, g_W: 4.5 * V / np.sqrt(g_O * g_W),                          # nu, not d
    lambda V, chi, g_O, g_W: 4.5 * V * chi / (g_O * g_W),                           # a root lost
    lambda V, chi, g_O, g_W: 2 * V * chi / np.sqrt(g_O * g_W),                      # the pull of the readout forgotten
]
