import numpy as np


def _not_squared(G):
    rows = np.arange(len(G))
    return G[rows, rows - 1].sum() / np.sqrt(len(G) * np.sum(G**2))


def _next_token(G):
    rows = np.arange(len(G))
    return G[rows - 1, rows].sum() ** 2 / (len(G) * np.sum(G**2))


def _length_forgotten(G):
    rows = np.arange(len(G))
    return G[rows, rows - 1].sum() ** 2 / np.sum(G**2)


def _copy_mass(G):
    rows = np.arange(len(G))
    return G[rows, rows - 1].mean()


ANSWERS = [_not_squared, _next_token, _length_forgotten, _copy_mass]
