"""Checkers for the exercises on mixing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict

Answer = Callable[..., Any]


def effective_size(answer: Answer) -> bool:
    """``answer(phi, n)``: number of independent draws whose mean is as good as that of n autoregressive ones."""
    cases = [(0.9, 7), (0.5, 40), (-0.6, 25), (0.99, 300)]

    def brute(phi: float, n: int) -> float:
        """One over the variance of the mean, from the whole covariance matrix."""
        apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        return float(n**2 / np.sum(np.power(phi, apart)))

    return verdict(
        answer,
        function("phi, n", (0.5, 10), number()),
        [
            ("independent draws all count", lambda f: close(f(0.0, 17), 17)),
            ("two draws of correlation phi count 2 / (1 + phi)", lambda f: close(f(0.3, 2), 2 / 1.3)),
            ("a long chain has n (1 - phi) / (1 + phi)", lambda f: close(f(0.8, 40_000) / 40_000, 0.2 / 1.8, rtol=1e-3)),
            ("draws that are all equal count as one", lambda f: close(f(1.0, 50), 1.0)),
            ("it is the variance of the mean, summed over all pairs",
             lambda f: all(close(f(*case), brute(*case)) for case in cases)),
        ],
    )


def separated_rhat(answer: Answer) -> bool:
    """``answer``: split R-hat of two long chains a distance gap apart, each of variance within, a SymPy expression."""
    rng = np.random.default_rng(0)
    cases = [tuple(rng.uniform(0.2, 4, size=2)) for _ in range(4)]

    def simulated(f: Answer, gap: float, within: float) -> bool:
        n = 100_000                                  # the noise of the means is 1e-5 of what the gap makes
        halves = rng.normal(size=(4, n))
        halves = (halves - halves.mean(axis=1, keepdims=True)) / halves.std(axis=1, keepdims=True) * np.sqrt(within)
        halves[2:] += gap
        between, inside = halves.mean(axis=1).var(ddof=1), halves.var(axis=1, ddof=1).mean()
        return close(f(gap, within), np.sqrt((n - 1) / n + between / inside), rtol=1e-4)

    names = ("gap", "within")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("chains in one place have one", lambda f: close(f(0.0, 0.7), 1.0)),
            ("it does not matter which chain is on the left", lambda f: close(f(-1.3, 0.7), f(1.3, 0.7))),
            ("the unit of the observable does not matter", lambda f: close(f(6.0, 9 * 0.5), f(2.0, 0.5))),
            ("far apart it grows like the gap", lambda f: close(f(2e6, 1.0) / f(1e6, 1.0), 2.0)),
            ("chains that are drawn have it", lambda f: all(simulated(f, *case) for case in cases)),
        ]),
    )


def steps_to_meet(answer: Answer) -> bool:
    """``answer(lam, eta, distance, tolerance)``: steps until coupled chains are at most tolerance apart."""
    cases = [(2.0, 0.1, 1.0, 1e-6), (50.0, 0.01, 3.0, 1e-3), (1.0, 1.7, 2.0, 1e-9), (4.0, 0.003, 0.1, 0.05)]

    def apart(case: tuple[float, float, float, float], steps: int) -> float:
        """Two chains that are run, with one noise for both."""
        lam, eta, distance, _ = case
        x = np.array([0.0, distance])
        for xi in np.random.default_rng(0).normal(size=steps) * 1e-6:       # small, so that no digits are lost
            x = x - eta * lam * x + np.sqrt(2 * eta) * xi
        return float(abs(x[1] - x[0]))

    return verdict(
        answer,
        function("lam, eta, distance, tolerance", cases[0], number("a number of steps")),
        [
            ("it is a whole number", lambda f: all(f(*case) == int(f(*case)) for case in cases)),
            ("chains that are close enough need no step", lambda f: f(2.0, 0.1, 1e-3, 1e-2) == 0),
            ("one step is enough where a step goes straight to the bottom", lambda f: f(4.0, 0.25, 1.0, 1e-12) == 1),
            ("after that many steps they have met", lambda f: all(apart(case, f(*case)) <= case[3] for case in cases)),
            ("one step earlier they have not", lambda f: all(apart(case, f(*case) - 1) > case[3] for case in cases)),
        ],
    )


def share_with_error(answer: Answer) -> bool:
    """``answer(copying)``: share of True in Boolean chains (chains, draws) and its standard error from the jumps."""
    rng = np.random.default_rng(1)

    def chains(rates: tuple[float, float], shape: tuple[int, int]) -> np.ndarray:
        state = rng.random(shape[0]) < rates[0] / sum(rates)
        kept = np.empty(shape, dtype=bool)
        for t in range(shape[1]):
            state = state ^ (rng.random(shape[0]) < np.where(state, rates[1], rates[0]))
            kept[:, t] = state
        return kept

    two = chains((0.02, 0.05), (2, 500))
    stuck = np.array([[True] * 20, [False] * 20])
    many = [chains((0.004, 0.02), (4, 3000)) for _ in range(200)]

    def calibrated(f: Answer) -> bool:
        """The spread of 200 shares against their error: 20 % are four standard deviations of the spread."""
        found = np.array([f(copying) for copying in many], dtype=float)
        return bool(abs(found[:, 0].std() / np.sqrt(np.mean(found[:, 1] ** 2)) - 1) < 0.2)

    return verdict(
        answer,
        function("copying", (two,), array((2,), "a share and its error")),
        [
            ("the share is that of all draws", lambda f: close(f(two)[0], two.mean())),
            ("the two states play the same role", lambda f: close(f(~two), [1 - f(two)[0], f(two)[1]])),
            ("the order of time does not matter, nor which chain is first", lambda f: close(f(two[::-1, ::-1]), f(two))),
            ("where nothing jumps the error is infinite", lambda f: f(stuck)[1] == np.inf and f(stuck[:1])[1] == np.inf),
            ("recording every state twice changes nothing", lambda f: close(f(np.repeat(two, 2, axis=1)), f(two))),
            ("it is the spread of the share over many runs", calibrated),
        ],
    )
