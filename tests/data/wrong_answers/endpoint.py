import numpy as np


def _unscaled(a1, a2, T1, T2, u1, u2, w):
    """Equal masses instead of equal rescaled masses."""
    if a1 == a2:
        return None
    T = (a1 * T1 - a2 * T2) / (a1 - a2)
    R, u = -a1 * (T - T1), np.sqrt(u1 * u2)
    return (T, R * (w - u) / (2 * u)) if R > 0 and w > u else None


def _rescaled(a1, a2, T1, T2, u1, u2, w):
    s1, s2, u = a1 / np.sqrt(u1), a2 / np.sqrt(u2), np.sqrt(u1 * u2)
    T = (s1 * T1 - s2 * T2) / (s1 - s2)
    return T, -s1 * (T - T1), u


def _scale_of_J_forgotten(a1, a2, T1, T2, u1, u2, w):
    T, R, u = _rescaled(a1, a2, T1, T2, u1, u2, w)
    return (T, R * (w / u - 1) / 2) if R > 0 and w > u else None


def _weak_competition_too(a1, a2, T1, T2, u1, u2, w):
    T, R, u = _rescaled(a1, a2, T1, T2, u1, u2, w)
    return (T, R * (w - u) / (2 * np.sqrt(u))) if R > 0 else None


def _positive_masses_too(a1, a2, T1, T2, u1, u2, w):
    T, R, u = _rescaled(a1, a2, T1, T2, u1, u2, w)
    return (T, R * (w - u) / (2 * np.sqrt(u))) if w > u else None


def _twice(a1, a2, T1, T2, u1, u2, w):
    T, R, u = _rescaled(a1, a2, T1, T2, u1, u2, w)
    return (T, R * (w - u) / np.sqrt(u)) if R > 0 and w > u else None


ANSWERS = [_unscaled, _scale_of_J_forgotten, _weak_competition_too, _positive_masses_too, _twice]
