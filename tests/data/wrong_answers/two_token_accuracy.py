import numpy as np
from scipy.stats import binom


def _margin(m, L, n):
    w = (1 - m) / (L - 1)
    return m + w * (2 * n - (L - 1))


def _ties_are_right(m, L):
    n = np.arange(L)
    return float(np.sum(binom.pmf(n, L - 1, 0.5) * (_margin(m, L, n) > -1e-12)))


def _ties_are_wrong(m, L):
    n = np.arange(L)
    return float(np.sum(binom.pmf(n, L - 1, 0.5) * (_margin(m, L, n) > 1e-12)))


def _L_others(m, L):
    n = np.arange(L + 1)
    margin = m + (1 - m) / (L - 1) * (2 * n - L)
    return float(np.sum(binom.pmf(n, L, 0.5) * np.where(abs(margin) < 1e-12, 0.5, margin > 0)))


def _weight_is_accuracy(m, L):
    return m + (1 - m) / 2


def _others_carry_full_weight(m, L):
    n = np.arange(L)
    margin = m + (1 - m) * (2 * n - (L - 1))
    return float(np.sum(binom.pmf(n, L - 1, 0.5) * np.where(abs(margin) < 1e-12, 0.5, margin > 0)))


ANSWERS = [_ties_are_right, _ties_are_wrong, _L_others, _weight_is_accuracy, _others_carry_full_weight]
