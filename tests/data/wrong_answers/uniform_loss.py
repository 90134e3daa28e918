import sympy as sp

L, V, q = sp.symbols("L V q", positive=True)


def _plateau_only():
    return (V - 1) / V * (1 - 1 / L) + 0 * q


def _constant_not_squared():
    return 1 / (V * (1 + q * (L / V + 1))) + (V - 1) / V * (1 - (1 - (V / (V + q)) ** 2) / L)


def _waves_not_squared():
    return 1 / (V * (1 + q * (L / V + 1)) ** 2) + (V - 1) / V * (1 - (1 - V / (V + q)) / L)


def _position_term_forgotten():
    return 1 / (V * (1 + q * L / V) ** 2) + (V - 1) / V * (1 - (1 - (V / (V + q)) ** 2) / L)


def _one_token_of_V():
    return 1 / (V * (1 + q * (L / V + 1)) ** 2) + (V - 1) / V * (1 - (1 - (V / (V + q)) ** 2) / V)


ANSWERS = [_plateau_only, _constant_not_squared, _waves_not_squared, _position_term_forgotten, _one_token_of_V]
