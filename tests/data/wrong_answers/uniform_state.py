import numpy as np
from scipy.optimize import brentq

from copyhead import Setup, SoftmaxAction

softmax = SoftmaxAction(Setup(25, 5, sigma2=30.0))
jump = softmax.first_order_transition()


def _exactly_uniform(P):
    return 0.0 if P < jump.upper_spinodal else None


def _deepest(P):
    return softmax.minimum(P).a_G


def _never_gone(P):
    return min(state.a_G for state in softmax.minima(P))


def _gone_at_the_jump(P):
    return min(state.a_G for state in softmax.minima(P)) if P < jump.P else None


def _barrier(P):
    """The last stationary point before the copy state."""
    states = sorted(state.a_G for state in softmax.minima(P))
    if len(states) == 1:
        return states[0] if P < jump.upper_spinodal else None
    return brentq(lambda a: softmax.gradient(a, P), states[0] + 1e-6, states[1] - 1e-6)


def _one_newton_step(P):
    """The bottom of the parabola that touches the action at zero."""
    return -softmax.gradient(0.0, P) / softmax.curvature(0.0, P) if P < jump.upper_spinodal else None


def _furthest(P):
    return max(state.a_G for state in softmax.minima(P)) if P < jump.upper_spinodal else np.nan


ANSWERS = [_exactly_uniform, _deepest, _never_gone, _gone_at_the_jump, _barrier, _one_newton_step, _furthest]
