"""Fits of linear attention to data sets that are large compared with what the average over sequences leaves to chance.

Two things make a fit of 10^4 weights to 10^6 tokens cheap.  The population Hessian (``population.py``) at a nearby state is
nearly the Hessian on the data: as the first guess of L-BFGS it replaces hundreds of passes over the data by a few.  And the
passes go through the data in chunks, so that memory does not grow with their number and sums over chunks are in float64.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from copyhead.population import PopulationHessian
from copyhead.reduced import ReducedAction
from copyhead.setup import Setup
from copyhead.validation import positive_number, whole_number

Array = NDArray[np.float64]
MEMORY = 20                      # steps that L-BFGS remembers
ARMIJO = 1e-4


class ChunkedAction:
    """The action of ``ReducedAction`` for linear attention, the sequences taken ``chunk`` at a time."""

    def __init__(self, setup: Setup, tokens: NDArray[np.intp], chunk: int = 500, dtype: DTypeLike = np.float64) -> None:
        chunk = whole_number("chunk", chunk, minimum=1)
        self.setup, self.tokens = setup, np.asarray(tokens)
        self._parts = [ReducedAction(setup, "linear", self.tokens[i : i + chunk], dtype)
                       for i in range(0, max(1, len(self.tokens)), chunk)]

    def value_and_gradient(self, M: Array) -> tuple[float, Array]:
        """S(M) and dS/dM."""
        A, B = self.moments(M)
        W = self._solve(A, B)
        prior = M / self.setup.g_W                                     # every part counts it
        gradient = prior + np.sum([part.gradient(M, W) - prior for part in self._parts], axis=0)
        data = (self.tokens.size - np.vdot(B, W)) / (2 * self.setup.sigma2)
        return float(data + np.vdot(M, M) / (2 * self.setup.g_W)), gradient

    def loss(self, M: Array) -> float:
        """Squared error per token with the readout of these sequences."""
        A, B = self.moments(M)
        W = self._solve(A, B)
        return float(1 + (np.vdot(W, A @ W) - 2 * np.vdot(W, B)) / self.tokens.size)

    def attention(self, M: Array) -> Array:
        """Mean attention over the sequences, shape (L, L)."""
        total = sum(part.attention(M).sum(axis=0) for part in self._parts)
        return np.asarray(total) / len(self.tokens)

    def moments(self, M: Array) -> tuple[Array, Array]:
        """A = Psi^T Psi and B = Psi^T Y of all sequences."""
        A, B = zip(*(part.moments(M) for part in self._parts), strict=True)
        return np.sum(A, axis=0), np.sum(B, axis=0)

    def _solve(self, A: Array, B: Array) -> Array:
        return np.asarray(np.linalg.solve(A + self.setup.sigma2 / self.setup.g_O * np.eye(len(A)), B))


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a preconditioned descent ended.

    ``excess`` estimates how much lower the minimum lies: g H^-1 g / 2 with the current guess of H^-1.  ``step`` is the
    distance to the start, in units of the prior width.
    """

    M: Array
    action: float
    excess: float
    step: float
    evaluations: int
    converged: bool


def descend_preconditioned(action: ChunkedAction | ReducedAction, M: Array, hessian: PopulationHessian, *,
                           tolerance: float = 1e-4, evaluations: int = 100) -> Descent:
    """L-BFGS from M whose first guess of the inverse Hessian is that of the population.

    ``hessian`` must be positive definite, as it is at a minimum.  The descent ends when ``excess`` (see ``Descent``) falls
    below ``tolerance``, in units of the action.  Raises ValueError for a bad tolerance or number of evaluations.
    """
    tolerance = positive_number("tolerance", tolerance)
    evaluations = whole_number("evaluations", evaluations, minimum=1)
    start, pairs = M, deque[tuple[Array, Array]](maxlen=MEMORY)
    value, gradient = action.value_and_gradient(M)
    used = 1
    while True:
        direction = -_inverse(gradient, pairs, hessian)
        fall = -float(np.vdot(gradient, direction))
        if fall / 2 < tolerance or used >= evaluations or not np.isfinite(fall):
            width = np.sqrt(action.setup.g_W)
            return Descent(M, value, fall / 2, float(np.linalg.norm(M - start)) / width, used, bool(fall / 2 < tolerance))
        length = 1.0
        while used < evaluations:
            trial = M + length * direction
            new, slope = action.value_and_gradient(trial)
            used += 1
            if new <= value - ARMIJO * length * fall:
                break
            length /= 2
        else:
            continue
        if np.vdot(trial - M, slope - gradient) > 0:
            pairs.append((trial - M, slope - gradient))
        M, value, gradient = trial, new, slope


def _inverse(gradient: Array, pairs: deque[tuple[Array, Array]], hessian: PopulationHessian) -> Array:
    """The two loops of L-BFGS around the population's inverse Hessian."""
    q, weights = gradient, []
    for s, y in reversed(pairs):
        weights.append(np.vdot(s, q) / np.vdot(s, y))
        q = q - weights[-1] * y
    q = hessian.solve(q)
    for (s, y), weight in zip(pairs, reversed(weights), strict=True):
        q = q + (weight - np.vdot(y, q) / np.vdot(s, y)) * s
    return q
