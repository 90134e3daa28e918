"""Checkers for the exercises on the networks and what is left of them.  Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.check._properties import array, close, function, number, verdict
from copyhead.linear import LinearAction
from copyhead.setup import Setup
from copyhead.task import features, sequences

Answer = Callable[..., Any]
Matrix = NDArray[np.float64]


def kernel_logits(answer: Answer) -> bool:
    """``answer(Theta, tokens)`` is Phi Theta Phi^T for integer tokens of shape (P, L), without one-hot vectors."""
    rng = np.random.default_rng(0)
    cases = []
    for V, L, P in ((2, 4, 3), (5, 6, 10), (3, 2, 4)):
        cases.append((rng.normal(size=(V + L, V + L)), sequences(L, V, P, seed=1)))
    Theta, tokens = cases[1]

    def block(rows: slice, columns: slice) -> Matrix:
        kept = np.zeros_like(Theta)
        kept[rows, columns] = Theta[rows, columns]
        return kept

    token, position = slice(0, 5), slice(5, None)

    def right(f: Answer, T: Matrix, tokens: NDArray[np.intp]) -> bool:
        Phi = features(tokens, len(T) - tokens.shape[1])
        return close(f(T, tokens), Phi @ T @ Phi.transpose(0, 2, 1))

    return verdict(
        answer,
        function("Theta, tokens", (Theta, tokens), array((10, 6, 6), "an array of shape (P, L, L)")),
        [
            ("twice the kernel gives twice the logits", lambda f: close(f(2 * Theta, tokens), 2 * f(Theta, tokens))),
            ("a kernel of the positions alone is the same for all sequences, query first",
             lambda f: close(f(block(position, position), tokens), np.broadcast_to(Theta[5:, 5:], (10, 6, 6)))),
            ("a kernel of the tokens alone is looked up with the query's token first",
             lambda f: right(f, block(token, token), tokens)),
            ("a token's query for positions is right", lambda f: right(f, block(token, position), tokens)),
            ("a position's query for tokens is right", lambda f: right(f, block(position, token), tokens)),
            ("all together are Phi Theta Phi^T at other sizes too", lambda f: all(right(f, *case) for case in cases)),
        ],
    )


def reduced_weights(answer: Answer) -> bool:
    """``answer(E, W_G, W_O)`` is (C, M, W): metric and weights of the reduced network."""
    rng = np.random.default_rng(1)

    def draw(d: int, n: int, V: int) -> tuple[Matrix, Matrix, Matrix]:
        return rng.normal(size=(d, n)), rng.normal(size=(d, d)), rng.normal(size=(V, d))

    cases = [draw(40, 6, 2), draw(9, 7, 3), draw(5, 5, 2)]

    def root(C: Matrix) -> Matrix:
        values, vectors = np.linalg.eigh(C)
        return (vectors * np.sqrt(values)) @ vectors.T

    def each(test: Callable[..., bool]) -> Callable[[Answer], bool]:
        return lambda f: all(test(*case, *map(np.asarray, f(*case))) for case in cases)

    def shapes(E: Matrix, W_G: Matrix, W_O: Matrix, C: Matrix, M: Matrix, W: Matrix) -> bool:
        n = E.shape[1]
        return C.shape == M.shape == (n, n) and W.shape == (len(W_O), n)

    def parts(value: Any) -> str | None:
        good = isinstance(value, tuple | list) and len(value) == 3
        return None if good else "expected three arrays C, M, W"

    return verdict(
        answer,
        function("E, W_G, W_O", cases[0], parts),
        [
            ("C and M have the shape n x n and W has one row for each output", each(shapes)),
            ("the metric has the squared lengths of the embedding vectors, over d, on its diagonal",
             each(lambda E, G, R, C, M, W: close(np.diag(C), (E**2).sum(0) / len(E)))),
            ("the metric is E^T E / d", each(lambda E, G, R, C, M, W: close(C, E.T @ E / len(E)))),
            ("the kernel of the logits is C^(1/2) M C^(1/2)",
             each(lambda E, G, R, C, M, W: close(root(C) @ M @ root(C), E.T @ G @ E / len(E), rtol=1e-7, atol=1e-8))),
            ("the effective readout is W C^(1/2)",
             each(lambda E, G, R, C, M, W: close(W @ root(C), R @ E, rtol=1e-7, atol=1e-8))),
        ],
    )


def adam_gain(answer: Answer) -> bool:
    """``answer(d, d_k, size)`` is (one, query): how far Adam's first step moves the kernel, for large d."""
    rng = np.random.default_rng(2)

    def measured(d: int, d_k: int, size: float) -> tuple[float, float]:
        """Averages over random embeddings of dimension d, with the signs taken one by one."""
        values = []
        for _ in range(20):
            F = np.linalg.qr(rng.normal(size=(d, 10)))[0].T
            u, v = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 10)))
            k = rng.normal(size=d_k)
            k *= size / np.linalg.norm(k)
            one = u @ F @ np.sign(np.outer(u @ F, v @ F)) @ F.T @ v
            step = np.sign(np.outer(k, u @ F))
            values.append((one, u @ (step @ F.T).T @ np.outer(k, v) @ v))
        first, second = np.mean(values, axis=0)
        return float(first), float(second)

    def agrees(f: Answer, which: int, rtol: float, *case: Any) -> bool:
        return close(f(*case)[which], measured(*case)[which], rtol=rtol)

    return verdict(
        answer,
        function("d, d_k, size", (100, 4, 1.0), array((2,), "a pair (one, query)")),
        [
            ("both grow with d", lambda f: np.greater(f(400, 16, 1.0), f(100, 16, 1.0)).all()),
            ("a network twice as wide moves twice as fast with the single matrix",
             lambda f: close(f(2000, 16, 1.0)[0], 2 * f(1000, 16, 1.0)[0])),
            ("with the single matrix neither d_k nor the size of the keys matters",
             lambda f: close(f(300, 4, 1.0)[0], f(300, 64, 0.1)[0])),
            ("with the single matrix it is what signs of random vectors give, to 5 %",
             lambda f: agrees(f, 0, 0.05, 500, 30, 1.0)),
            ("without keys the queries cannot move the kernel", lambda f: close(f(300, 16, 0.0)[1], 0.0)),
            ("with queries it is what signs of random vectors give, to 8 %",
             lambda f: all(agrees(f, 1, 0.08, *case) for case in ((400, 100, 1.0), (400, 100, 0.2), (200, 400, 1.0)))),
        ],
    )


def pooling_onset(answer: Answer) -> bool:
    """``answer(kappa)``: the smallest P at which pooling pays the nuclear norm, L = 25, V = 5, sigma2 = 30."""
    linear = LinearAction(Setup(25, 5))
    c1 = np.linspace(0, 3, 30_001)
    norm = 25 * 5 / 30

    def gain(kappa: float, P: float) -> float:
        """How much lower than zero the best pooling is."""
        S = linear.action(c1, 0.0, P) - (norm * c1) ** 2 / 2 + kappa * norm * c1
        return float(S[0] - S.min())

    kappas = (0.2, 0.7, 1.5, 4.0)
    return verdict(
        answer,
        function("kappa", (1.0,), number()),
        [
            ("a higher price asks for more data", lambda f: f(0.5) < f(1.0) < f(2.0)),
            ("a little above the onset pooling pays", lambda f: all(gain(k, 1.005 * f(k)) > 0 for k in kappas)),
            ("a little below it does not", lambda f: all(gain(k, 0.995 * f(k)) == 0 for k in kappas)),
        ],
    )
