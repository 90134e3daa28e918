"""Checkers for the exercises on many heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from copyhead.check._properties import close, function, number, verdict
from copyhead.multi import MultiAction
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction
from copyhead.teacher import Teacher, orthogonal_values

Answer = Callable[..., Any]


def heads_gain(answer: Answer) -> bool:
    """``answer(m, W, L, lam)`` is tr t W t^T (N + lam)^-1 of heads with weights m, (H, K), at the lags."""
    rng = np.random.default_rng(0)
    m, W = rng.uniform(0.02, 0.3, (3, 2)), np.array([[4.0, 0.5], [0.5, 2.0]])
    setup, values = Setup(25, 5), np.array([1.0, 0.5])[:, None, None] * orthogonal_values(5, 2)
    model = MultiAction(setup, Teacher(25, values), 3)
    x = np.log(m / ((1 - m.sum(axis=1, keepdims=True)) / 23))

    def known(f: Answer, P: float) -> bool:
        data = model.action(x, P) - np.vdot(x @ model.stiffness, x) / 2
        gain = 25 * np.trace(model.teacher.W) - 2 * 5 * 30.0 / P * data
        return close(f(m, model.teacher.W, 25, model.ridge(P)), gain, rtol=1e-7)

    return verdict(
        answer,
        function("m, W, L, lam", (m, W, 25, 1.0), number("a gain")),
        [
            ("a perfect head on one lag of length L explains L / (1 + lam / L) of it",
             lambda f: close(f(np.array([[1.0, 0.0]]), np.diag([1.0, 1.0]), 10, 5.0), 10 / 1.5)),
            ("the order of the heads does not matter", lambda f: close(f(m[[2, 0, 1]], W, 25, 3.0), f(m, W, 25, 3.0))),
            ("it is linear in W", lambda f: close(f(m, 2 * W, 25, 3.0), 2 * f(m, W, 25, 3.0))),
            ("one more head never lowers it", lambda f: f(m, W, 25, 3.0) > f(m[:2], W, 25, 3.0)),
            ("identical heads are one head with lam / H",
             lambda f: close(f(np.repeat(m[:1], 3, axis=0), W, 25, 3.0), f(m[:1], W, 25, 1.0))),
            ("it is the part of the action that the heads explain", lambda f: known(f, 300.0) and known(f, 2000.0)),
        ],
    )


def alike_from(answer: Answer) -> bool:
    """``answer(setup, heads, w)`` is the smallest P at which identical heads have a copying state, or None."""
    setup = Setup(25, 5)
    book = SoftmaxAction(setup).first_order_transition()
    assert book is not None

    def has_two(P: float, heads: int, w: float) -> bool:
        model = MultiAction(setup, Teacher(25, w * orthogonal_values(5, 1)), heads)
        low, high = (model.descend(np.full((heads, 1), x), P, symmetric=True).weights[0, 0] for x in (0.0, 2.0))
        return bool(high - low > 0.02)

    def edges(f: Answer, heads: int, w: float) -> bool:
        P = float(f(setup, heads, w))
        return has_two(1.004 * P, heads, w) and not has_two(0.996 * P, heads, w)

    return verdict(
        answer,
        function("setup, heads, w", (setup, 1, 1.0), number("a number of sequences")),
        [
            ("one head has the lower spinodal of the book",
             lambda f: close(f(setup, 1, 1.0), book.lower_spinodal)),
            ("more heads that do the same need more data", lambda f: f(setup, 1, 1.0) < f(setup, 2, 1.0) < f(setup, 3, 1.0)),
            ("it is proportional to the noise",
             lambda f: close(f(replace(setup, sigma2=60.0), 2, 1.0), 2 * f(setup, 2, 1.0), rtol=1e-6)),
            ("short sequences have none", lambda f: f(Setup(10, 5), 1, 1.0) is None),
            ("two states are there just above it and not just below", lambda f: edges(f, 2, 1.0) and edges(f, 1, 0.7)),
        ],
    )


def _a_set(answer: Any) -> str | None:
    return None if isinstance(answer, set) else f"expected a set of numbers of lags, got {type(answer).__name__}"


def lags_learned(answer: Answer) -> bool:
    """``answer(setup, teacher, heads, P)`` is the set of lags with a head on them in the lowest minimum."""
    setup = Setup(25, 5)
    maps = orthogonal_values(5, 3)

    def made(*strengths: float) -> Teacher:
        return Teacher(25, np.array(strengths)[:, None, None] * maps)

    falling, rising = made(1.0, 0.75, 0.5), made(0.5, 0.75, 1.0)
    return verdict(
        answer,
        function("setup, teacher, heads, P", (setup, falling, 1, 300.0), _a_set),
        [
            ("few data teach nothing", lambda f: f(setup, falling, 2, 150.0) == set()),
            ("one head takes the strongest lag", lambda f: f(setup, falling, 1, 800.0) == {0}),
            ("wherever that is", lambda f: f(setup, rising, 1, 800.0) == {2}),
            ("two heads drop the weakest", lambda f: f(setup, falling, 2, 800.0) == {0, 1}),
            ("also where it comes first", lambda f: f(setup, rising, 2, 800.0) == {1, 2}),
        ],
    )
