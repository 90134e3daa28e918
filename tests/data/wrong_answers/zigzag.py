"""Wrong zigzags through the parity."""

import numpy as np

ANSWERS = [
    lambda s: (-2.0, 2.0 * (-1.0) ** np.arange(s - 1)),                          # flattens, does not turn
    lambda s: (-2.0, 4.0 * np.ones(s - 1)),                                      # turns up and up
    lambda s: (-1.0, 2.0 * (-1.0) ** np.arange(s - 1)),                          # parity as 1 and 0
    lambda s: (-2.0, 4.0 * (-1.0) ** np.arange(1, s)),                           # turns the wrong way first
]
