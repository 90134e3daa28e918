"""Wrong coverages from two snapshots."""

import numpy as np

from copyhead.patterns import order_parameters


def _inside(G1, G2, cross=1.0):
    (a1, b1), (a2, b2) = order_parameters(G1), order_parameters(G2)
    return np.sum(a1 * a2 + cross * (a1 * b2 + a2 * b1) / np.sqrt(G1.shape[-1]) + b1 * b2)


def _of_the_mean(G1, G2):
    G = (G1 + G2) / 2
    return _inside(G, G) / np.sum(G**2)


ANSWERS = [
    _of_the_mean,                                                                      # the floor at half its height
    lambda G1, G2: (_inside(G1, G1) / np.sum(G1**2) + _inside(G2, G2) / np.sum(G2**2)) / 2,     # two snapshots
    lambda G1, G2: _inside(G1, G2) / np.sqrt(np.sum(G1**2) * np.sum(G2**2)),           # a correlation
    lambda G1, G2: _inside(G1, G2, cross=0.0) / np.sum(G1 * G2),                       # the cross term
    lambda G1, G2: _inside(G1.mean(axis=0), G2.mean(axis=0)) / np.sum(G1.mean(axis=0) * G2.mean(axis=0)),   # of the mean
]
