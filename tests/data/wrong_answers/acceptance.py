import numpy as np


def _energy(U, momentum):
    return U + np.sum(np.square(momentum)) / 2


def _potential_alone(U, momentum, new_U, new_momentum):
    return np.exp(min(0.0, U - new_U)) if np.isfinite(new_U) else 0.0


def _without_the_half(U, momentum, new_U, new_momentum):
    change = new_U - U + np.sum(np.square(new_momentum)) - np.sum(np.square(momentum))
    return np.exp(min(0.0, -change)) if np.isfinite(change) else 0.0


def _overflows(U, momentum, new_U, new_momentum):
    ratio = np.exp(_energy(U, momentum) - _energy(new_U, new_momentum))
    return ratio / max(1.0, ratio) if np.isfinite(new_U) else 0.0


def _accepts_what_is_not_a_number(U, momentum, new_U, new_momentum):
    return np.exp(min(0.0, _energy(U, momentum) - _energy(new_U, new_momentum)))


def _sign(U, momentum, new_U, new_momentum):
    change = _energy(new_U, new_momentum) - _energy(U, momentum)
    return np.exp(min(0.0, change)) if np.isfinite(change) else 0.0


ANSWERS = [_potential_alone, _without_the_half, _overflows, _accepts_what_is_not_a_number, _sign]
