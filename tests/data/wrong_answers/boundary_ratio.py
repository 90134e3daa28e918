import sympy as sp

L, V = sp.symbols("L V", positive=True)


def _asymptotic():
    return (L / V) ** sp.Rational(3, 2)


def _inverted():
    return sp.sqrt(V**3 / ((L + V - 1) * ((L + V) ** 2 - L - 2 * V)))


def _root_forgotten():
    return (L + V - 1) * ((L + V) ** 2 - L - 2 * V) / V**3


def _factor_dropped():
    return sp.sqrt((L + V) * ((L + V) ** 2 - L - 2 * V) / V**3)


ANSWERS = [_asymptotic, _inverted, _root_forgotten, _factor_dropped]
