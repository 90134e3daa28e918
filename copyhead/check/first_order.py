"""Checkers for the exercises of the chapter "First-order transitions"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, value_at, verdict

Answer = Callable[..., Any]


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


def cubic_jump(answer: Answer) -> bool:
    """``answer(w, u)``: coexistence r, the m beyond the jump, the upper spinodal r and the latent heat."""
    cases = [(1.0, 1.0), (0.7, 2.0), (3.0, 0.5)]

    def action(m: Any, r: float, w: float, u: float) -> Any:
        return r * m**2 / 2 - w * m**3 / 3 + u * m**4 / 4

    def stationary(f: Answer, w: float, u: float) -> bool:
        r, m, *_ = f(w, u)
        return m != 0 and close(r - w * m + u * m**2, 0.0, atol=1e-9)

    def equal_depth(f: Answer, w: float, u: float) -> bool:
        r, m, *_ = f(w, u)
        return close(action(m, r, w, u), 0.0, atol=1e-9)

    def wells(r: float, w: float, u: float) -> int:
        """Number of local minima on a grid."""
        s = action(np.linspace(-0.5, 2, 40_001) * w / u, r, w, u)
        return int(np.sum((s[1:-1] < s[:-2]) & (s[1:-1] < s[2:])))

    def last_well(f: Answer, w: float, u: float) -> bool:
        top = f(w, u)[2]
        return wells(0.999 * top, w, u) == 2 and wells(1.001 * top, w, u) == 1

    def kink(f: Answer, w: float, u: float) -> bool:
        """Slope of the smallest action just below coexistence; above it the smallest action is 0."""
        r, m, _, heat = f(w, u)
        grid = np.linspace(0.8 * m, 1.2 * m, 400_001)
        low, high = (action(grid, r * factor, w, u).min() for factor in (1 - 2e-4, 1 - 1e-4))
        return close(heat, (high - low) / (1e-4 * r), rtol=1e-3)

    return verdict(
        answer,
        function("w, u", (1.0, 1.0), array((4,), "four numbers (r_c, m_star, r_up, heat)")),
        [
            ("at coexistence the action is stationary at m_star", lambda f: all(stationary(f, *c) for c in cases)),
            ("and as deep there as at m = 0", lambda f: all(equal_depth(f, *c) for c in cases)),
            ("coexistence lies between the spinodals", lambda f: all(0 < f(*c)[0] < f(*c)[2] for c in cases)),
            ("measuring m in units half as large rescales all four",
             lambda f: close(f(8.0, 16.0), np.multiply(f(1.0, 1.0), [4, 1 / 2, 4, 1 / 4])) and
             close(f(5.6, 32.0), np.multiply(f(0.7, 2.0), [4, 1 / 2, 4, 1 / 4]))),
            ("the second well disappears at the upper spinodal", lambda f: all(last_well(f, *c) for c in cases)),
            ("the latent heat is the kink of the smallest action", lambda f: all(kink(f, *c) for c in cases)),
        ],
    )


def half_point(answer: Answer) -> bool:
    """``answer(scale, duration)``: the r at which half of the walkers have left m = 0, adiabatically, w = v = 4."""
    from scipy.integrate import cumulative_simpson

    y = np.linspace(0, 0.7, 1401)

    def life(r: float, scale: float) -> float:
        """Mean first-passage time from 0 to |m| = 0.7."""
        s = scale * (r * y**2 / 2 - y**4 + 2 * y**6 / 3)
        return float(scale * np.trapezoid(np.exp(s) * cumulative_simpson(np.exp(-s), x=y, initial=0), y))

    def waiting(r: float, scale: float, duration: float) -> float:
        """Share that has not left when a sweep from 1.3 to -0.3 arrives at r."""
        way = np.linspace(1.3, r, 301)
        return float(np.exp(duration / 1.6 * np.trapezoid([1 / life(s, scale) for s in way], way)))

    def half(f: Answer, scale: float, duration: float) -> bool:
        r = float(f(scale, duration))
        return waiting(r + 0.01, scale, duration) > 0.5 > waiting(r - 0.01, scale, duration)

    return verdict(
        answer,
        function("scale, duration", (100, 500), number()),
        [
            ("walkers leave between the lower spinodal and coexistence", lambda f: 0 < f(100, 500) < 0.75),
            ("patience helps: a slower sweep loses them earlier, at a larger r",
             lambda f: f(100, 5000) > f(100, 500) > f(100, 50)),
            ("so does noise", lambda f: f(100, 500) > f(200, 500) > f(400, 500)),
            ("half of them are left there, within 0.01",
             lambda f: all(half(f, *c) for c in ((100, 50), (100, 500), (200, 2000)))),
        ],
    )
