import numpy as np


def _modes(A, B):
    a, U = np.linalg.eigh(A)
    return a, np.sum((U.T @ B) ** 2, axis=1)


def _size_instead_of_its_square(x, A, B, ridge):
    a, b2 = _modes(A, B)
    d = x**2 * a + ridge
    return np.sum(x**2 * b2 / d), np.sum((2 * ridge * b2 - 6 * ridge * a * b2 * x**2) / d**3)


def _labels_do_not_scale(x, A, B, ridge):
    a, b2 = _modes(A, B)
    d = x * a + ridge
    return np.sum(b2 / d), np.sum(2 * a**2 * b2 / d**3)


def _labels_not_turned(x, A, B, ridge):
    """Eigenvalues with the rows of B as they are, not in the eigenbasis."""
    a, b2 = np.linalg.eigvalsh(A), np.sum(B**2, axis=1)
    d = x * a + ridge
    return np.sum(x * b2 / d), -np.sum(2 * a * ridge * b2 / d**3)


def _convex(x, A, B, ridge):
    """Sign of the data term, of which the gain is the negative."""
    a, b2 = _modes(A, B)
    d = x * a + ridge
    return np.sum(x * b2 / d), np.sum(2 * a * ridge * b2 / d**3)


def _first_derivative(x, A, B, ridge):
    a, b2 = _modes(A, B)
    d = x * a + ridge
    return np.sum(x * b2 / d), np.sum(ridge * b2 / d**2)


def _without_the_two(x, A, B, ridge):
    a, b2 = _modes(A, B)
    d = x * a + ridge
    return np.sum(x * b2 / d), -np.sum(a * ridge * b2 / d**3)


ANSWERS = [
    *(_size_instead_of_its_square, _labels_do_not_scale, _labels_not_turned),
    *(_convex, _first_derivative, _without_the_two),
]
