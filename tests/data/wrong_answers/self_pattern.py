import numpy as np

from copyhead.patterns import G_star, J


def _not_normalised(L):
    return np.eye(L) - (J(L) - G_star(L)) / (L - 1)


def _takes_from_the_copy_too(L):
    D = np.eye(L) - J(L) / L
    return D / np.linalg.norm(D)


def _takes_from_nobody(L):
    return np.eye(L) / np.sqrt(L)


def _takes_from_the_copy_only(L):
    return (np.eye(L) - G_star(L)) / np.sqrt(2 * L)


def _the_other_sign(L):
    D = (J(L) - G_star(L)) / (L - 1) - np.eye(L)
    return D / np.linalg.norm(D)


def _takes_from_one_neighbour(L):
    return (np.eye(L) - np.roll(np.eye(L), 1, axis=1)) / np.sqrt(2 * L)


ANSWERS = [
    *(_not_normalised, _takes_from_the_copy_too, _takes_from_nobody),
    *(_takes_from_the_copy_only, _the_other_sign, _takes_from_one_neighbour),
]
