def _upside_down(P, sigma2, other):
    return P * sigma2 / other


def _standard_deviation(P, sigma2, other):
    return P * (other / sigma2) ** 0.5


def _square(P, sigma2, other):
    return P * (other / sigma2) ** 2


def _only_the_new_noise(P, sigma2, other):
    return P * other / 30 if sigma2 != other else P


def _difference(P, sigma2, other):
    return P + other - sigma2


def _doubled(P, sigma2, other):
    return 2 * P


ANSWERS = [_upside_down, _standard_deviation, _square, _only_the_new_noise, _difference, _doubled]
