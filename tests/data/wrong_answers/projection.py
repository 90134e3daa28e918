import numpy as np


def _sums(G):
    return np.sum(G), np.trace(np.roll(G, 1, axis=1)), len(G)


def overlap_ignored(G):
    """Treats the two patterns as orthogonal."""
    s, T, L = _sums(G)
    return s / L, T / np.sqrt(L)


def wrong_roll(G):
    """Reads the next token instead of the previous one."""
    L = len(G)
    T = np.trace(np.roll(G, -1, axis=1))
    c1 = (np.sum(G) - T) / (L - 1)
    return c1, (T - c1) / np.sqrt(L)


def divided_by_length(G):
    """Takes G*/L for the copy pattern, as the paper's text prints it."""
    s, T, L = _sums(G)
    c1 = (s - T) / (L - 1)
    return c1, (T - c1) / L


def pooling_left_in_copy(G):
    s, T, L = _sums(G)
    return (s - T) / (L - 1), T / np.sqrt(L)


ANSWERS = [overlap_ignored, wrong_roll, divided_by_length, pooling_left_in_copy]
