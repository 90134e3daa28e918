import numpy as np

from copyhead import LinearAction, Setup


def _upside_down(L, V, low, high):
    unit = LinearAction(Setup(L, V, 1.0)).critical_P
    return unit / high, unit / low


def _high_first(L, V, low, high):
    unit = LinearAction(Setup(L, V, 1.0)).critical_P
    return high / unit, low / unit


def _diagonal_only(L, V, low, high):
    """Eq. (16) in the place of the exact critical point."""
    unit = LinearAction(Setup(L, V, 1.0)).pooling_P
    return low / unit, high / unit


def _long_sequences(L, V, low, high):
    return low * L / V**2, high * L / V**2


def _standard_deviation(L, V, low, high):
    unit = LinearAction(Setup(L, V, 1.0)).critical_P
    return np.sqrt(low / unit), np.sqrt(high / unit)


ANSWERS = [_upside_down, _high_first, _diagonal_only, _long_sequences, _standard_deviation]
