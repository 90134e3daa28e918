"""Checkers for the exercises that leave the copy task: other data, other labels, other patterns of attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, function, number, verdict
from copyhead.equivalent_kernel import all_sequences, readout_features
from copyhead.patterns import G_star, J, pattern

Answer = Callable[..., Any]


def markov_pair(answer: Answer) -> bool:
    """``answer(r, q, V)`` is the mean of x^a_i x^b_j at distance r = |a - b| of a chain that repeats with probability q."""

    def chain(r: int, q: float, V: int) -> np.ndarray:
        """Uniform start, then r steps of the transition matrix."""
        step = q * np.eye(V) + (1 - q) * np.ones((V, V)) / V
        return np.linalg.matrix_power(step, r) / V

    def joined(f: Answer, r: int, s: int, q: float, V: int) -> bool:
        """Both distances in a row: a step on the way is independent of the one before, given the token between them."""
        return close(V * np.asarray(f(r, q, V)) @ np.asarray(f(s, q, V)), f(r + s, q, V))

    cases = [(1, 0.3, 4), (3, 0.7, 5), (6, 0.9, 2)]
    return verdict(
        answer,
        function("r, q, V", cases[0], array((4, 4))),
        [
            ("the probabilities of all pairs of tokens add up to one",
             lambda f: all(close(np.sum(f(*x)), 1.0) for x in cases)),
            ("each token by itself is uniform",
             lambda f: all(close(np.sum(f(*x), axis=axis), np.full(x[2], 1 / x[2])) for x in cases for axis in (0, 1))),
            ("at distance zero it is the same token twice", lambda f: close(f(0, 0.3, 4), np.eye(4) / 4)),
            ("without memory different positions are independent", lambda f: close(f(2, 0.0, 4), np.full((4, 4), 1 / 16))),
            ("with perfect memory all positions hold one token", lambda f: close(f(5, 1.0, 3), np.eye(3) / 3)),
            ("two distances in a row make the distance of their sum",
             lambda f: joined(f, 1, 2, 0.3, 4) and joined(f, 4, 3, 0.8, 3)),
            ("it agrees with powers of the transition matrix", lambda f: all(close(f(*x), chain(*x)) for x in cases)),
        ],
    )


def lag_weight(answer: Answer) -> bool:
    """``answer(c1, c_G, L, b)`` is what replaces T when the target is the token b places earlier."""

    def overlap(c1: float, c_G: float, L: int, b: int) -> float:
        """Read off the mean of Psi^T Y over all sequences of two tokens: diagonal minus off-diagonal entry, times V."""
        X = all_sequences(L, 2)
        labels = np.roll(X, b, axis=1).reshape(-1, 2)
        moments = readout_features(X, pattern(c1, c_G, L)).T @ labels / len(X)
        return float(2 * (moments[0, 0] - moments[0, 1]))

    def agrees(f: Answer, L: int, *lags: int) -> bool:
        return all(close(f(0.7, -0.4, L, b), overlap(0.7, -0.4, L, b)) for b in lags)

    return verdict(
        answer,
        function("c1, c_G, L, b", (0.7, 0.4, 6, -1), number()),
        [
            ("doubling attention doubles it", lambda f: close(f(1.4, 0.8, 6, 1), 2 * f(0.7, 0.4, 6, 1))),
            ("pooling earns the same for every lag",
             lambda f: all(close(f(0.7, 0.0, 6, b), f(0.7, 0.0, 6, 1)) for b in range(-2, 6))),
            ("for the copy task it is T", lambda f: close(f(0.7, 0.4, 9, 1), 0.7 + 3 * 0.4)),
            ("positions are cyclic: L places further is the same lag",
             lambda f: close(f(0.7, 0.4, 6, -5), f(0.7, 0.4, 6, 1))),
            ("it agrees with the labels of all sequences, for every lag at L = 5", lambda f: agrees(f, 5, -2, -1, 0, 1, 2)),
            ("it also agrees for sequences of two and three tokens",
             lambda f: agrees(f, 2, -1, 0, 1) and agrees(f, 3, -1, 0, 1, 2)),
        ],
    )


def self_pattern(answer: Answer) -> bool:
    """``answer(L)`` is e_2: of norm one, in the span of J, G* and I, orthogonal to J and G*, positive on the diagonal."""
    sizes = (3, 4, 9)

    def every(test: Callable[[np.ndarray, int], bool]) -> Callable[[Answer], bool]:
        return lambda f: all(test(np.asarray(f(L)), L) for L in sizes)

    def elsewhere(matrix: np.ndarray, L: int) -> np.ndarray:
        return matrix[(np.eye(L) + G_star(L)) == 0]

    return verdict(
        answer,
        function("L", (9,), array((9, 9))),
        [
            ("attention to oneself is the same at every position",
             every(lambda e, _: close(np.diag(e), np.full(len(e), e[0, 0])))),
            ("the other positions that are not copied are all alike",
             every(lambda e, L: close(elsewhere(e, L), np.full(L * (L - 2), elsewhere(e, L)[0])))),
            ("it is orthogonal to J: weight given to oneself is taken from others",
             every(lambda e, L: close(np.sum(e * J(L)), 0.0))),
            ("it is orthogonal to the copy pattern", every(lambda e, L: close(np.sum(e * G_star(L)), 0.0))),
            ("its norm is one", every(lambda e, _: close(np.sum(e**2), 1.0))),
            ("it adds weight to oneself", every(lambda e, _: e[0, 0] > 0)),
        ],
    )
