import numpy as np
from scipy.optimize import brentq


def _gap(log_L):
    return brentq(lambda s: 2 * s - np.log(s - 1) - log_L, 1.5, log_L + 2)


def _leading(log_L):
    return 2 * log_L / (log_L + 2)


def _in_ln_L(log_L):
    return 1 / _gap(log_L)


def _smaller_root(log_L):
    ell = brentq(lambda s: 2 * s - np.log(s - 1) - log_L, 1 + 1e-15, 1.5) if log_L < 30 else 1 + np.exp(2 - log_L)
    return log_L / ell


def _no_correction_of_the_gap(log_L):
    ell = log_L / 2
    return 2 - np.log(ell) / ell


ANSWERS = [_leading, _in_ln_L, _smaller_root, _no_correction_of_the_gap]
