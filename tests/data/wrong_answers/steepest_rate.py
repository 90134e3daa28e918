import numpy as np

from copyhead import LinearAction, Setup


def _path(L, V, points=8001, last=3.0):
    model = LinearAction(Setup(L, V, 1.0))
    P = np.geomspace(model.copy_P, last * model.copy_P, points)
    return P, model.minimum(P)


def _not_relative(L, V):
    P, state = _path(L, V)
    return np.gradient(state.c_G, np.log(P)).max()


def _per_sequence(L, V):
    P, state = _path(L, V)
    return np.gradient(np.log(state.c_G), P).max()


def _pooling(L, V):
    P, state = _path(L, V)
    return np.abs(np.gradient(np.log(state.c1), np.log(P))).max()


def _too_coarse(L, V):
    """Twenty points step over the steep part."""
    P, state = _path(L, V, points=20)
    return np.gradient(np.log(state.c_G), np.log(P)).max()


def _stops_too_early(L, V):
    P, state = _path(L, V, last=1.3)
    return np.gradient(np.log(state.c_G), np.log(P)).max()


ANSWERS = [_not_relative, _per_sequence, _pooling, _too_coarse, _stops_too_early]
