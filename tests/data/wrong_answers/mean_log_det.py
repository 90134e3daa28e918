"""Wrong means of the logarithm of the determinant."""

import numpy as np
from scipy.special import digamma

ANSWERS = [
    lambda n, d: 0.0,                                                                       # of the mean of C
    lambda n, d: -n * (n + 1) / (2 * d),                                                    # the first order only
    lambda n, d: float(digamma((d - np.arange(n)) / 2).sum() + n * np.log(2)),              # d forgotten
    lambda n, d: n * float(digamma(d / 2) + np.log(2 / d)),                                 # all degrees of freedom equal
    lambda n, d: float(np.log((d - np.arange(n)) / d).sum()),                               # logarithm of the mean
]
