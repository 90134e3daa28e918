import numpy as np


def _root_of_d(d, d_k, size):
    return np.sqrt(2 * d / np.pi), np.sqrt(2 * d_k / np.pi) * size


def _without_the_mean_of_a_gaussian(d, d_k, size):
    return d, np.sqrt(d * d_k) * size


def _inner_width_forgotten(d, d_k, size):
    return 2 * d / np.pi, 2 * d / np.pi * size


def _as_with_the_single_matrix(d, d_k, size):
    return 2 * d / np.pi, 2 * d / np.pi


def _one_entry_of_the_keys(d, d_k, size):
    return 2 * d / np.pi, np.sqrt(2 * d / np.pi) * size


ANSWERS = [_root_of_d, _without_the_mean_of_a_gaussian, _inner_width_forgotten, _as_with_the_single_matrix,
           _one_entry_of_the_keys]
