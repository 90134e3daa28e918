import numpy as np


def gaussian(t, v, dk):
    return v * t**2 / 2


def one_term(t, v, dk):
    """The logarithm of one of the d_k terms."""
    return -np.log(1 - v * t**2 / dk) / 2


def imaginary_source(t, v, dk):
    """The characteristic function."""
    return -dk / 2 * np.log(1 + v * t**2 / dk)


def variance_not_shared(t, v, dk):
    return -dk / 2 * np.log(1 - v * t**2 / (2 * dk))


ANSWERS = [gaussian, one_term, imaginary_source, variance_not_shared]
