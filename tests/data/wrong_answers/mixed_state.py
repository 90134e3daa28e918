def _solve(r1, r2, u1, u2, w):
    det = u1 * u2 - w**2
    return (w * r2 - u2 * r1) / det, (w * r1 - u1 * r2) / det


def _saddle_too(r1, r2, u1, u2, w):
    x1, x2 = _solve(r1, r2, u1, u2, w)
    return (x1, x2) if x1 > 0 and x2 > 0 else None


def _negative_squares_too(r1, r2, u1, u2, w):
    return _solve(r1, r2, u1, u2, w) if w**2 < u1 * u2 else None


def _uncoupled(r1, r2, u1, u2, w):
    return (-r1 / u1, -r2 / u2) if r1 < 0 and r2 < 0 and w**2 < u1 * u2 else None


def _sign_of_w(r1, r2, u1, u2, w):
    if w**2 >= u1 * u2:
        return None
    x1, x2 = _solve(r1, r2, u1, u2, -w)
    return (x1, x2) if x1 > 0 and x2 > 0 else None


def _only_if_both_masses_negative(r1, r2, u1, u2, w):
    return _solve(r1, r2, u1, u2, w) if r1 < 0 and r2 < 0 and w**2 < u1 * u2 else None


ANSWERS = [_saddle_too, _negative_squares_too, _uncoupled, _sign_of_w, _only_if_both_masses_negative]
