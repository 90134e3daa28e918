"""The network at infinite embedding dimension, with its readout integrated out.

**What is left of the network.**  The network sees a sequence through the features Phi = [X | I] (token and position,
``task.features``).  When the embedding dimension grows, embedded products of two positions become products of
features, and the attention weights enter only through a matrix M of shape (V + L, V + L) with independent Gaussian
entries of variance g_W.  Its logits are U = Phi M Phi^T; the attention is G = U / L (linear) or the row-wise softmax
of U.  The output is f = Z W with Z = G Phi = [G X | G] and a readout W of shape (V + L, V), entries of variance g_O.

**Integrating out the readout.**  Given M the output is Gaussian with kernel K = g_O Psi Psi^T, where Psi stacks the Z
of all P sequences: P L rows, but only V + L columns.  With Y the stacked one-hot targets, the data part of the action
is tr Y^T (K + sigma2)^-1 Y / 2.  The identity

    (g_O Psi Psi^T + sigma2)^-1 = (1 - Psi (A + lam)^-1 Psi^T) / sigma2,   A = Psi^T Psi,   lam = sigma2 / g_O

(multiply both sides by K + sigma2 to see it) leaves a system of size V + L, and with B = Psi^T Y

    S(M) = [P L - tr B^T (A + lam)^-1 B] / (2 sigma2) + ||M||^2 / (2 g_W).

The same number is the minimum over W of ||Y - Psi W||^2 / (2 sigma2) + ||W||^2 / (2 g_O), reached at the posterior mean
W = (A + lam)^-1 B.  At a minimum only the explicit dependence on Z counts for the derivative, so
dS/dZ = (Z W - Y) W^T / sigma2, and the chain rule through Z, G and U gives dS/dM with no P L x P L matrix anywhere.

Nothing is approximated for the given sequences: attention may depend on the tokens in any way that M allows.

**Layout.**  Inside, every array that has one entry per query position of every sequence is stored as (features, P, L):
keys or features first, the P L query positions last.  Then a softmax over keys works on long contiguous rows, and every
sum over positions, A and B among them, is one matrix product.  Only the products with the one-hot X run sequence by
sequence.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from copyhead.setup import Setup
from copyhead.task import one_hot, targets

Attention = Literal["linear", "softmax"]
Floats = NDArray[np.floating]


class ReducedAction:
    """Action S(M) of the reduced network on given sequences, with analytic gradient.

    Parameters
    ----------
    setup : Setup
        Parameters with chi divided out, as everywhere.
    attention : "linear" or "softmax"
    tokens : integers in 0..V-1, shape (P, L)
    dtype : float64 (default) or float32
        Precision of the passes over the sequences; the (V + L)-sized system is always solved in float64.
    Y : array, shape (P, L, V), optional
        Targets; by default those of the copy task.

    Raises
    ------
    ValueError
        For an unknown attention, or tokens or targets that do not fit the setup.
    """

    def __init__(self, setup: Setup, attention: Attention, tokens: NDArray[np.intp], dtype: DTypeLike = np.float64,
                 Y: Floats | None = None) -> None:
        check_attention(attention)
        tokens = np.asarray(tokens)
        if tokens.ndim != 2 or tokens.shape[1] != setup.L or len(tokens) == 0:
            raise ValueError(f"tokens must have shape (P >= 1, L = {setup.L}), got shape {tokens.shape}")
        if not np.issubdtype(tokens.dtype, np.integer) or tokens.min() < 0 or tokens.max() >= setup.V:
            raise ValueError(f"tokens must be integers in 0..{setup.V - 1}, got dtype {tokens.dtype}, "
                             f"range {tokens.min()}..{tokens.max()}")
        self.setup, self.attention_kind, self.tokens, self.dtype = setup, attention, tokens, np.dtype(dtype)
        self._X = one_hot(tokens, setup.V, dtype)                                           # (P, L, V)
        Y = one_hot(targets(tokens), setup.V, dtype) if Y is None else np.asarray(Y, dtype)
        if Y.shape != (*tokens.shape, setup.V):
            raise ValueError(f"Y must have shape {(*tokens.shape, setup.V)}, got shape {Y.shape}")
        self._Y = Y.reshape(-1, setup.V)                                                    # (P L, V)
        self._power = float(np.einsum("iv,iv->", self._Y, self._Y, dtype=np.float64))       # P L for one-hot rows

    def attention(self, M: Floats) -> Floats:
        """Attention matrices of all sequences at M, shape (P, L, L)."""
        return self._forward(M)[self.setup.V :].transpose(1, 2, 0)

    def features(self, G: Floats) -> Floats:
        """What the readout sees: the rows of Psi = [G X | G], shape (P L, V + L)."""
        return np.concatenate([G @ self._X, G], axis=-1).reshape(-1, self.setup.V + self.setup.L)

    def normal_equations(self, Z: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A = Psi^T Psi of shape (V + L, V + L) and B = Psi^T Y of shape (V + L, V), in float64."""
        return (Z.T @ Z).astype(np.float64, copy=False), (Z.T @ self._Y).astype(np.float64, copy=False)

    def readout(self, M: Floats) -> NDArray[np.float64]:
        """Posterior mean of the readout given M, W = (A + lam)^-1 B, shape (V + L, V)."""
        return self._solve(*self._moments(self._forward(M)))

    def loss(self, M: Floats, W: Floats | None = None) -> float:
        """Squared error per token, ||Y - Psi W||^2 / (P L); it is 1 for zero output and one-hot targets.

        ``W`` defaults to the posterior mean for these sequences; pass the readout of a training set for a test loss.
        """
        return self._loss(self._forward(M), W)

    def _loss(self, Z: Floats, W: Floats | None = None) -> float:
        W = self._solve(*self._moments(Z)) if W is None else W
        error = Z.reshape(len(Z), -1).T @ W - self._Y
        return float(np.einsum("iv,iv->", error, error, dtype=np.float64) / len(error))

    def value(self, M: Floats) -> float:
        """The action S(M), including every term that does not depend on M."""
        A, B = self._moments(self._forward(M))
        return self._action(M, B, self._solve(A, B))

    def value_and_gradient(self, M: Floats) -> tuple[float, NDArray[np.float64]]:
        """S(M) and dS/dM, the latter of the shape (V + L, V + L) of M."""
        Z = self._forward(M)
        A, B = self._moments(Z)
        W = self._solve(A, B)
        return self._action(M, B, W), self._gradient(M, Z, self._attention_slope(Z, W))

    def moments(self, M: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A = Psi^T Psi and B = Psi^T Y at M: they add up over sequences, so data sets can be taken in parts."""
        return self._moments(self._forward(M))

    def gradient(self, M: Floats, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """dS/dM at a fixed readout W, shape (V + L, V + L); ``value_and_gradient`` uses the best W."""
        Z = self._forward(M)
        return self._gradient(M, Z, self._attention_slope(Z, W))

    def _add_noise(self, D: Floats, Z: Floats, noise: Floats) -> None:
        """Add to D of ``_attention_slope`` the slope in G^T of a function of A whose slope in Z is ``noise`` Z."""
        dZ, V = (noise @ Z.reshape(len(Z), -1)).reshape(Z.shape), self.setup.V
        D[V:] += dZ[V:]
        by_sequence(D[V:])[...] += self._X @ by_sequence(dZ[:V])                          # dG^T = dZ_G^T + X dZ_X^T

    def _attention_slope(self, Z: Floats, W: NDArray[np.float64]) -> Floats:
        """An array of the shape of Z whose last L rows are dS/dG^T at the best readout W; the others are still empty."""
        V, L = self.setup.V, self.setup.L
        w = W.astype(Z.dtype, copy=False)
        error = w.T @ Z.reshape(V + L, -1)
        error -= self._Y.T
        error /= Z.dtype.type(self.setup.sigma2)
        D = np.empty_like(Z)
        read = w.take(self.tokens, axis=0)                                # Phi W, by gathering rows: (P, L, V)
        read += w[V:]
        np.matmul(read, by_sequence(error.reshape(V, -1, L)), out=by_sequence(D[V:]))   # dS/dG = error (Phi W)^T
        return D

    def _gradient(self, M: Floats, Z: Floats, D: Floats) -> NDArray[np.float64]:
        """dS/dM by the chain rule from dS/dG^T, the last L rows of D; D is overwritten."""
        V, L = self.setup.V, self.setup.L
        dU = D[V:]
        if self.attention_kind == "softmax":
            dU -= np.einsum("bpa,bpa->pa", dU, Z[V:])
            dU *= Z[V:]
        np.matmul(self._X.transpose(0, 2, 1), by_sequence(dU), out=by_sequence(D[:V]))  # D = dU Phi, as Z = G Phi
        gradient = np.empty((V + L, V + L))
        gradient[:V] = (D.reshape(V + L, -1) @ self._X.reshape(-1, V)).T
        gradient[V:] = (np.ones(D.shape[1], D.dtype) @ D).T
        if self.attention_kind == "linear":
            gradient /= L
        gradient += np.asarray(M, dtype=np.float64) / self.setup.g_W
        return gradient

    def _forward(self, M: Floats) -> Floats:
        """Psi^T = [G X | G]^T of all sequences, shape (V + L, P, L); its last L rows are the attention, keys first."""
        V, L = self.setup.V, self.setup.L
        P = len(self._X)
        M = np.asarray(M, dtype=self._X.dtype)
        if self.attention_kind == "linear":
            M = M / M.dtype.type(L)
        query = (M[:V].T @ self._X.reshape(-1, V).T).reshape(V + L, P, L)                 # (Phi M)^T
        query += M[V:].T[:, None]
        Z = np.empty_like(query)
        U = Z[V:]
        np.matmul(self._X, by_sequence(query[:V]), out=by_sequence(U))
        U += query[V:]
        if self.attention_kind == "softmax":
            U -= U.max(axis=0)
            np.exp(U, out=U)
            U /= U.sum(axis=0)
        np.matmul(self._X.transpose(0, 2, 1), by_sequence(U), out=by_sequence(Z[:V]))
        return Z

    def _moments(self, Z: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A and B from Psi^T."""
        rows = Z.reshape(len(Z), -1)
        return (rows @ rows.T).astype(np.float64, copy=False), (rows @ self._Y).astype(np.float64, copy=False)

    def _solve(self, A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
        return cho_solve(cho_factor(A + self.setup.sigma2 / self.setup.g_O * np.eye(len(A))), B)

    def _action(self, M: Floats, B: NDArray[np.float64], W: NDArray[np.float64]) -> float:
        prior = np.vdot(M, M) / (2 * self.setup.g_W)
        return float((self._power - np.vdot(B, W)) / (2 * self.setup.sigma2) + prior)


def by_sequence(array: Floats) -> Floats:
    """View of an array of shape (features, P, L) as P matrices of shape (features, L)."""
    return array.transpose(1, 0, 2)


def check_attention(attention: object) -> None:
    """Raise ValueError unless ``attention`` is one of the two kinds."""
    if not isinstance(attention, str) or attention not in ("linear", "softmax"):
        raise ValueError(f"attention must be 'linear' or 'softmax', got {attention!r}")


def planted(logits: Floats, V: int) -> NDArray[np.float64]:
    """The M of smallest norm whose logits are the given L x L matrix for every sequence; shape (V + L, V + L).

    Every feature row (x, e_a) is orthogonal to n = (1, ..., 1, -1, ..., -1), V ones and L minus ones.  Putting the
    logits into the position block and projecting n away on both sides therefore changes no logit and removes what
    costs norm for nothing.
    """
    L = len(logits)
    n = np.concatenate([np.ones(V), -np.ones(L)])
    M = np.zeros((V + L, V + L))
    M[V:, V:] = logits
    projector = np.eye(V + L) - np.outer(n, n) / (V + L)
    return projector @ M @ projector
