import numpy as np


def rolled_the_other_way(L, k):
    return [np.ones((L, L)), np.roll(np.eye(L), k, axis=1)]


def all_circulants(L, k):
    """Uses rotations only."""
    return [np.roll(np.eye(L), -j, axis=1) for j in range(L)]


def pattern_only(L, k):
    return [np.roll(np.eye(L), -k, axis=1)]


def diagonal_added(L, k):
    """Believes that attention to oneself is special for every lag."""
    return [np.ones((L, L)), np.roll(np.eye(L), -k, axis=1), np.eye(L)]


ANSWERS = [rolled_the_other_way, all_circulants, pattern_only, diagonal_added]
