"""Checkers for the exercises of the part "Landau theory"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, value_at, verdict

Answer = Callable[..., Any]


def coin_action(answer: Answer) -> bool:
    """``answer(m, q)`` is the action of the mean of coins that show +1 with probability q, for an array of m."""
    m = np.linspace(-0.9, 0.9, 19)

    def counted(N: int, q: float) -> np.ndarray:
        """-ln(probability)/N of the mean m, exact; it differs from the action by O(ln N / N)."""
        from scipy.special import gammaln

        up = N * (1 + m) / 2
        count = gammaln(N + 1) - gammaln(up + 1) - gammaln(N - up + 1)
        return -(count + up * np.log(q) + (N - up) * np.log1p(-q)) / N

    return verdict(
        answer,
        function("m, q", (m, 0.3), array((19,))),
        [
            ("the action is zero at the mean of one coin", lambda f: close(f(2 * 0.3 - 1, 0.3), 0.0, atol=1e-12)),
            ("it is positive elsewhere", lambda f: np.asarray(f(m[m != 0], 0.5)) > 0),
            ("it is convex", lambda f: np.diff(f(m, 0.3), 2) > 0),
            ("heads and tails are names: I(m, q) = I(-m, 1 - q)", lambda f: close(f(m, 0.2), f(-m, 0.8))),
            ("it agrees with counting a million fair coins",
             lambda f: np.abs(f(m, 0.5) - counted(1_000_000, 0.5)) < 2e-5),
            ("it agrees with counting a million loaded coins",
             lambda f: np.abs(f(m, 0.15) - counted(1_000_000, 0.15)) < 2e-5),
        ],
    )


def laplace_log_Z(answer: Answer) -> bool:
    """``answer(s2, s3, s4, scale)`` is ln of the integral of exp(-scale * s), with the correction of order 1/scale."""
    rng = np.random.default_rng(0)
    actions = [(s2, rng.uniform(-0.8, 0.8) * s2, rng.uniform(1, 3) * s2) for s2 in rng.uniform(0.5, 2, 4)]

    def miss(f: Answer, scale: float) -> np.ndarray:
        found = []
        for s2, s3, s4 in actions:
            y = np.linspace(-12, 12, 24_001) / np.sqrt(scale * s2)
            integrand = np.exp(-scale * (s2 * y**2 / 2 + s3 * y**3 / 6 + s4 * y**4 / 24))
            found.append(abs(f(s2, s3, s4, scale) - np.log(np.trapezoid(integrand, y))))
        return np.array(found)

    return verdict(
        answer,
        function("s2, s3, s4, scale", (1.0, 0.5, 1.0, 50.0), number()),
        [
            ("a Gaussian is exact", lambda f: close(f(2.0, 0.0, 0.0, 7.0), np.log(2 * np.pi / 14) / 2)),
            ("left and right are alike", lambda f: close(f(1.0, 0.7, 1.0, 30.0), f(1.0, -0.7, 1.0, 30.0))),
            ("a positive fourth derivative lowers Z", lambda f: f(1.0, 0.0, 1.0, 30.0) < f(1.0, 0.0, 0.0, 30.0)),
            ("a third derivative raises Z", lambda f: f(1.0, 0.5, 0.0, 30.0) > f(1.0, 0.0, 0.0, 30.0)),
            ("only the product of scale and action matters",
             lambda f: close(f(1.0, 0.3, 0.9, 40.0), f(2.0, 0.6, 1.8, 20.0))),
            ("what is left falls like 1/scale^2", lambda f: np.all(miss(f, 100.0) < 2e-3) and np.all(miss(f, 800.0) < 3e-5)),
        ],
    )


def susceptibility(answer: Answer) -> bool:
    """``answer(r, u)`` is the response of the minimum of r m^2/2 + u m^4/4 to a small field, for an array of r."""
    r = np.array([-2.0, -0.5, -0.1, 0.1, 0.5, 2.0])

    def response(mass: float, u: float, push: float = 1e-6) -> float:
        """By moving the minimum: root of r m + u m^3 = push that continues the one without a push."""
        def minimum(h: float) -> float:
            roots = np.roots([u, 0.0, mass, -h])
            return float(roots[np.abs(roots.imag) < 1e-9].real.max())

        return (minimum(push) - minimum(-push) if mass > 0 else 2 * (minimum(push) - minimum(0.0))) / (2 * push)

    return verdict(
        answer,
        function("r, u", (r, 1.0), array((6,))),
        [
            ("a stable state follows the push: the response is positive", lambda f: np.asarray(f(r, 1.0)) > 0),
            ("it diverges like 1/|r| on both sides", lambda f: close(f(r / 10, 1.0), 10 * np.asarray(f(r, 1.0)))),
            ("it does not depend on u", lambda f: close(f(r, 0.2), f(r, 5.0))),
            ("the amplitude before the transition is twice that after it",
             lambda f: close(f(-r, 1.0)[:3], 2 * np.asarray(f(r, 1.0))[:3])),
            ("it agrees with a minimum that is pushed",
             lambda f: close(f(r, 0.7), [response(mass, 0.7) for mass in r], rtol=1e-4)),
        ],
    )


def jump_size(answer: Answer) -> bool:
    """``answer(h, w, u)`` is the jump of the global minimum of a quartic action while r falls, or 0.0."""
    rng = np.random.default_rng(1)
    cases = [(rng.uniform(-2, 0.9) * w**3 / (27 * u**2), w, u) for w, u in ((1.3, 0.7), (-0.8, 1.1), (2.0, 1.6))]

    def two_equal_minima(f: Answer, h: float, w: float, u: float) -> bool:
        """The states at both ends of the jump are stationary and equally deep, for the r at which that is possible."""
        size = float(f(h, w, u))
        m = np.array([-1, 1]) * size / 2 - w / (3 * u)
        r = w**2 / (3 * u) - u * size**2 / 4
        slope = h + r * m + w * m**2 + u * m**3
        depth = h * m + r * m**2 / 2 + w * m**3 / 3 + u * m**4 / 4
        return size > 0 and close(slope, [0.0, 0.0], atol=1e-9) and close(depth[0], depth[1], atol=1e-9)

    critical = 1.5**3 / 27
    return verdict(
        answer,
        function("h, w, u", (0.0, 1.0, 1.0), number()),
        [
            ("a cubic term without a field makes a jump", lambda f: f(0.0, 1.0, 1.0) > 0),
            ("turning the sign of m round changes nothing",
             lambda f: close(f(-0.01, -1.0, 1.0), f(0.01, 1.0, 1.0)) and close(f(0.5, -1.0, 1.0), f(-0.5, 1.0, 1.0))),
            ("beyond the critical field there is no jump",
             lambda f: f(1.01 * critical, 1.5, 1.0) == 0 and f(9.0, 1.5, 1.0) == 0),
            ("just below the critical field there is a small one", lambda f: 0 < f(0.999 * critical, 1.5, 1.0) < 0.1),
            ("measuring m in other units rescales the jump",
             lambda f: close(f(2 * 0.01, 8 * 1.0, 16 * 1.0), f(0.01, 1.0, 1.0) / 2)),
            ("both ends of the jump are equally deep stationary points",
             lambda f: all(two_equal_minima(f, *c) for c in cases)),
        ],
    )


def coexistence_slope(answer: Any) -> bool:
    """``answer`` is dr_c/dw of the action r m^2/2 - w m^4/4 + v m^6/6, a SymPy expression in w and v."""

    def slope(w: float, v: float) -> float:
        return value_at(answer, {"w": w, "v": v}).real

    def coexistence(w: float, v: float) -> float:
        """The r at which the ordered minimum has depth zero, found numerically."""
        from scipy.optimize import brentq

        def depth(r: float) -> float:
            x = (w + np.sqrt(w**2 - 4 * r * v)) / (2 * v)
            return r / 2 - w * x / 4 + v * x**2 / 6

        return brentq(depth, 1e-9, w**2 / (4 * v) * (1 - 1e-9), xtol=1e-14)

    def agrees(w: float, v: float, step: float = 1e-3) -> bool:
        return close(slope(w, v), (coexistence(w + step, v) - coexistence(w - step, v)) / (2 * step), rtol=1e-6)

    return verdict(
        answer,
        expression("w", "v"),
        [
            ("competition brings the jump earlier: the slope is positive", lambda _: slope(1.0, 1.0) > 0),
            ("the line starts horizontally at the tricritical point", lambda _: abs(slope(1e-9, 1.0)) < 1e-6),
            ("it halves when v doubles", lambda _: close(slope(0.7, 2.0), slope(0.7, 1.0) / 2)),
            ("it is the derivative of the line of equal depth", lambda _: agrees(1.0, 1.0) and agrees(0.4, 2.3)),
        ],
    )


def return_time(answer: Answer) -> bool:
    """``answer(r, scale)`` is Kramers' time from the ordered state to m = 0, for r m^2/2 - m^4 + 2 m^6/3."""

    def action(m: Any, r: float) -> Any:
        return r * m**2 / 2 - m**4 + 2 * m**6 / 3

    def barrier(r: float) -> float:
        m = np.linspace(0, 1.2, 120_001)
        star = int(np.argmin(np.where(m > np.sqrt(0.5), action(m, r), np.inf)))
        return float(action(m[:star], r).max() - action(m[star], r))

    def exact(r: float, scale: float) -> float:
        """Mean first-passage time from m* to 0, a double integral; the depth is split off against overflow."""
        m = np.linspace(0, 1.3, 40_001)
        star = int(np.argmin(np.where(m > np.sqrt(0.5), action(m, r), np.inf)))
        low = float(action(m[star], r))
        weight = np.exp(-scale * (action(m, r) - low))
        tail = np.cumsum(weight[::-1])[::-1] * (m[1] - m[0])
        way = slice(0, star + 1)
        return scale * float(np.trapezoid(np.exp(scale * (action(m[way], r) - low)) * tail[way], m[way]))

    def exponent(f: Answer, r: float) -> float:
        return float(np.log(f(r, 2000.0) / f(r, 1000.0)) / 1000)

    return verdict(
        answer,
        function("r, scale", (0.75, 200.0), number()),
        [
            ("times are positive", lambda f: f(0.6, 100.0) > 0),
            ("the deeper the ordered state, the longer it lives", lambda f: f(0.5, 200.0) > f(0.75, 200.0) > f(0.9, 200.0)),
            ("the exponent is the climb from the ordered state to the barrier",
             lambda f: all(close(exponent(f, r), barrier(r), rtol=1e-5) for r in (0.6, 0.75, 0.9))),
            ("it agrees within five percent with the exact passage time over a barrier of 50 units",
             lambda f: all(abs(f(r, 50 / barrier(r)) / exact(r, 50 / barrier(r)) - 1) < 0.05 for r in (0.6, 0.75, 0.85))),
        ],
    )
