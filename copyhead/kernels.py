"""Kernels written out in full, for cross-checks: slow and literal where the rest of the package is not.

The three Gaussian layers of an infinitely wide network (embedding, attention, readout) as dense matrices over
(sequence, position) indices, and the prior action of an attention matrix by two routes that share no step:
the pseudoinverse of the full covariance, and the closed form of the theorem (eq-prior-action-boxed).

Convention: ``X`` is one-hot with shape (P, L, V); variances have chi divided out; a compound index runs over
sequences first, then positions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.validation import one_hot_array

Array = NDArray[np.float64]


def embedding_kernel(X: ArrayLike, g_emb: float = 1.0, g_p: float = 1.0) -> Array:
    """C = g_emb x.x + g_p delta_ab, shape (P, L, P, L); the position term is shared by all sequences.

    Equation: eq-nngp-prior-embedding.
    """
    X = one_hot_array(X)
    tokens = np.einsum("pav,qbv->paqb", X, X)
    return g_emb * tokens + g_p * np.eye(X.shape[1])[None, :, None, :]


def attention_covariance(X: ArrayLike, g_W: float = 1.0, g_emb: float = 1.0, g_p: float = 1.0) -> Array:
    """Prior covariance of all attention elements G^{ab}_alpha, shape (P L^2, P L^2).

    Cov(G^{ab}_alpha, G^{cd}_beta) = g_W / L^2 C_{ac,alpha beta} C_{bd,alpha beta} (eq-nngp-prior-attention).
    """
    C = embedding_kernel(X, g_emb, g_p)
    P, L = C.shape[:2]
    return g_W / L**2 * np.einsum("paqc,pbqd->pabqcd", C, C).reshape(P * L**2, P * L**2)


def readout_kernel(X: ArrayLike, G: ArrayLike, g_O: float = 1.0) -> Array:
    """K = g_O G_alpha C_{alpha beta} G_beta^T, shape (P L, P L); G is one matrix (L, L) or one per sequence.

    Equation: eq-nngp-prior-readout.
    """
    C = embedding_kernel(X)
    P, L = C.shape[:2]
    G = np.broadcast_to(np.asarray(G, dtype=float), (P, L, L))
    return g_O * np.einsum("pab,pbqd,qcd->paqc", G, C, G, optimize=True).reshape(P * L, P * L)


def data_rank(X: ArrayLike, g_emb: float = 1.0, g_p: float = 1.0) -> int:
    """Rank of the attention covariance on these sequences: the dimension of D; at most (V + L - 1)^2.

    Uses the (V + L)^2 features phi_a (x) phi_b instead of the P L^2 elements, so large P is cheap.
    """
    X = one_hot_array(X)
    P, L, V = X.shape
    positions = np.broadcast_to(np.sqrt(g_p) * np.eye(L), (P, L, L))
    phi = np.concatenate([np.sqrt(g_emb) * X, positions], axis=2)
    # sum_a phi_a phi_a^T of each sequence; the sum over pairs (a, b) is the Kronecker square of it.
    second = (np.swapaxes(phi, 1, 2) @ phi).reshape(P, -1)
    n = V + L
    gram = (second.T @ second).reshape(n, n, n, n).transpose(0, 2, 1, 3).reshape(n * n, n * n)
    return int(np.linalg.matrix_rank(gram, tol=1e-9 * np.linalg.norm(gram), hermitian=True))


def pseudoinverse_prior_matrix(X: ArrayLike, g_emb: float = 1.0, g_p: float = 1.0) -> Array:
    """Sigma by brute force: the (P L^2, P L^2) pseudoinverse of C o C, summed over both sequences.

    Shape (L^2, L^2).  For an attention matrix that is the same in every sequence, the prior action is
    S_NNGP(G) = L^2 / (2 g_W) vec(G)^T Sigma vec(G) (eq-prior-action-sigma).
    """
    P, L, _ = one_hot_array(X).shape
    inverse = np.linalg.pinv(L**2 * attention_covariance(X, 1.0, g_emb, g_p), rcond=1e-10, hermitian=True)
    return inverse.reshape(P, L * L, P, L * L).sum(axis=(0, 2))


def prior_block(L: int, V: int, g_emb: float = 1.0, g_p: float = 1.0) -> Array:
    """B = (I + J g_emb / (V g_p))^{-1} = I - J / (L + V g_p / g_emb), shape (L, L) (eq-prior-action-B)."""
    return np.eye(L) - np.ones((L, L)) / (L + V * g_p / g_emb)


def prior_action(G: ArrayLike, V: int, g_W: float = 1.0, g_emb: float = 1.0, g_p: float = 1.0) -> float:
    """S_NNGP(G) = L^2 / (2 g_W g_p^2) tr(B G B G^T), G (L, L), on full-rank data (eq-prior-action-boxed)."""
    G = np.asarray(G, dtype=float)
    if G.ndim != 2 or G.shape[0] != G.shape[1]:
        raise ValueError(f"G must be a square matrix, got shape {G.shape}")
    B = prior_block(len(G), V, g_emb, g_p)
    return float(len(G) ** 2 / (2 * g_W * g_p**2) * np.sum(G * (B @ G @ B)))
