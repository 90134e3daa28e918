"""Checkers for the part "The prior": the task, its order parameters, and the kernels of a random network."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

from copyhead import kernels
from copyhead.check._properties import array, close, expression, function, number, several, value_at, verdict
from copyhead.equivalent_kernel import all_sequences
from copyhead.linear import LinearAction
from copyhead.patterns import G_star, J, pattern
from copyhead.setup import Setup
from copyhead.task import one_hot

Answer = Callable[..., Any]


def _matrix(L: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(L, L))


def projection(answer: Answer) -> bool:
    """``answer(G)`` returns the order parameters (c1, c_G) of a square matrix."""
    G, H = _matrix(5), _matrix(5, 1)

    def residual(f: Answer, M: np.ndarray) -> np.ndarray:
        c1, c_G = f(M)
        return M - pattern(c1, c_G, len(M))

    return verdict(
        answer,
        function("G", (G,), array((2,), "a pair (c1, c_G)")),
        [
            ("a matrix of zeros has order parameters zero", lambda f: close(f(np.zeros((4, 4))), [0, 0])),
            ("J / L has c1 = 1 and no copy part", lambda f: close(f(J(6) / 6), [1, 0])),
            ("G* / sqrt(L) has c_G = 1 and no pooling part", lambda f: close(f(G_star(6) / np.sqrt(6)), [0, 1])),
            ("the transpose of G*, which copies the next token, has a small c_G < 0",
             lambda f: -1 < f(G_star(6).T)[1] < 0),
            ("the projection is linear", lambda f: close(f(2 * G - H), 2 * np.array(f(G)) - np.array(f(H)))),
            ("what the fit leaves over is orthogonal to J and to G*",
             lambda f: close([np.sum(residual(f, G)), np.sum(residual(f, G) * G_star(5))], [0, 0])),
        ],
    )


def attention_loss(answer: Answer) -> bool:
    """``answer(G, V)`` is the smallest loss per token that attention G allows."""
    G = _matrix(4)

    def enumerated(M: np.ndarray, V: int) -> float:
        X = all_sequences(len(M), V) - 1 / V
        Z, Y = (M @ X).reshape(-1, V), (G_star(len(M)) @ X).reshape(-1, V)
        return float(np.sum((Y - Z @ np.linalg.lstsq(Z, Y, rcond=None)[0]) ** 2) / len(Y))

    return verdict(
        answer,
        function("G, V", (G, 3), number()),
        [
            ("perfect copying has loss 0", lambda f: close(f(G_star(7), 4), 0)),
            ("attention zero has the loss of chance", lambda f: close(f(np.zeros((5, 5)), 4), 0.75)),
            ("pooling lowers the loss of chance by one part in L", lambda f: close(f(J(5) / 5, 4), 0.75 * 0.8)),
            ("the readout absorbs a factor, also a negative one", lambda f: close(f(-3 * G, 3), f(G, 3))),
            ("no attention is worse than chance", lambda f: all(f(_matrix(4, s), 3) <= 2 / 3 for s in range(20))),
            ("it agrees with least squares over all sequences",
             lambda f: all(close(f(_matrix(3, s), 3), enumerated(_matrix(3, s), 3)) for s in range(5))),
        ],
    )


def lag_patterns(answer: Answer) -> bool:
    """``answer(L, k)`` lists matrices that span the attention invariant under the copy group of lag k."""

    def invariant(f: Answer, L: int, k: int) -> bool:
        copy = np.roll(np.eye(L), -k, axis=1)
        moves = [np.eye(L)[:, pi] for pi in permutations(range(L))]
        return all(close(copy @ Pi @ copy.T @ M @ Pi.T, M) for M in map(np.asarray, f(L, k)) for Pi in moves)

    def rank(f: Answer, L: int, k: int) -> int:
        return int(np.linalg.matrix_rank(np.array([np.ravel(M) for M in f(L, k)])))

    def contains(f: Answer, L: int, k: int) -> bool:
        span = np.array([np.ravel(M) for M in f(L, k)]).T
        target = np.roll(np.eye(L), -k, axis=1).ravel()
        return close(span @ np.linalg.lstsq(span, target, rcond=None)[0], target, atol=1e-9)

    cases = [(3, 1), (4, 2), (4, 3), (4, 0)]
    return verdict(
        answer,
        function("L, k", (4, 2), several(array((4, 4)), "a list of matrices of shape (L, L)")),
        [
            ("every matrix has shape (L, L)", lambda f: all(np.shape(M) == (5, 5) for M in f(5, 2))),
            ("every matrix is invariant when keys move by pi and queries by the same at distance k",
             lambda f: all(invariant(f, *case) for case in cases)),
            ("the matrices are linearly independent", lambda f: all(rank(f, *case) == len(f(*case)) for case in cases)),
            ("attention that solves the task is among their combinations",
             lambda f: all(contains(f, *case) for case in cases)),
            ("attention that weighs all positions equally is among them too, so the list is complete",
             lambda f: all(rank(f, *case) == 2 for case in cases)),
        ],
    )


def count_sum_orbits(answer: Answer) -> bool:
    """``answer(L)`` is the number of order parameters of the task y^a = x^(a-1) + x^(a-2), for L >= 3."""

    def enumerated(L: int) -> int:
        """Orbits of pairs (query, key) under every permutation of keys that some permutation of queries undoes."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        query = {frozenset(((a - 1) % L, (a - 2) % L)): a for a in range(L)}
        links = []
        for pi in permutations(range(L)):
            moved = [frozenset((pi[a - 1], pi[a - 2])) for a in range(L)]
            if query.keys() == set(moved):
                links += [(a * L + b, query[moved[a]] * L + pi[b]) for a in range(L) for b in range(L)]
        graph = coo_array((np.ones(len(links)), np.transpose(links)), shape=(L * L, L * L))
        return int(connected_components(graph, directed=False)[0])

    return verdict(
        answer,
        function("L", (7,), number()),
        [
            ("the count is a whole number", lambda f: all(f(L) == int(f(L)) > 0 for L in range(3, 30))),
            ("rotations are allowed, so at most one parameter is left for each distance",
             lambda f: all(f(L) <= L for L in range(3, 30))),
            ("no symmetry makes all wrong keys alike: the count grows with L", lambda f: f(40) > f(20) > f(10) > 2),
            ("it agrees with trying every permutation, for odd L", lambda f: all(f(L) == enumerated(L) for L in (3, 5, 7))),
            ("and for even L", lambda f: all(f(L) == enumerated(L) for L in (4, 6))),
            ("two more positions make one more orbit", lambda f: all(f(L + 2) == f(L) + 1 for L in range(3, 30))),
        ],
    )


