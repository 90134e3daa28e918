import numpy as np


def _two_layers(t, k1, k2, k3):
    return np.sqrt(k1 * k2) * abs(t)


def _without_the_factor(t, k1, k2, k3):
    return np.cbrt(k1 * k2 * k3 * t**2)


def _equal_factors(t, k1, k2, k3):
    return (k1 + k2 + k3) * np.cbrt(t**2) / 2


def _sign_kept(t, k1, k2, k3):
    return 1.5 * np.cbrt(k1 * k2 * k3) * np.cbrt(t)


ANSWERS = [_two_layers, _without_the_factor, _equal_factors, _sign_kept]
