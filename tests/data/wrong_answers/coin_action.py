import numpy as np


def _fair(m, q):
    return (1 + m) / 2 * np.log(1 + m) + (1 - m) / 2 * np.log(1 - m)


def _heads_and_tails_swapped(m, q):
    x = (1 + m) / 2
    return x * np.log(x / (1 - q)) + (1 - x) * np.log((1 - x) / q)


def _entropy_only(m, q):
    x = (1 + m) / 2
    return x * np.log(x) + (1 - x) * np.log(1 - x)


def _sign(m, q):
    x = (1 + m) / 2
    return -x * np.log(x / q) - (1 - x) * np.log((1 - x) / (1 - q))


def _gaussian(m, q):
    return (m - (2 * q - 1)) ** 2 / (8 * q * (1 - q))


ANSWERS = [_fair, _heads_and_tails_swapped, _entropy_only, _sign, _gaussian]
