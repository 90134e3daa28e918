import math


def _potential(rho, T):
    return T * (math.log(rho / (1 - rho)) - 1 + 1 / (1 - rho)) - 2 * rho


def _lattice_gas():
    return [0.5, 0.25, _potential(0.5, 0.25)]


def _boyle():
    return [1 / 3, 1.0, _potential(1 / 3, 1.0)]


def _potential_sign():
    return [1 / 3, 8 / 27, -_potential(1 / 3, 8 / 27)]


def _volume():
    return [3.0, 8 / 27, _potential(1 / 3, 8 / 27)]


ANSWERS = [_lattice_gas, _boyle, _potential_sign, _volume]
