import numpy as np
from scipy.optimize import brentq


def _solve(k, L, V, upper_power=2, wave=1.0):
    A, w, a, b = 1 + L / V, 1 / (L - 1), (L * V / (L + V)) ** 2, L**2 / (L - 1)

    def excess(y):
        line = (a - b * k) * V + (1 - w * k) * (a + b * k**2) * y
        return wave * (V - 1) * (1 + k) * line - b * k * L * A * ((V + (1 + w * k**2) * y) / (1 + A * y)) ** upper_power

    y = brentq(excess, 0, 1e12, xtol=1e-14)
    P = np.sqrt(b * k * V / ((V - 1) * (1 + k) * (V + (1 - w * k) * y))) * (V + (1 + w * k**2) * y)
    return y, w, P


def _right(k, L, V):
    y, w, P = _solve(k, L, V)
    rho = np.sqrt(y / P)
    return rho * (1 - w * k), np.sqrt(L) * w * k * rho, P


def _square_of_P(k, L, V):
    c1, c_G, P = _right(k, L, V)
    return c1, c_G, P**2


def _row_sum_for_pooling(k, L, V):
    y, w, P = _solve(k, L, V)
    rho = np.sqrt(y / P)
    return rho, np.sqrt(L) * w * k * rho, P


def _constant_block_not_squared(k, L, V):
    y, w, P = _solve(k, L, V, upper_power=1, wave=3.0)
    rho = np.sqrt(y / P)
    return rho * (1 - w * k), np.sqrt(L) * w * k * rho, P


def _root_of_y_forgotten(k, L, V):
    y, w, P = _solve(k, L, V)
    return y / P * (1 - w * k), np.sqrt(L) * w * k * y / P, P


ANSWERS = [_square_of_P, _row_sum_for_pooling, _constant_block_not_squared, _root_of_y_forgotten]
