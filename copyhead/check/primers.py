"""Checkers for the two primers: attention for physicists, Landau theory for machine learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from copyhead.check._properties import array, close, function, number, verdict

Answer = Callable[..., Any]


def gibbs_response(answer: Answer) -> bool:
    """``answer(A, v)``: derivative of the average of ``v`` over a row ``A`` of softmax attention in its logits."""
    rng = np.random.default_rng(5)
    z, v = rng.standard_normal(7), rng.standard_normal(7)

    def row(logits: Any) -> Any:
        w = np.exp(logits - np.max(logits))
        return w / w.sum()

    def slopes(size: float = 1e-6) -> Any:
        steps = size * np.eye(7)
        return np.array([(row(z + s) @ v - row(z - s) @ v) / (2 * size) for s in steps])

    sharp = row(np.array([60.0, 0.0, -1.0]))
    return verdict(
        answer,
        function("A, v", (row(z), v), array((7,), "an array of shape (L,)")),
        [
            ("equal values leave nothing to gain", lambda f: close(f(row(z), np.full(7, 3.0)), np.zeros(7))),
            ("a constant added to all logits changes nothing, so the entries add up to zero",
             lambda f: close(np.sum(f(row(z), v)), 0.0)),
            ("a constant added to all values changes nothing", lambda f: close(f(row(z), v + 2.0), f(row(z), v))),
            ("a position without weight gets no gradient",
             lambda f: np.abs(f(sharp, np.array([0.0, 5.0, 5.0]))).max() < 1e-9),
            ("finite differences of the average agree", lambda f: close(f(row(z), v), slopes(), rtol=1e-6, atol=1e-8)),
        ],
    )


def gap_for(answer: Answer) -> bool:
    """``answer(m, L)`` is the logit gap at which the copied position of ``L`` has the weight ``m``."""
    m = np.array([0.01, 0.2, 0.5, 0.93])

    def weight(gap: Any, L: int) -> Any:
        logits = np.zeros((len(gap), L))
        logits[:, 0] = gap
        w = np.exp(logits)
        return w[:, 0] / w.sum(axis=1)

    return verdict(
        answer,
        function("m, L", (m, 25), array((4,), "an array like m")),
        [
            ("pooling needs no gap", lambda f: close(f(np.array([1 / 9]), 9), [0.0], atol=1e-9)),
            ("more weight needs a larger gap", lambda f: np.diff(f(m, 25)) > 0),
            ("a longer sequence needs a larger gap", lambda f: np.asarray(f(m, 50)) > np.asarray(f(m, 25))),
            ("the softmax of a row with this gap has the weight m", lambda f: close(weight(f(m, 25), 25), m)),
            ("it has it at other lengths too", lambda f: all(close(weight(f(m, L), L), m) for L in (2, 7, 400))),
        ],
    )


def induction_head(answer: Answer) -> bool:
    """``answer(tokens, V, beta)``: outputs of an induction head under a causal mask, shape (L, V)."""
    rng = np.random.default_rng(3)
    word = rng.permutation(8)
    twice, any_text = np.tile(word, 2), rng.integers(4, size=15)

    def causal(f: Answer) -> bool:
        other = any_text.copy()
        other[9:] = (other[9:] + 1) % 4
        return close(f(any_text, 4, 2.0)[:9], f(other, 4, 2.0)[:9])

    def completes(f: Answer) -> bool:
        guess = np.argmax(f(twice, 8, 40.0), axis=1)
        return bool(np.array_equal(guess[8:-1], twice[9:]))

    def weights_are_exponential(f: Answer) -> bool:
        out = np.asarray(f(np.array([0, 1, 0]), 2, 1.3))[2]  # position 1 matches, positions 0 and 2 do not
        return close(out, np.array([2.0, np.exp(1.3)]) / (2 + np.exp(1.3)))

    def first_matches_nothing(f: Answer) -> bool:
        alike = np.asarray(f(np.zeros(3, int), 2, 1.0))
        mixed = np.asarray(f(np.array([1, 0, 0]), 2, 1.3))[2]  # position 2 matches; position 0 must not
        return close(alike[:, 0], np.ones(3)) and close(mixed, np.array([np.exp(1.3) + 1, 1.0]) / (np.exp(1.3) + 2))

    return verdict(
        answer,
        function("tokens, V, beta", (any_text, 4, 2.0), array((15, 4), "an array of shape (L, V)")),
        [
            ("each output is a mean of one-hot tokens, so that its entries add up to one",
             lambda f: close(np.sum(f(any_text, 4, 2.0), axis=1), np.ones(15))),
            ("the first position sees itself alone", lambda f: close(f(any_text, 4, 2.0)[0], np.eye(4)[any_text[0]])),
            ("no output depends on later tokens", causal),
            ("at beta = 0 it is the mean of what came so far",
             lambda f: close(f(twice, 8, 0.0)[5], np.bincount(twice[:6], minlength=8) / 6)),
            ("the second time round a word is completed", completes),
            ("a match counts exp(beta) times as much as another position", weights_are_exponential),
            ("position 0 has no previous token", first_matches_nothing),
        ],
    )


def _action(w: Any, p: float, depth: float, eps: float = 0.0) -> Any:
    return depth * (w - eps) ** 2 / 2 + p * (1 - w**depth) ** 2 / 2


def _learned(p: float, depth: float) -> float:
    """Size of a weight at the minimum above the barrier, by a direct search."""
    found = minimize_scalar(lambda w: _action(w, p, depth), bounds=(0.4, 1.0), method="bounded", options={"xatol": 1e-12})
    return float(found.x)


def jump_at_depth(answer: Answer) -> bool:
    """``answer(D)`` is (q, p): product of the weights after the jump of the toy network, and where it happens."""

    def equally_deep(f: Answer, depth: int) -> bool:
        p = float(f(depth)[1])
        return close(_action(_learned(p, depth), p, depth), p / 2, rtol=1e-7)

    return verdict(
        answer,
        function("D", (3,), array((2,), "a pair (q, p)")),
        [
            ("the product lies between 0 and 1, and p is positive",
             lambda f: all(0 < f(D)[0] < 1 and f(D)[1] > 0 for D in (3, 4, 8))),
            ("deeper networks jump further and later",
             lambda f: np.all(np.diff([f(D) for D in (3, 4, 5, 9)], axis=0) > 0)),
            ("at depth 3 both minima are equally deep at p", lambda f: equally_deep(f, 3)),
            ("so they are at other depths", lambda f: all(equally_deep(f, D) for D in (4, 5, 7))),
            ("q is the product of the weights in the learned minimum",
             lambda f: all(close(f(D)[0], _learned(float(f(D)[1]), D) ** D, rtol=1e-5) for D in (3, 4, 7))),
        ],
    )


def soft_variance(answer: Answer) -> bool:
    """``answer(p)``: chi times the variance of the soft mode of the toy network of depth 2."""

    def curvature(p: float) -> float:
        s0 = np.sqrt(2 * max(0.0, 1 - 1 / p))  # the mode (w1 + w2) / sqrt 2 with w1 = w2

        def cost(s: float) -> float:
            return s**2 / 2 + p * (1 - s**2 / 2) ** 2 / 2

        h = 1e-4
        return float((cost(s0 + h) - 2 * cost(s0) + cost(s0 - h)) / h**2)

    return verdict(
        answer,
        function("p", (0.5,), number()),
        [
            ("a variance is positive", lambda f: all(f(p) > 0 for p in (0.2, 0.8, 1.3, 5.0))),
            ("without data it is that of the prior", lambda f: close(f(0.0), 1.0)),
            ("it grows towards p = 1 from both sides", lambda f: f(0.9) > f(0.5) and f(1.1) > f(2.0)),
            ("below the transition it is one over the curvature",
             lambda f: all(close(f(p), 1 / curvature(p), rtol=1e-5) for p in (0.3, 0.7, 0.9))),
            ("above it too", lambda f: all(close(f(p), 1 / curvature(p), rtol=1e-5) for p in (1.2, 2.0, 6.0))),
        ],
    )


def has_jump(answer: Answer) -> bool:
    """``answer(eps)``: whether the MAP of the toy of depth 3 that decays towards ``eps`` jumps at some p."""

    def jumps(eps: float) -> bool:
        w, largest = np.linspace(0, 1, 8001), 0.0
        lowest = [w[np.argmin(_action(w, p, 3, eps))] for p in np.linspace(0.8, 3.2, 1201)]
        largest = float(np.max(np.diff(lowest)))
        return largest > 0.1

    return verdict(
        answer,
        function("eps", (0.05,), lambda value: None if isinstance(value, bool | np.bool_) else
                 f"expected True or False, got {type(value).__name__}"),
        [
            ("a weak pull leaves the jump", lambda f: f(0.02) and jumps(0.02)),
            ("a strong pull removes it", lambda f: not f(0.5) and not jumps(0.5)),
            ("there is one endpoint: what jumps does so for every weaker pull",
             lambda f: list(map(bool, map(f, (0.01, 0.1, 0.15, 0.22, 0.3, 0.6)))) == [True] * 3 + [False] * 3),
            ("the endpoint is where the jump of the minimum closes",
             lambda f: bool(f(0.17)) == jumps(0.17) and not f(0.19) and f(0.184)),
        ],
    )
