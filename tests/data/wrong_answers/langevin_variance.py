import numpy as np


def _full_step_in_the_bias(lam, eta):
    return 1 / (lam * (1 - eta * lam)) if eta * lam < 1 else np.inf


def _negative_beyond_the_limit(lam, eta):
    return 1 / (lam * (1 - eta * lam / 2))


def _no_bias(lam, eta):
    return 1 / lam if eta * lam < 2 else np.inf


def _too_narrow(lam, eta):
    return 1 / (lam * (1 + eta * lam / 2)) if eta * lam < 2 else np.inf


def _finite_at_the_limit(lam, eta):
    return np.inf if eta * lam > 2 else 1 / (lam * max(1 - eta * lam / 2, 1e-300))


ANSWERS = [_full_step_in_the_bias, _negative_beyond_the_limit, _no_bias, _too_narrow, _finite_at_the_limit]
