"""Wrong prior costs of a kernel."""

import numpy as np

inverse = np.linalg.inv
ANSWERS = [
    lambda T, C, g_W: np.sum(T**2) / (2 * g_W),                                    # the metric forgotten
    lambda T, C, g_W: np.trace(inverse(C) @ T @ T.T) / (2 * g_W),                  # on one side only
    lambda T, C, g_W: np.trace(C @ T @ C @ T.T) / (2 * g_W),                       # lowered instead of raised
    lambda T, C, g_W: np.sum((inverse(C) @ T @ inverse(C)) ** 2) / (2 * g_W),      # the inverse for its root
    lambda T, C, g_W: np.trace(inverse(C) @ T @ inverse(C) @ T) / (2 * g_W),       # a transpose lost
]
