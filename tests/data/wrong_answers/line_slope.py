def _sign(uniform, copy, L, sigma2, g_W):
    return -_right(uniform, copy, L, sigma2, g_W)


def _right(uniform, copy, L, sigma2, g_W):
    return (L - 1) * sigma2 * (uniform.ell**2 - copy.ell**2) / (L * g_W**2 * (uniform.loss - copy.loss))


def _inverted(uniform, copy, L, sigma2, g_W):
    return 1 / _right(uniform, copy, L, sigma2, g_W)


def _one_g_W(uniform, copy, L, sigma2, g_W):
    return g_W * _right(uniform, copy, L, sigma2, g_W)


def _half(uniform, copy, L, sigma2, g_W):
    return _right(uniform, copy, L, sigma2, g_W) / 2


def _difference_of_gaps(uniform, copy, L, sigma2, g_W):
    return -(L - 1) * sigma2 * (uniform.ell - copy.ell) ** 2 / (L * g_W**2 * (uniform.loss - copy.loss))


ANSWERS = [_sign, _inverted, _one_g_W, _half, _difference_of_gaps]
