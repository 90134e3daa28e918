"""Checkers for the exercises on coverage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict
from copyhead.patterns import pattern

Answer = Callable[..., Any]


def _some(L: int, P: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(P, L, L)) + pattern(0.7, 1.3, L)


def _inside(G: np.ndarray) -> np.ndarray:
    """The projection on the two patterns by least squares, by a route that knows no order parameters."""
    L = G.shape[-1]
    basis = np.stack([pattern(1, 0, L).ravel(), pattern(0, 1, L).ravel()], axis=1)
    flat = G.reshape(-1, L * L)
    return (basis @ np.linalg.lstsq(basis, flat.T, rcond=None)[0]).T.reshape(G.shape)


def four_parts(answer: Answer) -> bool:
    """``answer(G)``: the four terms of the mean squared size of matrices (P, L, L), by span and by mean."""
    samples = [_some(7), _some(4, 11, seed=1)]
    own = np.random.default_rng(2).normal(size=5)

    def rest(G: np.ndarray) -> np.ndarray:
        return G - _inside(G)

    return verdict(
        answer,
        function("G", (samples[0],), array((4,), "four numbers")),
        [
            ("they add up to the mean squared size",
             lambda f: all(close(np.sum(f(G)), np.sum(G**2) / len(G)) for G in samples)),
            ("none is negative", lambda f: all(min(f(G)) > -1e-12 for G in samples)),
            ("one pattern for all sequences has the first part alone",
             lambda f: close(f(np.stack([pattern(0.4, 0.3, 9)] * 3)), [0.4**2 + 2 * 0.4 * 0.3 / 3 + 0.3**2, 0, 0, 0])),
            ("a pattern that varies has the first two",
             lambda f: close(f(np.stack([pattern(0, x, 9) for x in own])), [own.mean() ** 2, own.var(), 0, 0])),
            ("taking the patterns away leaves the last two",
             lambda f: all(close(f(rest(G)), [0, 0, *f(G)[2:]]) for G in samples)),
            ("the third is what the mean has outside the span",
             lambda f: all(close(f(G)[2], np.sum(rest(G).mean(axis=0) ** 2)) for G in samples)),
        ],
    )


def uniform_noise(answer: Answer) -> bool:
    """``answer``: mean squared size of the noise of uniform softmax attention, first order in M, a SymPy expression."""
    cases = [(6, 3, 0.8, 30.0), (4, 7, 1.0, 50.0)]

    def drawn(f: Answer, L: int, V: int, g_W: float, chi: float) -> bool:
        """M from its prior into random sequences: the linear response of a softmax whose logits all vanish."""
        rng, norms = np.random.default_rng(3), []
        for _ in range(4000):
            M, tokens = rng.normal(scale=np.sqrt(g_W / chi), size=(V + L, V + L)), rng.integers(V, size=L)
            rows = M[tokens] + M[V:]
            logits = rows[:, tokens] + rows[:, V:]
            norms.append(np.sum(np.square(logits - logits.mean(axis=1, keepdims=True))) / L**2)
        error = np.std(norms) / np.sqrt(len(norms))
        return bool(abs(f(L, V, g_W, chi) - np.mean(norms)) < 4 * error)

    names = ("L", "V", "g_W", "chi")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("it is positive", lambda f: all(f(*case) > 0 for case in cases)),
            ("it is proportional to the prior variance g_W / chi",
             lambda f: close([f(6, 3, 1.6, 30.0), f(6, 3, 0.8, 15.0)], [2 * f(6, 3, 0.8, 30.0)] * 2)),
            ("a single position has nothing to choose from", lambda f: close(f(1, 5, 1.0, 30.0), 0.0)),
            ("with one token only places differ: half of what there is with very many",
             lambda f: close(2 * f(9, 1, 1.0, 30.0), f(9, 10**12, 1.0, 30.0))),
            ("weights drawn at random have it", lambda f: all(drawn(f, *case) for case in cases)),
        ]),
    )


def draws_needed(answer: Answer) -> bool:
    """``answer(u2, noise, goal)``: least number of independent draws whose mean is covered to ``goal``."""
    rng = np.random.default_rng(0)
    cases = [(float(rng.uniform(0.05, 1)), float(rng.uniform(0.01, 4)), float(rng.uniform(0.5, 0.999))) for _ in range(20)]

    def covered(u2: float, noise: float, draws: int) -> float:
        return u2 / (u2 + noise / draws)

    return verdict(
        answer,
        function("u2, noise, goal", (0.2, 0.1, 0.9), number("a number of draws")),
        [
            ("it is a whole number, at least one",
             lambda f: all(f(*case) >= 1 and f(*case) == int(f(*case)) for case in cases)),
            ("without noise one draw does", lambda f: f(0.3, 0.0, 0.999) == 1),
            ("a modest goal needs one draw too", lambda f: f(1.0, 0.1, 0.5) == 1),
            ("that many draws reach the goal", lambda f: all(covered(*case[:2], f(*case)) >= case[2] for case in cases)),
            ("one less does not",
             lambda f: all(f(*case) == 1 or covered(*case[:2], f(*case) - 1) < case[2] for case in cases)),
        ],
    )


def cross_coverage(answer: Answer) -> bool:
    """``answer(G1, G2)``: coverage of the sequences from two sets (P, L, L) of matrices with independent noise."""
    first, second = _some(6, seed=4), _some(6, seed=5)

    def unbiased(f: Answer) -> bool:
        """Signal of coverage 1 under noise of four times its size, in very many sequences: 4 sd of the estimate are 0.06."""
        rng, signal = np.random.default_rng(6), pattern(0.5, 0.8, 6)
        noise = rng.normal(scale=np.sqrt(4 * np.sum(signal**2) / 36), size=(2, 20_000, 6, 6))
        return bool(abs(f(signal + noise[0], signal + noise[1]) - 1) < 0.06)

    def covered(G: np.ndarray) -> float:
        return float(np.sum(_inside(G) ** 2) / np.sum(G**2))

    return verdict(
        answer,
        function("G1, G2", (first, second), number()),
        [
            ("without noise it is the coverage of the sequences", lambda f: close(f(first, first), covered(first))),
            ("the two chains play the same role", lambda f: close(f(first, second), f(second, first))),
            ("the unit of either does not matter", lambda f: close(f(3 * first, 0.2 * second), f(first, second))),
            ("a pattern in both is covered completely", lambda f: close(f(_inside(first), _inside(second)), 1.0)),
            ("noise, even large, does not pull it down", unbiased),
        ],
    )
