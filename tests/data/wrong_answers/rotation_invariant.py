"""Wrong tests of an optimiser for rotations."""

import numpy as np


def by_permutation(update, d):
    G = np.random.default_rng(0).standard_normal((d, d))
    order = np.random.default_rng(1).permutation(d)
    return bool(np.allclose(update(G[order][:, order]), update(G)[order][:, order]))


def by_norm(update, d):
    G = np.random.default_rng(0).standard_normal((d, d))
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((d, d)))[0]
    return bool(np.isclose(np.linalg.norm(update(Q @ G @ Q.T)), np.linalg.norm(update(G))))


def turned_back_wrongly(update, d):
    G = np.random.default_rng(0).standard_normal((d, d))
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((d, d)))[0]
    return bool(np.allclose(update(Q @ G @ Q.T), Q.T @ update(G) @ Q))


ANSWERS = [by_permutation, by_norm, turned_back_wrongly]
