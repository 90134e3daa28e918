"""Plausible wrong answers to the share of the plateau that is left when the speed has grown."""

import numpy as np


def without_root(growth):
    return 0.5 - np.arctan(growth) / np.pi


def gone_instead_of_left(growth):
    return 0.5 + np.arctan(np.sqrt(growth)) / np.pi


def from_the_slowest_point(growth):
    return 1 - 2 * np.arctan(np.sqrt(growth)) / np.pi


def speed_instead_of_growth(growth):
    return 0.5 - np.arctan(np.sqrt(1 + growth)) / np.pi


ANSWERS = [without_root, gone_instead_of_left, from_the_slowest_point, speed_instead_of_growth]
