"""Wrong shifts of the transition."""

import numpy as np

ANSWERS = [
    lambda P, slope, K_low, K_high, n, nu: P + np.sum(n * (K_high**2 - K_low**2)) / (4 * nu * slope),      # wrong way
    lambda P, slope, K_low, K_high, n, nu: P - np.sum(n * (K_high - K_low) ** 2) / (4 * nu * slope),       # wrong square
    lambda P, slope, K_low, K_high, n, nu: P - np.sum(K_high**2 - K_low**2) / (4 * nu * slope),            # n forgotten
    lambda P, slope, K_low, K_high, n, nu: P - np.sum(n * (K_high**2 - K_low**2)) / (2 * nu * slope),      # factor of two
]
