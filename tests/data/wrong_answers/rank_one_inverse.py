import numpy as np


def _sign(A, u, sigma2):
    return np.eye(len(u)) / sigma2 + A / (sigma2 * (sigma2 + A * (u @ u))) * np.outer(u, u)


def _missing_noise(A, u, sigma2):
    return np.eye(len(u)) / sigma2 - A / (sigma2 + A * (u @ u)) * np.outer(u, u)


def _length_not_squared(A, u, sigma2):
    weight = A / (sigma2 * (sigma2 + A * np.linalg.norm(u)))
    return np.eye(len(u)) / sigma2 - weight * np.outer(u, u)


def _two_dimensional(A, u, sigma2):
    matrix = sigma2 * np.eye(3) + A * np.outer(u[:3], u[:3])
    return np.linalg.inv(matrix)


ANSWERS = [_sign, _missing_noise, _length_not_squared, _two_dimensional]
