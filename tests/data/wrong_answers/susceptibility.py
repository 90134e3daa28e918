import numpy as np


def _same_on_both_sides(r, u):
    return 1 / np.abs(r)


def _curvature(r, u):
    return np.where(r > 0, r, -2 * r)


def _at_the_origin(r, u):
    return 1 / r


def _wrong_side(r, u):
    return np.where(r > 0, 1 / (2 * r), -1 / r)


def _quartic_kept(r, u):
    return np.where(r > 0, 1 / r, -u / (2 * r))


def _four(r, u):
    return np.where(r > 0, 1 / r, -1 / (4 * r))


ANSWERS = [_same_on_both_sides, _curvature, _at_the_origin, _wrong_side, _quartic_kept, _four]
