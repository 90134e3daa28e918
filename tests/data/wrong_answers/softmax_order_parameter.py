import numpy as np


def _overflows(ell, L):
    return np.sqrt(L) * np.expm1(ell) / (np.exp(ell) + L - 1) * (np.abs(ell) < 600)


def _cancels(ell, L):
    m = 1 / (1 + (L - 1) * np.exp(-ell))
    return np.sqrt(L) * (L * m - 1) / (L - 1)


def _copy_weight(ell, L):
    return np.sqrt(L) / (1 + (L - 1) * np.exp(-ell))


def _one_logit_too_many(ell, L):
    small = np.exp(-np.abs(ell))
    difference = -np.sign(ell) * np.expm1(-np.abs(ell))
    return np.sqrt(L) * difference / np.where(np.asarray(ell) > 0, 1 + L * small, small + L)


ANSWERS = [_overflows, _cancels, _copy_weight, _one_logit_too_many]
