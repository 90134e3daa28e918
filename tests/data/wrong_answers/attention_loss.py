import numpy as np


def _sums(G):
    return np.trace(np.roll(G, 1, axis=1)), np.sum(G**2), len(G)


def no_readout(G, V):
    """Forgets that the readout may rescale the output."""
    T, u2, L = _sums(G)
    return (1 - 1 / V) * (1 - 2 * T / L + u2 / L)


def chance_is_one(G, V):
    """Measures from silence instead of chance."""
    T, u2, L = _sums(G)
    return 1 - T**2 / (L * u2) if u2 > 0 else 1.0


def length_forgotten(G, V):
    T, u2, L = _sums(G)
    return (1 - 1 / V) * (1 - T**2 / u2 / L**2) if u2 > 0 else 1 - 1 / V


def division_by_zero(G, V):
    T, u2, L = _sums(G)
    return (1 - 1 / V) * (1 - T**2 / (L * np.float64(u2)))


ANSWERS = [no_readout, chance_is_one, length_forgotten, division_by_zero]
