"""Wrong effective sizes."""

import numpy as np


def _size(phi, n, factor=2.0, taper=True, power=1):
    t = np.arange(1, n)
    return n / (1 + factor * np.sum((1 - taper * t / n) * phi ** (power * t)))


ANSWERS = [
    lambda phi, n: _size(phi, n, taper=False),                   # for long chains only
    lambda phi, n: _size(phi, n, factor=1.0),                    # every pair once
    lambda phi, n: _size(phi, n, power=2),                       # the ESS of a variance
    lambda phi, n: n * (1 - phi) / (1 + phi),                    # the limit
    lambda phi, n: 1 / _size(phi, n),                            # a variance
]
