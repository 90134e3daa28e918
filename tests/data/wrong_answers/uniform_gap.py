import sympy as sp

L, V, q, g_O, g_W, K = sp.symbols("L V q g_O g_W K", positive=True)


def _denominator_not_simplified():
    return g_W / (g_O * K) * (V - 1) * (L - 1) / (L * V) * q**2 / (V + q) ** 2


def _prior_the_wrong_way():
    return K * g_W / g_O * (V - 1) * (L - 1) / (L * V) * q**2 / (V + q)


def _no_readout_variance():
    return g_W / K * (V - 1) * (L - 1) / (L * V) * q**2 / (V + q)


def _constant_block_too():
    return g_W / (g_O * K) * (L - 1) / L * q**2 / (V + q)


ANSWERS = [_denominator_not_simplified, _prior_the_wrong_way, _no_readout_variance, _constant_block_too]
