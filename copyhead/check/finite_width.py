"""Checkers for the exercises on networks of finite width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.bartlett import Bartlett
from copyhead.check._properties import close, expression, function, number, on_values, verdict
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction
from copyhead.width import WidthAction, tricritical_nu

Answer = Callable[..., Any]


def chain_size(answer: Answer) -> bool:
    """``answer(n, d)`` is the number of coordinates of the chain over M and R."""
    def counted(n: int, d: int) -> int:
        return min(n, d) ** 2 + Bartlett(n, d).size

    return verdict(
        answer,
        function("n, d", (30, 1024), number("a number of coordinates")),
        [
            ("a single embedding has a length and one attention weight", lambda f: f(1, 1) == 2 and f(1, 50) == 2),
            ("from d = n on it stops growing", lambda f: f(30, 30) == f(30, 31) == f(30, 10_000)),
            ("below n it grows with d", lambda f: all(f(30, d) < f(30, d + 1) for d in range(1, 30))),
            ("at d = 1 the embeddings are n numbers", lambda f: f(8, 1) == 9),
            ("it counts the entries of M and the entries of R that are not zero",
             lambda f: all(f(n, d) == counted(n, d) for n in (2, 9, 30) for d in (1, 5, 9, 40))),
        ],
    )


def mean_log_det(answer: Answer) -> bool:
    """``answer(n, d)`` is the mean of ln det C over random embeddings, d >= n."""
    rng = np.random.default_rng(0)

    def sampled(n: int, d: int) -> tuple[float, float]:
        E = rng.standard_normal((4000, d, n))
        values = np.linalg.slogdet(np.swapaxes(E, 1, 2) @ E / d)[1]
        return float(values.mean()), float(values.std() / np.sqrt(len(values)))

    def agrees(f: Answer, n: int, d: int) -> bool:
        mean, error = sampled(n, d)
        return bool(abs(float(f(n, d)) - mean) < 5 * error)

    return verdict(
        answer,
        function("n, d", (3, 10), number("a mean")),
        [
            ("random embeddings enclose less volume than orthogonal ones of length one",
             lambda f: all(f(n, d) < 0 for n in (1, 5) for d in (5, 50))),
            ("one embedding has a squared length of mean one", lambda f: agrees(f, 1, 3)),
            ("for wide networks it is -n (n + 1) / (2 d)", lambda f: close(f(5, 10**6), -15e-6, rtol=1e-3)),
            ("it is the mean over sampled embeddings", lambda f: agrees(f, 4, 6) and agrees(f, 6, 20)),
        ],
    )


def position_scale(answer: Answer) -> bool:
    """``answer(ell, nu, g_W)`` is the squared length of position embeddings that pays best for the logit gap ell."""
    def learned(ell: float, nu: float, g_W: float) -> float:
        return float(WidthAction(Setup(25, 5, g_W=g_W), "softmax", nu).scales(ell, 100.0)[2])

    return verdict(
        answer,
        function("ell, nu, g_W", (1.7, 34.0, 1.0), number("a squared length")),
        [
            ("without logits nothing is learned", lambda f: close(f(0.0, 34.0, 1.0), 1.0)),
            ("embeddings grow, and the more the narrower the network",
             lambda f: 1 < f(1.7, 300.0, 1.0) < f(1.7, 34.0, 1.0) < f(1.7, 3.0, 1.0)),
            ("the sign of the logits does not matter", lambda f: close(f(-2.0, 10.0, 1.0), f(2.0, 10.0, 1.0))),
            ("for wide networks the growth is 2 ell^2 / (nu g_W)", lambda f: close(f(1.5, 1e6, 0.5), 1 + 9e-6, rtol=1e-9)),
            ("it minimises the cost of the logits plus that of the metric",
             lambda f: all(close(f(*x), learned(*x), rtol=1e-6)
                           for x in ((0.4, 5.0, 1.0), (1.7, 34.0, 1.0), (3.0, 2.0, 0.6)))),
        ],
    )


def learned_threshold(answer: Answer) -> bool:
    """``answer(P, slope, K_low, K_high, n, nu)`` is the first-order estimate of P* for embeddings that learn."""
    n = np.array([1.0, 4.0, 24.0])
    low, high = np.array([0.9, 0.8, 0.3]), np.array([0.9, 4.9, 5.8])

    def shift(f: Answer, n: np.ndarray, nu: float) -> float:
        return 276 - float(f(276.0, 0.15, low, high, n, nu))

    def follows(f: Answer) -> bool:
        setup, nu = Setup(25, 5), 5e4
        frozen = SoftmaxAction(setup).first_order_transition()
        assert frozen is not None
        at, K = WidthAction(setup, "softmax", nu), []
        for state in (frozen.uniform, frozen.copy):
            w, g, k, _ = at.modes(state.ell, frozen.P)
            K.append(2 * (2 * w + g / (1 + k) ** 2) / n)
        estimate = f(frozen.P, 25 / 60 * frozen.loss_jump, *K, n, nu)
        found = at.transition(270, 282, 6)
        return found is not None and close(frozen.P - estimate, frozen.P - found.P, rtol=0.01)

    return verdict(
        answer,
        function("P, slope, K_low, K_high, n, nu", (276.0, 0.15, low, high, n, 333.0), number("a number of sequences")),
        [
            ("states that pull alike on the metric keep their place",
             lambda f: close(f(276.0, 0.15, low, low, n, 50.0), 276.0)),
            ("the copy state gains more, so the transition comes earlier", lambda f: shift(f, n, 333.0) > 0),
            ("twice the width is half the shift", lambda f: close(shift(f, n, 100.0), 2 * shift(f, n, 200.0))),
            ("every one of the n equal eigenvalues counts", lambda f: close(shift(f, 2 * n, 100.0), 2 * shift(f, n, 100.0))),
            ("the transition of wide networks moves like that", follows),
        ],
    )


def tricritical_width(answer: Answer) -> bool:
    """``answer`` is the d below which pooling sets in by a jump, for L much larger than V: a SymPy expression."""
    def exact(V: int, chi: float, g_O: float, g_W: float) -> float:
        return chi * tricritical_nu(Setup(10**6, V, 30.0, g_O, g_W))

    names = ("V", "chi", "g_O", "g_W")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("it is proportional to chi", lambda f: close(f(5, 90.0, 1.0, 1.0), 3 * f(5, 30.0, 1.0, 1.0))),
            ("only the product of the two variances counts", lambda f: close(f(5, 30.0, 4.0, 0.5), f(5, 30.0, 2.0, 1.0))),
            ("larger vocabularies need wider networks", lambda f: f(10, 30.0, 1.0, 1.0) > f(5, 30.0, 1.0, 1.0)),
            ("it is where the quartic term vanishes",
             lambda f: all(close(f(*x), exact(*x), rtol=1e-3) for x in ((3, 30.0, 1.0, 1.0), (8, 50.0, 0.7, 2.0)))),
        ]),
    )
