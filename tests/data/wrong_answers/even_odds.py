"""Plausible wrong answers to the P of even odds between two profiles of free energy."""

import numpy as np
from scipy.optimize import brentq


def _zero(difference, P):
    width = P[1] - P[0]
    return brentq(difference, P[0] - 2 * width, P[1] + 2 * width)


def equal_depth(x, F, P, edge):
    """Compares the bottoms, not the weights."""
    def difference(p):
        mixed = F[0] + (F[1] - F[0]) * (p - P[0]) / (P[1] - P[0])
        return mixed[x < edge].min() - mixed[x > edge].min()

    return _zero(difference, P)


def mean_of_weights(x, F, P, edge):
    """Mixes the densities instead of the free energies."""
    def difference(p):
        share = (p - P[0]) / (P[1] - P[0])
        weight = (1 - share) * np.exp(F[0].min() - F[0]) + share * np.exp(F[1].min() - F[1])
        return weight[x > edge].sum() - weight[x < edge].sum()

    return _zero(difference, P)


def wrong_sign(x, F, P, edge):
    """Takes e^F for the weight."""
    def difference(p):
        mixed = F[0] + (F[1] - F[0]) * (p - P[0]) / (P[1] - P[0])
        weight = np.exp(mixed - mixed.max())
        return weight[x > edge].sum() - weight[x < edge].sum()

    return _zero(difference, P)


def mean_action(x, F, P, edge):
    """Compares the means of F in the two wells."""
    def difference(p):
        mixed = F[0] + (F[1] - F[0]) * (p - P[0]) / (P[1] - P[0])
        return mixed[x < edge].mean() - mixed[x > edge].mean()

    return _zero(difference, P)


ANSWERS = [equal_depth, mean_of_weights, wrong_sign, mean_action]
