"""Averages over token sequences of a softmax row with the logits ell G* + tau delta(x^a, x^b) + kappa delta_ab.

The keys of a row are of four kinds: the predecessor, the query itself, N others that hold the query's token, and L - 2 - N
with other tokens.  N is binomial, the predecessor holds the query's token with probability 1/V, and the other tokens are
uniform: every average over sequences is a finite sum.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from copyhead.data_term import Array

_NEGLIGIBLE = 1e-25  # probability of a count that is left out
Moment = list[Array]


class SoftmaxMoments:
    """Averages b, s, m as functions of theta = (ell, tau, kappa).

    ``b`` = (E w(y) - 1/V) / (V - 1) and ``s`` = (E sum_i w(i)^2 - 1/V) / (V - 1), where w(i) is the attention on keys with
    token i and y the target; ``m`` is the mean attention on the predecessor.  For L = 2 there is no kappa (``size`` = 2).
    """

    def __init__(self, L: int, V: int) -> None:
        self.V, self.size = V, 3 if L > 2 else 2
        N = np.arange(L - 1)
        weight = binom.pmf(N, L - 2, 1 / V)
        N, weight = N[weight > _NEGLIGIBLE].astype(float), weight[weight > _NEGLIGIBLE]
        same = np.repeat([0.0, 1.0], len(N))                      # does the predecessor hold the query's token?
        N, one, zero = np.tile(N, 2), np.ones_like(same), np.zeros_like(same)
        self._count = np.concatenate([weight * (1 - 1 / V), weight / V])[:, None]
        rest = L - 2 - N
        self._keys = np.column_stack([one, one, N, rest])         # how many of each kind
        logits = np.zeros((len(N), 4, 3))
        logits[:, 0, 0] = logits[:, 1, 2] = logits[:, 1, 1] = logits[:, 2, 1] = 1.0
        logits[:, 0, 1] = same
        self._logits = logits[..., : self.size]
        self._on_target = np.column_stack([one, same, same, (1 - same) / (V - 1)]) * self._count / (V - 1)
        own = np.column_stack([same, one, one, zero])
        square = own[:, :, None] * own[:, None, :]                # sum_i w(i)^2 as a form in the masses of the kinds
        spread = np.where(rest > 0, 1 / np.maximum(rest, 1), 0.0)
        square[:, 3, 3] += spread + (1 - spread) / (V - 1)
        square[:, 0, 0] += 1 - same
        square[:, 0, 3] += (1 - same) / (V - 1)
        square[:, 3, 0] += (1 - same) / (V - 1)
        self._square = square * self._count[..., None] / (V - 1)

    def __call__(self, theta: Array, order: int = 2) -> tuple[Moment, Moment, Moment]:
        """[value, gradient, Hessian] up to ``order`` of b, s and m, at theta of shape (..., size)."""
        logits = (self._logits @ theta[..., None, :, None])[..., 0]
        mass = self._keys * np.exp(logits - logits.max(axis=-1, keepdims=True))
        mass /= mass.sum(axis=-1, keepdims=True)
        by_mass = (self._square @ mass[..., None])[..., 0]        # half the derivative of s
        copied = np.zeros_like(self._on_target)
        copied[:, :1] = self._count
        constant = 1 / (self.V * (self.V - 1))
        found = [[(self._on_target * mass).sum((-2, -1)) - constant], [(by_mass * mass).sum((-2, -1)) - constant],
                 [(copied * mass).sum((-2, -1))]]
        if order > 0:
            mean = (mass[..., None, :] @ self._logits)[..., 0, :]
            centred = self._logits - mean[..., None, :]           # d ln mass / d theta
            flat = centred.reshape(*theta.shape[:-1], -1, self.size)
            for moment, factor in zip(found, (self._on_target, 2 * by_mass, copied), strict=True):
                pulled = factor * mass
                moment.append((pulled.reshape(*flat.shape[:-1], 1) * flat).sum(-2))
                if order > 1:  # d^2 mass = mass (centred centred - their mean over the row)
                    pulled = pulled - pulled.sum(-1, keepdims=True) * mass
                    moment.append(np.swapaxes(pulled.reshape(*flat.shape[:-1], 1) * flat, -1, -2) @ flat)
            if order > 1:
                turn = mass[..., None] * centred
                bend = np.swapaxes(turn.reshape(flat.shape), -1, -2) @ (2 * self._square @ turn).reshape(flat.shape)
                found[1][2] = found[1][2] + bend
        return found[0], found[1], found[2]
