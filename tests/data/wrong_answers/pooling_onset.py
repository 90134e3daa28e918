import numpy as np

from copyhead import LinearAction, Setup

LINEAR, NORM, C1 = LinearAction(Setup(25, 5)), 25 * 5 / 30, np.linspace(0, 2, 2001)


def _first(pays):
    low, high = 5.0, 2000.0
    while high / low > 1.0002:
        middle = np.sqrt(low * high)
        low, high = (low, middle) if pays(middle) else (middle, high)
    return high


def _S(kappa, P):
    return LINEAR.action(C1, 0.0, P) - (NORM * C1) ** 2 / 2 + kappa * NORM * C1


def _single_matrix(kappa):
    return LINEAR.critical_P


def _prior_counted_twice(kappa):
    return _first(lambda P: np.min(LINEAR.action(C1, 0.0, P) + kappa * NORM * C1) < LINEAR.action(0.0, 0.0, P))


def _norm_forgotten(kappa):
    return _first(lambda P: np.min(LINEAR.action(C1, 0.0, P) - (NORM * C1) ** 2 / 2 + kappa * C1) < LINEAR.action(0, 0, P))


def _where_a_second_minimum_appears(kappa):
    return _first(lambda P: (np.diff(_S(kappa, P)) < 0).any())


def _too_coarse(kappa):
    return 1.02 * _first(lambda P: _S(kappa, P).min() < _S(kappa, P)[0])


ANSWERS = [_single_matrix, _prior_counted_twice, _norm_forgotten, _where_a_second_minimum_appears, _too_coarse]
