import numpy as np


def _bound(tanh, ell):
    return 1 + np.exp(2 * (ell - np.arctanh(tanh)))


def _gaussian_always(n):
    return _bound(-1 / np.sqrt(3), np.sqrt(3) / 2)


def _power_not_reduced(n):
    return _bound(-np.sqrt(n / (n + 2)), np.sqrt(n * (n + 2)) / 2)


def _gap_not_rescaled(n):
    tanh = np.sqrt((n - 1) / (n + 1))
    return _bound(-tanh, 1 / (2 * tanh))


def _sign_of_tanh(n):
    return _bound(np.sqrt((n - 1) / (n + 1)), np.sqrt(n**2 - 1) / 2)


ANSWERS = [_gaussian_always, _power_not_reduced, _gap_not_rescaled, _sign_of_tanh]
