import numpy as np


def _stationary_only(slope, heads):
    return bool(np.abs(slope @ heads).max() < 1e-8)


def _curvature_only(slope, heads):
    return bool(np.linalg.eigvalsh(slope)[0] > -1e-8)


def _strictly_positive(slope, heads):
    return bool(np.abs(slope @ heads).max() < 1e-8 and np.linalg.eigvalsh(slope)[0] > 0)


def _trace(slope, heads):
    return bool(np.abs(slope @ heads).max() < 1e-8 and np.trace(slope) > -1e-8)


ANSWERS = [_stationary_only, _curvature_only, _strictly_positive, _trace]
