import math


def not_squared(setup, P, sigma2, g_O, new_P):
    return P / setup.sigma2 * setup.g_O * setup.g_W / (new_P / sigma2 * g_O)


def noise_upside_down(setup, P, sigma2, g_O, new_P):
    return (P * setup.sigma2) ** 2 * setup.g_O * setup.g_W / ((new_P * sigma2) ** 2 * g_O)


def product_only(setup, P, sigma2, g_O, new_P):
    """Keeps g_O g_W and ignores the data."""
    return setup.g_O * setup.g_W / g_O


def root_taken(setup, P, sigma2, g_O, new_P):
    return math.sqrt((P / setup.sigma2) ** 2 * setup.g_O * setup.g_W / ((new_P / sigma2) ** 2 * g_O))


ANSWERS = [not_squared, noise_upside_down, product_only, root_taken]
