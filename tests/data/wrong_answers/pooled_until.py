import numpy as np


def _r(L, V, k1):
    return np.sqrt(k1 * (V - 1)) * L**3 / (L - 1)


def _limit_only(L, V, k1):
    return 2 * _r(L, V, k1)


def _squared_condition(L, V, k1):
    alpha, r = (V - L) / (L * V * (V - 1)), np.sqrt(_r(L, V, k1))
    return r + np.sqrt(r**2 + r / alpha)


def _other_root(L, V, k1):
    alpha, r = (V - L) / (L * V * (V - 1)), _r(L, V, k1)
    return r - np.sqrt(r**2 + r / alpha)


def _softmax_stiffness_twice(L, V, k1):
    alpha, r = (V - L) / (L * V * (V - 1)), L**3
    return r + np.sqrt(r**2 + r / alpha)


ANSWERS = [_limit_only, _squared_condition, _other_root, _softmax_stiffness_twice]
