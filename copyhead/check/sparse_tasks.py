"""Checkers for the exercises on parities and other tasks on bits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, function, number, verdict

Answer = Callable[..., Any]


def lowest_order(answer: Answer) -> bool:
    """``answer(rule)`` is the lowest order, from 1 on, in the Walsh expansion of a rule, and 0 for a constant rule."""

    def counted(rule: int) -> int:
        """By means over all eight neighbourhoods, one product of spins after the other."""
        cells = list(product((0, 1), repeat=3))
        spins = [1 - 2 * (rule >> (4 * a + 2 * b + c) & 1) for a, b, c in cells]
        for order in (1, 2, 3):
            for mask in product((0, 1), repeat=3):
                signs = [(-1) ** sum(m * x for m, x in zip(mask, cell, strict=True)) for cell in cells]
                if sum(mask) == order and np.dot(spins, signs):
                    return order
        return 0

    return verdict(
        answer,
        function("rule", (110,), number("an order")),
        [
            ("a constant rule has none", lambda f: f(0) == f(255) == 0),
            ("rule 110 is visible by single bits", lambda f: f(110) == 1),
            ("rule 90 is the parity of two neighbours", lambda f: f(90) == 2),
            ("rule 150 is the parity of three", lambda f: f(150) == 3),
            ("a rule and its complement are alike", lambda f: all(f(rule) == f(255 - rule) for rule in (30, 54, 60, 105))),
            ("it is right for every rule", lambda f: all(f(rule) == counted(rule) for rule in range(256))),
        ],
    )


def share_after(answer: Answer) -> bool:
    """``answer(S, s, r)`` is the share explained by r single bits of the parity and the sum of the other S - r."""

    def counted(S: int, s: int, r: int) -> float:
        x = np.array(list(product((0, 1), repeat=S)))
        spins = 1 - 2 * (x[:, :s].sum(axis=1) % 2)
        known = np.concatenate([x[:, :r], x[:, r:].sum(axis=1, keepdims=True)], axis=1)
        _, group = np.unique(known, axis=0, return_inverse=True)
        mean = np.bincount(group.ravel(), spins) / np.bincount(group.ravel())
        return float((mean[group.ravel()] ** 2).mean())

    return verdict(
        answer,
        function("S, s, r", (8, 3, 1), number("a share")),
        [
            ("with no bit known it is what the sum explains", lambda f: close(f(8, 3, 0), 1 / comb(8, 3))),
            ("with all known it is everything", lambda f: close(f(8, 3, 3), 1) and close(f(5, 5, 5), 1)),
            ("each bit that is found raises it, where there is something to search for",
             lambda f: f(8, 3, 0) < f(8, 3, 1) < f(8, 3, 2)),
            ("the sum of all bits knows their parity", lambda f: close(f(6, 6, 0), 1)),
            ("it is what the best function of these numbers explains",
             lambda f: all(close(f(S, s, r), counted(S, s, r)) for S, s, r in ((8, 3, 1), (7, 4, 2), (6, 5, 3), (9, 2, 1)))),
        ],
    )


def zigzag(answer: Answer) -> bool:
    """``answer(s)`` is (slope, changes): 1 + slope n + sum_j changes_j relu(n - j), j < s, is the parity of n = 0..s."""

    def values(f: Answer, s: int) -> np.ndarray:
        slope, changes = f(s)
        n = np.arange(s + 1)
        kinks = np.maximum(n[:, None] - np.arange(1, s), 0)
        return np.asarray(1 + float(slope) * n + kinks @ np.asarray(changes, dtype=float).reshape(s - 1))

    def pair(result: Any) -> str | None:
        if not isinstance(result, tuple) or len(result) != 2:
            return f"expected a tuple (slope, changes), got {type(result).__name__}"
        problem = number("a slope")(result[0])
        return problem or array((3,), "s - 1 = 3 changes of slope")(result[1])

    return verdict(
        answer,
        function("s", (4,), pair),
        [
            ("no ones are even, one is odd", lambda f: close(values(f, 4)[:2], [1, -1])),
            ("one bit needs no kink", lambda f: np.size(f(1)[1]) == 0 and close(values(f, 1), [1, -1])),
            ("two bits need one, which brings the function back to 1", lambda f: close(values(f, 2), [1, -1, 1])),
            ("it is the parity of every number of ones up to s",
             lambda f: all(close(values(f, s), (-1.0) ** np.arange(s + 1)) for s in range(1, 9))),
        ],
    )
