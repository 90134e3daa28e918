import numpy as np


def _independent(Gamma, p):
    return Gamma.sum() * np.outer(p, p)


def _same_position_squared(Gamma, p):
    trace = np.trace(Gamma)
    return trace * np.diag(p**2) + (Gamma.sum() - trace) * np.outer(p, p)


def _double_counted(Gamma, p):
    return np.trace(Gamma) * np.diag(p) + Gamma.sum() * np.outer(p, p)


def _uniform(Gamma, p):
    trace, V = np.trace(Gamma), len(p)
    return trace / V * np.eye(V) + (Gamma.sum() - trace) / V**2 * np.ones((V, V))


ANSWERS = [_independent, _same_position_squared, _double_counted, _uniform]
