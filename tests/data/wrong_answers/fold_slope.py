import numpy as np


def _parts(ell, y, L):
    m = 1 / (1 + (L - 1) * np.exp(-ell))
    u2, R = L * (m**2 + (1 - m) ** 2 / (L - 1)), L * (1 - m) / (L - 1)
    return m, u2, R, 2 * L * m * (1 - m) * (L * m - 1) / (L - 1)


def _without_data(ell, y, L):
    m, *_ = _parts(ell, y, L)
    return 1 / ell - 2 + 3 * m


def _square_forgotten(ell, y, L):
    m, u2, R, du2 = _parts(ell, y, L)
    return 1 / ell - 2 + 3 * m + y * du2 / (1 + y * u2) + y * R * m / (1 + y * R)


def _last_sign(ell, y, L):
    m, u2, R, du2 = _parts(ell, y, L)
    return 1 / ell - 2 + 3 * m + 2 * y * du2 / (1 + y * u2) - y * R * m / (1 + y * R)


def _derivative_in_m(ell, y, L):
    m, u2, R, du2 = _parts(ell, y, L)
    return 1 / ell - 2 + 3 * m + 2 * y * du2 / (m * (1 - m)) / (1 + y * u2) + y * R * m / (1 + y * R)


ANSWERS = [_without_data, _square_forgotten, _last_sign, _derivative_in_m]
