"""Checkers for the exercises of the chapter "Can you see it coming?"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict

Answer = Callable[..., Any]


def delay(answer: Answer) -> bool:
    """``answer(w, lam)``: zeta of the action r t^2/2 + u t^4/4 + sum of (lam + w t^2) x^2 / 2, arrays w and lam."""

    def marginal(t: float, w: float, lam: float, chi: float = 50.0) -> float:
        """Minus the log of the integral over x, divided by chi, by quadrature."""
        x = np.linspace(-6, 6, 20_001) / np.sqrt(chi * lam)
        return float(-np.log(np.trapezoid(np.exp(-chi * (lam + w * t**2) * x**2 / 2), x)) / chi)

    def measured(w: float, lam: float, h: float = 0.01) -> float:
        return 50.0 * (marginal(h, w, lam) - 2 * marginal(0, w, lam) + marginal(-h, w, lam)) / h**2

    def one(f: Answer, w: float, lam: float) -> Any:
        return f(np.array([w]), np.array([lam]))

    two = np.array([0.5, -0.2]), np.array([1.0, 0.3])
    return verdict(
        answer,
        function("w, lam", two, number()),
        [
            ("directions that do not feel t delay nothing", lambda f: close(one(f, 0.0, 2.0), 0.0)),
            ("directions that stiffen delay, directions that soften advance",
             lambda f: one(f, 1.0, 1.0) > 0 > one(f, -1.0, 1.0)),
            ("the softer the direction, the longer the delay", lambda f: one(f, 1.0, 0.1) > one(f, 1.0, 1.0)),
            ("several directions add up", lambda f: close(f(*two), one(f, 0.5, 1.0) + one(f, -0.2, 0.3))),
            ("it is the curvature in t of the integral over x",
             lambda f: all(close(one(f, *c), measured(*c), rtol=1e-3) for c in ((1.0, 1.0), (0.3, 2.0), (-0.2, 0.7)))),
        ],
    )


def alarm_power(answer: Answer) -> bool:
    """``answer(ratio, draws, false_alarm)``: probability that the variance of ``draws`` Gaussian draws rings an alarm."""

    def simulated(ratio: float, draws: int, false_alarm: float, runs: int = 40_000) -> float:
        rng = np.random.default_rng(0)
        quiet, loud = (np.sort(scale * rng.normal(size=(runs, draws)).var(axis=1, ddof=1)) for scale in (1.0, ratio))
        return float(np.mean(loud > quiet[int((1 - false_alarm) * runs)]))

    cases = [(1.5, 50, 0.05), (2.0, 20, 0.01), (1.2, 100, 0.1)]
    return verdict(
        answer,
        function("ratio, draws, false_alarm", (2.0, 50, 0.01), number()),
        [
            ("probabilities lie between 0 and 1", lambda f: all(0 <= f(*c) <= 1 for c in cases)),
            ("where nothing has grown only false alarms ring",
             lambda f: all(close(f(1.0, n, a), a, rtol=1e-6) for n, a in ((10, 0.05), (200, 0.01)))),
            ("more draws and larger ratios are seen more often",
             lambda f: f(2, 100, 0.01) > f(2, 20, 0.01) > f(1.3, 20, 0.01)),
            ("fewer false alarms cost power", lambda f: f(1.5, 50, 0.1) > f(1.5, 50, 0.01)),
            ("forty thousand simulated monitors agree within 0.02",
             lambda f: all(abs(f(*c) - simulated(*c)) < 0.02 for c in cases)),
        ],
    )


def lead_share(answer: Answer) -> bool:
    """``answer``: share of x' = a + b x^2 left at 1 + growth times the least speed, a SymPy expression."""
    from scipy.integrate import quad

    def measured(growth: float, a: float, b: float) -> float:
        """Times from the position of the alarm to infinity and from minus infinity to infinity, by quadrature."""
        alarm = np.sqrt(growth * a / b)
        left = quad(lambda x: 1 / (a + b * x**2), alarm, np.inf)[0]
        return float(left / quad(lambda x: 1 / (a + b * x**2), -np.inf, np.inf)[0])

    cases = [(0.2, 0.3, 2.0), (1.0, 1.0, 1.0), (5.0, 2.0, 0.5)]
    names = ("growth",)
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("at the slowest point half of the way is left", lambda f: close(f(0.0), 0.5)),
            ("who waits longer has less time left", lambda f: f(0.1) > f(1.0) > f(10.0) > 0),
            ("in the end nothing is left", lambda f: f(1e12) < 1e-5),
            ("it is the share of the time, whatever a and b", lambda f: all(close(f(g), measured(g, a, b), rtol=1e-6)
                                                                          for g, a, b in cases)),
        ]),
    )


def even_odds(answer: Answer) -> bool:
    """``answer(x, F, P, edge)``: P of even odds from two profiles F (2, n) at P (2,), F being linear in P."""
    x = np.linspace(0, 1, 2001)

    def profile(depth: float, width: float) -> np.ndarray:
        wells = np.exp(-((x - 0.2) ** 2) / (2 * 0.05**2)) + np.exp(depth) * np.exp(-((x - 0.8) ** 2) / (2 * width**2))
        return -np.log(wells + 1e-12)

    def case(depths: tuple[float, float], width: float) -> np.ndarray:
        base, tilt = profile(0.0, width), 1 / (1 + np.exp(-(x - 0.5) / 0.03))
        return np.array([base - depth * tilt for depth in depths])

    def balanced(f: Answer, F: np.ndarray, P: np.ndarray) -> bool:
        found = float(f(x, F, P, 0.5))
        mixed = F[0] + (F[1] - F[0]) * (found - P[0]) / (P[1] - P[0])
        weight = np.exp(-mixed)
        left, right = (np.trapezoid(np.where(side, weight, 0), x) for side in (x < 0.5, x > 0.5))
        return abs(np.log(left / right)) < 1e-2

    P = np.array([290.0, 300.0])
    symmetric, broad, outside = case((-3.0, 3.0), 0.05), case((-3.0, 3.0), 0.1), case((-6.0, -2.0), 0.05)
    return verdict(
        answer,
        function("x, F, P, edge", (x, symmetric, P, 0.5), array((), "one number")),
        [
            ("equal wells in the middle between equal tilts", lambda f: abs(f(x, symmetric, P, 0.5) - 295) < 0.02),
            ("a constant added to one profile changes nothing",
             lambda f: abs(f(x, symmetric + np.array([[0.0], [7.0]]), P, 0.5) - f(x, symmetric, P, 0.5)) < 0.02),
            ("a broader right well needs less help", lambda f: f(x, broad, P, 0.5) < f(x, symmetric, P, 0.5) - 0.5),
            ("both sides weigh the same there", lambda f: balanced(f, symmetric, P) and balanced(f, broad, P)),
            ("it may lie outside the two P", lambda f: balanced(f, outside, P)),
        ],
    )
