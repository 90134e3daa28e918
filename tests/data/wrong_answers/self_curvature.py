def _every_position(L, g_W):
    """Leaves out that the mean is fixed."""
    return L / g_W


def _at_fixed_a(L, g_W):
    """kappa at fixed a and g: L kappa^2 - kappa^2."""
    return (L - 1) / g_W


def _half(L, g_W):
    return L * (L - 2) / (2 * (L - 1) * g_W)


def _variance_multiplied(L, g_W):
    return L * (L - 2) / (L - 1) * g_W


ANSWERS = [_every_position, _at_fixed_a, _half, _variance_multiplied]
