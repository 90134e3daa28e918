import numpy as np


def _rank(K, sigma2):
    return np.linalg.matrix_rank(K)


def _above_the_noise(K, sigma2):
    return np.sum(np.linalg.eigvalsh(K) > sigma2)


def _inverse_only(K, sigma2):
    return np.trace(np.linalg.inv(K + sigma2 * np.eye(len(K))))


def _squared(K, sigma2):
    values = np.linalg.eigvalsh(K)
    return np.sum((values / (values + sigma2)) ** 2)


ANSWERS = [_rank, _above_the_noise, _inverse_only, _squared]
