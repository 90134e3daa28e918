import numpy as np


def _steps_not_points(first, last, lower, upper):
    return int(np.ceil(np.log(last / first) / np.log(upper / lower)))


def _linear_spacing(first, last, lower, upper):
    return int(np.ceil((last - first) / (upper - lower))) + 1


def _rounded_down(first, last, lower, upper):
    return int(np.log(last / first) / np.log(upper / lower)) + 1


def _one_too_many(first, last, lower, upper):
    return int(np.ceil(np.log(last / first) / np.log(upper / lower))) + 2


ANSWERS = [_steps_not_points, _linear_spacing, _rounded_down, _one_too_many]
