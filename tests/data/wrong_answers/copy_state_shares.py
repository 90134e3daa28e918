import numpy as np

from copyhead import Setup, SoftmaxAction
from copyhead.log_determinant import kernel_spectrum


def _parts(L, V, which="copy", pooling=True, logarithm=np.log1p):
    setup = Setup(L, V, 1.0)
    jump = SoftmaxAction(setup).first_order_transition()
    a_G = getattr(jump, which).a_G
    values, multiplicity = kernel_spectrum(setup, (1 - a_G / np.sqrt(L)) * pooling, a_G, jump.P)
    return logarithm(values), multiplicity


def _one_of_each(L, V):
    parts, _ = _parts(L, V)
    return parts / parts.sum()


def _eigenvalues(L, V):
    """Shares of the trace instead of the logarithm."""
    parts, multiplicity = _parts(L, V, logarithm=lambda x: x)
    return parts * multiplicity / (parts @ multiplicity)


def _uniform_state(L, V):
    parts, multiplicity = _parts(L, V, which="uniform")
    return parts * multiplicity / (parts @ multiplicity)


def _without_pooling(L, V):
    """Forgets that softmax attention still pools: a_1 = 1 - a_G / sqrt(L)."""
    parts, multiplicity = _parts(L, V, pooling=False)
    return parts * multiplicity / (parts @ multiplicity)


def _not_divided(L, V):
    parts, multiplicity = _parts(L, V)
    return V / 2 * parts * multiplicity


def _effective_modes(L, V):
    parts, multiplicity = _parts(L, V, logarithm=lambda x: x / (1 + x))
    return parts * multiplicity / (parts @ multiplicity)


ANSWERS = [_one_of_each, _eigenvalues, _uniform_state, _without_pooling, _not_divided, _effective_modes]
