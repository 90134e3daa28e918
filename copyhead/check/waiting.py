"""Checkers for the exercises of the chapter "When is the time of a capability random?"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, function, number, verdict

Answer = Callable[..., Any]


def delay_and_wait(answer: Answer) -> bool:
    """``answer(times, horizon)``: delay and mean wait, both unbiased; ``times`` (n,), inf where censored at ``horizon``."""
    late = np.array([3.1, 3.4, 4.2, 5.0, 7.7])
    cut = np.where(late < 4.5, late, np.inf)

    def average(f: Answer, n: int, horizon: float, runs: int) -> np.ndarray:
        """Mean of the answer over samples with delay 3 and wait 2."""
        times = 3 + np.random.default_rng(0).exponential(2.0, (runs, n))
        return np.mean([f(np.where(t < horizon, t, np.inf), horizon) for t in times], axis=0)

    return verdict(
        answer,
        function("times, horizon", (late, 20.0), array((2,), "two numbers, the delay and the wait")),
        [
            ("where nothing is censored, delay plus wait is the mean time",
             lambda f: close(np.sum(f(late, 20.0)), late.mean())),
            ("a clock that starts earlier moves the delay and not the wait",
             lambda f: close(np.subtract(f(late + 2, 22.0), f(late, 20.0)), [2.0, 0.0])),
            ("the unit of time does not matter", lambda f: close(f(60 * cut, 270.0), 60 * np.asarray(f(cut, 4.5)))),
            ("runs without an event count with the time they were watched: watching longer in vain, the wait is longer",
             lambda f: f(cut, 9.0)[1] > f(cut, 4.5)[1] > f(cut[:3], 4.5)[1]),
            ("the order of the runs does not matter", lambda f: close(f(cut[::-1], 4.5), f(cut, 4.5))),
            ("over three thousand samples of six runs the means are right, of delay and wait, within five standard errors",
             lambda f: np.all(np.abs(average(f, 6, np.inf, 3000) - [3, 2]) < 5 * np.array([0.365, 0.894]) / np.sqrt(3000))),
            ("with a third censored they are right too, in large samples",
             lambda f: np.all(np.abs(average(f, 400, 5.2, 100) - [3, 2]) < 0.05)),
        ],
    )


def fold_time(answer: Answer) -> bool:
    """``answer(z)``: mean time of dx = (z + x^2) dt + sqrt(2) dB from -infinity to infinity."""
    from scipy.integrate import quad

    from copyhead.barrier import Profile
    from copyhead.passage import Passage

    def walked(z: float) -> float:
        """A walk on a grid, and the tails without noise."""
        x = np.linspace(-8, 8, 3000)
        return Passage(Profile(x, -z * x - x**3 / 3), 1.0, -8, 8).mean + 2 * quad(lambda y: 1 / (z + y**2), 8, np.inf)[0]

    return verdict(
        answer,
        function("z", (1.0,), number()),
        [
            ("far beyond the spinodal noise does not matter, and the time is that of z + x^2 alone",
             lambda f: close(f(60.0), np.pi / np.sqrt(60), rtol=1e-3)),
            ("the earlier the spinodal, the longer the time", lambda f: f(-2.0) > f(-1.0) > f(0.0) > f(1.0) > 0),
            ("far before the spinodal it is Kramers' time, pi/sqrt(-z) e^(4 (-z)^(3/2)/3)",
             lambda f: close(f(-6.0) / (np.pi / np.sqrt(6) * np.exp(4 / 3 * 6**1.5)), 1, rtol=0.03)),
            ("a walk on a grid takes as long, before, at and after the spinodal",
             lambda f: all(close(f(z), walked(z), rtol=5e-3) for z in (-1.5, 0.0, 2.0))),
        ],
    )


def weak_noise_spread(answer: Answer) -> bool:
    """``answer(a, b, eps, T)``: sd over mean of the passage time of dx = (a eps + b x^2) dt + sqrt(2 T) dB, T small."""
    from scipy.integrate import quad

    def measured(a: float, b: float, eps: float, T: float) -> float:
        """Variances of crossing each small interval, 2 T / v^3 per length, added up; the mean is that of no noise."""
        scale = np.sqrt(a * eps / b)
        variance = quad(lambda x: 2 * T / (a * eps + b * (scale * x) ** 2) ** 3 * scale, -np.inf, np.inf)[0]
        return float(np.sqrt(variance) / quad(lambda x: 1 / (a * eps + b * (scale * x) ** 2) * scale, -np.inf, np.inf)[0])

    cases = [(1.0, 1.0, 2.0, 0.01), (0.3, 2.0, 1.0, 0.02), (2.0, 0.5, 5.0, 0.1)]
    return verdict(
        answer,
        function("a, b, eps, T", (1.0, 1.0, 1.0, 0.01), number()),
        [
            ("it grows like the root of the temperature",
             lambda f: all(close(f(a, b, e, 4 * T) / f(a, b, e, T), 2) for a, b, e, T in cases)),
            ("the unit of time does not matter", lambda f: all(close(f(3 * a, 3 * b, e, 3 * T), f(a, b, e, T))
                                                            for a, b, e, T in cases)),
            ("nor does the unit of x", lambda f: all(close(f(5 * a, b / 5, e, 25 * T), f(a, b, e, T))
                                                   for a, b, e, T in cases)),
            ("only the product of a and eps counts", lambda f: all(close(f(2 * a, b, e / 2, T), f(a, b, e, T))
                                                                 for a, b, e, T in cases)),
            ("the times of small intervals are independent: their variances, 2 T / v^3 per length, add up",
             lambda f: all(close(f(*c), measured(*c), rtol=1e-6) for c in cases)),
        ],
    )
