import numpy as np


def _root_lost(c1, c_G, L, V, P, g_O):
    # L - 1 off the diagonal, as in the available text
    a, b = c1 / L, c_G / np.sqrt(L)
    off = a * b * L * (L - 1) + b**2 * (L - 1)
    return g_O * P / V * np.array([[(a * L + b) ** 2, off], [off, b**2 * (L - 1)]])


def _raw_coefficients(c1, c_G, L, V, P, g_O):
    u = np.array([c1 * L + c_G, np.sqrt(L - 1) * c_G])
    return g_O * P / V * np.outer(u, u)


def _orthogonal_patterns(c1, c_G, L, V, P, g_O):
    # takes J and G* for orthogonal
    u = np.array([c1, c_G])
    return g_O * P / V * np.outer(u, u)


def _diagonal_only(c1, c_G, L, V, P, g_O):
    u = np.array([c1 + c_G / np.sqrt(L), np.sqrt((L - 1) / L) * c_G])
    return g_O * P / V * np.diag(u**2)


ANSWERS = [_root_lost, _raw_coefficients, _orthogonal_patterns, _diagonal_only]
