def _not_centred(L, V, tau, g_W):
    """The block tau I instead of tau (I - J/V)."""
    return V * tau**2 / (2 * g_W)


def _half_forgotten(L, V, tau, g_W):
    return (V - 1) * tau**2 / g_W


def _as_dear_as_copying(L, V, tau, g_W):
    return L * (1 - 1 / V) * tau**2 / (2 * g_W)


def _norm_not_squared(L, V, tau, g_W):
    return (V - 1) ** 0.5 * abs(tau) / (2 * g_W)


def _variance_multiplied(L, V, tau, g_W):
    return (V - 1) * tau**2 * g_W / 2


def _scale_of_the_pattern(L, V, tau, g_W):
    """Takes tau / L for the size of the weights."""
    return (V - 1) * tau**2 / (2 * g_W * L**2)


ANSWERS = [
    _not_centred,
    _half_forgotten,
    _as_dear_as_copying,
    _norm_not_squared,
    _variance_multiplied,
    _scale_of_the_pattern,
]
