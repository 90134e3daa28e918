import numpy as np


def slice_without_overlap(c1, c_G, L, V, g_W):
    """Leaves the copy part out of the row sum."""
    return L**2 / (2 * g_W) * ((V / (L + V)) ** 2 * c1**2 + (1 - 1 / L) * c_G**2)


def discount_not_squared(c1, c_G, L, V, g_W):
    rho = c1 + c_G / np.sqrt(L)
    return L**2 / (2 * g_W) * (V / (L + V) * rho**2 + (1 - 1 / L) * c_G**2)


def flat(c1, c_G, L, V, g_W):
    """The size of G, without the discount."""
    return L**2 / (2 * g_W) * (c1**2 + 2 * c1 * c_G / np.sqrt(L) + c_G**2)


def one_power_of_length(c1, c_G, L, V, g_W):
    rho = c1 + c_G / np.sqrt(L)
    return L / (2 * g_W) * ((V / (L + V)) ** 2 * rho**2 + (1 - 1 / L) * c_G**2)


ANSWERS = [slice_without_overlap, discount_not_squared, flat, one_power_of_length]
