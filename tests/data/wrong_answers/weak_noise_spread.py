"""Plausible wrong answers to the spread of passage times when noise is weak."""

import numpy as np


def squared(a, b, eps, T):
    return 3 / (4 * np.pi) * T * np.sqrt(b) / (a * eps) ** 1.5


def noise_at_the_slowest_point_only(a, b, eps, T):
    return np.sqrt(2 * T / (np.pi * np.sqrt(a * eps / b) * a * eps))


def half_the_variance(a, b, eps, T):
    return np.sqrt(3 / (8 * np.pi) * T * np.sqrt(b) / (a * eps) ** 1.5)


def a_forgotten(a, b, eps, T):
    return np.sqrt(3 / (4 * np.pi) * T * np.sqrt(b) / eps**1.5)


ANSWERS = [squared, noise_at_the_slowest_point_only, half_the_variance, a_forgotten]
