import numpy as np


def _two_sides_of_the_coin(x, K):
    """The factor 2^-N is divided out already."""
    return K * x**2 / 2 - np.log(2 * np.cosh(K * x))


def _only_heads(x, K):
    return K * x**2 / 2 - K * x


def _sign(x, K):
    return K * x**2 / 2 + np.log(np.cosh(K * x))


def _coupling_outside(x, K):
    return K * x**2 / 2 - np.log(np.cosh(x))


def _other_variable(x, K):
    """Right for K x, whose Gaussian has another width."""
    return x**2 / (2 * K) - np.log(np.cosh(x))


def _four_terms(x, K):
    return K * (1 - K) * x**2 / 2 + (K * x) ** 4 / 12


ANSWERS = [_two_sides_of_the_coin, _only_heads, _sign, _coupling_outside, _other_variable, _four_terms]
