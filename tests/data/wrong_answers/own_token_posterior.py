import numpy as np


def _itself_included(counts, own):
    return np.asarray(counts) / np.sum(counts)


def _not_normalised(counts, own):
    rest = np.array(counts, dtype=float)
    rest[own] -= 1
    return rest / np.sum(counts)


def _own_token_excluded(counts, own):
    rest = np.array(counts, dtype=float)
    rest[own] = 0
    return rest / rest.sum()


def _prior(counts, own):
    return np.full(len(counts), 1 / len(counts))


ANSWERS = [_itself_included, _not_normalised, _own_token_excluded, _prior]
