"""Teachers that copy from several places at once, each through a value map of its own.

    y^a = sum_k A_k x^(a - lag_k)            positions cyclic

The book's copy task is one lag, 1, with the identity as its value map.  What the action of a student sees of the maps is
their overlap on centred tokens, W[k, j] = tr A_k^T (1 - J/V) A_j (1 - J/V), and the size of the mean target.
Spans of lags need no object of their own: a map on a span is that map on every lag of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.task import one_hot
from copyhead.validation import whole_number

Array = NDArray[np.float64]


def orthogonal_values(V: int, K: int) -> Array:
    """K value maps, shape (K, V, V), that ignore the mean token and are orthogonal: W = (V - 1) times the identity.

    Each permutes the axes of a basis of the centred tokens cyclically, by 0, 1, ..., K - 1 steps; so K <= V - 1.  The first
    is the identity on centred tokens.
    """
    V, K = whole_number("V", V, minimum=2), whole_number("K", K, minimum=1)
    if K > V - 1:
        raise ValueError(f"K must be an integer in 1..V - 1 = {V - 1}, got {K}")
    basis = np.linalg.qr(np.eye(V)[:, : V - 1] - 1 / V)[0]                       # (V, V - 1), columns sum to zero
    return np.array([basis @ np.roll(np.eye(V - 1), k, axis=0) @ basis.T for k in range(K)])


class Teacher:
    """Lags and value maps.

    Parameters
    ----------
    L : int, at least 2
        Sequence length.
    values : array, shape (K, V, V)
        Value maps A_k; they act on one-hot tokens from the left.
    lags : K different integers in 0..L-1; by default 1, 2, ..., K

    Attributes
    ----------
    W : array, shape (K, K)
        Overlaps of the value maps on centred tokens.
    mean : float
        Squared length of the mean target of a position.
    """

    def __init__(self, L: int, values: ArrayLike, lags: Sequence[int] | None = None) -> None:
        self.L, self.values = whole_number("L", L, minimum=2), np.asarray(values, dtype=float)
        if self.values.ndim != 3 or self.values.shape[1] != self.values.shape[2] or not len(self.values):
            raise ValueError(f"values must have shape (K >= 1, V, V), got {self.values.shape}")
        self.K, self.V = self.values.shape[:2]
        self.lags = tuple(range(1, self.K + 1)) if lags is None else tuple(lags)
        if len(self.lags) != self.K or len(set(self.lags)) != self.K or not set(self.lags) <= set(range(self.L)):
            raise ValueError(f"lags must be {self.K} different integers in 0..{self.L - 1}, got {lags!r}")

    @cached_property
    def W(self) -> Array:
        centred = self.values - self.values.mean(axis=2, keepdims=True)
        return np.einsum("kij,lij->kl", centred, centred)

    @cached_property
    def mean(self) -> float:
        return float(np.sum(self.values.sum(axis=0).mean(axis=1) ** 2))

    def targets(self, tokens: NDArray[np.intp]) -> Array:
        """y of every position, shape (P, L, V), for tokens of shape (P, L)."""
        X = one_hot(np.asarray(tokens), self.V)
        return sum((np.roll(X, lag, axis=1) @ A.T for lag, A in zip(self.lags, self.values, strict=True)), np.zeros(X.shape))

    def patterns(self) -> Array:
        """The attention that each lag asks for, R_k[a, a - lag_k] = 1; shape (K, L, L)."""
        return np.array([np.roll(np.eye(self.L), -lag, axis=1) for lag in self.lags])


def copy_teacher(L: int, V: int) -> Teacher:
    """The book's task: the predecessor, unchanged."""
    return Teacher(L, np.eye(V)[None])
