import numpy as np


def _smaller_root(J, a1, a2, T1, T2):
    return (T1 + T2) / 2 - np.sqrt(((T1 - T2) / 2) ** 2 + J**2 / (a1 * a2))


def _slopes_forgotten(J, a1, a2, T1, T2):
    return (T1 + T2) / 2 + np.sqrt(((T1 - T2) / 2) ** 2 + J**2)


def _gap_not_halved(J, a1, a2, T1, T2):
    return (T1 + T2) / 2 + np.sqrt((T1 - T2) ** 2 + J**2 / (a1 * a2))


def _bare_scale(J, a1, a2, T1, T2):
    return max(T1, T2) + abs(J) / np.sqrt(a1 * a2)


def _uncoupled(J, a1, a2, T1, T2):
    return max(T1, T2) + 0.0 * J


ANSWERS = [_smaller_root, _slopes_forgotten, _gap_not_halved, _bare_scale, _uncoupled]