def element_covariance(answer: Answer) -> bool:
    """``answer(tokens, first, second)`` is the covariance of two attention elements of one sequence."""
    tokens = np.array([0, 1, 0, 2, 2])
    exact = kernels.attention_covariance(one_hot(tokens, 3)[None]).reshape((5,) * 4)
    indices = list(np.ndindex(5, 5, 5, 5))

    return verdict(
        answer,
        function("tokens, first, second", (tokens, (0, 1), (2, 3)), number()),
        [
            ("it is symmetric in the two elements",
             lambda f: all(close(f(tokens, (a, b), (c, d)), f(tokens, (c, d), (a, b))) for a, b, c, d in indices)),
            ("all elements have the same variance",
             lambda f: np.ptp([f(tokens, (a, b), (a, b)) for a in range(5) for b in range(5)]) < 1e-12),
            ("elements whose queries share nothing are uncorrelated", lambda f: close(f(tokens, (0, 3), (1, 3)), 0)),
            ("it falls like one over the square of the length",
             lambda f: close(4 * f([0, 1] * 4, (0, 1), (2, 1)), f([0, 1] * 2, (0, 1), (2, 1)))),
            ("it agrees with the kernel of the chapter at every choice of elements",
             lambda f: all(close(f(tokens, (a, b), (c, d)), exact[a, b, c, d]) for a, b, c, d in indices)),
        ],
    )


