import sympy as sp

L, V, g_O, g_W = sp.symbols("L V g_O g_W", positive=True)
data = (V - 1) * L + L**2 / (L + V)
prior = L * (L - 1) + L * V**2 / (L + V) ** 2
quarter = sp.Rational(1, 4)


def _square_root():
    return sp.sqrt(g_W * data / (g_O * prior))


def _variances_swapped():
    return (g_O * data / (g_W * prior)) ** quarter


def _product_of_the_variances():
    """As in the thresholds, where g_O g_W appears."""
    return (data / (g_O * g_W * prior)) ** quarter


def _waves_only():
    return (g_W * (V - 1) * L / (g_O * prior)) ** quarter


def _prior_of_h_only():
    return (g_W * data / (g_O * L * (L - 1))) ** quarter


def _grows_for_ever():
    return sp.Integer(0)


ANSWERS = [_square_root, _variances_swapped, _product_of_the_variances, _waves_only, _prior_of_h_only, _grows_for_ever]
