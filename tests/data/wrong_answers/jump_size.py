import numpy as np


def _field_ignored(h, w, u):
    return 2 * abs(w) / (3 * u)


def _half(h, w, u):
    r_there = 3 * u * h / w - w**2 / (9 * u)
    return np.sqrt(-r_there / u) if r_there < 0 else 0.0


def _always_jumps(h, w, u):
    return 2 * np.sqrt(abs(3 * u * h / w - w**2 / (9 * u)) / u)


def _shift_of_mass_forgotten(h, w, u):
    r_there = 3 * u * h / w + 2 * w**2 / (9 * u)
    return 2 * np.sqrt(-r_there / u) if r_there < 0 else 0.0


def _sign_of_field(h, w, u):
    r_there = -3 * u * h / w - w**2 / (9 * u)
    return 2 * np.sqrt(-r_there / u) if r_there < 0 else 0.0


ANSWERS = [_field_ignored, _half, _always_jumps, _shift_of_mass_forgotten, _sign_of_field]
