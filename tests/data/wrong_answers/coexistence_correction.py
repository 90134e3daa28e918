import sympy as sp

L, V = sp.symbols("L V", positive=True)
third = sp.Rational(1, 3)


def _delta_itself():
    """The correction to P^2."""
    return 3 * ((V - 1) * L) ** -third


def _fewer_data():
    return -sp.Rational(3, 2) * ((V - 1) * L) ** -third


def _all_waves():
    return sp.Rational(3, 2) * (V * L) ** -third


def _expansion_around_one_state():
    return sp.Rational(3, 2) / sp.sqrt((V - 1) * L)


def _one_term_of_the_minimum():
    return sp.Rational(1, 2) * ((V - 1) * L) ** -third


def _in_terms_of_q():
    """q was not replaced by P_x / sigma^2 but by L."""
    return sp.Rational(3, 2) * V ** -sp.Rational(2, 3)


ANSWERS = [
    *(_delta_itself, _fewer_data, _all_waves),
    *(_expansion_around_one_state, _one_term_of_the_minimum, _in_terms_of_q),
]
