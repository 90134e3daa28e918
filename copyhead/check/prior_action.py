"""Checkers for the part "The prior": weights behind attention, and their cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead import kernels
from copyhead.check._properties import (
    array,
    close,
    expression,
    function,
    matrix,
    number,
    on_values,
    several,
    value_at,
    verdict,
)
from copyhead.equivalent_kernel import all_sequences
from copyhead.patterns import pattern
from copyhead.task import features, sequences

Answer = Callable[..., Any]


def _matrix(L: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(L, L))


def qk_log_average(answer: Answer) -> bool:
    """``answer`` is ln <e^{tG}> of one attention element of variance v at inner width d_k, a SymPy expression."""

    def by_quadrature(t: float, v: float, dk: int) -> float:
        """d_k times the logarithm of the mean of exp(t q k), with k integrated numerically after q exactly."""
        k, weights = np.polynomial.hermite_e.hermegauss(120)
        return float(dk * np.log(np.sum(weights * np.exp(t**2 * v / dk * k**2 / 2)) / weights.sum()))

    names = ("t", "v", "d_k")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("without a source the average is one", lambda f: close(f(0.0, 1.3, 3), 0)),
            ("it is even in t", lambda f: close(f(-0.7, 1.3, 3), f(0.7, 1.3, 3))),
            ("a wide head is Gaussian: v t^2 / 2", lambda f: close(f(0.8, 1.3, 10**9), 1.3 * 0.64 / 2, rtol=1e-6)),
            ("small t gives the variance v at every inner width", lambda f: close(f(1e-3, 1.3, 2), 1.3e-6 / 2, rtol=1e-5)),
            ("tails are heavier than Gaussian", lambda f: f(0.8, 1.3, 3) > 1.001 * 1.3 * 0.64 / 2),
            ("it agrees with numerical integration",
             lambda f: all(close(f(t, v, dk), by_quadrature(t, v, dk), rtol=1e-7)
                           for t, v, dk in [(0.5, 1.0, 1), (0.6, 1.3, 2), (1.1, 0.7, 5)])),
        ]),
    )


def balanced_factors(answer: Answer) -> bool:
    """``answer(M)`` returns (A, B) with A^T B = M and the smallest sum of squares."""
    rng = np.random.default_rng(0)
    M, thin = rng.normal(size=(4, 6)), np.outer(rng.normal(size=5), rng.normal(size=3))

    def cost(factors: Any) -> float:
        return float(sum(np.sum(np.asarray(F) ** 2) for F in factors))

    def not_beaten(f: Answer, M: np.ndarray) -> bool:
        A, B = map(np.asarray, f(M))
        for seed in range(200):  # A -> R A, B -> R^{-T} B leaves the product alone
            R = np.eye(len(A)) + 0.05 * np.random.default_rng(seed).normal(size=(len(A),) * 2)
            if cost((R @ A, np.linalg.inv(R).T @ B)) < cost((A, B)) * (1 - 1e-9):
                return False
        return True

    return verdict(
        answer,
        function("M", (M,), several(matrix, "two matrices (A, B)", 2)),
        [
            ("the product A^T B is M", lambda f: close(np.asarray(f(M)[0]).T @ f(M)[1], M)),
            ("so it is for a matrix of rank one", lambda f: close(np.asarray(f(thin)[0]).T @ f(thin)[1], thin)),
            ("both factors have the same norm", lambda f: close(np.sum(f(M)[0] ** 2), np.sum(f(M)[1] ** 2))),
            ("no rescaled or rotated pair of factors is cheaper", lambda f: not_beaten(f, M)),
            ("multiplying M by 3 multiplies the cost by 3", lambda f: close(cost(f(3 * M)), 3 * cost(f(M)))),
        ],
    )


def shrink(answer: Answer) -> bool:
    """``answer(M0, strength, norm)`` minimises |M - M0|^2 / 2 + strength times the penalty named ``norm``."""
    M0 = _matrix(4)

    def objective(M: Any, strength: float, norm: str) -> float:
        penalty = np.sum(np.square(M)) / 2 if norm == "frobenius" else np.linalg.norm(M, "nuc")
        return float(np.sum((M - M0) ** 2) / 2 + strength * penalty)

    def lowest(f: Answer, strength: float, norm: str) -> bool:
        M = np.asarray(f(M0, strength, norm))
        trials = [M + 10.0 ** -(s % 4 + 1) * _matrix(4, s) for s in range(1, 100)] + [0.99 * M, 1.01 * M]
        return all(objective(M, strength, norm) <= objective(N, strength, norm) for N in trials)

    return verdict(
        answer,
        function("M0, strength, norm", (M0, 0.5, "nuclear"), array((4, 4))),
        [
            ("without a penalty the target is reached",
             lambda f: close(f(M0, 0.0, "frobenius"), M0) and close(f(M0, 0.0, "nuclear"), M0)),
            ("the quadratic penalty keeps the rank", lambda f: np.linalg.matrix_rank(f(M0, 1.0, "frobenius")) == 4),
            ("a strong nuclear penalty leaves nothing", lambda f: close(f(M0, 100.0, "nuclear"), np.zeros((4, 4)))),
            ("no nearby matrix has a lower cost with the quadratic penalty", lambda f: lowest(f, 0.7, "frobenius")),
            ("no nearby matrix has a lower cost with the nuclear penalty", lambda f: lowest(f, 0.7, "nuclear")),
        ],
    )


def prior_cost(answer: Answer) -> bool:
    """``answer`` is the prior action of c_1 J/L + c_G G*/sqrt(L), a SymPy expression."""
    points = [(0.3, -0.2, 6, 4, 1.0), (0.7, 0.5, 25, 5, 0.4), (-0.2, 1.1, 3, 40, 2.5)]

    def brute(c1: float, c_G: float, L: int, V: int, g_W: float) -> float:
        sigma = kernels.pseudoinverse_prior_matrix(all_sequences(L, V))
        G = pattern(c1, c_G, L).ravel()
        return float(L**2 / (2 * g_W) * G @ sigma @ G)

    names = ("c_1", "c_G", "L", "V", "g_W")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("no attention costs nothing", lambda f: close(f(0.0, 0.0, 9, 3, 1.0), 0)),
            ("G and -G cost the same", lambda f: all(close(f(-a, -g, *r), f(a, g, *r)) for a, g, *r in points)),
            ("the cost is quadratic", lambda f: all(close(f(2 * a, 2 * g, *r), 4 * f(a, g, *r)) for a, g, *r in points)),
            ("twice the variance halves the cost", lambda f: close(f(0.3, 0.4, 7, 3, 2.0), f(0.3, 0.4, 7, 3, 1.0) / 2)),
            ("without a row sum the vocabulary does not matter",
             lambda f: close(f(-0.25, 1.0, 16, 3, 1.0), f(-0.25, 1.0, 16, 50, 1.0))),
            ("it agrees with the pseudoinverse over all sequences",
             lambda f: all(close(f(a, g, *s, 0.8), brute(a, g, *s, 0.8), rtol=1e-8)
                           for a, g in [(0.3, 0.9), (1.2, -0.4)] for s in [(3, 2), (3, 3), (4, 2)])),
            ("it agrees with the trace formula at other sizes",
             lambda f: all(close(f(a, g, L, V, w), kernels.prior_action(pattern(a, g, L), V, w))
                           for a, g, L, V, w in points)),
        ]),
    )


def cheapest_weights(answer: Answer) -> bool:
    """``answer(G, V, g_emb, g_p)`` is the matrix M of smallest norm with Phi M Phi^T = L G for all sequences."""
    L, V = 4, 3
    G, tokens = _matrix(L), sequences(L, V, P=20, seed=0)
    args = [(G, V, 1.0, 1.0), (G, V, 0.6, 1.7), (G, V, 2.0, 0.3)]

    def phi(g_emb: float, g_p: float) -> np.ndarray:
        return features(tokens, V) * np.sqrt(np.r_[np.full(V, g_emb), np.full(L, g_p)])

    def works(f: Answer, g_emb: float, g_p: float) -> bool:
        F = phi(g_emb, g_p)
        made = F @ np.asarray(f(G, V, g_emb, g_p)) @ F.transpose(0, 2, 1)
        return close(made, np.broadcast_to(L * G, made.shape), atol=1e-9)

    def shortest(f: Answer, g_emb: float, g_p: float) -> bool:
        maps = np.concatenate([np.kron(F, F) for F in phi(g_emb, g_p)])
        best = np.linalg.lstsq(maps, np.tile(L * G.ravel(), len(tokens)), rcond=None)[0]
        return close(f(G, V, g_emb, g_p), best.reshape(V + L, V + L), rtol=1e-7, atol=1e-9)

    return verdict(
        answer,
        function("G, V, g_emb, g_p", args[0], array((V + L, V + L))),
        [
            ("it is linear in G", lambda f: close(f(2 * G, *args[1][1:]), 2 * np.asarray(f(*args[1])))),
            ("at unit variances the weights produce G in every sequence", lambda f: works(f, 1.0, 1.0)),
            ("they do so for other variances", lambda f: works(f, 0.6, 1.7) and works(f, 2.0, 0.3)),
            ("no weights with a smaller norm do the same", lambda f: all(shortest(f, a, b) for _, _, a, b in args)),
        ],
    )


def copy_over_pooling(answer: Any) -> bool:
    """``answer`` is the ratio of the costs of pure copying and pure pooling, in L, V and g_p."""

    def at(e: Any, L: float, V: float, g_p: float) -> float:
        return value_at(e, {"L": L, "V": V, "g_p": g_p}).real

    def numeric(L: int, V: int, g_p: float) -> float:
        costs = [kernels.prior_action(pattern(c[0], c[1], L), V, g_p=g_p) for c in ((0.0, 1.0), (1.0, 0.0))]
        return costs[0] / costs[1]

    return verdict(
        answer,
        expression("L", "V", "g_p"),
        [
            ("copying is never cheaper than pooling of the same size",
             lambda e: all(at(e, L, V, g) > 1 for L, V, g in [(3, 2, 0.5), (25, 5, 1.0), (4, 100, 3.0)])),
            ("only the product of V and g_p matters", lambda e: np.isclose(at(e, 9, 6, 0.5), at(e, 9, 3, 1.0))),
            ("a very large vocabulary makes both cost the same", lambda e: np.isclose(at(e, 9, 1e9, 1.0), 1)),
            ("it grows like g_p^-2 for weak positions",
             lambda e: np.isclose(at(e, 9, 4, 1e-6) / at(e, 9, 4, 2e-6), 4, rtol=1e-3)),
            ("it agrees with the trace formula",
             lambda e: all(np.isclose(at(e, L, V, g), numeric(L, V, g)) for L, V, g in [(5, 3, 0.4), (25, 5, 1.0)])),
        ],
    )


def pairs_never_met(answer: Answer) -> bool:
    """``answer(L, V, P)`` is the mean number of ordered token pairs that occur together in none of P sequences."""

    def enumerated(L: int, V: int, P: int) -> float:
        """Exact, from the share of all sequences that lack a pair; sequences are independent."""
        present = np.asarray(all_sequences(L, V).sum(axis=1) > 0)
        both = present[:, :, None] & present[:, None, :]
        return float(np.sum((1 - both.mean(axis=0)) ** P))

    return verdict(
        answer,
        function("L, V, P", (4, 3, 2), number()),
        [
            ("without data all V^2 pairs are missing", lambda f: close(f(5, 4, 0), 16)),
            ("one token meets at most itself in a sequence of length one", lambda f: close(f(1, 4, 1), 15)),
            ("more sequences leave fewer pairs", lambda f: f(6, 5, 3) < f(6, 5, 2) < f(6, 5, 1)),
            ("many sequences leave none", lambda f: 0 <= f(6, 5, 1000) < 1e-6),
            ("it agrees with counting all sequences",
             lambda f: all(close(f(*c), enumerated(*c)) for c in [(3, 2, 1), (4, 3, 2), (5, 4, 7)])),
        ],
    )


def same_token_cost(answer: Answer) -> bool:
    """``answer(L, V, tau, g_W)``: smallest cost of attention tau (x^a . x^b - 1/V) / L, all data seen."""

    def least_squares(L: int, V: int, tau: float, g_W: float) -> float:
        """Weights of smallest norm that give the pattern in every sequence."""
        X = all_sequences(L, V)
        phi = np.concatenate([X, np.broadcast_to(np.eye(L), (len(X), L, L))], axis=2)
        maps = np.concatenate([np.kron(f, f) for f in phi]) / L
        target = tau / L * (X @ X.transpose(0, 2, 1) - 1 / V)
        return float(np.sum(np.linalg.lstsq(maps, target.ravel(), rcond=None)[0] ** 2) / (2 * g_W))

    return verdict(
        answer,
        function("L, V, tau, g_W", (4, 3, 0.7, 1.0), number()),
        [
            ("the cost is quadratic in tau", lambda f: close(f(4, 3, -1.4, 1.0), 4 * f(4, 3, 0.7, 1.0))),
            ("twice the variance halves the cost", lambda f: close(f(4, 3, 0.7, 2.0), f(4, 3, 0.7, 1.0) / 2)),
            ("a vocabulary of one token makes the pattern zero, and zero is free", lambda f: close(f(4, 1, 0.7, 1.0), 0.0)),
            ("positions are not used, so the length does not matter", lambda f: close(f(4, 3, 0.7, 1.0), f(9, 3, 0.7, 1.0))),
            ("it agrees with least squares over all sequences",
             lambda f: all(close(f(*c), least_squares(*c), rtol=1e-8) for c in ((3, 2, 0.7, 1.0), (4, 3, 1.1, 0.6)))),
        ],
    )
