"""Checkers for the exercises on same-token attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict
from copyhead.complete import complete_weights
from copyhead.linear import LinearAction
from copyhead.reduced import ReducedAction
from copyhead.setup import Setup
from copyhead.task import sequences

Answer = Callable[..., Any]


def content(answer: Answer) -> bool:
    """``answer(M, V)`` is (tau, kappa): how the logits prefer the own token, and oneself."""
    rng = np.random.default_rng(0)

    def blind(f: Answer, L: int, V: int) -> bool:
        """Weights that no logit shows must not matter."""
        M, n = rng.normal(size=(V + L, V + L)), np.concatenate([np.ones(V), -np.ones(L)])
        hidden = np.outer(n, rng.normal(size=V + L)) + np.outer(rng.normal(size=V + L), n)
        return close(f(M, V), f(M + hidden, V))

    def renamed(f: Answer, L: int, V: int) -> bool:
        M = rng.normal(size=(V + L, V + L))
        order = np.concatenate([rng.permutation(V), V + np.roll(np.arange(L), 2)])
        return close(f(M, V), f(M[np.ix_(order, order)], V))

    return verdict(
        answer,
        function("M, V", (np.eye(9), 4), array((2,), "a pair (tau, kappa)")),
        [
            ("copying and pooling count for neither",
             lambda f: close(f(complete_weights(0.7, 2.1, 0.0, 0.0, 6, 3), 3), (0.0, 0.0))),
            ("same-token attention is found",
             lambda f: close(f(complete_weights(0.0, 0.0, -0.4, 0.0, 7, 4), 4), (-0.4, 0.0))),
            ("attention to oneself is found",
             lambda f: close(f(complete_weights(0.0, 0.0, 0.0, 0.9, 7, 4), 4), (0.0, 0.9))),
            ("all four together are told apart",
             lambda f: close(f(complete_weights(-0.3, 1.1, 0.2, -0.6, 5, 2), 2), (0.2, -0.6))),
            ("weights that change no logit change nothing", lambda f: blind(f, 6, 4) and blind(f, 3, 2)),
            ("renaming tokens and rotating positions changes nothing", lambda f: renamed(f, 6, 4)),
        ],
    )


def mean_copy_weight(answer: Answer) -> bool:
    """``answer(ell, tau, kappa, L, V)`` is the mean softmax attention on the predecessor."""

    def all_rows(ell: float, tau: float, kappa: float, L: int, V: int) -> float:
        """Mean over every sequence, by listing them."""
        tokens = np.indices((V,) * L).reshape(L, -1).T
        M = complete_weights(0.0, ell, tau, kappa, L, V)
        G = ReducedAction(Setup(L, V), "softmax", tokens).attention(M)
        return float(np.mean([G[:, a, a - 1] for a in range(L)]))

    def sampled(f: Answer, *x: Any) -> bool:
        tokens = sequences(x[3], x[4], 4000, 1)
        G = ReducedAction(Setup(x[3], x[4]), "softmax", tokens).attention(complete_weights(0.0, *x[:3], *x[3:]))
        weights = np.mean([G[:, a, a - 1] for a in range(x[3])], axis=0)
        return abs(float(f(*x)) - weights.mean()) < 5 * weights.std() / np.sqrt(len(weights))

    cases = [(1.2, -0.4, 0.3, 4, 3), (0.0, 0.8, -0.5, 5, 2), (2.0, 0.0, 0.0, 3, 4)]
    return verdict(
        answer,
        function("ell, tau, kappa, L, V", cases[0], number()),
        [
            ("without a preference it is 1/L", lambda f: close(f(0.0, 0.0, 0.0, 25, 5), 1 / 25)),
            ("without content it is e^ell / (L - 1 + e^ell)",
             lambda f: close(f(1.7, 0.0, 0.0, 30, 4), 1 / (1 + 29 * np.exp(-1.7)))),
            ("it lies between zero and one and grows with ell",
             lambda f: 0 < f(-2.0, 0.3, 0.2, 9, 3) < f(1.0, 0.3, 0.2, 9, 3) < f(30.0, 0.3, 0.2, 9, 3) <= 1),
            ("a preference for oneself takes weight away", lambda f: f(1.0, 0.1, 0.5, 9, 3) < f(1.0, 0.1, 0.0, 9, 3)),
            ("it is the mean over all short sequences", lambda f: all(close(f(*x), all_rows(*x)) for x in cases)),
            ("it is the mean over random long sequences", lambda f: sampled(f, 1.5, -0.6, 0.4, 25, 5)),
        ],
    )


def complete_onset(answer: Answer) -> bool:
    """``answer(L, V, sigma2, g_O, g_W)`` is the exact onset of linear attention over all weights."""
    cases = [(25, 5, 30.0, 1.0, 1.0), (3, 7, 2.0, 0.5, 1.5), (2, 2, 1.0, 3.0, 0.2), (60, 2, 5.0, 1.0, 2.0)]

    def agrees(f: Answer, *x: Any) -> bool:
        return close(f(*x), LinearAction(Setup(*x), closure="complete").critical_P)

    return verdict(
        answer,
        function("L, V, sigma2, g_O, g_W", cases[0], number("a number of sequences")),
        [
            ("it is positive and proportional to the noise variance",
             lambda f: f(9, 4, 2.0, 1.0, 1.0) > 0 and close(f(9, 4, 6.0, 1.0, 1.0), 3 * f(9, 4, 2.0, 1.0, 1.0))),
            ("only the product of the prior variances matters, as its inverse root",
             lambda f: close(f(9, 4, 1.0, 4.0, 0.5), f(9, 4, 1.0, 2.0, 1.0))
             and close(f(9, 4, 1.0, 8.0, 0.5), f(9, 4, 1.0, 1.0, 1.0) / 2)),
            ("more directions cannot raise it above that of two patterns",
             lambda f: all(f(*x) < LinearAction(Setup(*x)).critical_P for x in cases)),
            ("for long sequences it is that of two patterns",
             lambda f: close(f(4000, 3, 1.0, 1.0, 1.0), LinearAction(Setup(4000, 3, 1.0)).critical_P, rtol=1e-6)),
            ("zero attention loses its stability there", lambda f: all(agrees(f, *x) for x in cases)),
        ],
    )


def self_curvature(answer: Answer) -> bool:
    """``answer`` is the second derivative in kappa of the prior's part at fixed c1 and c_G, a SymPy expression."""

    def difference(L: int, g_W: float) -> float:
        """From the smallest weights with these logits."""
        def prior(kappa: float) -> float:
            a = 0.4 - kappa / (L - 1)
            return float(np.sum(complete_weights(a, 1.3 - a, 0.0, kappa, L, 3) ** 2) / (2 * g_W))

        return prior(1.0) - 2 * prior(0.0) + prior(-1.0)                # exact for a quadratic

    names = ("L", "g_W")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("it is inversely proportional to the prior variance", lambda f: close(f(9, 4.0), f(9, 1.0) / 4)),
            ("two positions leave no room for kappa", lambda f: close(f(2, 1.0), 0.0)),
            ("for long sequences every position pays: it tends to L",
             lambda f: close(f(10**6, 1.0) / 10**6, 1.0, rtol=1e-5)),
            ("it is the curvature of the smallest norm",
             lambda f: all(close(f(L, 0.7), difference(L, 0.7)) for L in (3, 6, 25))),
        ]),
    )
