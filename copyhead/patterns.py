"""Attention patterns: the two that the symmetry of the copy task leaves, patterns with several ones in a row, and how to
measure them in any matrix.

J is the all-ones matrix (every position attends to all) and G* sends each position to its predecessor.  The order
parameters of an L x L matrix are the coefficients of its least-squares fit

    G  ~  c1 J / L + c_G G* / sqrt(L).

J and G* are not orthogonal (their inner product is L), so the coefficients come from two sums, the sum of all
entries s and the copy weight T = sum_a G[a, a-1]:  c1 = (s - T)/(L - 1),  c_G = (T - c1)/sqrt(L).
A softmax attention matrix has rows that sum to one, s = L; its c_G is called a_G, and c1 = 1 - a_G/sqrt(L).

A pattern in general is a matrix R of zeros and ones, shape (L, L): row a says which positions are wanted at position a.
It is regular if every row and every column has the same number of ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.validation import whole_number


def J(L: int) -> NDArray[np.float64]:
    """The all-ones matrix, shape (L, L)."""
    L = whole_number("L", L, minimum=2)
    return np.ones((L, L))


def G_star(L: int) -> NDArray[np.float64]:
    """The copy pattern G*[a, a-1] = 1 with cyclic positions, shape (L, L); ``G_star(L) @ X == np.roll(X, 1, axis=0)``."""
    L = whole_number("L", L, minimum=2)
    return np.roll(np.eye(L), -1, axis=1)


def pattern(c1: float, c_G: float, L: int) -> NDArray[np.float64]:
    """The matrix c1 J / L + c_G G* / sqrt(L), shape (L, L)."""
    return c1 * J(L) / L + c_G * G_star(L) / np.sqrt(L)


def order_parameters(G: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients (c1, c_G) of the least-squares fit of ``G`` by J / L and G* / sqrt(L).

    ``G`` has shape (..., L, L); both results have shape (...) (a NumPy scalar for one matrix).  For the attention
    of many sequences, average over the sequences first: then the coefficients are those of the mean attention.
    For softmax attention c_G is the order parameter a_G.

    Raises
    ------
    ValueError
        If the last two axes are not square with L >= 2.
    """
    G = _square(G)
    L = G.shape[-1]
    rows = np.arange(L)
    T = G[..., rows, rows - 1].sum(axis=-1)
    c1 = (G.sum(axis=(-2, -1)) - T) / (L - 1)
    return c1, (T - c1) / np.sqrt(L)


def global_sign(c1: ArrayLike, c_G: ArrayLike, L: int) -> NDArray[np.float64]:
    """-1 where T = c1 + sqrt(L) c_G is negative, else 1; broadcasts.

    Linear attention does not tell G from -G: multiplied by this sign, its order parameters have T >= 0.
    """
    return np.where(np.asarray(c1) + np.sqrt(L) * np.asarray(c_G) < 0, -1.0, 1.0)


def coverage(G: ArrayLike) -> float:
    """Share of the attention that the two patterns account for, in [0, 1].

    The squared norm of the projection of the *mean* attention on span{J, G*}, divided by the *mean* squared norm of
    the attention of the single sequences:

        R = (c1^2 + 2 c1 c_G / sqrt(L) + c_G^2) / mean_alpha ||G_alpha||^2.

    What varies from sequence to sequence counts as uncovered, even inside the span.  ``G`` has shape (P, L, L) or
    (L, L).  Zero attention has nothing outside the span and returns 1.
    """
    G = _square(G)
    L = G.shape[-1]
    G = G.reshape(-1, L, L)
    total = np.einsum("pab,pab->", G, G) / len(G)
    if total == 0:
        return 1.0
    c1, c_G = order_parameters(G.mean(axis=0))
    return float((c1**2 + 2 * c1 * c_G / np.sqrt(L) + c_G**2) / total)


