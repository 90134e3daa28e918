import numpy as np


def _no_ridge(Psi, Y, sigma2, g_O):
    return np.linalg.pinv(Psi) @ Y


def _inverted_ridge(Psi, Y, sigma2, g_O):
    return np.linalg.solve(Psi.T @ Psi + g_O / sigma2 * np.eye(Psi.shape[1]), Psi.T @ Y)


def _noise_only(Psi, Y, sigma2, g_O):
    return np.linalg.solve(Psi.T @ Psi + sigma2 * np.eye(Psi.shape[1]), Psi.T @ Y)


def _kernel_weights(Psi, Y, sigma2, g_O):
    # forgets the factor g_O in front of Psi^T when going through the dual
    return Psi.T @ np.linalg.solve(g_O * Psi @ Psi.T + sigma2 * np.eye(len(Psi)), Y)


ANSWERS = [_no_ridge, _inverted_ridge, _noise_only, _kernel_weights]
