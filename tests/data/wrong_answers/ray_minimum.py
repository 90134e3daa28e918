import numpy as np
from scipy.optimize import brentq, minimize_scalar


def _slope(x, alpha, a0, kappa, b, d):
    return alpha - a0 * kappa / (1 + kappa * x) ** 2 - b / (1 + d * x) ** 2


def _never_zero(alpha, a0, kappa, b, d):
    return max((np.sqrt((a0 * kappa + b) / alpha) - 1) / max(kappa, d), 1e-3)


def _small_box(alpha, a0, kappa, b, d):
    c = (alpha, a0, kappa, b, d)
    return 0.0 if _slope(0, *c) >= 0 else minimize_scalar(lambda x: _slope(x, *c) ** 2, bounds=(0, 10), method="bounded").x


def _gain_not_squared(alpha, a0, kappa, b, d):
    def slope(x):
        return alpha - a0 * kappa / (1 + kappa * x) ** 2 - b / (1 + d * x)

    return 0.0 if slope(0) >= 0 else brentq(slope, 0, 1e9)


def _length_instead_of_square(alpha, a0, kappa, b, d):
    c = (alpha, a0, kappa, b, d)
    return 0.0 if _slope(0, *c) >= 0 else brentq(_slope, 0, 1e9, args=c) ** 0.5


ANSWERS = [_never_zero, _small_box, _gain_not_squared, _length_instead_of_square]
