"""Wrong numbers of steps."""

import numpy as np


def _steps(rate, distance, tolerance):
    return max(0, int(np.ceil(np.log(distance / tolerance) / rate)))


def _rate(lam, eta):
    return -np.log(max(abs(1 - eta * lam), 1e-300))


ANSWERS = [
    lambda lam, eta, distance, tolerance: _steps(eta * lam, distance, tolerance),                  # continuous time
    lambda lam, eta, distance, tolerance: np.log(distance / tolerance) / _rate(lam, eta),          # not whole
    lambda lam, eta, distance, tolerance: int(np.ceil(np.log(distance / tolerance) / _rate(lam, eta))),   # negative
    lambda lam, eta, distance, tolerance: _steps(2 * _rate(lam, eta), distance, tolerance),        # of the squared distance
    lambda lam, eta, distance, tolerance: _steps(_rate(lam, eta), distance, tolerance) + 1,        # one too many
]
