"""The network at a finite embedding dimension d with frozen embeddings, exactly, at a cost that does not grow with d.

Only V + L different embedding vectors exist, the columns of E, shape (d, V + L).  The network sees them through the
attention weights and through the readout alone:

    T = E^T W_G E / d     the kernel of the logits, U = Phi T Phi^T,
    r = W_O E             the effective readout, f = G Phi r^T.

With independent Gaussian entries, variance g_W for W_G and g_O / d for W_O, both are Gaussian, and their covariance
knows E only through the metric C = E^T E / d, a matrix of size V + L.  So

    T = R M R,   r^T = R W,   R = C^(1/2),    M and W independent, entries of variance g_W and g_O,

has the same distribution, and the network at dimension d is the reduced network (``reduced.py``) with R put in.  C = 1
is d = infinity.  Whatever directions of the d^2 weights do not reach T cost prior and earn nothing: at a minimum they
are zero, and the minimum of the big network is the minimum over M.

With the readout integrated out the data part of the action becomes, with A and B as in ``reduced.py``,

    [P L - tr B^T R (R A R + lam)^-1 R B] / (2 sigma2),     and R (R A R + lam)^-1 R B is the posterior mean of r^T.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from copyhead.fit import descend
from copyhead.patterns import J
from copyhead.reduced import Attention, Floats, ReducedAction, planted
from copyhead.setup import Setup
from copyhead.starts import copy_start, uniform_start, wrong_sign_tokens
from copyhead.validation import positive_number, whole_number

Matrix = NDArray[np.float64]


def embedding_vectors(V: int, L: int, d: int, seed: int) -> Matrix:
    """Independent standard normal embeddings, shape (d, V + L): column t for token t, column V + a for position a.

    They are a function of (V, L, d, seed) only.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """
    L, V = whole_number("L", L, minimum=2), whole_number("V", V, minimum=2)
    d, seed = whole_number("d", d, minimum=1), whole_number("seed", seed, minimum=0)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(L, V, d))).standard_normal((d, V + L))


def random_metric(V: int, L: int, d: int, seed: int) -> Matrix:
    """C = E^T E / d of ``embedding_vectors``, shape (V + L, V + L); raises the same errors.

    Its mean is 1, and its entries fluctuate by 1 / sqrt(d).
    """
    E = embedding_vectors(V, L, d, seed)
    return E.T @ E / d


class MetricAction(ReducedAction):
    """Action S(M) of the network with metric C on given sequences; at C = 1 it is ``ReducedAction``.

    Parameters
    ----------
    setup, attention, tokens, dtype
        As for ``ReducedAction``.
    C : symmetric and positive semidefinite, shape (V + L, V + L)

    ``value``, ``value_and_gradient``, ``readout`` (which returns r^T) and ``loss`` take M, the weights with the
    independent prior; ``kernel(M)`` is the T that they lead to, and ``attention`` takes that T.

    Raises
    ------
    ValueError
        As ``ReducedAction``, and for a C that is not a metric.
    """

    def __init__(self, setup: Setup, attention: Attention, tokens: NDArray[np.intp], C: Matrix,
                 dtype: DTypeLike = np.float64) -> None:
        super().__init__(setup, attention, tokens, dtype)
        self.root = square_root(C, setup.V + setup.L)

    def kernel(self, M: Floats) -> Matrix:
        """T = R M R, shape (V + L, V + L)."""
        return self.root @ np.asarray(M, dtype=np.float64) @ self.root

    def readout(self, M: Floats) -> Matrix:
        return super().readout(self.kernel(M))

    def loss(self, M: Floats, W: Floats | None = None) -> float:
        return super().loss(self.kernel(M), self.readout(M) if W is None else W)

    def value(self, M: Floats) -> float:
        T = self.kernel(M)
        return super().value(T) + self._prior(M) - self._prior(T)

    def value_and_gradient(self, M: Floats) -> tuple[float, Matrix]:
        T = self.kernel(M)
        value, slope = super().value_and_gradient(T)
        data = slope - T / self.setup.g_W
        return value + self._prior(M) - self._prior(T), self.root @ data @ self.root + np.asarray(M) / self.setup.g_W

    def _prior(self, M: Floats) -> float:
        return float(np.vdot(M, M) / (2 * self.setup.g_W))

    def _solve(self, A: Matrix, B: Matrix) -> Matrix:
        R = self.root
        inner = R @ A @ R + self.setup.sigma2 / self.setup.g_O * np.eye(len(A))
        return R @ cho_solve(cho_factor(inner), R @ B)


def most_probable(action: MetricAction, start: Matrix | None = None, tolerance: float = 1e-3) -> Matrix:
    """The M of lowest action, shape (V + L, V + L), by L-BFGS from both basins or from ``start`` alone.

    Starts and repair of wrong signs are those of ``fit_map``, put into the kernel T.  Linear attention gets a little
    pooling even where C = 1 would have none, because at another C the threshold is elsewhere.  The search ends when no
    entry of the gradient, in units of the prior width, exceeds ``tolerance``.
    """
    tolerance = positive_number("tolerance", tolerance)
    if start is not None:
        return descend(action, start, tolerance).M
    plain = ReducedAction(action.setup, action.attention_kind, action.tokens)
    starts = [uniform_start(plain), copy_start(plain)]
    if action.attention_kind == "linear":
        starts = [T for T in starts if T.any()] or [planted(0.1 * J(action.setup.L), action.setup.V)]
    found = [descend(action, T, tolerance) for T in starts]
    if action.attention_kind == "linear":
        repaired = [_repaired(action, search.M) for search in found]
        found += [descend(action, M, tolerance) for M in repaired if M is not None]
    return min(found, key=lambda search: search.action).M


def _repaired(action: MetricAction, M: Matrix) -> Matrix | None:
    """M with the wrong signs of key tokens turned, which in T are signs of columns; None if there are none."""
    wrong = wrong_sign_tokens(action.kernel(M), action.setup.V)
    signs = np.ones(len(M))
    signs[wrong] = -1
    inverse = np.linalg.pinv(action.root)
    return inverse @ (action.kernel(M) * signs) @ inverse if len(wrong) else None


def square_root(C: Matrix, size: int) -> Matrix:
    """The symmetric R with R R = C; ValueError unless C is symmetric, positive semidefinite and of this size."""
    C = np.asarray(C, dtype=np.float64)
    if C.shape != (size, size) or not np.isfinite(C).all() or not np.allclose(C, C.T, rtol=0, atol=1e-10):
        raise ValueError(f"C must be a symmetric matrix of shape (V + L, V + L) = {(size, size)}, got shape {C.shape}")
    values, vectors = np.linalg.eigh(C)
    if values[0] < -1e-10 * max(values[-1], 1.0):
        raise ValueError(f"C must be positive semidefinite, got the eigenvalue {values[0]:.3g}")
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
