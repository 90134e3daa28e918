import numpy as np

from copyhead import Setup, SoftmaxAction


def _path(L, V, points=20_001, last=20.0):
    P = np.geomspace(2, last, points)
    return P, SoftmaxAction(Setup(L, V, 1.0)).minimum(P)


def _sign_forgotten(L, V):
    P, state = _path(L, V)
    return np.gradient(state.loss, np.log(P)).min()


def _per_sequence(L, V):
    P, state = _path(L, V)
    return -np.gradient(state.loss, P).min()


def _too_coarse(L, V):
    P, state = _path(L, V, points=40)
    return -np.gradient(state.loss, np.log(P)).min()


def _logarithm_of_the_loss(L, V):
    P, state = _path(L, V)
    return -np.gradient(np.log(state.loss), np.log(P)).min()


def _order_parameter(L, V):
    P, state = _path(L, V)
    return np.gradient(state.m, np.log(P)).max()


ANSWERS = [_sign_forgotten, _per_sequence, _too_coarse, _logarithm_of_the_loss, _order_parameter]
