import numpy as np


def _indices(Theta, tokens):
    L = tokens.shape[1]
    V = len(Theta) - L
    return tokens[:, :, None], tokens[:, None, :], V + np.arange(L)[:, None], V + np.arange(L)[None, :]


def _no_cross_terms(Theta, tokens):
    query, key, a, b = _indices(Theta, tokens)
    return Theta[query, key] + Theta[a, b]


def _key_first(Theta, tokens):
    query, key, a, b = _indices(Theta, tokens)
    return Theta[key, query] + Theta[key, a] + Theta[b, query] + Theta[b, a]


def _positions_at_the_front(Theta, tokens):
    L = tokens.shape[1]
    query, key, a, b = _indices(Theta, tokens)
    V = len(Theta) - L
    return Theta[L + query, L + key] + Theta[L + query, b - V] + Theta[a - V, L + key] + Theta[a - V, b - V]


def _cross_terms_exchanged(Theta, tokens):
    query, key, a, b = _indices(Theta, tokens)
    return Theta[query, key] + Theta[b, query] + Theta[key, a] + Theta[a, b]


def _averaged(Theta, tokens):
    query, key, a, b = _indices(Theta, tokens)
    return (Theta[query, key] + Theta[query, b] + Theta[a, key] + Theta[a, b]) / tokens.shape[1]


ANSWERS = [_no_cross_terms, _key_first, _positions_at_the_front, _cross_terms_exchanged, _averaged]
