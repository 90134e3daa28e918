import numpy as np
from scipy.stats import binom


def _mean_count(ell, tau, kappa, L, V):
    """Puts the mean number of same-token keys into the normaliser."""
    N = (L - 2) / V
    copy = np.exp(ell + tau / V)
    return copy / (copy + np.exp(tau + kappa) + N * np.exp(tau) + L - 2 - N)


def _summed(ell, tau, kappa, L, V, self_token=True, trials=0, both=True):
    N = np.arange(L - 1 + trials)
    weight = binom.pmf(N, L - 2 + trials, 1 / V)
    total = 0.0
    for same, chance in ((1, 1 / V), (0, 1 - 1 / V)):
        copy = np.exp(ell + tau * (same if both else 0))
        own = np.exp(kappa + (tau if self_token else 0))
        Z = copy + own + N * np.exp(tau) + L - 2 - N
        total += chance * np.sum(weight * copy / Z)
    return total


def _oneself_without_its_token(ell, tau, kappa, L, V):
    return _summed(ell, tau, kappa, L, V, self_token=False)


def _one_key_too_many(ell, tau, kappa, L, V):
    return _summed(ell, tau, kappa, L, V, trials=1)


def _predecessor_without_content(ell, tau, kappa, L, V):
    return _summed(ell, tau, kappa, L, V, both=False)


def _two_patterns(ell, tau, kappa, L, V):
    return 1 / (1 + (L - 1) * np.exp(-ell))


ANSWERS = [_mean_count, _oneself_without_its_token, _one_key_too_many, _predecessor_without_content, _two_patterns]