def finite_width_covariance(answer: Answer) -> bool:
    """``answer(C, d)[a, b, c, d]`` is the covariance of attention elements at width d."""
    root = np.random.default_rng(0).normal(size=(3, 4))
    C = root @ root.T
    leading = np.einsum("ac,bd->abcd", C, C) / 9

    def four_point() -> np.ndarray:
        """Mean of h_a h_b h_c h_d over Gaussian h of covariance C, by exact quadrature."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(5)
        grid = np.array(np.meshgrid(*[nodes] * 4)).reshape(4, -1)
        mass = np.prod(np.meshgrid(*[weights / weights.sum()] * 4), axis=0).ravel()
        h = root @ grid
        return np.einsum("n,an,bn,cn,dn->abcd", mass, h, h, h, h) / 9

    def symmetric(f: Answer) -> bool:
        value = np.asarray(f(C, 3))
        return close(value, value.transpose(2, 3, 0, 1)) and close(value, value.transpose(1, 0, 3, 2))

    return verdict(
        answer,
        function("C, d", (C, 3), array((3, 3, 3, 3))),
        [
            ("a very wide network has the covariance C o C / L^2",
             lambda f: close(f(C, 10**12), leading, rtol=1e-9, atol=1e-9)),
            ("it is a covariance: symmetric when the two elements are exchanged", symmetric),
            ("doubling the width halves the distance from the limit",
             lambda f: close(f(C, 4) - leading, (f(C, 2) - leading) / 2)),
            ("at width one it is the four-point average of the embedding", lambda f: close(f(C, 1), four_point())),
        ],
    )


def equivalent_g_W(answer: Answer) -> bool:
    """``answer(setup, P, sigma2, g_O, new_P)`` is the g_W that makes two linear experiments equivalent."""
    setup = Setup(12, 4, sigma2=20.0, g_O=0.7, g_W=1.6)

    def loss(setup: Setup, P: float) -> float:
        return float(LinearAction(setup).minimum(P).loss)

    def same_loss(f: Answer, P: float, sigma2: float, g_O: float, new_P: float) -> bool:
        other = Setup(12, 4, sigma2=sigma2, g_O=g_O, g_W=float(f(setup, P, sigma2, g_O, new_P)))
        return close(loss(other, new_P), loss(setup, P), rtol=1e-7)

    return verdict(
        answer,
        function("setup, P, sigma2, g_O, new_P", (setup, 100, 10.0, 1.0, 50), number()),
        [
            ("nothing changed: g_W stays", lambda f: close(f(setup, 100, 20.0, 0.7, 100), 1.6)),
            ("it is positive", lambda f: f(setup, 100, 90.0, 3.0, 20) > 0),
            ("noise and data in proportion leave g_W", lambda f: close(f(setup, 100, 60.0, 0.7, 300), 1.6)),
            ("a larger readout variance needs a smaller g_W", lambda f: f(setup, 100, 20.0, 1.4, 100) < 1.6),
            ("the loss at the minimum of the linear action agrees", lambda f: same_loss(f, 150, 45.0, 1.3, 260)),
            ("and again at another point", lambda f: same_loss(f, 90, 15.0, 0.2, 110)),
        ],
    )


def saved_cost(answer: Any) -> bool:
    """``answer``: what the adapted Q saves of the cost of one place, to leading order, in epsilon, G0 and g_W."""

    def at(epsilon: float, G0: float, g_W: float) -> float:
        return value_at(answer, {"epsilon": epsilon, "G0": G0, "g_W": g_W}).real

    def exact(epsilon: float, G0: float, g_W: float) -> float:
        """Cost at Q = 1 minus the smallest cost over Q > 0, found numerically."""
        from scipy.optimize import brentq

        def cost(Q: float) -> float:
            return epsilon * G0**2 / (2 * g_W * Q**2) + (Q - np.log(Q)) / 2

        return cost(1.0) - cost(brentq(lambda Q: Q**3 - Q**2 - 2 * epsilon * G0**2 / g_W, 1, 10, xtol=1e-15))

    def converges(G0: float, g_W: float) -> bool:
        """Halving epsilon must bring the ratio with the exact saving twice as close to one."""
        miss = [exact(epsilon, G0, g_W) / at(epsilon, G0, g_W) - 1 for epsilon in (2e-3, 1e-3)]
        return abs(miss[0]) < 0.1 and abs(miss[0] / miss[1] - 2) < 0.1

    return verdict(
        answer,
        expression("epsilon", "G0", "g_W"),
        [
            ("adapting never costs more: the saving is positive", lambda _: at(0.01, 1.0, 1.0) > 0 < at(0.01, 0.3, 2.0)),
            ("without attention nothing is saved", lambda _: close(at(0.01, 0.0, 1.0), 0.0)),
            ("the leading order is a pure power of epsilon, the second",
             lambda _: close(at(0.02, 1.3, 0.7), 4 * at(0.01, 1.3, 0.7))),
            ("G0 and g_W enter as G0^2 / g_W", lambda _: close(at(0.01, 2.0, 4.0 * 0.7), at(0.01, 1.0, 0.7))),
            ("it agrees with minimising the cost numerically", lambda _: converges(1.0, 1.0) and converges(1.4, 0.8)),
        ],
    )