def circulant(L: int, lags: Sequence[int]) -> NDArray[np.float64]:
    """R[a, a - k] = 1 for every lag k, positions cyclic, shape (L, L); ``circulant(L, [1])`` is G*.

    Raises ValueError unless the lags are different integers in 0..L-1.
    """
    L = whole_number("L", L, minimum=2)
    if not lags or len(set(lags)) != len(lags) or not set(lags) <= set(range(L)):
        raise ValueError(f"lags must be different integers in 0..{L - 1}, at least one, got {lags!r}")
    return np.sum([np.roll(np.eye(L), -lag, axis=1) for lag in lags], axis=0)


def random_regular(L: int, s: int, seed: int = 0) -> NDArray[np.float64]:
    """A random pattern with s ones in every row and in every column, shape (L, L).

    A circulant with rows and columns permuted, and then 20 L s attempts of a switch: two rows exchange a one and a zero in
    two columns, which changes no sum and, repeated, reaches every regular pattern.
    """
    L, s = whole_number("L", L, minimum=2), _ones_per_row(L, s)
    rng = np.random.default_rng(seed)
    R = circulant(L, range(s))[rng.permutation(L)][:, rng.permutation(L)]
    for a, c, b, d in zip(*rng.integers(L, size=(4, 20 * L * s)), strict=True):
        if R[a, b] == R[c, d] == 1 and R[a, d] == R[c, b] == 0:
            R[[a, c, a, c], [b, d, d, b]] = 0, 0, 1, 1
    return R


def random_rows(L: int, s: int, seed: int = 0) -> NDArray[np.float64]:
    """A pattern whose rows have s ones at random places, independent of each other; its columns are irregular."""
    L, s = whole_number("L", L, minimum=2), _ones_per_row(L, s)
    rng = np.random.default_rng(seed)
    R = np.zeros((L, L))
    for row in R:
        row[rng.choice(L, s, replace=False)] = 1
    return R


def overlaps(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Frobenius products of matrices, (..., n, L, L) with (..., m, L, L), as an array of shape (..., n, m)."""
    return np.asarray(np.einsum("...iab,...jab->...ij", _square(first), _square(second)))


def project(G: ArrayLike, basis: ArrayLike) -> NDArray[np.float64]:
    """Coefficients of the least-squares fit of G, shape (..., L, L), by n matrices, shape (n, L, L); shape (..., n).

    With the basis J / L, G* / sqrt(L) these are the ``order_parameters``.  Raises ValueError for a basis that is not
    linearly independent.
    """
    G, basis = _square(G), _square(basis)
    gram = overlaps(basis, basis)
    rank = np.linalg.matrix_rank(gram)
    if rank < len(gram):
        raise ValueError(f"basis must be linearly independent, got {len(gram)} matrices of rank {rank}")
    return np.asarray(np.linalg.solve(gram, overlaps(G[..., None, :, :], basis)[..., 0, :, None])[..., 0])


def column_bias(G: ArrayLike, R: ArrayLike) -> NDArray[np.float64]:
    """How much more attention the keys get that a pattern asks for more often; G has shape (..., L, L), the result (...).

    The slope of the least-squares line through the attention that each key gets, sum_a G[a, b], against the number of ones
    in its column of R, shape (L, L).  It is 0 for uniform attention, and 1/s for attention spread over the s ones of a row.

    Raises ValueError for a pattern whose columns all have the same sum.
    """
    G, R = _square(G), _square(R)
    wanted = R.sum(axis=0) - R.sum() / len(R)
    if not np.any(np.abs(wanted) > 1e-9):
        raise ValueError("R must have columns with different sums, got a pattern whose columns all have the same")
    return np.asarray(G.sum(axis=-2) @ wanted / (wanted @ wanted))


def _ones_per_row(L: int, s: int) -> int:
    if whole_number("s", s, minimum=1) >= L:
        raise ValueError(f"s must be an integer in 1..L - 1 = {L - 1}, got {s}")
    return s


def _square(G: ArrayLike) -> NDArray[np.float64]:
    G = np.asarray(G, dtype=np.float64)
    if G.ndim < 2 or G.shape[-1] != G.shape[-2] or G.shape[-1] < 2:
        raise ValueError(f"G must have shape (..., L, L) with L >= 2, got shape {G.shape}")
    return G
