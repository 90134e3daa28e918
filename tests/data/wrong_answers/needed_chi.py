import numpy as np

from copyhead import SoftmaxAction
from copyhead.log_determinant import log_determinant


def _difference(setup):
    jump = SoftmaxAction(setup).first_order_transition()
    S1 = [log_determinant(setup, 1 - a / np.sqrt(setup.L), a, jump.P) for a in (jump.uniform.a_G, jump.copy.a_G)]
    return jump, S1[1] - S1[0]


def _tilt_without_noise(setup, tolerance):
    jump, difference = _difference(setup)
    return difference / (jump.loss_jump * jump.P * tolerance)


def _absolute_shift(setup, tolerance):
    """The chi for a shift by `tolerance` sequences."""
    jump, difference = _difference(setup)
    return difference / (setup.L * jump.loss_jump / (2 * setup.sigma2) * tolerance)


def _one_channel(setup, tolerance):
    jump, difference = _difference(setup)
    return 2 / setup.V * difference / (setup.L * jump.loss_jump / (2 * setup.sigma2) * jump.P * tolerance)


def _uniform_minus_copy(setup, tolerance):
    jump, difference = _difference(setup)
    return -difference / (setup.L * jump.loss_jump / (2 * setup.sigma2) * jump.P * tolerance)


def _shift_at_the_tolerance(setup, tolerance):
    """Proportional to the tolerance instead of inversely proportional."""
    jump, difference = _difference(setup)
    return difference / (setup.L * jump.loss_jump / (2 * setup.sigma2) * jump.P) * tolerance


ANSWERS = [_tilt_without_noise, _absolute_shift, _one_channel, _uniform_minus_copy, _shift_at_the_tolerance]
