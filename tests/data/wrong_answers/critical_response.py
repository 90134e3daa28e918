import numpy as np


def _negative_field_forgotten(h, u):
    return -((h / u) ** (1 / 3))


def _sign_of_the_field(h, u):
    return np.cbrt(h / u)


def _quartic_forgotten(h, u):
    return -np.cbrt(h)


def _square_root(h, u):
    return -np.sign(h) * np.sqrt(np.abs(h) / u)


def _terms_of_the_action_balanced(h, u):
    """h m = u m^4 / 4 instead of the derivatives."""
    return -np.cbrt(4 * h / u)


ANSWERS = [
    _negative_field_forgotten,
    _sign_of_the_field,
    _quartic_forgotten,
    _square_root,
    _terms_of_the_action_balanced,
]
