"""Checkers for the exercises of the chapter "Concentration"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict

Answer = Callable[..., Any]


def coin_action(answer: Answer) -> bool:
    """``answer`` is the action of the mean m of coins that show +1 with probability q, a SymPy expression."""
    m = np.linspace(-0.9, 0.9, 19)

    def counted(N: int, q: float) -> np.ndarray:
        """-ln(probability)/N of the mean m, exact; it differs from the action by O(ln N / N)."""
        from scipy.special import gammaln

        up = N * (1 + m) / 2
        count = gammaln(N + 1) - gammaln(up + 1) - gammaln(N - up + 1)
        return -(count + up * np.log(q) + (N - up) * np.log1p(-q)) / N

    names = ("m", "q")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("the action is zero at the mean of one coin", lambda f: close(f(2 * 0.3 - 1, 0.3), 0.0, atol=1e-12)),
            ("it is positive elsewhere", lambda f: np.asarray(f(m[m != 0], 0.5)) > 0),
            ("it is convex", lambda f: np.diff(f(m, 0.3), 2) > 0),
            ("heads and tails are names: I(m, q) = I(-m, 1 - q)", lambda f: close(f(m, 0.2), f(-m, 0.8))),
            ("it agrees with counting a million fair coins",
             lambda f: np.abs(f(m, 0.5) - counted(1_000_000, 0.5)) < 2e-5),
            ("it agrees with counting a million loaded coins",
             lambda f: np.abs(f(m, 0.15) - counted(1_000_000, 0.15)) < 2e-5),
        ]),
    )


def laplace_log_Z(answer: Answer) -> bool:
    """``answer`` is ln of the integral of exp(-Lambda s), with the correction of order 1/Lambda, a SymPy expression."""
    rng = np.random.default_rng(0)
    actions = [(s2, rng.uniform(-0.8, 0.8) * s2, rng.uniform(1, 3) * s2) for s2 in rng.uniform(0.5, 2, 4)]

    def miss(f: Answer, scale: float) -> np.ndarray:
        found = []
        for s2, s3, s4 in actions:
            y = np.linspace(-12, 12, 24_001) / np.sqrt(scale * s2)
            integrand = np.exp(-scale * (s2 * y**2 / 2 + s3 * y**3 / 6 + s4 * y**4 / 24))
            found.append(abs(f(s2, s3, s4, scale) - np.log(np.trapezoid(integrand, y))))
        return np.array(found)

    names = ("s2", "s3", "s4", "Lambda")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("a Gaussian is exact", lambda f: close(f(2.0, 0.0, 0.0, 7.0), np.log(2 * np.pi / 14) / 2)),
            ("left and right are alike", lambda f: close(f(1.0, 0.7, 1.0, 30.0), f(1.0, -0.7, 1.0, 30.0))),
            ("a positive fourth derivative lowers Z", lambda f: f(1.0, 0.0, 1.0, 30.0) < f(1.0, 0.0, 0.0, 30.0)),
            ("a third derivative raises Z", lambda f: f(1.0, 0.5, 0.0, 30.0) > f(1.0, 0.0, 0.0, 30.0)),
            ("only the product of scale and action matters",
             lambda f: close(f(1.0, 0.3, 0.9, 40.0), f(2.0, 0.6, 1.8, 20.0))),
            ("what is left falls like 1/scale^2", lambda f: np.all(miss(f, 100.0) < 2e-3) and np.all(miss(f, 800.0) < 3e-5)),
        ]),
    )


def mean_shift(answer: Answer) -> bool:
    """``answer(s2, s3, slope, scale)`` is <m> - m* to leading order, for the weight g e^(-scale s); slope is (ln g)'."""
    rng = np.random.default_rng(3)
    cases = [(s2, rng.uniform(-0.6, 0.6) * s2, rng.uniform(-1, 1)) for s2 in rng.uniform(0.5, 2, 4)]

    def miss(f: Answer, scale: float) -> np.ndarray:
        """Distance from the mean by integration, with a fourth derivative that must not matter."""
        found = []
        for s2, s3, slope in cases:
            y = np.linspace(-12, 12, 24_001) / np.sqrt(scale * s2)
            weight = np.exp(slope * y - scale * (s2 * y**2 / 2 + s3 * y**3 / 6 + 2 * s2 * y**4 / 24))
            found.append(abs(f(s2, s3, slope, scale) - np.sum(weight * y) / np.sum(weight)))
        return np.array(found)

    return verdict(
        answer,
        function("s2, s3, slope, scale", (1.0, 0.5, 0.3, 50.0), number()),
        [
            ("without a skew and with a flat prefactor mean and minimum agree",
             lambda f: close(f(2.0, 0.0, 0.0, 9.0), 0.0)),
            ("left and right are names", lambda f: close(f(1.0, -0.7, -0.2, 30.0), -f(1.0, 0.7, 0.2, 30.0))),
            ("the mean lies on the flatter side of the well: below the minimum for a positive third derivative",
             lambda f: f(1.0, 0.7, 0.0, 30.0) < 0),
            ("a prefactor that grows pulls the mean along", lambda f: f(1.0, 0.0, 0.2, 30.0) > 0),
            ("only the product of scale and action matters",
             lambda f: close(f(0.5, 0.35, 0.2, 60.0), f(1.0, 0.7, 0.2, 30.0))),
            ("the prefactor of a Gaussian moves it by slope / (scale s2)", lambda f: close(f(2.0, 0.0, 0.3, 50.0), 0.003)),
            ("what is left falls like 1/scale^2",
             lambda f: np.all(miss(f, 100.0) < 1e-3) and np.all(miss(f, 800.0) < 1.6e-5)),
        ],
    )


def auxiliary_action(answer: Answer) -> bool:
    """``answer(x, K)`` is the action of the auxiliary variable of the magnet without a field, for an array of x."""
    x = np.linspace(-16, 16, 20_001)

    def exact_log_Z(N: int, K: float) -> float:
        from scipy.special import gammaln, logsumexp

        up = np.arange(N + 1)
        count = gammaln(N + 1) - gammaln(up + 1) - gammaln(N - up + 1) - N * np.log(2)
        return float(logsumexp(count + N * K * (2 * up / N - 1) ** 2 / 2))

    def gives_Z(f: Answer, N: int, K: float) -> bool:
        integral = np.trapezoid(np.exp(-N * np.asarray(f(x, K))), x)
        return close(np.log(N * K / (2 * np.pi)) / 2 + np.log(integral), exact_log_Z(N, K), atol=1e-8)

    def tangent(f: Answer, K: float, h: float = 1e-4) -> float:
        """Curvature at zero by a finite difference."""
        left, middle, right = np.asarray(f(np.array([-h, 0.0, h]), K))
        return float((left - 2 * middle + right) / h**2)

    return verdict(
        answer,
        function("x, K", (x, 1.2), array(x.shape)),
        [
            ("it is zero at x = 0", lambda f: close(np.asarray(f(x, 1.2))[10_000], 0.0)),
            ("it is even in x", lambda f: close(f(x, 1.2), f(-x, 1.2))),
            ("the disordered state is stable for K < 1 and unstable for K > 1",
             lambda f: tangent(f, 0.9) > 0 > tangent(f, 1.1)),
            ("far out every coin is saturated: the slope is K x - K", lambda f: close(
                np.diff(f(np.array([19.0, 21.0]), 1.3)), [1.3 * (20 - 1) * 2], rtol=1e-6)),
            ("its integral is Z, for one coin and for thirty",
             lambda f: all(gives_Z(f, N, K) for N in (1, 30) for K in (0.7, 1.0, 1.6))),
        ],
    )
