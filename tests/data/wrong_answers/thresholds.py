import numpy as np

from copyhead import LinearAction, Setup, SoftmaxAction


def _both(g_O, g_W):
    setup = Setup(25, 5, g_O=g_O, g_W=g_W)
    return LinearAction(setup).critical_P, SoftmaxAction(setup).first_order_transition()


def _order_swapped(g_O, g_W):
    P_c, jump = _both(g_O, g_W)
    return jump.P, P_c


def _upper_spinodal(g_O, g_W):
    P_c, jump = _both(g_O, g_W)
    return P_c, jump.upper_spinodal


def _variances_ignored(g_O, g_W):
    P_c, jump = _both(1.0, 1.0)
    return P_c, jump.P


def _same_rule_for_both(g_O, g_W):
    """Guesses that softmax attention has the symmetry of linear attention."""
    P_c, jump = _both(1.0, 1.0)
    return np.array([P_c, jump.P]) / np.sqrt(g_O * g_W)


def _root_forgotten(g_O, g_W):
    P_c, jump = _both(1.0, 1.0)
    return P_c / (g_O * g_W), _both(g_O, g_W)[1].P


def _variances_swapped(g_O, g_W):
    P_c, jump = _both(g_W, g_O)
    return P_c, jump.P


ANSWERS = [
    _order_swapped,
    _upper_spinodal,
    _variances_ignored,
    _same_rule_for_both,
    _root_forgotten,
    _variances_swapped,
]
