import numpy as np


def _u2(c1, c_G, L):
    return c1**2 + 2 * c1 * c_G / np.sqrt(L) + c_G**2


def _difference(c1, c_G, L, V, p, g_O):
    # right on paper, loses its digits in the copy phase
    q, T = g_O * p, c1 + np.sqrt(L) * c_G
    return (V - 1) / 2 * (p * L / V - q * p * T**2 / (V**2 * (1 + q * _u2(c1, c_G, L) / V)))


def _norm_without_overlap(c1, c_G, L, V, p, g_O):
    q = g_O * p
    return (V - 1) / (2 * V) * p * (L * V + q * (L - 1) * c1**2) / (V + q * (c1**2 + c_G**2))


def _one_channel(c1, c_G, L, V, p, g_O):
    q = g_O * p
    return p / (2 * V) * (L * V + q * (L - 1) * c1**2) / (V + q * _u2(c1, c_G, L))


def _length_instead_of_length_minus_one(c1, c_G, L, V, p, g_O):
    q = g_O * p
    return (V - 1) / (2 * V) * p * (L * V + q * L * c1**2) / (V + q * _u2(c1, c_G, L))


ANSWERS = [_difference, _norm_without_overlap, _one_channel, _length_instead_of_length_minus_one]
