"""Checkers for the exercises of the part "Start": answers that are asked of the package itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, value_at, verdict
from copyhead.fit import fit_map
from copyhead.linear import LinearAction
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction

Answer = Callable[..., Any]


def thresholds(answer: Answer) -> bool:
    """``answer(g_O, g_W)`` is (P_c, P*) of linear and softmax attention for L = 25, V = 5, sigma2 = 30."""
    cases = [(1.0, 1.0), (4.0, 1.0), (1.0, 4.0), (0.7, 1.9)]

    def switches_on(f: Answer, g_O: float, g_W: float) -> bool:
        linear, P = LinearAction(Setup(25, 5, g_O=g_O, g_W=g_W)), float(f(g_O, g_W)[0])
        return bool(linear.minimum(0.999 * P).c1 == 0 < linear.minimum(1.001 * P).c1)

    def jumps(f: Answer, g_O: float, g_W: float) -> bool:
        softmax, P = SoftmaxAction(Setup(25, 5, g_O=g_O, g_W=g_W)), float(f(g_O, g_W)[1])
        return bool(softmax.minimum(0.999 * P).loss - softmax.minimum(1.001 * P).loss > 0.2)

    def tells_them_apart(f: Answer) -> bool:
        (linear, softmax), (same, other) = f(4.0, 1.0), f(1.0, 4.0)
        return close(linear, same) and not close(softmax, other, rtol=0.1)

    return verdict(
        answer,
        function("g_O, g_W", (1.0, 1.0), array((2,), "a pair (P_c, P_star)")),
        [
            ("linear attention switches on before softmax attention jumps",
             lambda f: all(f(*c)[0] < f(*c)[1] for c in cases)),
            ("at variances one linear attention is off just below the first number and on just above",
             lambda f: switches_on(f, 1.0, 1.0)),
            ("at variances one the loss of softmax attention drops at the second number", lambda f: jumps(f, 1.0, 1.0)),
            ("a larger variance of the prior makes both numbers smaller",
             lambda f: all(np.less(f(*c), f(1.0, 1.0)).all() for c in cases[1:3])),
            ("linear attention cannot tell which of the two variances grew, softmax attention can", tells_them_apart),
            ("the first number is right for other variances too", lambda f: all(switches_on(f, *c) for c in cases)),
            ("so is the second", lambda f: all(jumps(f, *c) for c in cases)),
        ],
    )


def critical_formula(answer: Any) -> bool:
    """``answer`` is P_c of linear attention at L = 25, V = 5, a SymPy expression in f, sigma2, g_O and g_W."""
    unit = LinearAction(Setup(25, 5, sigma2=1.0)).critical_P

    def at(value: Any, sigma2: float, g_O: float, g_W: float, f: float = unit) -> float:
        return value_at(value, {"f": f, "sigma2": sigma2, "g_O": g_O, "g_W": g_W}).real

    def package(value: Any, *setting: float) -> bool:
        return close(at(value, *setting), LinearAction(Setup(25, 5, *setting)).critical_P)

    return verdict(
        answer,
        expression("f", "sigma2", "g_O", "g_W"),
        [
            ("with noise and variances one it is f", lambda e: close(at(e, 1.0, 1.0, 1.0), unit)),
            ("twice the noise is paid with twice the data", lambda e: close(at(e, 2.0, 0.7, 3.0), 2 * at(e, 1.0, 0.7, 3.0))),
            ("a factor that moves from the readout to the attention changes nothing",
             lambda e: close(at(e, 1.0, 1.0, 1.0), at(e, 1.0, 1 / 2.25, 2.25))),
            ("a wider prior needs fewer data", lambda e: at(e, 1.0, 2.0, 1.0) < at(e, 1.0, 1.0, 1.0)),
            ("it is the critical point of the package, for three other settings",
             lambda e: package(e, 7.0, 0.3, 2.0) and package(e, 30.0, 4.0, 1.0) and package(e, 1.0, 1.0, 0.1)),
            ("it is proportional to f", lambda e: close(at(e, 3.0, 2.0, 5.0, 2.0), 2 * at(e, 3.0, 2.0, 5.0, 1.0))),
        ],
    )


def smallest_L(answer: Answer) -> bool:
    """``answer(V)`` is the smallest L at which softmax attention jumps."""

    def jumps(L: int, V: int) -> bool:
        return SoftmaxAction(Setup(L, V)).first_order_transition() is not None

    return verdict(
        answer,
        function("V", (20,), number()),
        [
            ("a length is a whole number greater than two", lambda f: all(f(V) == int(f(V)) > 2 for V in (5, 20))),
            ("softmax attention jumps at this length", lambda f: all(jumps(int(f(V)), V) for V in (20, 5, 100))),
            ("one position fewer and it does not", lambda f: all(not jumps(int(f(V)) - 1, V) for V in (20, 5, 100))),
            ("nor at any shorter length",
             lambda f: all(not jumps(L, V) for V in (20, 5, 100) for L in range(3, int(f(V)) - 1))),
        ],
    )


def equivalent_P(answer: Answer) -> bool:
    """``answer(P, sigma2, other)``: sequences at the noise variance ``other`` that do what P do at ``sigma2``."""

    def states(action: Any, P: float, sigma2: float) -> list[float]:
        state = action(Setup(25, 5, sigma2=sigma2)).minimum(P)
        return [state.loss, state.action]

    def same(f: Answer, action: Any) -> bool:
        cases = [(100.0, 30.0, 60.0), (40.0, 30.0, 7.0), (400.0, 12.0, 30.0)]
        return all(close(states(action, f(*c), c[2]), states(action, *c[:2]), rtol=1e-7) for c in cases)

    return verdict(
        answer,
        function("P, sigma2, other", (100.0, 30.0, 60.0), number()),
        [
            ("at the same noise the number stays", lambda f: close(f(170.0, 30.0, 30.0), 170.0)),
            ("more noise costs data", lambda f: f(100.0, 30.0, 60.0) > 100 > f(100.0, 30.0, 15.0) > 0),
            ("there and back again leads to the start", lambda f: close(f(f(100.0, 30.0, 47.0), 47.0, 30.0), 100.0)),
            ("linear attention is in the same state", lambda f: same(f, LinearAction)),
            ("softmax attention is in the same state", lambda f: same(f, SoftmaxAction)),
        ],
    )


def uniform_state(answer: Answer) -> bool:
    """``answer(P)``: a_G at the uniform minimum of softmax attention, L = 25, V = 5, sigma2 = 30; None if it is gone."""
    softmax = SoftmaxAction(Setup(25, 5, sigma2=30.0))
    alone, both = (1.0, 50.0, 200.0, 260.0), (266.0, 272.0, 280.0, 290.0, 296.0)

    def rolls_there(f: Answer, P: float) -> bool:
        """Downhill from a_G = 0 all the way."""
        a = float(f(P))
        return bool(np.all(np.asarray(softmax.gradient(np.linspace(0, 0.999 * a, 200), P)) < 0))

    return verdict(
        answer,
        function("P", (100.0,), number()),
        [
            ("up to the upper spinodal the uniform state exists", lambda f: all(f(P) is not None for P in alone + both)),
            ("the slope of the action vanishes there",
             lambda f: all(np.abs(softmax.gradient(f(P), P)) < 1e-6 for P in alone + both)),
            ("it is a minimum: the curvature is positive",
             lambda f: all(np.greater(softmax.curvature(f(P), P), 0) for P in alone + both)),
            ("a head that starts at a_G = 0 rolls there without climbing",
             lambda f: all(rolls_there(f, P) for P in alone + both)),
            ("beyond the upper spinodal there is no uniform state: None",
             lambda f: all(f(P) is None for P in (298.0, 350.0, 800.0))),
        ],
    )


def last_uniform(answer: Any) -> bool:
    """``answer`` is the last of P = 270, 275, ..., 300 at which a network that starts uniform stays so."""
    setup = Setup(25, 5, sigma2=30.0)

    def stays(P: int) -> bool:
        return bool(fit_map(setup, "softmax", P, start="uniform").a_G < 0.3)

    return verdict(
        answer,
        number(),
        [
            ("it is one of 270, 275, ..., 300", lambda P: P in range(270, 301, 5)),
            ("a network that starts uniform is still uniform there", lambda P: stays(int(P))),
            ("with five sequences more it no longer is", lambda P: not stays(int(P) + 5)),
        ],
    )
