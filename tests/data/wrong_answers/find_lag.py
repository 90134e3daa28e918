import numpy as np


def _wrong_way(tokens, targets):
    return int(np.argmax([np.mean(np.roll(tokens, -b, axis=1) == targets) for b in range(tokens.shape[1])]))


def _lag_zero_forgotten(tokens, targets):
    return 1 + int(np.argmax([np.mean(np.roll(tokens, b, axis=1) == targets) for b in range(1, tokens.shape[1])]))


def _must_agree_everywhere(tokens, targets):
    return int(np.argmax([np.all(np.roll(tokens, b, axis=1) == targets) for b in range(tokens.shape[1])]))


def _rolls_sequences_too(tokens, targets):
    return int(np.argmax([np.mean(np.roll(tokens, b) == targets) for b in range(tokens.shape[1])]))


def _always_one(tokens, targets):
    return 1


ANSWERS = [_wrong_way, _lag_zero_forgotten, _must_agree_everywhere, _rolls_sequences_too, _always_one]
