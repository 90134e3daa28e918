def _sign_of_the_skew(s2, s3, slope, scale):
    return (slope + s3 / (2 * s2)) / (scale * s2)


def _prefactor_forgotten(s2, s3, slope, scale):
    return -s3 / (2 * s2**2 * scale)


def _prefactor_not_divided_by_the_curvature(s2, s3, slope, scale):
    return slope / scale - s3 / (2 * s2**2 * scale)


def _fourth_moment_is_one(s2, s3, slope, scale):
    return (slope - s3 / (6 * s2)) / (scale * s2)


def _width_for_shift(s2, s3, slope, scale):
    """The shift of y, not of m."""
    return (slope - s3 / (2 * s2)) / (scale**0.5 * s2)


ANSWERS = [
    _sign_of_the_skew,
    _prefactor_forgotten,
    _prefactor_not_divided_by_the_curvature,
    _fourth_moment_is_one,
    _width_for_shift,
]
