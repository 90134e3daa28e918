"""Plausible wrong answers to the mean time of a passage through a fold."""

import numpy as np
from scipy.integrate import quad


def without_noise(z):
    return np.pi / np.sqrt(abs(z))


def wrong_sign(z):
    return 2 * np.sqrt(np.pi) * quad(lambda s: np.exp(z * s**2 - s**6 / 12), 0, np.inf)[0]


def cube_divided_by_three(z):
    return 2 * np.sqrt(np.pi) * quad(lambda s: np.exp(-z * s**2 - s**6 / 3), 0, np.inf)[0]


def gaussian_integral_forgotten(z):
    return 2 * quad(lambda s: np.exp(-z * s**2 - s**6 / 12), 0, np.inf)[0]


ANSWERS = [without_noise, wrong_sign, cube_divided_by_three, gaussian_integral_forgotten]
