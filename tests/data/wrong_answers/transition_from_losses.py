import numpy as np
from scipy.integrate import cumulative_trapezoid


def _solve(P, uniform, copy, excess, rate, integrate=True):
    gap = np.asarray(uniform) - np.asarray(copy)
    gained = rate * (cumulative_trapezoid(gap, P, initial=0) if integrate else gap * (P - P[0]))
    return float(np.interp(excess, gained, P))


def _sigma2_not_doubled(P, uniform, copy, excess, L, sigma2):
    return _solve(P, uniform, copy, excess, L / sigma2)


def _per_token_not_per_sequence(P, uniform, copy, excess, L, sigma2):
    return _solve(P, uniform, copy, excess, 1 / (2 * sigma2))


def _local_gap(P, uniform, copy, excess, L, sigma2):
    return _solve(P, uniform, copy, excess, L / (2 * sigma2), integrate=False)


def _where_losses_are_farthest_apart(P, uniform, copy, excess, L, sigma2):
    return float(P[np.argmax(np.asarray(uniform) - np.asarray(copy))])


def _from_zero(P, uniform, copy, excess, L, sigma2):
    return _solve(P, uniform, copy, excess, L / (2 * sigma2)) - P[0]


ANSWERS = [_sigma2_not_doubled, _per_token_not_per_sequence, _local_gap, _where_losses_are_farthest_apart, _from_zero]
