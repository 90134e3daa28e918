import numpy as np
from scipy.optimize import brentq


def _solve(ell, L, V, g_O, g_W, stiffness, end=1):
    m = 1 / (1 + (L - 1) * np.exp(-ell))
    u2, R = L * (m**2 + (1 - m) ** 2 / (L - 1)), L * (1 - m) / (L - 1)

    def excess(log_q):
        q = np.exp(log_q)
        pull = (V - 1) * L**2 / (g_O * V) * q**2 * m**2 * (1 - m) * (V + q * R) ** end / (V + q * u2) ** 2
        return np.log(pull) - np.log(stiffness * ell / g_W)

    return float(np.exp(brentq(excess, -80, 80, xtol=1e-14)))


def _slice(ell, L, V, sigma2, g_O, g_W):
    stiffness = L * ((L + V) ** 2 - L - 2 * V) / (L + V) ** 2
    return sigma2 / g_O * _solve(ell, L, V, g_O, g_W, stiffness)


def _q_not_P(ell, L, V, sigma2, g_O, g_W):
    return _solve(ell, L, V, g_O, g_W, L - 1)


def _readout_forgotten(ell, L, V, sigma2, g_O, g_W):
    return sigma2 * _solve(ell, L, V, g_O, g_W, L - 1)


def _prior_variance_upside_down(ell, L, V, sigma2, g_O, g_W):
    return sigma2 / g_O * _solve(ell, L, V, g_O, 1 / g_W, L - 1)


ANSWERS = [_slice, _q_not_P, _readout_forgotten, _prior_variance_upside_down]
