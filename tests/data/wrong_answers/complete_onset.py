import numpy as np


def _entries(L, V, alone):
    K0 = (L * V / (L + V)) ** 2
    x = (V - 1) * (1 / K0 + (L - 1) / L**2) / V**2
    y = np.sqrt((V - 1) * (L + V) / L) * L / K0 / V**2
    return x, y, (L + V) / L * ((L + V) ** 2 + alone) / V**4


def _largest(x, y, z):
    return (x + z) / 2 + np.sqrt((x - z) ** 2 / 4 + y**2)


def _two_patterns(L, V, sigma2, g_O, g_W):
    return sigma2 / np.sqrt(g_O * g_W * _largest(*_entries(L, V, 0)))


def _diagonal_only(L, V, sigma2, g_O, g_W):
    x, _, z = _entries(L, V, V - 1)
    return sigma2 / np.sqrt(g_O * g_W * max(x, z))


def _smaller_eigenvalue(L, V, sigma2, g_O, g_W):
    x, y, z = _entries(L, V, V - 1)
    return sigma2 / np.sqrt(g_O * g_W * (x + z - _largest(x, y, z)))


def _root_forgotten(L, V, sigma2, g_O, g_W):
    return sigma2 / (g_O * g_W * _largest(*_entries(L, V, V - 1)))


def _noise_under_the_root(L, V, sigma2, g_O, g_W):
    return np.sqrt(sigma2 / (g_O * g_W * _largest(*_entries(L, V, V - 1))))


ANSWERS = [_two_patterns, _diagonal_only, _smaller_eigenvalue, _root_forgotten, _noise_under_the_root]
