"""The two attention patterns that the symmetry of the copy task leaves, and how to measure them in any matrix.

J is the all-ones matrix (every position attends to all) and G* sends each position to its predecessor.  The order
parameters of an L x L matrix are the coefficients of its least-squares fit

    G  ~  c1 J / L + c_G G* / sqrt(L).

J and G* are not orthogonal (their inner product is L), so the coefficients come from two sums, the sum of all
entries s and the copy weight T = sum_a G[a, a-1]:  c1 = (s - T)/(L - 1),  c_G = (T - c1)/sqrt(L).
A softmax attention matrix has rows that sum to one, s = L; its c_G is called a_G, and c1 = 1 - a_G/sqrt(L).
"""

from __future__ import annotations

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


def _square(G: ArrayLike) -> NDArray[np.float64]:
    G = np.asarray(G, dtype=np.float64)
    if G.ndim < 2 or G.shape[-1] != G.shape[-2] or G.shape[-1] < 2:
        raise ValueError(f"G must have shape (..., L, L) with L >= 2, got shape {G.shape}")
    return G
