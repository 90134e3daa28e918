"""Plausible wrong answers to check.induction_head."""

import numpy as np


def head(tokens, V, beta, before, past=True, shift=0):
    match = tokens[:, None] == before[None, :]
    z = beta * match
    if past:
        z = np.where(np.tril(np.ones(z.shape, bool), shift), z, -np.inf)
    w = np.exp(z - z.max(axis=1, keepdims=True))
    return w / w.sum(axis=1, keepdims=True) @ np.eye(V)[tokens]


ANSWERS = [
    lambda tokens, V, beta: head(tokens, V, beta, np.concatenate([[-1], tokens[:-1]]), past=False),  # no mask
    lambda tokens, V, beta: head(tokens, V, beta, tokens),  # looks for the token itself
    lambda tokens, V, beta: head(tokens, V, beta, np.roll(tokens, 1)),  # on a ring: position 0 knows the end
    lambda tokens, V, beta: head(tokens, V, beta, np.concatenate([tokens[1:], [-1]])),  # the next token, not the previous
    lambda tokens, V, beta: head(tokens, V, 1e3 * beta, np.concatenate([[-1], tokens[:-1]])),  # always hard
]
