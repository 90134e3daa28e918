import numpy as np


def _root(k, V, last=-1):
    roots = np.roots([(V - 1) * (1 + k) * k, -(V - 1) * (1 + k) - 1, -2, last])
    return max(root.real for root in roots if abs(root.imag) < 1e-9 * abs(root))


def _squared(k, V):
    return V**2 * k * (1 + _root(k, V)) / ((V - 1) * (1 + k))


def _x_for_y(k, V):
    return np.sqrt(V**2 * k * (1 + _root(k, V) / V) / ((V - 1) * (1 + k)))


def _only_the_end(k, V):
    return V / np.sqrt(V - 1)


def _without_constant(k, V):
    return np.sqrt(V**2 * k * (1 + _root(k, V, 0)) / ((V - 1) * (1 + k)))


ANSWERS = [_squared, _x_for_y, _only_the_end, _without_constant]
