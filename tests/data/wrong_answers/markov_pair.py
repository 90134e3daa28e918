import numpy as np


def _given_the_first(r, q, V):
    """The probability of token j given token i, not of the pair."""
    return q**r * np.eye(V) + (1 - q**r) * np.ones((V, V)) / V


def _no_decay(r, q, V):
    return q * np.eye(V) / V + (1 - q) * np.ones((V, V)) / V**2


def _never_the_same_by_chance(r, q, V):
    other = (np.ones((V, V)) - np.eye(V)) / (V * (V - 1))
    return q**r * np.eye(V) / V + (1 - q**r) * other


def _decays_linearly(r, q, V):
    tied = max(0.0, 1 - r * (1 - q))
    return tied * np.eye(V) / V + (1 - tied) * np.ones((V, V)) / V**2


def _correlation_only(r, q, V):
    return q**r * (np.eye(V) / V - np.ones((V, V)) / V**2)


ANSWERS = [_given_the_first, _no_decay, _never_the_same_by_chance, _decays_linearly, _correlation_only]
