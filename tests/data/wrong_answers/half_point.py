import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.optimize import brentq

sweep = np.linspace(0.95, 0.05, 181)


def _life(r, scale):
    y = np.linspace(0, 0.7, 2001)
    s = scale * (r * y**2 / 2 - y**4 + 2 * y**6 / 3)
    inner = cumulative_trapezoid(np.exp(-s), y, initial=0)
    return scale * np.trapezoid(np.exp(s) * inner, y)


def _hazard(scale, duration):
    return cumulative_trapezoid([duration / 1.6 / _life(r, scale) for r in sweep], -sweep, initial=0)


def _coexistence(scale, duration):
    return 0.75


def _life_as_long_as_the_sweep(scale, duration):
    return brentq(lambda r: _life(r, scale) - duration, 0.05, 0.95)


def _noise_forgotten(scale, duration):
    return np.interp(np.log(2), _hazard(100, duration), sweep)


def _time_for_r(scale, duration):
    """Integrates the rate over r without the speed of the sweep."""
    return np.interp(np.log(2), cumulative_trapezoid([1 / _life(r, scale) for r in sweep], -sweep, initial=0), sweep)


def _half_of_the_rate(scale, duration):
    """The share that is left taken as 1 minus the integral, which holds only while it is small."""
    return np.interp(0.5, _hazard(scale, duration), sweep)


def _whole_range_in_unit_time(scale, duration):
    return np.interp(np.log(2), 1.6 * _hazard(scale, duration), sweep)


ANSWERS = [
    _coexistence,
    _life_as_long_as_the_sweep,
    _noise_forgotten,
    _time_for_r,
    _half_of_the_rate,
    _whole_range_in_unit_time,
]
