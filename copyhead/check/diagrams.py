"""Checkers for the exercises on phase diagrams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import close, expression, function, number, value_at, verdict
from copyhead.linear import LinearAction
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction
from copyhead.transition import FirstOrderTransition

Answer = Callable[..., Any]


def grid_points(answer: Answer) -> bool:
    """``answer(first, last, lower, upper)``: fewest log-spaced P, ends included, of which one hits any window so wide."""
    cases = [(5.0, 1000.0, 265.0, 297.0), (5.0, 1000.0, 239.5, 244.0), (2.0, 37.0, 3.0, 5.0), (10.0, 900.0, 400.0, 470.0)]

    def ratio(points: int, case: tuple[float, ...]) -> float:
        """Ratio of neighbours, relative to that of the spinodals."""
        grid = np.geomspace(case[0], case[1], int(points))
        return float(grid[1] / grid[0] * case[2] / case[3])

    return verdict(
        answer,
        function("first, last, lower, upper", cases[0], number()),
        [
            ("it is a whole number of at least 2", lambda f: all(float(f(*c)) == int(f(*c)) >= 2 for c in cases)),
            ("neighbours are no further apart than the window is wide", lambda f: all(ratio(f(*c), c) <= 1 for c in cases)),
            ("with one point fewer they would be", lambda f: all(ratio(f(*c) - 1, c) > 1 for c in cases)),
            ("a window wider than the axis needs the two ends only", lambda f: f(10.0, 20.0, 1.0, 50.0) == 2),
            ("units of P do not matter", lambda f: all(f(*c) == f(*(7 * x for x in c)) for c in cases)),
            ("only the ratio of the spinodals matters", lambda f: f(5.0, 999.0, 265.0, 297.0) == f(5.0, 999.0, 26.5, 29.7)),
        ],
    )


def boundary_ratio(answer: Answer) -> bool:
    """``answer()`` is eq. (17) over eq. (16), a SymPy expression in L and V."""
    cases = [(25, 5, 30.0, 1.0, 1.0), (7, 3, 2.0, 0.5, 3.0), (6, 20, 30.0, 2.0, 1.0), (60, 2, 1.0, 1.0, 4.0)]

    def at(value: Any, L: float, V: float) -> float:
        return float(np.real(value_at(value, {"L": L, "V": V})))

    def package(L: int, V: int, *rest: float) -> float:
        model = LinearAction(Setup(L, V, *rest))
        return model.copy_P / model.pooling_P

    def sampled(value: Any) -> list[float]:
        return [at(value, L, V) for L in range(2, 12) for V in (2, 5, 50, 500)]

    return verdict(
        answer,
        function("", (), expression("L", "V")),
        [
            ("pooling comes first for every length from 2 on", lambda f: min(sampled(f())) > 1),
            ("longer sequences widen the pooling phase", lambda f: at(f(), 10, 5) < at(f(), 20, 5) < at(f(), 40, 5)),
            ("larger vocabularies narrow it", lambda f: at(f(), 25, 2) > at(f(), 25, 10) > at(f(), 25, 100)),
            ("for L >> V it is (L/V)^(3/2)", lambda f: close(at(f(), 1e7, 5), (1e7 / 5) ** 1.5, rtol=1e-5)),
            ("it is the ratio of the two thresholds, whatever the noise and the prior",
             lambda f: all(close(at(f(), *c[:2]), package(*c), rtol=1e-9) for c in cases)),
        ],
    )


def line_slope(answer: Answer) -> bool:
    """``answer(uniform, copy, L, sigma2, g_W)`` is dP*/dg_W on the softmax line, from the coexisting states."""
    cases = [(25, 5, 30.0, 1.0, 1.0), (40, 3, 7.0, 2.0, 0.6), (60, 10, 30.0, 0.5, 2.0)]

    def transition(L: int, V: int, sigma2: float, g_O: float, g_W: float) -> FirstOrderTransition:
        found = SoftmaxAction(Setup(L, V, sigma2, g_O, g_W)).first_order_transition()
        assert found is not None
        return found

    def slope(f: Answer, case: tuple[Any, ...]) -> Any:
        t = transition(*case)
        return f(t.uniform, t.copy, case[0], case[2], case[4])

    def difference(L: int, V: int, sigma2: float, g_O: float, g_W: float) -> float:
        step = 1e-4 * g_W
        high, low = (transition(L, V, sigma2, g_O, g_W + sign * step).P for sign in (1, -1))
        return (high - low) / (2 * step)

    t = transition(*cases[0])
    return verdict(
        answer,
        function("uniform, copy, L, sigma2, g_W", (t.uniform, t.copy, 25, 30.0, 1.0), number()),
        [
            ("a looser prior lowers the line", lambda f: all(slope(f, c) < 0 for c in cases)),
            ("it does not matter which state is called which",
             lambda f: close(f(t.uniform, t.copy, 25, 30.0, 1.0), f(t.copy, t.uniform, 25, 30.0, 1.0))),
            ("it has the units of P / g_W: with 4 sigma2 and all else the same it is 4 times as large",
             lambda f: close(f(t.uniform, t.copy, 25, 120.0, 1.0), 4 * f(t.uniform, t.copy, 25, 30.0, 1.0))),
            ("it is the slope of P* between neighbouring g_W",
             lambda f: all(close(slope(f, c), difference(*c), rtol=1e-4) for c in cases)),
        ],
    )


def end_of_line(answer: Answer) -> bool:
    """``answer(L, gap, count=3)``: the zero of a square-root law fitted to the ``count`` smallest gaps above zero."""
    L = np.array([12, 14, 16, 17, 18, 20, 22, 25])
    law = np.sqrt(np.maximum(L - 15.3, 0))
    bent = law * (1 + 0.1 * np.maximum(L - 19, 0))           # the law holds near the end only
    order = [5, 0, 7, 2, 4, 1, 6, 3]

    def theory(f: Answer) -> bool:
        jumps = [SoftmaxAction(Setup(n, 5)).first_order_transition() for n in (16, 17)]
        return abs(float(f([16, 17], [t.loss_jump for t in jumps if t], 2)) - 15.58) < 0.1

    return verdict(
        answer,
        function("L, gap, count", (L, law, 3), number()),
        [
            ("the exact law gives the exact end", lambda f: close(f(L, law, 3), 15.3) and close(f(L, law, 5), 15.3)),
            ("lengths without a jump are left out", lambda f: close(f(L, law, 6), 15.3)),
            ("only the smallest jumps are used", lambda f: close(f(L, bent, 3), 15.3)),
            ("the scale of the jump does not matter", lambda f: close(f(L, 0.3 * bent, 5), f(L, bent, 5))),
            ("the order of the lengths does not matter", lambda f: close(f(L[order], bent[order], 3), 15.3)),
            ("the square of the jump is what is fitted",
             lambda f: close(f([11, 12, 13], [1.0, 2.0, 2.0], 3), 12 - 3 / 1.5)),
            ("for theory's jumps at V = 5 it comes within a tenth of the endpoint", theory),
        ],
    )
