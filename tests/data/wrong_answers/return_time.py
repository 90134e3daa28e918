import numpy as np


def _parts(r):
    bottom, top = np.sqrt((1 + np.sqrt(1 - r)) / 2), np.sqrt((1 - np.sqrt(1 - r)) / 2)

    def action(m):
        return r * m**2 / 2 - m**4 + 2 * m**6 / 3

    def curvature(m):
        return r - 12 * m**2 + 20 * m**4

    return bottom, top, action, curvature


def _two_ways_out(r, scale):
    bottom, top, action, curvature = _parts(r)
    climb = action(top) - action(bottom)
    return np.pi / np.sqrt(curvature(bottom) * -curvature(top)) * np.exp(scale * climb)


def _climb_from_zero(r, scale):
    bottom, top, action, curvature = _parts(r)
    return 2 * np.pi / np.sqrt(curvature(bottom) * -curvature(top)) * np.exp(scale * action(top))


def _curvature_at_zero(r, scale):
    bottom, top, action, curvature = _parts(r)
    climb = action(top) - action(bottom)
    return 2 * np.pi / np.sqrt(r * -curvature(top)) * np.exp(scale * climb)


def _downhill(r, scale):
    bottom, top, action, curvature = _parts(r)
    return 2 * np.pi / np.sqrt(curvature(bottom) * -curvature(top)) * np.exp(scale * (action(bottom) - action(top)))


def _no_prefactor(r, scale):
    bottom, top, action, _ = _parts(r)
    return np.exp(scale * (action(top) - action(bottom)))


ANSWERS = [_two_ways_out, _climb_from_zero, _curvature_at_zero, _downhill, _no_prefactor]
