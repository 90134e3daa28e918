import numpy as np


def _solve(L, V, sigma2, g_O, g_W, stiffness=None, noise=True, power=3, readout=True):
    K, ell = L - 1 if stiffness is None else stiffness, np.log(L)
    for _ in range(200):
        q = g_O / g_W * V / (V - 1) * K / L * ell**power / (ell - 1)
        ell = (np.log(L) + np.log(ell - 1) + noise * np.log1p(V / q)) / 2
    return sigma2 * q / g_O if readout else sigma2 * q


def _no_readout_noise(L, V, sigma2, g_O, g_W):
    return _solve(L, V, sigma2, g_O, g_W, noise=False)


def _q_times_noise(L, V, sigma2, g_O, g_W):
    return _solve(L, V, sigma2, g_O, g_W, readout=False)


def _stiffness_one(L, V, sigma2, g_O, g_W):
    return _solve(L, V, sigma2, g_O, g_W, stiffness=L)


def _square_for_cube(L, V, sigma2, g_O, g_W):
    return _solve(L, V, sigma2, g_O, g_W, power=2)


def _variances_swapped(L, V, sigma2, g_O, g_W):
    return _solve(L, V, sigma2, g_W, g_O)


ANSWERS = [_no_readout_noise, _q_times_noise, _stiffness_one, _square_for_cube, _variances_swapped]
