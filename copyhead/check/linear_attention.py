"""Checkers for more exercises on linear attention: its scale, its rays, its far end, and how its crossover sharpens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from copyhead.check._properties import array, close, expression, function, number, value_at, verdict
from copyhead.linear import LinearAction
from copyhead.setup import Setup

Answer = Callable[..., Any]


def noise_window(answer: Answer) -> bool:
    """``answer(L, V, low, high)``: the noise variances whose exact critical point is at P = low and at P = high."""
    cases = [(25, 5, 20.0, 100.0), (10, 100, 3.0, 8.0), (2, 2, 1.0, 50.0)]

    def softest(L: int, V: int, noise: float, P: float) -> float:
        """Smallest eigenvalue of the Hessian at the origin, relative to the largest."""
        values = np.linalg.eigvalsh(LinearAction(Setup(L, V, noise)).hessian(0.0, 0.0, P))
        return float(values[0] / values[1])

    def silent(f: Answer) -> bool:
        """With more noise than the window nothing has turned on at ``high``, with less it has at ``low``."""
        return all(softest(L, V, 1.01 * f(L, V, low, high)[1], high) > 0 > softest(L, V, 0.99 * f(L, V, low, high)[0], low)
                   for L, V, low, high in cases)

    return verdict(
        answer,
        function("L, V, low, high", cases[0], array((2,), "two variances")),
        [
            ("both variances are positive, the smaller one first", lambda f: all(0 < f(*x)[0] < f(*x)[1] for x in cases)),
            ("twice the number of sequences goes with twice the noise",
             lambda f: close(f(25, 5, 40.0, 200.0), 2 * np.asarray(f(25, 5, 20.0, 100.0)))),
            ("with more noise there is no attention yet, with less there is", silent),
            ("at the ends of the window the Hessian at the origin is singular",
             lambda f: all(abs(softest(L, V, float(noise), P)) < 1e-9
                           for L, V, low, high in cases for noise, P in zip(f(L, V, low, high), (low, high), strict=True))),
        ],
    )


def ray_gain(answer: Answer) -> bool:
    """``answer(x, A, B, ridge)``: tr B^T (Psi^T Psi + ridge)^-1 B on M -> t M, x = t^2, and its second derivative in x."""
    rng = np.random.default_rng(6)
    psi, labels = rng.normal(size=(9, 4)), rng.normal(size=(9, 2))
    thin = np.concatenate([psi, psi[:, :1]], axis=1)                      # a dependent column: A is singular
    data = [(p.T @ p, p.T @ labels, ridge) for p, ridge in ((psi, 0.7), (thin, 2.0))]

    def direct(t: float, p: np.ndarray, ridge: float) -> float:
        """The features t Psi put in as they are."""
        inverse = np.linalg.inv(t**2 * p.T @ p + ridge * np.eye(p.shape[1]))
        return float(np.trace(t * labels.T @ p @ inverse @ (t * p.T @ labels)))

    def bend(f: Answer, x: float, case: tuple[Any, ...], step: float = 1e-3) -> float:
        return float((f(x + step, *case)[0] - 2 * f(x, *case)[0] + f(x - step, *case)[0]) / step**2)

    points = (0.2, 1.0, 3.0)
    return verdict(
        answer,
        function("x, A, B, ridge", (1.0, *data[0]), array((2,), "a gain and a second derivative")),
        [
            ("without attention nothing is gained", lambda f: close(f(0.0, *data[0])[0], 0.0)),
            ("attention can only gain, and more of it gains more",
             lambda f: all(0 < f(0.1, *case)[0] < f(1.0, *case)[0] < f(9.0, *case)[0] for case in data)),
            ("the gain is that of the features t Psi, also when some of them depend on others",
             lambda f: all(close(f(x, *case)[0], direct(np.sqrt(x), p, case[2]))
                           for x in points for p, case in zip((psi, thin), data, strict=True))),
            ("it is concave: the second derivative is negative",
             lambda f: all(f(x, *case)[1] < 0 for x in points for case in data)),
            ("the second derivative agrees with differences of the gain",
             lambda f: all(close(f(x, *case)[1], bend(f, x, case), rtol=1e-4) for x in points for case in data)),
        ],
    )


def far_copy(answer: Answer) -> bool:
    """``answer()`` is the limit of c_G for endless data, a SymPy expression in L, V, g_O and g_W."""

    def at(f: Answer, L: float, V: float, g_O: float = 1.0, g_W: float = 1.0) -> float:
        return value_at(f(), {"L": L, "V": V, "g_O": g_O, "g_W": g_W}).real

    def minimum(f: Answer, L: int, V: int, g_O: float, g_W: float) -> bool:
        return close(at(f, L, V, g_O, g_W), LinearAction(Setup(L, V, 1.0, g_O, g_W)).minimum(1e9).c_G, rtol=1e-5)

    return verdict(
        answer,
        function("", (), expression("L", "V", "g_O", "g_W")),
        [
            ("it is positive", lambda f: at(f, 25, 5) > 0 and at(f, 3, 40) > 0),
            ("only the ratio g_W / g_O matters", lambda f: close(at(f, 25, 5, 2.0, 6.0), at(f, 25, 5, 1.0, 3.0))),
            ("sixteen times the ratio doubles it", lambda f: close(at(f, 25, 5, 1.0, 16.0), 2 * at(f, 25, 5))),
            ("at L = 25, V = 5 it is where the minimum of the action stands at very large P",
             lambda f: minimum(f, 25, 5, 1.0, 1.0)),
            ("so it is for other sizes and variances",
             lambda f: minimum(f, 4, 30, 2.0, 0.5) and minimum(f, 12, 2, 0.3, 3.0)),
        ],
    )


def steepest_rate(answer: Answer) -> bool:
    """``answer(L, V)``: the largest d ln c_G / d ln P at the global minimum, for P between once and three times eq. (17)."""

    def exact(L: int, V: int) -> float:
        """By the implicit function theorem: d(state)/dP = -Hess^-1 dgrad/dP, no neighbouring minimum is needed."""
        model = LinearAction(Setup(L, V, 1.0))
        P = np.geomspace(model.copy_P, 3 * model.copy_P, 20_001)
        state = model.minimum(P)
        ends = [model.gradient(state.c1, state.c_G, P * factor) for factor in (1 + 1e-6, 1 - 1e-6)]
        drift = (ends[0] - ends[1]) / 2e-6                                # P dgrad/dP
        speed = np.linalg.solve(model.hessian(state.c1, state.c_G, P), -drift[..., None])[:, 1, 0]
        return float(np.max(speed / state.c_G))

    def power(f: Answer, end: float, near: int, far: int) -> float:
        return float(np.log(f(near, 2) / f(far, 2)) / np.log((end - near) / (end - far)))

    return verdict(
        answer,
        function("L, V", (25, 5), number()),
        [
            ("copying grows faster than in proportion to the data", lambda f: f(12, 3) > 1 and f(25, 5) > 1),
            ("longer sequences make it steeper", lambda f: f(20, 2) < f(40, 2) < f(50, 2) and f(25, 5) < f(100, 5)),
            ("a larger vocabulary makes it gentler", lambda f: f(40, 2) > f(40, 3) > f(40, 5)),
            ("it agrees with the implicit derivative of the minimum to 1 %",
             lambda f: all(close(f(*case), exact(*case), rtol=1e-2) for case in [(25, 5), (12, 3), (40, 2), (55, 2)])),
            ("close to the endpoint of V = 2 it diverges as one over the distance",
             lambda f: abs(power(f, 58.7576, 57, 55) + 1) < 0.1),
        ],
    )


def coexistence_correction(answer: Answer) -> bool:
    """``answer()`` is epsilon in P = P_x (1 + epsilon) for long sequences, a SymPy expression in L and V."""

    def at(f: Answer, L: float, V: float) -> float:
        return value_at(f(), {"L": L, "V": V}).real

    def numerical(L: float, V: float) -> float:
        """The least delta / 2 at which the cost of copying reaches zero, minimised over both variables by computer."""
        q = V * np.sqrt(L / (V - 1))

        def lowest(of: Callable[[float], float]) -> float:
            return float(minimize_scalar(of, bounds=(-30, 30), method="bounded").fun)

        def log_cost(log_x: float) -> float:
            """ln of 2 / L times the price of x = h^2, without delta, over x; the best rho^2 is searched for."""
            x = np.exp(log_x)
            best = lowest(lambda z: L * q * np.exp(z) * x / (2 * V) + np.exp(-z) / 2)
            return float(np.log(2 / (L * x) * (q * x**2 / (2 * V) + best)))

        return float(np.exp(lowest(log_cost))) / 2

    def theory(L: int, V: int) -> float:
        transition = LinearAction(Setup(L, V, 1.0)).first_order_transition()
        assert transition is not None
        return transition.P / (V * np.sqrt(L / (V - 1))) - 1

    def share(f: Answer, L: int, V: int) -> float:
        return theory(L, V) / at(f, L, V)

    return verdict(
        answer,
        function("", (), expression("L", "V")),
        [
            ("pooling is in the way, so more data are needed", lambda f: at(f, 1e4, 5) > 0),
            ("eight times the length halves it", lambda f: close(at(f, 8e5, 5), at(f, 1e5, 5) / 2)),
            ("it depends on (V - 1) L only",
             lambda f: close(at(f, 1e5, 5), at(f, 2e5, 3)) and close(at(f, 4e5, 2), at(f, 2e5, 3))),
            ("it is half the least delta at which the action of the hint reaches zero",
             lambda f: all(close(at(f, *case), numerical(*case), rtol=1e-5) for case in [(1e4, 2), (1e5, 5)])),
            ("the coexistence point of the full theory tends to it",
             lambda f: all(0.7 < share(f, 10**3, V) + 0.05 < share(f, 10**5, V) < 1 for V in (2, 5))),
        ],
    )
