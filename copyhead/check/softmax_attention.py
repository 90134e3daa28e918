"""Checkers for more exercises on softmax attention: the odds of its phases, its crossover, its unseen branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from copyhead.check._properties import close, function, number, verdict
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction

Answer = Callable[..., Any]


def _wells(model: SoftmaxAction, P: float) -> tuple[float, float, float]:
    """a_G of the uniform state, of the barrier and of the copy state."""
    low, high = sorted(float(np.asarray(state.a_G)) for state in model.minima(P))
    top = brentq(lambda a: float(np.asarray(model.gradient(a, P))), low + 1e-4 * (high - low), high - 1e-4 * (high - low))
    return low, float(top), high


def copy_share(answer: Answer) -> bool:
    """``answer(model, P, chi)``: posterior probability of the side of the barrier with the copy state."""
    paper, long = SoftmaxAction(Setup(25, 5, 30.0), "paper"), SoftmaxAction(Setup(40, 3, 1.0))
    middle = {model: model.first_order_transition() for model in (paper, long)}
    at = {model: transition.P for model, transition in middle.items() if transition is not None}

    def exact(model: SoftmaxAction, P: float, chi: float) -> float:
        """Over a_G with the Jacobian of the gap, by adaptive quadrature between the walls of its interval."""
        L, (low, top, high) = model.setup.L, _wells(model, P)
        root, deepest = np.sqrt(L), min(model.action(low, P), model.action(high, P))

        def density(a: float) -> float:
            jacobian = 1 / ((1 + (L - 1) / root * a) * (1 - a / root))
            return float(np.exp(-chi * (model.action(a, P) - deepest)) * jacobian)

        edges = [-root / (L - 1) * (1 - 1e-9), low, top, high, (high + root) / 2, root * (1 - 1e-9)]
        parts = [quad(density, *ends, limit=200, epsabs=1e-12)[0] for ends in zip(edges[:-1], edges[1:], strict=True)]
        return float(sum(parts[2:]) / sum(parts))

    cases = [(paper, at[paper], 3.0), (paper, at[paper] + 1, 30.0), (paper, at[paper] - 3, 10.0)]
    cases.append((long, at[long] * 1.01, 2.0))
    return verdict(
        answer,
        function("model, P, chi", cases[0], number("a probability")),
        [
            ("it lies between 0 and 1", lambda f: all(0 <= f(*case) <= 1 for case in cases)),
            ("more data favour the copy state",
             lambda f: f(paper, 271.0, 10.0) < f(paper, 276.0, 10.0) < f(paper, 281.0, 10.0)),
            ("at large chi the deeper well takes all",
             lambda f: f(paper, 272.0, 1000.0) < 1e-6 and f(paper, 281.0, 1000.0) > 1 - 1e-6),
            ("at chi = 30 it counts the widths of the wells in the gap, not in a_G",
             lambda f: close(f(*cases[1]), exact(*cases[1]), rtol=2e-3)),
            ("it agrees with the integral over a_G that includes the Jacobian",
             lambda f: all(close(f(*case), exact(*case), rtol=2e-3) for case in cases)),
        ],
    )


def steepest_fall(answer: Answer) -> bool:
    """``answer(L, V)``: the largest -dloss/dlnP at the global minimum, for P between 2 and 20 sigma^2 and g_O = g_W = 1."""

    def exact(L: int, V: int) -> float:
        """With dS/dP = L loss / (2 sigma2): the fall at fixed a_G, and the part that a_G adds by following the minimum."""
        model = SoftmaxAction(Setup(L, V, 1.0))
        P = np.geomspace(2, 20, 40_001)
        a, step = model.minimum(P).a_G, 1e-6
        along_a = (model.loss(a + step, P) - model.loss(a - step, P)) / (2 * step)
        along_P = (model.loss(a, P * (1 + step)) - model.loss(a, P * (1 - step))) / (2 * step)
        return float(np.max(-along_P + P * L / 2 * along_a**2 / model.curvature(a, P)))

    def mean(L: int, V: int) -> float:
        losses = np.asarray(SoftmaxAction(Setup(L, V, 1.0)).minimum(np.array([2.0, 20.0])).loss)
        return float((losses[0] - losses[1]) / np.log(10))

    def power(f: Answer, end: float, near: int, far: int) -> float:
        return float(np.log(f(near, 5) / f(far, 5)) / np.log((end - near) / (end - far)))

    cases = [(10, 5), (14, 5), (15, 5), (18, 2), (8, 20)]
    return verdict(
        answer,
        function("L, V", cases[0], number()),
        [
            ("the loss falls, so the number is positive", lambda f: all(f(*case) > 0 for case in cases)),
            ("the steepest fall is at least the mean one", lambda f: all(f(*case) > mean(*case) for case in cases)),
            ("longer sequences make the crossover steeper", lambda f: f(10, 5) < f(12, 5) < f(14, 5)),
            ("a larger vocabulary brings the jump closer", lambda f: f(10, 2) < f(10, 5) < f(10, 10)),
            ("it agrees with the derivative along the branch to 1 %",
             lambda f: all(close(f(*case), exact(*case), rtol=1e-2) for case in cases)),
            ("close to the endpoint of V = 5 it diverges as one over the distance",
             lambda f: abs(power(f, 15.5799, 15, 14) + 1) < 0.1),
        ],
    )


def branch_slope(answer: Answer) -> bool:
    """``answer(model, a_G, P)``: dloss/dP along the branch of stationary states through a_G, minimum or maximum."""
    paper, long = SoftmaxAction(Setup(25, 5, 30.0), "paper"), SoftmaxAction(Setup(60, 3, 2.0, 0.5, 2.0))
    jump = long.first_order_transition()
    assert jump is not None
    inside = [(paper, 270.0), (paper, 290.0), (long, jump.P)]

    def measured(model: SoftmaxAction, P: float, which: int) -> float:
        """Difference quotient of the loss between the states of one branch at two values of P."""
        ends = [float(np.asarray(model.loss(_wells(model, n)[which], n))) for n in (P * (1 + 1e-5), P * (1 - 1e-5))]
        return (ends[0] - ends[1]) / (2e-5 * P)

    def slope(f: Answer, model: SoftmaxAction, P: float, which: int) -> float:
        return float(f(model, _wells(model, P)[which], P))

    def agrees(f: Answer, which: int) -> bool:
        return all(close(slope(f, *place, which), measured(*place, which), rtol=1e-3) for place in inside)

    return verdict(
        answer,
        function("model, a_G, P", (paper, _wells(paper, 276.0)[2], 276.0), number()),
        [
            ("in both wells the loss falls with P",
             lambda f: all(slope(f, *place, which) < 0 for place in inside for which in (0, 2))),
            ("on the barrier it rises", lambda f: all(slope(f, *place, 1) > 0 for place in inside)),
            ("in the copy well it agrees with the losses at neighbouring P", lambda f: agrees(f, 2)),
            ("in the uniform well it agrees, too", lambda f: agrees(f, 0)),
            ("and on the barrier", lambda f: agrees(f, 1)),
        ],
    )
