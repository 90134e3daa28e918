"""Checkers for the chapter on real models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import Kind, array, close, function, number, verdict
from copyhead.probes import copy_spectrum, effective_rank, spectrum


def row_rank(answer: Callable[..., Any]) -> bool:
    """Effective rank of the outputs of a head with a fixed row, against the Monte Carlo of random tokens."""
    rng = np.random.default_rng(0)
    row, even = rng.dirichlet(np.ones(6)), np.full(6, 1 / 6)
    z = np.concatenate([row @ np.eye(4)[rng.integers(4, size=(20_000, 6))], np.tile(row, (20_000, 1))], axis=1)
    return verdict(
        answer,
        function("g, V", (row, 4), number()),
        [
            ("a head that sees one position has the same rank wherever that is",
             lambda f: close(f(np.eye(6)[1], 4), f(np.eye(6)[4], 4))),
            ("a row of a copy head gives the closed form of the chapter",
             lambda f: close(f(np.r_[0.5, np.full(5, 0.1)], 3), effective_rank(copy_spectrum(0.5, 6, 3)))),
            ("no row has a smaller rank than the even one", lambda f: f(even, 4) < min(f(row, 4), f(np.eye(6)[0], 4))),
            ("outputs of 20,000 random sequences have this rank, to 2 per cent",
             lambda f: close(f(row, 4), effective_rank(spectrum(z)), rtol=0.02)),
        ],
    )


def centred_rank(answer: Callable[..., Any]) -> bool:
    """Effective rank of the covariance of one token."""
    skewed = np.array([0.5, 0.25, 0.15, 0.1])
    rng = np.random.default_rng(1)
    tokens = rng.choice(4, size=(40_000, 3), p=skewed)
    z = np.array([0.6, 0.3, 0.1]) @ np.eye(4)[tokens]
    return verdict(
        answer,
        function("p", (skewed,), number()),
        [
            ("an even vocabulary leaves V - 1 directions", lambda f: close(f(np.full(5, 0.2)), 4, rtol=1e-6)),
            ("two tokens leave one direction, however uneven", lambda f: close(f(np.array([0.9, 0.1])), 1, rtol=1e-6)),
            ("the order of the tokens does not matter", lambda f: close(f(skewed), f(skewed[::-1]), rtol=1e-6)),
            ("outputs of 40,000 random sequences have this centred rank, to 2 per cent",
             lambda f: close(f(skewed), effective_rank(spectrum(z, centred=True)), rtol=0.02)),
        ],
    )


def _verdicts_of(f: Callable[..., Any], cases: list[tuple[float, float, int, int]]) -> list[bool]:
    found = [f(*case) for case in cases]
    return [bool(value) for value in found if isinstance(value, bool | np.bool_)] if len(found) else []


def _truth() -> Kind:
    def kind(answer: Any) -> str | None:
        return None if isinstance(answer, bool | np.bool_) else f"expected True or False, got {type(answer).__name__}"

    return kind


def rank_leads(answer: Callable[..., Any]) -> bool:
    """Which of two thresholds a growing copy head passes first."""
    m = np.linspace(1 / 12, 0.9999, 40_000)                              # a growing head, L = 12, V = 7
    rank, ratio = effective_rank(copy_spectrum(m, 12, 7)), m / (1 - m) * 11
    cases, truth = [], []
    for alpha in (0.02, 0.1, 0.4):
        for beta in np.geomspace(0.1, 12, 60).tolist():
            cases.append((alpha, beta, 12, 7))
            truth.append(bool(np.argmax(rank / rank[0] > 1 + alpha) < np.argmax(ratio / ratio[0] > 1 + beta)))
    return verdict(
        answer,
        function("alpha, beta, L, V", (0.05, 1.0, 25, 5), _truth()),
        [
            ("equal small thresholds: selectivity is first", lambda f: not f(0.01, 0.01, 25, 5)),
            ("a selectivity of thirty comes later than five per cent of rank", lambda f: f(0.05, 30.0, 25, 5)),
            ("a larger beta never turns a leading rank into a lagging one",
             lambda f: np.diff([int(f(0.05, beta, 25, 5)) for beta in (0.2, 1.0, 3.0, 9.0)]) >= 0),
            ("a head followed from uniform to sharp attention has these orders", lambda f: _verdicts_of(f, cases) == truth),
        ],
    )


def find_circuit(answer: Callable[..., Any]) -> bool:
    """Head and offset of most attention."""

    def planted(head: int, offset: int, seed: int, sink: bool = False) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        targets = rng.integers(5, 15, 40)
        attention = rng.uniform(0, 0.02, (4, 40, 20))
        attention[head, np.arange(40), targets + offset] = 0.8
        if sink:                                                       # a tiny ratio over nothing in another head
            other = (head + 1) % 4
            attention[other] = 1e-9
            attention[other, np.arange(40), targets + 1] = 1e-5
        return attention, targets

    return verdict(
        answer,
        function("attention, targets", planted(1, 2, 0), array((2,), "a pair (head, offset)")),
        [
            ("a head on the target itself is found", lambda f: tuple(f(*planted(2, 0, 1))) == (2, 0)),
            ("a head that looks two positions further is found", lambda f: tuple(f(*planted(0, 2, 2))) == (0, 2)),
            ("a head that looks three positions before is found", lambda f: tuple(f(*planted(3, -3, 3))) == (3, -3)),
            ("a large ratio over nothing is no circuit", lambda f: tuple(f(*planted(1, -1, 4, True))) == (1, -1)),
        ],
    )
