import numpy as np


def _frame(E):
    A, s, B = np.linalg.svd(E.T / np.sqrt(len(E)), full_matrices=False)
    return A, s, B


def _other_frame(E, W_G, W_O):
    _, _, B = _frame(E)
    return E.T @ E / len(E), B @ W_G @ B.T, np.sqrt(len(E)) * W_O @ B.T


def _no_root_of_d(E, W_G, W_O):
    A, _, B = _frame(E)
    return E.T @ E / len(E), (A @ B) @ W_G @ (A @ B).T, W_O @ (A @ B).T


def _the_kernel_itself(E, W_G, W_O):
    return E.T @ E / len(E), E.T @ W_G @ E / len(E), W_O @ E


def _unscaled_metric(E, W_G, W_O):
    A, _, B = _frame(E)
    return E.T @ E, (A @ B) @ W_G @ (A @ B).T, np.sqrt(len(E)) * W_O @ (A @ B).T


def _transposed(E, W_G, W_O):
    A, _, B = _frame(E)
    return E.T @ E / len(E), (A @ B) @ W_G.T @ (A @ B).T, np.sqrt(len(E)) * W_O @ (A @ B).T


ANSWERS = [_other_frame, _no_root_of_d, _the_kernel_itself, _unscaled_metric, _transposed]
