"""Teachers that copy from several places at once, each through a value map of its own.

    y^a = sum_k A_k sum_b R_k[a, b] x^b

R_k is a pattern of zeros and ones with the same number of ones in every row.  Most often it is a lag, R_k[a, a - lag_k] = 1
with positions cyclic.  The book's copy task is one lag, 1, with the identity as its value map.  What the action of a student
sees of the maps is their overlap on centred tokens, W[k, j] = tr A_k^T (1 - J/V) A_j (1 - J/V), and the size of the mean
target.
A span of lags is a pattern too, ``patterns.circulant``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.patterns import circulant
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
    """Patterns and value maps.

    Parameters
    ----------
    L : int, at least 2
        Sequence length.
    values : array, shape (K, V, V)
        Value maps A_k; they act on one-hot tokens from the left.
    lags : K different integers in 0..L-1; by default 1, 2, ..., K
    patterns : array, shape (K, L, L), instead of lags
        Entries 0 and 1; all rows of a pattern have the same sum.

    Attributes
    ----------
    W : array, shape (K, K)
        Overlaps of the value maps on centred tokens.
    mean : float
        Squared length of the mean target of a position.
    sizes : integers, shape (K,)
        Ones in a row of each pattern.
    """

    def __init__(self, L: int, values: ArrayLike, lags: Sequence[int] | None = None,
                 patterns: ArrayLike | None = None) -> None:
        self.L, self.values = whole_number("L", L, minimum=2), np.asarray(values, dtype=float)
        if self.values.ndim != 3 or self.values.shape[1] != self.values.shape[2] or not len(self.values):
            raise ValueError(f"values must have shape (K >= 1, V, V), got {self.values.shape}")
        self.K, self.V = self.values.shape[:2]
        if lags is not None and patterns is not None:
            raise ValueError(f"lags must be None where patterns are given, got {lags!r}")
        if patterns is None:
            lags = tuple(range(1, self.K + 1)) if lags is None else tuple(lags)
            if len(lags) != self.K or len(set(lags)) != self.K or not set(lags) <= set(range(self.L)):
                raise ValueError(f"lags must be {self.K} different integers in 0..{self.L - 1}, got {lags!r}")
            patterns = [circulant(self.L, [lag]) for lag in lags]
        self._patterns = np.asarray(patterns, dtype=float)
        if self._patterns.shape != (self.K, self.L, self.L) or not np.isin(self._patterns, (0, 1)).all():
            raise ValueError(f"patterns must hold zeros and ones in the shape (K, L, L) = {(self.K, self.L, self.L)}, "
                             f"got shape {self._patterns.shape}")
        rows = self._patterns.sum(axis=2)
        if np.ptp(rows, axis=1).any() or not rows.all():
            raise ValueError("patterns must have the same number >= 1 of ones in every row, "
                             f"got {rows.min():g}..{rows.max():g}")
        self.sizes = rows[:, 0].astype(int)

    @cached_property
    def W(self) -> Array:
        centred = self.values - self.values.mean(axis=2, keepdims=True)
        return np.einsum("kij,lij->kl", centred, centred)

    @cached_property
    def mean(self) -> float:
        return float(np.sum(np.tensordot(self.sizes, self.values, 1).mean(axis=1) ** 2))

    def targets(self, tokens: NDArray[np.intp]) -> Array:
        """y of every position, shape (P, L, V), for tokens of shape (P, L)."""
        X = one_hot(np.asarray(tokens), self.V)
        return sum((R @ X @ A.T for R, A in zip(self._patterns, self.values, strict=True)), np.zeros(X.shape))

    def patterns(self) -> Array:
        """The attention that each value map asks for, R_k; for a lag R_k[a, a - lag_k] = 1.  Shape (K, L, L)."""
        return self._patterns.copy()


def copy_teacher(L: int, V: int) -> Teacher:
    """The book's task: the predecessor, unchanged."""
    return Teacher(L, np.eye(V)[None])


def sparse_teacher(V: int, R: ArrayLike, scale: float = 1.0) -> Teacher:
    """y^a = scale sum_b R[a, b] x^b: the sum of the tokens at the ones of a pattern R of shape (L, L)."""
    R = np.asarray(R, dtype=float)
    return Teacher(len(R), scale * np.eye(V)[None], patterns=R[None])
