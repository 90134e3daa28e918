def _sign_of_w(w, u):
    """The state of the last chapter, whose cubic term has the other sign."""
    return 2 * w**2 / (9 * u), -2 * w / (3 * u), w**2 / (4 * u), 2 * w**2 / (9 * u**2)


def _spinodal_for_coexistence(w, u):
    return w**2 / (4 * u), w / (2 * u), w**2 / (4 * u), w**2 / (8 * u**2)


def _lower_spinodal(w, u):
    return 2 * w**2 / (9 * u), 2 * w / (3 * u), 0.0, 2 * w**2 / (9 * u**2)


def _inflection_for_spinodal(w, u):
    """Where the second derivative has a double root."""
    return 2 * w**2 / (9 * u), 2 * w / (3 * u), w**2 / (3 * u), 2 * w**2 / (9 * u**2)


def _heat_without_half(w, u):
    return 2 * w**2 / (9 * u), 2 * w / (3 * u), w**2 / (4 * u), 4 * w**2 / (9 * u**2)


def _barrier_for_heat(w, u):
    return 2 * w**2 / (9 * u), 2 * w / (3 * u), w**2 / (4 * u), w**4 / (324 * u**3)


ANSWERS = [
    _sign_of_w,
    _spinodal_for_coexistence,
    _lower_spinodal,
    _inflection_for_spinodal,
    _heat_without_half,
    _barrier_for_heat,
]
