import sympy as sp

L, V, sigma2, g_O, g_W = sp.symbols("L V sigma2 g_O g_W", positive=True)


def _pure_pooling():
    return sigma2 * L * sp.sqrt(V) / sp.sqrt(g_O * g_W * (L + 1))


def _long_sequences():
    return V**2 * sigma2 / (L * sp.sqrt(g_O * g_W))


def _opposite_mode():
    return sigma2 * L * sp.sqrt(V / (g_O * g_W * (L - sp.sqrt(L))))


def _noise_squared():
    return sigma2**2 * L * sp.sqrt(V / (g_O * g_W * (L + sp.sqrt(L))))


ANSWERS = [_pure_pooling, _long_sequences, _opposite_mode, _noise_squared]
