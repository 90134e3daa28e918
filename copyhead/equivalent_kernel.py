"""The data term and its population limit: features of the readout, their exact means, and the Fourier vectors.

The readout kernel of a data set is g_O Psi Psi^T with V + L features per (sequence, position) row.  The equivalent-kernel
approximation replaces Psi^T Psi and Psi^T Y by their means over iid uniform tokens; this module states both sides.

Convention: ``X`` is one-hot with shape (P, L, V); a compound row index runs over sequences first, then positions; the
target of position a is token a - 1 (indices mod L); variances have chi divided out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.setup import Setup
from copyhead.validation import one_hot_array, whole_number

Array = NDArray[np.float64]


def all_sequences(L: int, V: int) -> Array:
    """Every sequence once, one-hot, shape (V**L, L, V): on this data set the equivalent kernel is exact.

    Raises ValueError for L < 1, V < 1, or more than 10^6 sequences.
    """
    L, V = whole_number("L", L, 1), whole_number("V", V, 1)
    if V**L > 10**6:
        raise ValueError(f"V**L must be at most 10**6, got {V}**{L}")
    tokens = np.indices((V,) * L).reshape(L, -1).T
    return np.eye(V)[tokens]


def targets(X: ArrayLike) -> Array:
    """Labels Y, shape (P L, V): row (alpha, a) is token a - 1 of sequence alpha."""
    X = one_hot_array(X)
    return np.roll(X, 1, axis=1).reshape(-1, X.shape[2])


def readout_features(X: ArrayLike, G: ArrayLike) -> Array:
    """Psi, shape (P L, V + L): row (alpha, a) is sum_b G_ab (x^b_alpha, e_b), so K = g_O Psi Psi^T.

    ``G`` is one attention matrix (L, L) for all sequences.  Equation: eq-equivalent-kernel-features.
    """
    X, G = one_hot_array(X), np.asarray(G, dtype=float)
    P, L, V = X.shape
    if G.shape != (L, L):
        raise ValueError(f"G must have shape ({L}, {L}), got {G.shape}")
    positions = np.broadcast_to(G, (P, L, L))
    return np.concatenate([G @ X, positions], axis=2).reshape(P * L, V + L)


def dense_data_term(K: ArrayLike, Y: ArrayLike, sigma2: float) -> float:
    """S_data = 1/2 tr Y^T (K + sigma2)^{-1} Y by a dense solve; K (n, n), Y (n, V).  Slow and literal on purpose."""
    K, Y = np.asarray(K, dtype=float), np.asarray(Y, dtype=float)
    return float(np.sum(Y * np.linalg.solve(K + sigma2 * np.eye(len(K)), Y)) / 2)


def exact_data_term(setup: Setup, X: ArrayLike, G: ArrayLike) -> float:
    """S_data of given sequences X (P, L, V) and one attention matrix G (L, L), without approximation, in V + L dimensions.

    Equation: eq-equivalent-kernel-reduction.
    """
    features, Y = readout_features(X, G), targets(X)
    gram, labels = features.T @ features, features.T @ Y
    ridge = gram + setup.sigma2 / setup.g_O * np.eye(len(gram))
    return float((len(Y) - np.sum(labels * np.linalg.solve(ridge, labels))) / (2 * setup.sigma2))


def population_moments(G: ArrayLike, V: int) -> tuple[Array, Array]:
    """Means per sequence of Psi^T Psi, shape (V + L, V + L), and of Psi^T Y, shape (V + L, V), for constant G (L, L).

    Tokens are iid and uniform.  Equations: eq-equivalent-kernel-mean-gram, eq-equivalent-kernel-mean-labels.
    """
    G, V = np.asarray(G, dtype=float), whole_number("V", V, 1)
    L = len(G)
    if G.shape != (L, L):
        raise ValueError(f"G must be a square matrix, got shape {G.shape}")
    gamma, ones = G.T @ G, np.ones((V, V))
    s, T = G.sum(), np.roll(G, 1, axis=1).trace()  # T = sum_a G[a, a - 1]
    tokens = gamma.trace() / V * np.eye(V) + (gamma.sum() - gamma.trace()) / V**2 * ones
    mixed = np.outer(np.ones(V), gamma.sum(axis=1)) / V
    gram = np.block([[tokens, mixed], [mixed.T, gamma]])
    labels = np.vstack([T / V * np.eye(V) + (s - T) / V**2 * ones, np.outer(G.sum(axis=0), np.ones(V)) / V])
    return gram, labels


def equivalent_data_term(setup: Setup, G: ArrayLike, P: float) -> float:
    """S_data of the equivalent kernel for any constant attention matrix G (L, L): no assumption on its pattern.

    Equation: eq-equivalent-kernel-action.  For G in span{J, G*} it equals the closed form eq-inversion-data-term.
    """
    gram, labels = population_moments(G, setup.V)
    ridge = P * gram + setup.sigma2 / setup.g_O * np.eye(len(gram))
    explained = np.sum(P * labels * np.linalg.solve(ridge, P * labels))
    return float((P * len(np.asarray(G)) - explained) / (2 * setup.sigma2))


def optimism(setup: Setup, X: ArrayLike, G: ArrayLike) -> float:
    """F(W_mean) - min F >= 0 on the sequences X (P, L, V): how much the readout gains by adapting to its own data set.

    F is the ridge regression whose minimum is the exact data term, W_mean minimises its mean over data sets.  The mean
    over data sets of this difference is S_EK - <S_data>; it fluctuates far less than S_data itself.
    Equation: eq-equivalent-kernel-optimism.
    """
    P, (gram, labels) = len(one_hot_array(X)), population_moments(G, setup.V)
    W = np.linalg.solve(P * gram + setup.sigma2 / setup.g_O * np.eye(len(gram)), P * labels)
    misfit = np.sum((targets(X) - readout_features(X, G) @ W) ** 2)
    F = misfit / (2 * setup.sigma2) + np.sum(W**2) / (2 * setup.g_O)
    return float(F - exact_data_term(setup, X, G))


def fourier_vectors(X: ArrayLike) -> NDArray[np.complex128]:
    """The vectors v_00, v_0k, v_1k (k = 1..V-1) and w_m (m = 1..L-1) as columns, shape (P L, 2 V - 1 + L - 1).

    Orthonormal only as P grows (overlaps of order P^(-1/2)).  Columns: v_00 | v_01 .. v_0,V-1 | v_11 .. v_1,V-1 |
    w_1 .. w_L-1, the w_m with the real cosine vectors over positions.  Equation: eq-fourier-basis-vectors.
    """
    X = one_hot_array(X)
    P, L, V = X.shape
    xi = X @ np.exp(2j * np.pi * np.outer(np.arange(V), np.arange(1, V)) / V)  # (P, L, V - 1): e^{2 pi i k j / V}
    mean = np.broadcast_to(xi.mean(axis=1, keepdims=True), xi.shape)
    v0 = mean / np.sqrt(P)
    v1 = (np.roll(xi, 1, axis=1) - mean) / np.sqrt(P * (L - 1))
    m = np.arange(1, L)
    w = np.cos(np.pi * np.outer(np.arange(L) + 0.5, m) / L) * np.sqrt(2 / L)  # discrete cosine vectors: sum_a f_m = 0
    w = np.broadcast_to(w / np.sqrt(P), (P, L, L - 1))
    v00 = np.full((P, L, 1), 1 / np.sqrt(P * L))
    return np.concatenate([v00, v0, v1, w], axis=2).reshape(P * L, -1)
