"""Wrong splits of the squared size of attention."""

import numpy as np

from copyhead.patterns import order_parameters


def _split(G, cross=True, variation=True, total=True):
    def inside(G):
        c1, c_G = order_parameters(G)
        return c1**2 + cross * 2 * c1 * c_G / np.sqrt(G.shape[-1]) + c_G**2

    mean, size = G.mean(axis=0), np.mean(np.sum(G**2, axis=(1, 2)))
    a = inside(mean)
    b = np.mean(inside(G)) - variation * a
    c = np.sum(mean**2) - a
    return a, b, c, size - a - b - c if total else np.mean(np.sum((G - mean) ** 2, axis=(1, 2)))


ANSWERS = [
    lambda G: _split(G, cross=False),                       # as if the patterns were orthogonal
    lambda G: _split(G, variation=False),                   # the mean counted twice
    lambda G: _split(G, total=False),                       # the last with what lies inside the span
    lambda G: (lambda a, b, c, d: (a, c, b, d))(*_split(G)),    # another order
]
