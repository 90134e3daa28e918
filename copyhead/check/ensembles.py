"""Checkers for the chapter on ensembles of fitted networks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict
from copyhead.linear import LinearAction
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction

Answer = Any


def sign_fixed_mean(answer: Answer) -> bool:
    """``answer(c1, c_G, L)`` is the pair of means over the ensemble, every network with T >= 0; c1, c_G of shape (n,)."""
    rng = np.random.default_rng(0)
    c1, c_G, L = 0.4 + 0.02 * rng.normal(size=7), 0.1 + 0.02 * rng.normal(size=7), 25
    signs = np.array([1, -1, -1, 1, -1, -1, 1])
    # Beyond the crossover c1 may be negative while copying dominates: the sign of c1 alone does not decide.
    mirror = np.array([-0.05, 0.02, -0.01]), np.array([0.3, 0.32, 0.31])
    state = LinearAction(Setup(L, 5)).minimum(500.0)

    return verdict(
        answer,
        function("c1, c_G, L", (c1, c_G, L), array((2,), "two numbers")),
        [
            ("without signs to change it is the mean",
             lambda f: close(f(c1, c_G, L), (c1.mean(), c_G.mean()))),
            ("a change of sign of single networks does not matter",
             lambda f: close(f(signs * c1, signs * c_G, L), (c1.mean(), c_G.mean()))),
            ("an ensemble and its mirror image have the same mean", lambda f: close(f(-c1, -c_G, L), f(c1, c_G, L))),
            ("the total copy weight decides, also where c1 is negative",
             lambda f: close(f(*mirror, L), (mirror[0].mean(), mirror[1].mean()))),
            ("both numbers of a network change together",
             lambda f: close(f(signs[:2] * state.c1, signs[:2] * state.c_G, L), (state.c1, state.c_G))),
        ],
    )


def standard_error_bar(answer: Answer) -> bool:
    """``answer(values)`` is the mean over the last axis and the standard error of that mean, as a pair."""
    rng = np.random.default_rng(1)
    values = rng.normal(2.0, 0.3, size=(3, 10))

    def calibrated(f: Answer) -> bool:
        """The variance estimate has no bias: its mean over 4,000 samples of five is 1 +- 0.011."""
        draws = np.random.default_rng(2).normal(size=(4000, 5))
        _, error = np.asarray(f(draws))
        return bool(abs(np.mean(error**2) * 5 - 1) < 0.1)

    return verdict(
        answer,
        function("values", (values,), array((2, 3), "two arrays, one number for each row")),
        [
            ("the first is the mean of each row", lambda f: close(f(values)[0], values.mean(axis=-1))),
            ("a common shift changes the mean alone", lambda f: close(f(values + 5)[1], f(values)[1], rtol=1e-7)),
            ("it has the unit of the values", lambda f: close(f(3 * values)[1], 3 * np.asarray(f(values)[1]))),
            ("two equal numbers leave no doubt", lambda f: close(f(np.ones((1, 2)))[1], [0.0])),
            ("the error of the mean of two numbers is half their distance",
             lambda f: close(f(np.array([[1.0, 4.0]]))[1], [1.5])),
            ("its square is right on average", calibrated),
        ],
    )


def newton_P(answer: Answer) -> bool:
    """``answer`` is the next P on the way to equal action, a SymPy expression."""
    case = (270.0, 0.2, 0.74, 0.39, 25, 30.0)

    def converges(setup: Setup, P: float, f: Answer) -> bool:
        """On the theory's own two branches the step is the chapter's Newton iteration."""
        model = SoftmaxAction(setup)
        transition = model.first_order_transition()
        assert transition is not None
        x = P * transition.P
        for _ in range(6):
            low, high = sorted(model.minima(x), key=lambda state: float(state.a_G))
            x = float(f(x, float(high.action - low.action), float(low.loss), float(high.loss), setup.L, setup.sigma2))
        return close(x, transition.P, rtol=1e-7)

    names = ("P", "gap", "loss_uniform", "loss_copy", "L", "sigma2")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("where the actions are equal it stays", lambda f: close(f(270.0, 0.0, *case[2:]), 270.0)),
            ("where the copy state is higher it goes to more data", lambda f: f(*case) > 270 > f(270.0, -0.2, *case[2:])),
            ("the step grows with the noise and falls with the length",
             lambda f: close(f(*case[:5], 60.0) - 270, 2 * (f(*case) - 270))
             and close(f(*case[:4], 50, 30.0) - 270, (f(*case) - 270) / 2)),
            ("it finds the transition of the theory at (25, 5)", lambda f: converges(Setup(25, 5), 0.99, f)),
            ("it finds others", lambda f: converges(Setup(40, 3, 7.0, 2.0, 0.5), 1.02, f)),
        ]),
    )


def infinite_data(answer: Answer) -> bool:
    """``answer(P, values)`` extrapolates means, whose variance falls like 1/P, to 1/P = 0 by a line in 1/P."""
    P = np.array([75.0, 150.0, 300.0, 600.0])
    values = np.array([3.0, 2.9, 2.7, 2.72])

    def precise(f: Answer) -> bool:
        """Its scatter is that of the best linear unbiased estimate: inverse-variance weights."""
        rng = np.random.default_rng(3)
        found = np.array([float(f(P, 1 + 5 / P + rng.normal(size=4) / np.sqrt(P))) for _ in range(4000)])
        design = np.stack([np.ones(4), 1 / P], axis=1)
        best = np.linalg.inv(design.T @ (P[:, None] * design))[0, 0]
        return bool(abs(found.mean() - 1) < 5 * np.sqrt(best / 4000) and found.var() < 1.12 * best)   # 1 +- 0.022

    return verdict(
        answer,
        function("P, values", (P, values), number()),
        [
            ("a constant stays what it is", lambda f: close(f(P, np.full(4, 0.3)), 0.3)),
            ("a bias proportional to 1/P is removed", lambda f: close(f(P, 1.7 - 40 / P), 1.7)),
            ("the order of the points does not matter", lambda f: close(f(P[::-1], values[::-1]), f(P, values), rtol=1e-7)),
            ("it is linear in the values", lambda f: close(f(P, 2 * values + 1), 2 * f(P, values) + 1, rtol=1e-7)),
            ("points with more data count more, as their variance says", precise),
        ],
    )


def own_token_posterior(answer: Answer) -> bool:
    """``answer(counts, own)`` is the probability of each token at the predecessor of a position, shape (V,).

    ``counts`` are those of the whole sequence, ``own`` is the token at the position itself.
    """

    def enumerated(V: int, L: int, counts: np.ndarray, own: int) -> np.ndarray:
        total = np.zeros(V)
        for tokens in itertools.product(range(V), repeat=L):
            if tokens[0] == own and (np.bincount(tokens, minlength=V) == counts).all():
                total[tokens[-1]] += 1
        return total / total.sum()

    cases = [(3, 4, (2, 1, 1), 0), (3, 4, (2, 1, 1), 2), (2, 5, (3, 2), 1), (3, 5, (3, 0, 2), 0), (2, 6, (1, 5), 0)]
    known = [(np.array(counts), own, enumerated(V, L, np.array(counts), own)) for V, L, counts, own in cases]
    return verdict(
        answer,
        function("counts, own", (np.array([2, 1, 1]), 0), array((3,), "one number for each of the three tokens")),
        [
            ("the probabilities add up to one", lambda f: all(close(np.sum(f(n, own)), 1) for n, own, _ in known)),
            ("a token that occurs only at the position itself cannot be its predecessor",
             lambda f: close(f(np.array([1, 2, 1]), 0)[0], 0)),
            ("they agree with counting all sequences", lambda f: all(close(f(n, own), p) for n, own, p in known)),
        ],
    )
