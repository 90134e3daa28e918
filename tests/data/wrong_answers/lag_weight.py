import numpy as np


def _still_T(c1, c_G, L, b):
    return c1 + np.sqrt(L) * c_G


def _not_cyclic(c1, c_G, L, b):
    """Forgets that one place ahead is one place back when there are two."""
    return c1 + np.sqrt(L) * c_G if b == 1 else c1


def _backwards_is_negative(c1, c_G, L, b):
    return c1 + np.sqrt(L) * c_G * np.sign(b) if b % L in (1, L - 1) else c1


def _raw_coefficient(c1, c_G, L, b):
    return c1 + c_G / np.sqrt(L) if (b - 1) % L == 0 else c1


def _pooling_earns_nothing(c1, c_G, L, b):
    return c1 + np.sqrt(L) * c_G if (b - 1) % L == 0 else 0.0


ANSWERS = [_still_T, _not_cyclic, _backwards_is_negative, _raw_coefficient, _pooling_earns_nothing]
