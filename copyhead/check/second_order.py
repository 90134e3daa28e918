"""Checkers for the exercises of the chapter "Second-order transitions"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, function, number, verdict

Answer = Callable[..., Any]


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


def critical_response(answer: Answer) -> bool:
    """``answer(h, u)`` is the minimum of h m + u m^4/4, for an array of fields of either sign."""
    h = np.array([-3.0, -0.2, -1e-6, 1e-6, 0.05, 1.0])

    def slope(f: Answer, u: float) -> np.ndarray:
        return h + u * np.asarray(f(h, u)) ** 3

    def lowest(f: Answer, u: float) -> bool:
        """No point of a fine grid around the answers lies lower."""
        m = np.asarray(f(h, u))
        trial = m[:, None] * np.linspace(-2, 2, 401)
        return bool(np.all((h * m + u * m**4 / 4)[:, None] <= h[:, None] * trial + u * trial**4 / 4 + 1e-15))

    return verdict(
        answer,
        function("h, u", (h, 1.0), array(h.shape)),
        [
            ("the minimum moves against the sign of h, for h > 0 and for h < 0",
             lambda f: np.sign(f(h, 1.0)) == -np.sign(h)),
            ("only h / u matters", lambda f: close(f(3 * h, 3.0), f(h, 1.0))),
            ("eight times the field gives a response that is twice as large",
             lambda f: close(f(8 * h, 1.0), 2 * np.asarray(f(h, 1.0)))),
            ("the action is stationary there", lambda f: close(slope(f, 0.4), 0 * h, atol=1e-12)),
            ("no other m is deeper", lambda f: lowest(f, 2.5)),
        ],
    )


def fitted_beta(answer: Answer) -> bool:
    """``answer(N)`` is the slope of ln sqrt<m^2> over ln(-r), -r = 0.02 ... 0.1 in nine steps; N may be infinite."""
    t = np.linspace(0.02, 0.1, 9)

    def mean_square(N: float, K: float) -> float:
        """Through the auxiliary variable x of the Gaussian identity: <m^2> = <x^2> - 1/(N K)."""
        from scipy.optimize import brentq

        star = brentq(lambda m: np.tanh(K * m) - m, 1e-6, 1)
        if np.isinf(N):
            return star**2
        x = np.linspace(0, star + 20 / np.sqrt(N) + 3 * N**-0.25, 20_001)
        exponent = -N * (K * x**2 / 2 - np.log(np.cosh(K * x)))
        weight = np.exp(exponent - exponent.max())
        return float(np.trapezoid(weight * x**2, x) / np.trapezoid(weight, x) - 1 / (N * K))

    def slope(N: float) -> float:
        return float(np.polyfit(np.log(t), [np.log(mean_square(N, 1 + s)) / 2 for s in t], 1)[0])

    return verdict(
        answer,
        function("N", (1000,), number()),
        [
            ("rounding flattens the fit where it wins: three hundred spins give a smaller slope than infinitely many",
             lambda f: 0 < f(300) < f(np.inf)),
            ("the sixth-order term alone lowers the slope below 1/2", lambda f: 0.4 < f(np.inf) < 0.49),
            ("infinitely many spins sit in the minimum of the action", lambda f: close(f(np.inf), slope(np.inf), rtol=1e-7)),
            ("a million spins are nearly infinitely many", lambda f: abs(f(1_000_000) - f(np.inf)) < 2e-3),
            ("it agrees with the exact averages, by another route, for a few sizes",
             lambda f: all(close(f(N), slope(N), rtol=1e-6) for N in (400, 3000, 10_000, 30_000))),
        ],
    )
