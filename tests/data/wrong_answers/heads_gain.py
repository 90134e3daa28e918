"""Wrong gains of several heads."""

import numpy as np


def gain(m, W, L, lam, spread=True, cross=True, square=False):
    K = m.shape[1]
    r = (1 - m.sum(axis=1)) / (L - K) if spread else 0 * m[:, 0]
    N = L * m @ m.T + L * (L - K) * np.outer(r, r)
    N = N if cross else np.diag(np.diag(N))
    t = L * m
    return np.trace(t @ (W @ W if square else W) @ t.T @ np.linalg.inv(N + lam * np.eye(len(m))))


ANSWERS = [
    lambda m, W, L, lam: gain(m, W, L, lam, spread=False),                   # attention elsewhere forgotten
    lambda m, W, L, lam: gain(m, W, L, lam, cross=False),                    # heads taken as if they did not overlap
    lambda m, W, L, lam: gain(m, W, L, lam, square=True),                    # value maps instead of overlaps
    lambda m, W, L, lam: gain(m, W, L, len(m) * lam),                        # ridge multiplied instead of shared
    lambda m, W, L, lam: gain(m, W, L, lam) / L,
]
