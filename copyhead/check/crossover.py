"""Checkers for the exercises of the chapter "Crossover"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, on_values, verdict

Answer = Callable[..., Any]


def critical_T(answer: Answer) -> bool:
    """``answer`` is the T at which two coupled fields lose the disordered state when T falls, a SymPy expression."""

    def softest(T: float, J: float, a1: float, a2: float, T1: float, T2: float) -> float:
        return float(np.linalg.eigvalsh([[a1 * (T - T1), -J], [-J, a2 * (T - T2)]])[0])

    rng = np.random.default_rng(2)
    cases = [tuple(rng.uniform((0.1, 0.5, 0.5, -1, -1), (2, 3, 3, 1, 1))) for _ in range(5)]

    def first_instability(f: Answer, case: tuple[float, ...]) -> bool:
        T = float(f(*case))
        return abs(softest(T, *case)) < 1e-9 and softest(T + 1e-3, *case) > 0 > softest(T - 1e-3, *case)

    names = ("J", "a_1", "a_2", "T_1", "T_2")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("without coupling the higher of the two scales wins",
             lambda f: close([f(0.0, 1.0, 2.0, 1.0, 0.0), f(0.0, 1.0, 2.0, -1.0, 0.5)], [1.0, 0.5])),
            ("the sign of J does not matter", lambda f: close(f(0.4, 1.0, 2.0, 1.0, 0.0), f(-0.4, 1.0, 2.0, 1.0, 0.0))),
            ("the fields may be renamed", lambda f: close(f(0.4, 1.0, 2.0, 1.0, 0.3), f(0.4, 2.0, 1.0, 0.3, 1.0))),
            ("the coupling helps: T rises with J", lambda f: f(0.5, 1.0, 2.0, 1.0, 0.0) > f(0.1, 1.0, 2.0, 1.0, 0.0) > 1.0),
            ("the softest mode changes sign there, from stable above",
             lambda f: all(first_instability(f, c) for c in cases)),
        ]),
    )


def mixed_state(answer: Answer) -> bool:
    """``answer(r1, r2, u1, u2, w)`` is (phi1^2, phi2^2) of the mixed minimum of two fields at J = 0, or None."""
    cases = [(-1.0, -0.7, 1.0, 1.5, 0.4), (-2.0, 0.3, 1.0, 1.0, -0.6), (-0.5, -2.0, 2.0, 0.8, 0.1)]

    def stationary(f: Answer, r1: float, r2: float, u1: float, u2: float, w: float) -> bool:
        x1, x2 = f(r1, r2, u1, u2, w)
        return x1 > 0 and x2 > 0 and close([r1 + u1 * x1 + w * x2, r2 + u2 * x2 + w * x1], [0.0, 0.0], atol=1e-9)

    return verdict(
        answer,
        function("r1, r2, u1, u2, w", cases[0], array((2,))),
        [
            ("without w the fields do not know each other", lambda f: close(f(-1.0, -2.0, 0.5, 4.0, 0.0), [2.0, 0.5])),
            ("the fields may be renamed", lambda f: close(f(-1.0, -0.7, 1.0, 1.5, 0.4), f(-0.7, -1.0, 1.5, 1.0, 0.4)[::-1])),
            ("both squares are positive and stationary, also for negative w",
             lambda f: all(stationary(f, *c) for c in cases)),
            ("squares are not negative: None where only one field is ordered",
             lambda f: f(-1.0, 0.5, 1.0, 1.0, 0.3) is None and f(-1.0, -0.1, 1.0, 1.0, 0.5) is None),
            ("with w^2 > u1 u2 the mixed point is a saddle: None", lambda f: f(-1.0, -1.0, 1.0, 1.0, 1.5) is None),
        ],
    )


def endpoint(answer: Answer) -> bool:
    """``answer(a1, a2, T1, T2, u1, u2, w)`` is (T, J) of the critical endpoint of two competing fields, or None."""
    text = (1.0, 2.0, 1.0, 0.0, 1.0, 1.0, 1.5)
    cases = [(1.0, 3.0, *text[2:]), (1.0, 2.0, 1.0, 0.2, 0.6, 1.7, 1.4), (0.8, 2.5, 0.5, -0.5, 2.0, 0.5, 1.3)]

    def descend(starts: list[Any], T: float, J: float, *case: float) -> list[Any]:
        """The minima below the two starts."""
        from scipy.optimize import minimize

        a1, a2, T1, T2, u1, u2, w = case
        r1, r2 = a1 * (T - T1), a2 * (T - T2)

        def free_energy(p: np.ndarray) -> tuple[float, np.ndarray]:
            a, b = p
            value = r1 * a**2 / 2 + r2 * b**2 / 2 + u1 * a**4 / 4 + u2 * b**4 / 4 + w * a**2 * b**2 / 2 - J * a * b
            slope = [r1 * a + u1 * a**3 + w * a * b**2 - J * b, r2 * b + u2 * b**3 + w * a**2 * b - J * a]
            return value, np.array(slope)

        return [minimize(free_energy, s, jac=True, options={"gtol": 1e-10}).x for s in starts]

    def splits(f: Answer, case: tuple[float, ...]) -> bool:
        """Two minima, followed while the coupling grows, are still apart just below J and are one just above."""
        T, J = f(*case)
        a1, a2, T1, T2, u1, u2, _ = case
        pure = np.sqrt([max(-a1 * (T - T1), 0.01) / u1, max(-a2 * (T - T2), 0.01) / u2])
        states: list[Any] = [pure * (1.0, 0.05), pure * (0.05, 1.0)]
        for factor in (0.3, 0.6, 0.8, 0.9, 0.97):
            states = descend(states, T, factor * J, *case)
        apart = np.linalg.norm(states[0] - states[1])
        states = descend(states, T, 1.03 * J, *case)
        size = np.linalg.norm(states[0])
        return bool(apart > 0.1 * size and np.linalg.norm(states[0] - states[1]) < 0.01 * size)

    return verdict(
        answer,
        function("a1, a2, T1, T2, u1, u2, w", text, array((2,))),
        [
            ("it is (-1, 1/2) in the example of the text", lambda f: close(f(*text), [-1.0, 0.5])),
            ("weak competition has no endpoint: None for w^2 <= u1 u2",
             lambda f: f(1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.4) is None),
            ("masses that are equal only above the transition do not count: None",
             lambda f: f(2.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.5) is None),
            ("the fields may be renamed", lambda f: close(f(*cases[1]), f(2.0, 1.0, 0.2, 1.0, 1.7, 0.6, 1.4))),
            ("measuring the second field in other units leaves T and rescales J",
             lambda f: close(f(1.0, 4 * 2.0, 1.0, 0.0, 1.0, 16 * 1.0, 4 * 1.5), [-1.0, 2 * 0.5])),
            ("two minima just below J become one just above", lambda f: all(splits(f, c) for c in cases)),
        ],
    )
