import numpy as np


def _gauss(s2, scale):
    return 0.5 * np.log(2 * np.pi / (scale * s2))


def _leading(s2, s3, s4, scale):
    return _gauss(s2, scale)


def _sign_of_quartic(s2, s3, s4, scale):
    return _gauss(s2, scale) + np.log1p((5 * s3**2 / (24 * s2**3) + s4 / (8 * s2**2)) / scale)


def _cubic_not_squared(s2, s3, s4, scale):
    return _gauss(s2, scale) + np.log1p((5 * s3 / (24 * s2**2) - s4 / (8 * s2**2)) / scale)


def _quartic_moment_one(s2, s3, s4, scale):
    return _gauss(s2, scale) + np.log1p((5 * s3**2 / (24 * s2**3) - s4 / (24 * s2**2)) / scale)


def _scale_forgotten(s2, s3, s4, scale):
    return _gauss(s2, scale) + np.log1p(5 * s3**2 / (24 * s2**3) - s4 / (8 * s2**2))


ANSWERS = [_leading, _sign_of_quartic, _cubic_not_squared, _quartic_moment_one, _scale_forgotten]
