import numpy as np


def _largest(P, values):
    return np.asarray(values)[np.argmax(P)]


def _unweighted(P, values):
    return np.polyfit(1 / np.asarray(P), values, 1)[1]


def _root(P, values):
    return np.polyfit(np.asarray(P) ** -0.5, values, 1, w=np.sqrt(P))[1]


def _mean(P, values):
    return np.average(values, weights=P)


def _weights_too_large(P, values):
    return np.polyfit(1 / np.asarray(P), values, 1, w=np.asarray(P) ** 2.0)[1]


ANSWERS = [_largest, _unweighted, _root, _mean, _weights_too_large]
