"""Checkers for the exercises of the part "Transitions"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, value_at, verdict
from copyhead.linear import LinearAction
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction

Answer = Callable[..., Any]


# --- linear attention --------------------------------------------------------------------------------------------


def wide_vocabulary_threshold(answer: Answer) -> bool:
    """``answer()`` is the leading large-V form of the critical P of linear attention, a SymPy expression."""
    names = ("L", "V", "sigma2", "g_O", "g_W")
    base = {"L": 10.0, "V": 1e6, "sigma2": 3.0, "g_O": 0.5, "g_W": 2.0}

    def ratio(f: Answer, **changed: float) -> float:
        return (value_at(f(), {**base, **changed}) / value_at(f(), base)).real

    def approaches(f: Answer, L: int) -> bool:
        exact = [LinearAction(Setup(L, V, 3.0, 0.5, 2.0)).critical_P for V in (10**6, 10**8)]
        found = [value_at(f(), {**base, "L": float(L), "V": V}).real for V in (1e6, 1e8)]
        return close(found, exact, rtol=1e-2) and close(found[1], exact[1], rtol=1e-3)

    return verdict(
        answer,
        function("", (), expression(*names)),
        [
            ("the threshold is proportional to the noise variance", lambda f: close(ratio(f, sigma2=6.0), 2.0)),
            ("only the product of the two prior variances matters", lambda f: close(ratio(f, g_O=1.0, g_W=1.0), 1.0)),
            ("four times the product of prior variances halves the threshold", lambda f: close(ratio(f, g_W=8.0), 0.5)),
            ("it is a single power of V", lambda f: close(ratio(f, V=1e8), ratio(f, V=1e7) ** 2)),
            ("it approaches the exact threshold at L = 10", lambda f: approaches(f, 10)),
            ("it approaches the exact threshold at L = 2 and L = 40", lambda f: approaches(f, 2) and approaches(f, 40)),
        ],
    )


def ray_minimum(answer: Answer) -> bool:
    """``answer(alpha, a0, kappa, b, d)`` minimises alpha x + a0/(1 + kappa x) - b x/(1 + d x) over x >= 0."""
    rng = np.random.default_rng(0)
    draws = np.exp(rng.uniform(-2, 2, (20, 5)))
    falling = draws[draws[:, 0] < draws[:, 1] * draws[:, 2] + draws[:, 3]]
    far = np.array([1e-4, 1.0, 1.0, 1.0, 1.0])

    def slope(x: float, c: np.ndarray) -> float:
        alpha, a0, kappa, b, d = c
        return alpha - a0 * kappa / (1 + kappa * x) ** 2 - b / (1 + d * x) ** 2

    def stationary(f: Answer, cases: np.ndarray) -> bool:
        return all(f(*c) > 0 and abs(slope(f(*c), c)) < 1e-6 * c[0] for c in cases)

    return verdict(
        answer,
        function("alpha, a0, kappa, b, d", (3.0, 1.0, 1.0, 1.0, 1.0), number()),
        [
            ("the minimum is at 0 when the slope there is positive", lambda f: close(f(3.0, 1.0, 1.0, 1.0, 1.0), 0.0)),
            ("the minimum is at 0 also when the slope there is zero", lambda f: close(f(2.0, 1.0, 1.0, 1.0, 1.0), 0.0)),
            ("for kappa = d = 1 it solves (1 + x)^2 = (a0 + b)/alpha",
             lambda f: close(f(0.5, 1.0, 1.0, 1.0, 1.0), 1.0, rtol=1e-7)),
            ("the derivative vanishes at random constants", lambda f: stationary(f, falling)),
            ("it also finds a minimum far out", lambda f: stationary(f, far[None])),
        ],
    )


def path_point(answer: Answer) -> bool:
    """``answer(k, L, V)`` is (c1, c_G, P/sigma2) of the stationary state of linear attention at composition k."""
    cases = [(1.5, 25, 5), (8.0, 25, 5), (2.0, 100, 2), (30.0, 100, 2), (0.9, 3, 2)]

    def composition(f: Answer, k: float, L: int, V: int) -> float:
        c1, c_G, _ = f(k, L, V)
        return float((L - 1) * c_G / np.sqrt(L) / (c1 + c_G / np.sqrt(L)))

    def stationary(f: Answer, k: float, L: int, V: int) -> bool:
        c1, c_G, p = f(k, L, V)
        model = LinearAction(Setup(L, V, 1.0))
        scale = np.abs(model.hessian(c1, c_G, p)) @ np.abs([c1, c_G])
        return bool(np.all(np.abs(model.gradient(c1, c_G, p)) < 1e-7 * scale))

    return verdict(
        answer,
        function("k, L, V", cases[0], array((3,))),
        [
            ("all three are positive", lambda f: all(min(f(*case)) > 0 for case in cases)),
            ("P lies above the critical point",
             lambda f: all(f(k, L, V)[2] > LinearAction(Setup(L, V, 1.0)).critical_P for k, L, V in cases)),
            ("the composition of the state is k",
             lambda f: all(close(composition(f, *case), case[0], rtol=1e-7) for case in cases)),
            ("the gradient of the action vanishes at (25, 5)", lambda f: all(stationary(f, *case) for case in cases[:2])),
            ("the gradient vanishes at other sizes too", lambda f: all(stationary(f, *case) for case in cases[2:])),
        ],
    )


# --- softmax attention -------------------------------------------------------------------------------------------


def softmax_order_parameter(answer: Answer) -> bool:
    """``answer(ell, L)`` is a_G at the logit gap ell, elementwise."""
    ell = np.array([-3.0, -0.5, 0.0, 0.4, 1.7])
    tiny, huge = np.array([-1e-12, 1e-12]), np.array([-700.0, 700.0])

    def weight(f: Answer, L: int) -> Any:
        return (1 + (L - 1) / np.sqrt(L) * np.asarray(f(ell, L))) / L

    return verdict(
        answer,
        function("ell, L", (ell, 25), array((5,))),
        [
            ("equal logits give zero", lambda f: close(f(np.zeros(2), 25), np.zeros(2))),
            ("it grows with the gap", lambda f: np.diff(f(ell, 9)) > 0),
            ("copy weight and any other weight have the ratio e^ell",
             lambda f: all(close(weight(f, L) / (1 - weight(f, L)) * (L - 1), np.exp(ell)) for L in (2, 25, 400))),
            ("at a tiny gap it keeps its digits", lambda f: close(f(tiny, 25), tiny * 24 / 25 * 5 / 24, rtol=1e-10, atol=0)),
            ("far out it reaches the ends of its domain", lambda f: close(f(huge, 25), [-5 / 24, 5.0])),
        ],
    )


def uniform_gap(answer: Answer) -> bool:
    """``answer()`` is the logit gap of the uniform state to first order, a SymPy expression."""
    base = {"L": 25.0, "V": 5.0, "q": 2.0, "g_O": 1.0, "g_W": 1.0, "K": 24.0}

    def ratio(f: Answer, **changed: float) -> float:
        return (value_at(f(), {**base, **changed}) / value_at(f(), base)).real

    def state(f: Answer, L: int, V: int, q: float, g_O: float) -> bool:
        gap = value_at(f(), {"L": L, "V": V, "q": q, "g_O": g_O, "g_W": 1.0, "K": L - 1}).real
        return close(gap, SoftmaxAction(Setup(L, V, 1.0, g_O)).minimum(q / g_O).ell, rtol=1e-3)

    return verdict(
        answer,
        function("", (), expression(*base)),
        [
            ("a prior twice as stiff halves the gap", lambda f: close(ratio(f, K=48.0), 0.5)),
            ("the gap is proportional to g_W / g_O at fixed q", lambda f: close(ratio(f, g_W=3.0, g_O=2.0), 1.5)),
            ("with few data it grows as their square", lambda f: close(ratio(f, q=2e-6) / ratio(f, q=1e-6), 4.0, rtol=1e-5)),
            ("with one token there is nothing to copy", lambda f: close(ratio(f, V=1.0), 0.0)),
            ("it agrees with the uniform state at small q",
             lambda f: state(f, 25, 5, 0.02, 1.0) and state(f, 7, 30, 0.05, 2.0) and state(f, 100, 2, 0.03, 0.5)),
        ],
    )


def stationary_P(answer: Answer) -> bool:
    """``answer(ell, L, V, sigma2, g_O, g_W)`` is the P at which the gap ell is stationary, for the exact prior."""
    cases = [(0.3, 25, 5, 30.0, 1.0, 1.0), (1.9, 25, 5, 30.0, 1.0, 1.0)]
    cases += [(4.0, 60, 10, 2.0, 0.3, 5.0), (0.01, 6, 3, 1.0, 2.0, 0.5)]

    def stationary(f: Answer, case: tuple[Any, ...]) -> bool:
        ell, L, V, sigma2, g_O, g_W = case
        m = 1 / (1 + (L - 1) * np.exp(-ell))
        a_G = np.sqrt(L) * (L * m - 1) / (L - 1)
        model, P = SoftmaxAction(Setup(L, V, sigma2, g_O, g_W)), float(f(*case))
        # a relative error eps of P moves the gradient by about eps times the pull of the prior
        pull = model.stiffness / g_W * ell * np.sqrt(L) / ((1 + (L - 1) / np.sqrt(L) * a_G) * (1 - a_G / np.sqrt(L)))
        return P > 0 and abs(model.gradient(a_G, P)) < 1e-6 * pull

    return verdict(
        answer,
        function("ell, L, V, sigma2, g_O, g_W", cases[0], number()),
        [
            ("P is positive", lambda f: all(f(*case) > 0 for case in cases)),
            ("P is proportional to the noise variance",
             lambda f: close(f(1.9, 25, 5, 60.0, 1.0, 1.0), 2 * f(1.9, 25, 5, 30.0, 1.0, 1.0), rtol=1e-7)),
            ("P times g_O depends on g_W / g_O only",
             lambda f: close(3 * f(1.9, 25, 5, 30.0, 3.0, 6.0), f(1.9, 25, 5, 30.0, 1.0, 2.0), rtol=1e-7)),
            ("the gradient of the action vanishes at (25, 5)", lambda f: all(stationary(f, case) for case in cases[:2])),
            ("it vanishes for other parameters", lambda f: all(stationary(f, case) for case in cases[2:])),
        ],
    )


# --- the endpoint ------------------------------------------------------------------------------------------------


def shortest_jump(answer: Answer) -> bool:
    """``answer(V, g_O, g_W)`` is the smallest L at which softmax attention has a first-order transition."""
    cases = [(5, 1.0, 1.0), (2, 1.0, 1.0), (20, 1.0, 1.0), (3, 5.0, 0.2), (3, 0.2, 50.0)]

    def jumps(L: int, V: int, g_O: float, g_W: float) -> bool:
        return SoftmaxAction(Setup(L, V, 1.0, g_O, g_W)).first_order_transition() is not None

    def whole(f: Answer) -> bool:
        return all(float(f(*case)) == int(f(*case)) for case in cases)

    return verdict(
        answer,
        function("V, g_O, g_W", cases[0], number("a length")),
        [
            ("lengths are whole numbers between 7 and 23",
             lambda f: whole(f) and all(7 <= f(*case) <= 23 for case in cases)),
            ("there is a jump at that length", lambda f: all(jumps(int(f(*case)), *case) for case in cases)),
            ("there is none one step shorter", lambda f: not any(jumps(int(f(*case)) - 1, *case) for case in cases)),
        ],
    )


def fold_slope(answer: Answer) -> bool:
    """``answer(ell, y, L)`` is D, the logarithmic slope of the curve of stationary states."""
    rng = np.random.default_rng(0)
    points = [(float(rng.uniform(0.1, 3)), float(rng.uniform(0.01, 9)), int(rng.integers(2, 60))) for _ in range(12)]

    def log_excess(ell: float, y: float, L: int) -> float:
        """ln(pull of the prior / pull of the data) at fixed y, up to a constant."""
        m = 1 / (1 + (L - 1) * np.exp(-ell))
        u2, R = L * (m**2 + (1 - m) ** 2 / (L - 1)), L * (1 - m) / (L - 1)
        return float(np.log(ell) + 2 * np.log(1 + y * u2) - np.log(m**2 * (1 - m) * (1 + y * R)))

    def difference(ell: float, y: float, L: int) -> float:
        return (log_excess(ell + 1e-5, y, L) - log_excess(ell - 1e-5, y, L)) / 2e-5

    def upper(ell: float, L: int) -> float:
        return float(1 / ell + 2 * np.tanh(ell - np.log(L - 1) / 2))

    return verdict(
        answer,
        function("ell, y, L", points[0], number()),
        [
            ("it grows with y", lambda f: all(f(ell, 2 * y, L) > f(ell, y, L) for ell, y, L in points)),
            ("it lies below its limit at infinite y", lambda f: all(f(ell, y, L) < upper(ell, L) for ell, y, L in points)),
            ("it approaches that limit",
             lambda f: all(close(f(ell, 1e9, L), upper(ell, L), rtol=1e-5) for ell, _, L in points)),
            ("it is the derivative of the logarithm of the curve",
             lambda f: all(close(f(*point), difference(*point), rtol=1e-6, atol=1e-7) for point in points)),
        ],
    )


def always_first_order(answer: Answer) -> bool:
    """``answer`` is the length above which the prior |ell|^n / n always gives a jump, a SymPy expression in n."""
    ell = np.linspace(1e-3, 12, 400_001)

    def lowest(n: float, L: float) -> float:
        return float(np.min((n - 1) / ell + 2 * np.tanh(ell - np.log(L - 1) / 2)))

    names = ("n",)
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("for the Gaussian prior the bound is that of the theorem, between 22 and 23", lambda f: 22 < f(2.0) < 23),
            ("a prior that bends up more needs longer sequences", lambda f: f(1.5) < f(2.0) < f(3.0) < f(4.0)),
            ("for n near 1 all lengths jump", lambda f: abs(f(1.0 + 1e-12) - 2) < 1e-2),
            ("just below the bound the upper limit stays positive, just above it does not",
             lambda f: all(lowest(n, 0.999 * f(n)) > 0 > lowest(n, 1.001 * f(n)) for n in (1.3, 2.0, 3.0, 4.0))),
        ]),
    )
