import numpy as np


def _pairings(C):
    return [np.einsum(f"{s}->abcd", C, C) for s in ("ac,bd", "ab,cd", "ad,bc")]


def limit_only(C, d):
    return _pairings(C)[0] / len(C) ** 2


def one_pairing_missing(C, d):
    leading, _, crossed = _pairings(C)
    return (leading + crossed / d) / len(C) ** 2


def width_squared(C, d):
    leading, paired, crossed = _pairings(C)
    return (leading + (paired + crossed) / d**2) / len(C) ** 2


def leading_counted_twice(C, d):
    """Adds the d equal terms without removing them from the d^2 different ones."""
    leading, paired, crossed = _pairings(C)
    return (leading + (leading + paired + crossed) / d) / len(C) ** 2


ANSWERS = [limit_only, one_pairing_missing, width_squared, leading_counted_twice]
