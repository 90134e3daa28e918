import numpy as np


def _waves_only(L, V):
    t = np.array([1, np.sqrt(L)])
    return (V - 1) * np.outer(t, t)


def _constant_without_positions(L, V):
    """L / V in the place of L / V + 1."""
    r, t = np.array([1, 1 / np.sqrt(L)]), np.array([1, np.sqrt(L)])
    return L**2 * np.outer(r, r) + (V - 1) * np.outer(t, t)


def _cross_term_not_halved(L, V):
    off = 2 * np.sqrt(L) * (L + 2 * V - 1)
    return np.array([[(L + 1) * (L + V - 1), off], [off, V * (L + 1)]])


def _raw_coefficients(L, V):
    """Row sum and copy weight of c_1 J + c_G G* without hats."""
    r, t = np.array([1.0, 1.0]), np.array([1.0, float(L)])
    return L * (L + V) * np.outer(r, r) + (V - 1) * np.outer(t, t)


def _triangular(L, V):
    return np.array([[(L + 1) * (L + V - 1), np.sqrt(L) * (L + 2 * V - 1)], [0, V * (L + 1)]])


def _other_sign_of_the_cross_term(L, V):
    off = -np.sqrt(L) * (L + 2 * V - 1)
    return np.array([[(L + 1) * (L + V - 1), off], [off, V * (L + 1)]])


ANSWERS = [
    *(_waves_only, _constant_without_positions, _cross_term_not_halved),
    *(_raw_coefficients, _triangular, _other_sign_of_the_cross_term),
]
