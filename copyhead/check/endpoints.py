"""Checkers for the exercises on the ends of first-order lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict
from copyhead.linear import LinearAction
from copyhead.setup import Setup

Answer = Callable[..., Any]


def equal_point(answer: Answer) -> bool:
    """``answer``: P / sigma2 of equal action from the gap action(copy) - action(pooled) at x, a SymPy expression."""
    case = (24.5, 0.1, 0.49, 0.43, 100)

    def theory(f: Answer, offset: float) -> bool:
        """From the two states a little off coexistence, the package's own point, to second order in the offset."""
        model = LinearAction(Setup(100, 2, 1.0))
        jump = model.first_order_transition()
        assert jump is not None
        pooled, copy = sorted(model.minima(jump.P + offset), key=lambda state: float(np.max(state.c_G)))
        return close(f(jump.P + offset, copy.action - pooled.action, pooled.loss, copy.loss, 100), jump.P, rtol=2e-5)

    names = ("x", "gap", "pooled", "copy", "L")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("without a gap the actions are equal at x itself", lambda f: close(f(24.5, 0.0, 0.49, 0.43, 100), 24.5)),
            ("where the copy state costs more, more data are needed",
             lambda f: f(*case) > 24.5 > f(24.5, -0.1, 0.49, 0.43, 100)),
            ("a larger jump of the loss needs a smaller step", lambda f: f(24.5, 0.1, 0.6, 0.4, 100) < f(*case)),
            ("the step falls inversely with the length",
             lambda f: close((f(*case[:4], 50) - 24.5) / (f(*case) - 24.5), 2)),
            ("from states of the theory near coexistence it finds the coexistence",
             lambda f: theory(f, 0.02) and theory(f, -0.02)),
        ]),
    )


def infinite_length(answer: Answer) -> bool:
    """``answer(k, V)``: limit of P / (sigma2 sqrt(L)) on the ordered branch for long sequences."""

    def agrees(f: Answer) -> bool:
        """The package at L = 10^8, through the parametrised branch: corrections there are below 10^-3."""
        from copyhead.ordered import ordered_point

        L, V = 10**8, 3
        s = np.linspace(-18, -13, 4)
        log_p, _, _, k, _ = ordered_point(Setup(L, V, 1.0), (L * V / (L + V)) ** 2, L**2 / (L - 1), s)
        return close([f(x, V) for x in k], np.exp(log_p) / np.sqrt(L), rtol=2e-3)

    def sampled(f: Answer) -> list[float]:
        return [float(f(k, V)) for V in (2, 7) for k in (0.01, 0.1, 1.0, 10.0, 100.0)]

    return verdict(
        answer,
        function("k, V", (1.0, 2), number()),
        [
            ("it falls with k", lambda f: np.all(np.diff(np.reshape(sampled(f), (2, 5)), axis=1) < 0)),
            ("for small k it is sqrt(V^3) / (V - 1)",
             lambda f: all(close(f(1e-7, V), V**1.5 / (V - 1), rtol=1e-4) for V in (2, 5, 30))),
            ("for large k it is V / sqrt(V - 1)",
             lambda f: all(close(f(1e9, V), V / np.sqrt(V - 1), rtol=1e-4) for V in (2, 5, 30))),
            ("it is the branch of the package at L = 10^8", agrees),
        ],
    )


def critical_fluid(answer: Answer) -> bool:
    """``answer()`` gives density, temperature and chemical potential at the end of the line between gas and liquid."""

    def derivative(values: Any, order: int) -> float:
        """Derivative of S at the point, from a Cauchy integral over a small circle: no algebra shared with the answer."""
        rho, T, mu = (float(value) for value in values)
        turn = np.exp(2j * np.pi * np.arange(64) / 64)
        z = rho + 0.1 * turn
        S = T * z * (np.log(z / (1 - z)) - 1) - z**2 - mu * z
        return float((S * turn ** (-order)).mean().real / 0.1**order)

    return verdict(
        answer,
        function("", (), array((3,), "three numbers")),
        [
            ("the density lies between 0.15 and 0.85 and the temperature is positive",
             lambda f: 0.15 < float(f()[0]) < 0.85 and float(f()[1]) > 0),
            ("the cubic term vanishes at that density", lambda f: abs(derivative(f(), 3)) < 1e-8),
            ("the curvature vanishes", lambda f: abs(derivative(f(), 2)) < 1e-8),
            ("the state is stationary", lambda f: abs(derivative(f(), 1)) < 1e-8),
        ],
    )
