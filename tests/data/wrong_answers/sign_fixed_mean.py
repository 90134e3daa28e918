import numpy as np


def _no_sign(c1, c_G, L):
    return np.mean(c1), np.mean(c_G)


def _sign_of_pooling(c1, c_G, L):
    sign = np.sign(c1)
    return np.mean(sign * c1), np.mean(sign * c_G)


def _absolute_values(c1, c_G, L):
    return np.mean(np.abs(c1)), np.mean(np.abs(c_G))


def _sign_after_averaging(c1, c_G, L):
    sign = np.sign(np.mean(c1) + np.sqrt(L) * np.mean(c_G))
    return sign * np.mean(c1), sign * np.mean(c_G)


ANSWERS = [_no_sign, _sign_of_pooling, _absolute_values, _sign_after_averaging]
