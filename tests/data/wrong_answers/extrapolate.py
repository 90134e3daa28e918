"""Wrong extrapolations to infinite dimension."""

import numpy as np

ANSWERS = [
    lambda d, x: x[np.argmax(d)],                                                          # the largest d alone
    lambda d, x: np.polyfit(1 / d, x, 1)[1],                                               # without weights
    lambda d, x: np.polyfit(1 / d, x, 1, w=d)[1],                                          # the variance taken as 1/d^2
    lambda d, x: np.polyfit(1 / np.sqrt(d), x, 1, w=np.sqrt(d))[1],                        # a bias of d^-1/2
    lambda d, x: (d * x).sum() / d.sum(),                                                  # a mean, no extrapolation
]
