import numpy as np


def _rebuild(M0, change):
    U, S, Wt = np.linalg.svd(M0, full_matrices=False)
    return (U * change(S)) @ Wt


def quadratic_for_both(M0, strength, norm):
    return M0 / (1 + strength)


def entries_instead_of_singular_values(M0, strength, norm):
    if norm == "frobenius":
        return M0 / (1 + strength)
    return np.sign(M0) * np.maximum(np.abs(M0) - strength, 0)


def negative_singular_values(M0, strength, norm):
    if norm == "frobenius":
        return M0 / (1 + strength)
    return _rebuild(M0, lambda S: S - strength)


def factor_two(M0, strength, norm):
    if norm == "frobenius":
        return M0 / (1 + 2 * strength)
    return _rebuild(M0, lambda S: np.maximum(S - strength, 0))


ANSWERS = [quadratic_for_both, entries_instead_of_singular_values, negative_singular_values, factor_two]
