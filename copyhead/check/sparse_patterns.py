"""Checkers for the exercises on sparse patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from copyhead.check._properties import array, close, function, number, verdict
from copyhead.patterns import random_regular, random_rows
from copyhead.setup import Setup
from copyhead.sparse import PatternAction, RegularAction

Answer = Callable[..., Any]


def single_copy(answer: Answer) -> bool:
    """``answer(L, s, c, g_W)`` is the length, the variance and the factor of the single copy that stands for a pattern."""

    def reproduces(f: Answer, L: int, s: int, c: float, g_W: float) -> bool:
        """Differences of the action at several gaps; the single copy's length is a whole number here."""
        length, variance, factor = f(L, s, c, g_W)
        ell = np.array([0.0, 0.3, 1.1, 2.5])
        sparse = RegularAction(Setup(L, 5, g_W=g_W), s, c).action(ell, 200.0)
        if abs(length - round(float(length))) > 1e-9:
            return False
        one = factor * RegularAction(Setup(round(float(length)), 5, g_W=float(variance)), 1).action(ell, 200.0)
        return close(np.diff(sparse), np.diff(one))

    return verdict(
        answer,
        function("L, s, c, g_W", (24, 2, 0.5, 1.0), array((3,), "three numbers: length, variance, factor")),
        [
            ("one position at scale 1 is a copy already", lambda f: close(f(25, 1, 1.0, 0.7), (25, 0.7, 1))),
            ("the share of attention at a given gap is kept", lambda f: close(f(100, 8, 0.3, 1.0)[0], 12.5)),
            ("the action of the sum is reproduced", lambda f: reproduces(f, 60, 3, 1.0, 1.0)),
            ("that of any scale too", lambda f: reproduces(f, 60, 4, 0.5, 1.0) and reproduces(f, 60, 3, 1.7, 1.0)),
            ("and of any variance", lambda f: reproduces(f, 60, 4, 0.5, 0.3)),
        ],
    )


def hardest_density(answer: Answer) -> bool:
    """``answer(setup, power, psi)`` is the s in 1..L-1 that needs the most sequences for a progress psi at c = s^power."""
    short, other = Setup(12, 5), Setup(16, 3, sigma2=12.0)

    def is_hardest(f: Answer, setup: Setup, power: float, psi: float) -> bool:
        s = int(f(setup, power, psi))
        needed = [RegularAction(setup, k, float(k) ** power).samples_for(psi) for k in range(1, setup.L)]
        return 1 <= s < setup.L and max(needed) == needed[s - 1]

    return verdict(
        answer,
        function("setup, power, psi", (short, -0.5, 0.1), number("a number of ones in a row")),
        [
            ("for the sum the sparsest is hardest", lambda f: f(short, 0.0, 0.1) == 1),
            ("for the mean the densest is", lambda f: f(short, -1.0, 0.1) == 11),
            ("for unit norm no other needs more", lambda f: is_hardest(f, short, -0.5, 0.1)),
            ("other powers and setups", lambda f: is_hardest(f, other, -0.5, 0.1) and is_hardest(f, other, -0.3, 0.1)),
            ("another progress", lambda f: is_hardest(f, other, -0.5, 0.4) and is_hardest(f, Setup(30, 5), -0.5, 0.5)),
            ("psi is 0.1 if it is not given", lambda f: f(other, -0.5) == f(other, -0.5, 0.1)),
        ],
    )


def key_response(answer: Answer) -> bool:
    """``answer(F, V)`` solves U - 1 1^T U / (L + V) = F_c, with F_c the force F without the mean of its rows."""
    rng = np.random.default_rng(0)
    F, even, rows = rng.standard_normal((6, 6)), random_regular(9, 3, seed=0), random_rows(30, 2, seed=1)

    def solves(f: Answer, F: Any, V: int) -> bool:
        U = np.asarray(f(F, V))
        return close(U - U.sum(axis=0) / (len(F) + V), F - F.mean(axis=1, keepdims=True), atol=1e-9)

    def minimises(f: Answer) -> bool:
        U = PatternAction(Setup(30, 5), rows).minimum(1.0)[0]
        mine = np.asarray(f(rows, 5))
        return np.corrcoef(U.ravel(), mine.ravel())[0, 1] > 0.9999

    return verdict(
        answer,
        function("F, V", (F, 4), array((6, 6), "logits of the shape (6, 6) of F")),
        [
            ("rows of the logits sum to zero", lambda f: close(np.sum(f(F, 4), axis=1), np.zeros(6), atol=1e-9)),
            ("regular columns need no bias", lambda f: close(f(even, 5), even - 1 / 3)),
            ("it is linear in the force", lambda f: close(f(3 * F, 4), 3 * np.asarray(f(F, 4)))),
            ("it solves the equation", lambda f: solves(f, F, 4) and solves(f, rows, 7)),
            ("it is the direction in which few data move the attention", minimises),
        ],
    )


def split_cost(answer: Answer) -> bool:
    """``answer(L, P)`` is the action of two heads with one lag each minus that of one head with both; one value map."""

    def action(L: int, P: float, first: tuple[float, float], second: tuple[float, float]) -> float:
        """Two heads with these logits on two lags, written out; the mean target's term is left out."""
        e = [np.concatenate([np.exp(x), np.ones(L - 2)]) for x in (first, second)]
        A = np.array([x / x.sum() for x in e])
        t, N = L * A[:, :2].sum(axis=1), L * A @ A.T
        gain = t @ np.linalg.solve(N + 150 / P * np.eye(2), t)
        prior = sum(L * (a**2 + b**2) - (a + b) ** 2 for a, b in (first, second)) / 2
        return float(prior + P * 4 / 300 * (2 * L - gain))

    def expected(L: int, P: float) -> float:
        split = minimize(lambda x: action(L, P, (x[0], x[1]), (x[1], x[0])), [3.0, 0.3], method="Nelder-Mead")
        joint = minimize(lambda x: action(L, P, (x[0], x[0]), (x[1], x[1])), [2.0, 0.0], method="Nelder-Mead")
        return float(split.fun - joint.fun)

    return verdict(
        answer,
        function("L, P", (30, 600.0), number("a difference of actions")),
        [
            ("the division costs something", lambda f: f(30, 600.0) > 1 and f(50, 600.0) > 100),
            ("it costs more with more data", lambda f: f(50, 600.0) < f(50, 1200.0)),
            ("and more in longer sequences", lambda f: f(30, 1200.0) < f(50, 1200.0)),
            ("it is that of one lag for each head",
             lambda f: all(close(f(L, 900.0), expected(L, 900.0), rtol=1e-4) for L in (30, 50))),
        ],
    )
