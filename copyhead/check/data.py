"""Checkers for the exercises of the part "The data"."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, function, number, verdict
from copyhead.equivalent_kernel import all_sequences, equivalent_data_term, fourier_vectors, population_moments
from copyhead.patterns import G_star, pattern
from copyhead.setup import Setup
from copyhead.task import one_hot, sequences

Answer = Callable[..., Any]


def best_readout(answer: Answer) -> bool:
    """``answer(Psi, Y, sigma2, g_O)`` is the readout, shape (features, V), that minimises the ridge regression."""
    rng = np.random.default_rng(0)
    tall, wide = (rng.normal(size=(12, 4)), rng.normal(size=(12, 3))), (rng.normal(size=(3, 6)), rng.normal(size=(3, 2)))

    def stationary(answer: Answer, psi: np.ndarray, y: np.ndarray, sigma2: float, g_O: float) -> bool:
        W = np.asarray(answer(psi, y, sigma2, g_O))
        gradient = psi.T @ (psi @ W - y) / sigma2 + W / g_O
        return W.shape == (psi.shape[1], y.shape[1]) and close(gradient, np.zeros_like(gradient), atol=1e-8)

    return verdict(
        answer,
        function("Psi, Y, sigma2, g_O", (*tall, 0.7, 1.3), array((4, 3))),
        [
            ("labels of zero need no readout", lambda f: close(f(tall[0], 0 * tall[1], 0.7, 1.3), np.zeros((4, 3)))),
            ("with almost no noise and more rows than features it is the least-squares solution",
             lambda f: close(f(*tall, 1e-10, 1.0), np.linalg.lstsq(*tall)[0], rtol=1e-6)),
            ("only the ratio of noise to prior variance matters", lambda f: close(f(*tall, 2.0, 3.0), f(*tall, 1.0, 1.5))),
            ("the gradient of the ridge regression vanishes", lambda f: stationary(f, *tall, 0.7, 1.3)),
            ("it also vanishes with more features than rows", lambda f: stationary(f, *wide, 0.4, 2.0)),
        ],
    )


def token_block(answer: Answer) -> bool:
    """``answer(Gamma, p)`` is the mean of sum_ab Gamma_ab x^a_i x^b_j for independent tokens of probabilities p."""
    rng = np.random.default_rng(1)
    root = rng.normal(size=(3, 3))
    gamma, uneven = root.T @ root, np.array([0.5, 0.3, 0.2])

    def enumerated(p: np.ndarray) -> np.ndarray:
        X = all_sequences(3, 3)
        weight = np.prod(X @ p, axis=1)
        return np.einsum("n,nai,ab,nbj->ij", weight, X, gamma, X)

    certain = np.array([0.0, 1.0, 0.0])
    return verdict(
        answer,
        function("Gamma, p", (gamma, uneven), array((3, 3))),
        [
            ("the block is symmetric", lambda f: close(f(gamma, uneven), np.asarray(f(gamma, uneven)).T)),
            ("it is linear in Gamma", lambda f: close(f(2.5 * gamma, uneven), 2.5 * np.asarray(f(gamma, uneven)))),
            ("all entries add up to the sum of Gamma", lambda f: close(np.sum(f(gamma, uneven)), gamma.sum())),
            ("with one certain token only its own entry is left",
             lambda f: close(f(gamma, certain), gamma.sum() * np.outer(certain, certain))),
            ("for uniform tokens it agrees with the chapter",
             lambda f: close(f(gamma, np.full(3, 1 / 3)), enumerated(np.full(3, 1 / 3)))),
            ("for unequal tokens it agrees with the sum over all sequences",
             lambda f: close(f(gamma, uneven), enumerated(uneven))),
        ],
    )


def copy_wave(answer: Answer) -> bool:
    """``answer(tokens, V, k)`` is the vector v_1k on tokens of shape (P, L), with the same shape."""
    tokens = sequences(6, 4, P=5, seed=0)
    everything = np.argmax(all_sequences(4, 3), axis=2)

    def reference(k: int) -> np.ndarray:
        return fourier_vectors(one_hot(tokens, 4))[:, 4 + k - 1].reshape(5, 6)

    return verdict(
        answer,
        function("tokens, V, k", (tokens, 4, 1), array((5, 6))),
        [
            ("it sums to zero within each sequence", lambda f: close(np.sum(f(tokens, 4, 1), axis=1), np.zeros(5))),
            ("a sequence of equal tokens gives zero", lambda f: close(f(np.full((2, 5), 3), 4, 2), np.zeros((2, 5)))),
            ("shifting the tokens by one position shifts the vector",
             lambda f: close(f(np.roll(tokens, 1, axis=1), 4, 1), np.roll(f(tokens, 4, 1), 1, axis=1))),
            ("over all sequences its squared length is one", lambda f: close(np.sum(abs(f(everything, 3, 1)) ** 2), 1.0)),
            ("over all sequences different wave numbers are orthogonal",
             lambda f: close(np.vdot(f(everything, 3, 1), f(everything, 3, 2)), 0.0)),
            ("position a carries the token of position a - 1, with phase +2 pi k j / V",
             lambda f: close(f(tokens, 4, 1), reference(1)) and close(f(tokens, 4, 3), reference(3))),
        ],
    )


def wave_block(answer: Answer) -> bool:
    """``answer(c1, c_G, L, V, P, g_O)`` is the 2 x 2 block of the kernel on v_0k, v_1k."""
    points = [(0.4, 0.7, 6, 3, 50.0, 1.3), (-0.8, 0.5, 25, 5, 300.0, 0.2), (1.1, -0.3, 2, 7, 4.0, 2.0)]

    def every(test: Callable[[np.ndarray, tuple[Any, ...]], Any]) -> Callable[[Answer], bool]:
        return lambda f: all(bool(test(np.asarray(f(*point)), point)) for point in points)

    def trace(point: tuple[Any, ...]) -> float:
        c1, c_G, L, V, P, g_O = point
        return g_O * P / V * float(np.sum(pattern(c1, c_G, L) ** 2))

    def labels(block: np.ndarray, point: tuple[Any, ...]) -> bool:
        c1, c_G, L, V, P, g_O = point
        t = np.array([1.0, np.sqrt(L - 1)])
        return close(t @ block @ t, g_O * P / V * np.sum(pattern(c1, c_G, L) * G_star(L)) ** 2)

    def pooling(f: Answer) -> bool:
        return close(f(0.7, 0.0, 9, 4, 20.0, 1.0), np.diag([0.49 * 5, 0.0]))

    return verdict(
        answer,
        function("c1, c_G, L, V, P, g_O", points[0], array((2, 2))),
        [
            ("the block is symmetric", every(lambda block, _: close(block, block.T))),
            ("without attention it vanishes", lambda f: close(f(0.0, 0.0, 6, 3, 50.0, 1.0), np.zeros((2, 2)))),
            ("it has rank one", every(lambda block, _: close(np.linalg.det(block), 0.0, atol=1e-9 * np.trace(block) ** 2))),
            ("pure pooling acts on v_0k only", pooling),
            ("its non-zero eigenvalue is g_O P / V times the squared norm of G",
             every(lambda block, point: close(np.trace(block), trace(point)))),
            ("the labels (1, sqrt(L - 1)) see it through the copy weight T", every(labels)),
        ],
    )


def rank_one_inverse(answer: Answer) -> bool:
    """``answer(A, u, sigma2)`` is the inverse of sigma2 + A u u^T."""
    rng = np.random.default_rng(2)
    u, long = rng.normal(size=3), rng.normal(size=6)
    across = np.array([u[1], -u[0], 0.0])

    def identity(f: Answer, A: float, u: np.ndarray, sigma2: float) -> bool:
        matrix = sigma2 * np.eye(len(u)) + A * np.outer(u, u)
        return close(matrix @ np.asarray(f(A, u, sigma2)), np.eye(len(u)), atol=1e-9)

    return verdict(
        answer,
        function("A, u, sigma2", (0.8, u, 1.7), array((3, 3))),
        [
            ("it is symmetric", lambda f: close(f(0.8, u, 1.7), np.asarray(f(0.8, u, 1.7)).T)),
            ("without the rank-one part it is one over sigma2", lambda f: close(f(0.0, u, 1.7), np.eye(3) / 1.7)),
            ("across u it is one over sigma2", lambda f: close(np.asarray(f(0.8, u, 1.7)) @ across, across / 1.7)),
            ("along u it is one over the full eigenvalue",
             lambda f: close(np.asarray(f(0.8, u, 1.7)) @ u, u / (1.7 + 0.8 * (u @ u)))),
            ("times the matrix it gives the identity, for other lengths too", lambda f: identity(f, 2.3, long, 0.4)),
        ],
    )


def alignment(answer: Answer) -> bool:
    """``answer(G)`` is the squared cosine of the angle between G and the copy pattern."""
    rng = np.random.default_rng(3)
    G = rng.normal(size=(5, 5))
    return verdict(
        answer,
        function("G", (G,), number()),
        [
            ("it lies between 0 and 1", lambda f: all(0 <= f(rng.normal(size=(4, 4))) <= 1 for _ in range(20))),
            ("size and sign of G do not matter", lambda f: close(f(-3 * G), f(G))),
            ("the copy pattern has 1", lambda f: close(f(G_star(6)), 1.0)),
            ("the identity has 0", lambda f: close(f(np.eye(6)), 0.0)),
            ("uniform attention has 1/L", lambda f: close(f(np.ones((7, 7)) / 7), 1 / 7)),
            ("copying the next token instead of the previous one has 0", lambda f: close(f(G_star(6).T), 0.0)),
            ("it is the squared normalised Frobenius product with G*",
             lambda f: close(f(G), np.sum(G * G_star(5)) ** 2 / (5 * np.sum(G**2)))),
        ],
    )


def wave_term(answer: Answer) -> bool:
    """``answer(c1, c_G, L, V, p, g_O)`` is the wave part of the data term, p = P / sigma2, to full precision."""

    def dense(c1: float, c_G: float, L: int, V: int, p: float, g_O: float) -> float:
        setup = Setup(L, V, sigma2=1.0, g_O=g_O)
        rho = c1 + c_G / np.sqrt(L)
        return equivalent_data_term(setup, pattern(c1, c_G, L), p) - p * L / V / (2 * (g_O * p * rho**2 * (L / V + 1) + 1))

    def exact(c1: float, c_G: float, L: int, V: int, p: float, g_O: float) -> float:
        """The printed difference in rational arithmetic; L is a perfect square."""
        a, b, q, P = Fraction(c1), Fraction(c_G), Fraction(g_O) * Fraction(p), Fraction(p)
        root = int(np.sqrt(L))
        u2, T = a * a + 2 * a * b / root + b * b, a + root * b
        return float(Fraction(V - 1, 2) * (P * L / V - q * P * T * T / (V * V * (1 + q * u2 / V))))

    hard = (1e-3, 2.0, 25, 5, 1e12, 1.0)
    return verdict(
        answer,
        function("c1, c_G, L, V, p, g_O", (0.3, 0.5, 6, 3, 4.0, 1.2), number()),
        [
            ("without attention it is the whole wave part of the label power, (V-1)/V p L / 2",
             lambda f: close(f(0.0, 0.0, 6, 3, 4.0, 1.2), 8.0)),
            ("it does not change when both order parameters change sign",
             lambda f: close(f(-0.3, -0.5, 6, 3, 4.0, 1.2), f(0.3, 0.5, 6, 3, 4.0, 1.2))),
            ("attention and readout scale trade off: (2 c1, 2 c_G, g_O / 4) gives the same",
             lambda f: close(f(0.6, 1.0, 6, 3, 4.0, 0.3), f(0.3, 0.5, 6, 3, 4.0, 1.2))),
            ("it agrees with the equivalent kernel, computed without Fourier vectors",
             lambda f: all(close(f(*x), dense(*x)) for x in
                           [(0.3, 0.5, 6, 3, 4.0, 1.2), (-0.7, 0.4, 5, 2, 9.0, 0.5), (1.0, 0.1, 3, 6, 0.7, 2.0)])),
            ("it keeps its digits deep in the copy phase", lambda f: close(f(*hard), exact(*hard), rtol=1e-10)),
        ],
    )


def multiplicities(answer: Answer) -> bool:
    """``answer(L, V, P)`` is the tuple of multiplicities: constant, waves, positions, zero."""

    def found(L: int, V: int) -> np.ndarray:
        gram, _ = population_moments(pattern(0.6, 0.9, L), V)
        values = np.linalg.eigvalsh(gram)
        rho2, u2, place = (0.6 + 0.9 / np.sqrt(L)) ** 2, 0.36 + 1.08 / np.sqrt(L) + 0.81, 0.81 / L
        return np.array([np.isclose(values, level).sum() for level in (rho2 * (L / V + 1), u2 / V, place)])

    return verdict(
        answer,
        function("L, V, P", (6, 3, 10), array((4,), "four numbers")),
        [
            ("they add up to the size of the kernel", lambda f: sum(f(6, 3, 10)) == 60 and sum(f(25, 5, 300)) == 7500),
            ("none is negative", lambda f: min(f(2, 2, 3)) >= 0 and min(f(25, 5, 300)) >= 0),
            ("the non-zero ones add up to the rank V + L - 1", lambda f: sum(f(7, 4, 9)[:3]) == 10),
            ("more sequences add only zeros", lambda f: tuple(f(6, 3, 10)[:3]) == tuple(f(6, 3, 1000)[:3])),
            ("each agrees with a numerical spectrum",
             lambda f: np.array_equal(f(6, 3, 10)[:3], found(6, 3)) and np.array_equal(f(3, 7, 10)[:3], found(3, 7))),
        ],
    )


def effective_modes(answer: Answer) -> bool:
    """``answer(K, sigma2)`` is the sum of lambda / (lambda + sigma2) over the eigenvalues of K."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(6, 4))
    K = root @ root.T

    def derivative(sigma2: float, step: float = 1e-5) -> float:
        """- d/d(ln sigma2) of ln det(1 + K / sigma2)."""
        values = [np.linalg.slogdet(np.eye(6) + K / (sigma2 * np.exp(h)))[1] for h in (step, -step)]
        return float((values[1] - values[0]) / (2 * step))

    return verdict(
        answer,
        function("K, sigma2", (K, 1.5), number()),
        [
            ("without a kernel no mode is fixed", lambda f: close(f(0 * K, 1.5), 0.0)),
            ("it lies between 0 and the rank", lambda f: all(0 < f(K, s) < 4 for s in (0.01, 1.0, 100.0))),
            ("with almost no noise it is the rank", lambda f: close(f(K, 1e-9), 4.0, rtol=1e-6)),
            ("more noise leaves fewer modes", lambda f: f(K, 1.0) > f(K, 2.0) > f(K, 4.0)),
            ("two independent copies of a kernel have twice the modes",
             lambda f: close(f(np.kron(np.eye(2), K), 1.5), 2 * f(K, 1.5))),
            ("it is the derivative of the log-determinant", lambda f: close(f(K, 1.5), derivative(1.5), rtol=1e-7)),
        ],
    )
