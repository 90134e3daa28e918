import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

window = np.linspace(0.02, 0.1, 9)


def _average(N, K, power):
    m = np.linspace(-1, 1, int(N) + 1)
    up = N * (1 + m) / 2
    exponent = -gammaln(up + 1) - gammaln(N - up + 1) + N * K * m**2 / 2
    weight = np.exp(exponent - exponent.max())
    return weight @ np.abs(m) ** power / weight.sum()


def _minimum(K):
    return brentq(lambda m: np.tanh(K * m) - m, 1e-6, 1)


def _fit(values):
    return np.polyfit(np.log(window), np.log(values), 1)[0]


def _size_forgotten(N):
    return _fit([_minimum(1 + t) for t in window])


def _limit_from_theory(N):
    return 0.5 if np.isinf(N) else _fit([_average(N, 1 + t, 2) ** 0.5 for t in window])


def _root_forgotten(N):
    if np.isinf(N):
        return _fit([_minimum(1 + t) ** 2 for t in window])
    return _fit([_average(N, 1 + t, 2) for t in window])


def _polynomial(N):
    """The sixth-order term left out where it is the point."""
    return _fit([(3 * t) ** 0.5 for t in window]) if np.isinf(N) else _root_forgotten(N) / 2


def _mean_size(N):
    """<|m|> instead of the root of <m^2>."""
    return _fit([_minimum(1 + t) if np.isinf(N) else _average(N, 1 + t, 1) for t in window])


def _ends_only(N):
    rms = [_minimum(1 + t) if np.isinf(N) else _average(N, 1 + t, 2) ** 0.5 for t in window[[0, -1]]]
    return np.log(rms[1] / rms[0]) / np.log(5)


ANSWERS = [_size_forgotten, _limit_from_theory, _root_forgotten, _polynomial, _mean_size, _ends_only]
