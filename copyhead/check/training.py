"""Checkers for the exercises on training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict

Answer = Callable[..., Any]


def mean_loss_decay(answer: Answer) -> bool:
    """``answer``: the decay that goes with the mean loss per token for weights of this variance, a SymPy expression."""
    sample = (300, 25, 30.0, 0.5)

    def stationary(f: Answer, P: int, L: int, sigma2: float, variance: float) -> bool:
        """One weight w with output w on every one of P L targets 1: both losses must have their minimum at one w."""
        w = (P * L / sigma2) / (P * L / sigma2 + 1 / variance)
        return close(-2 * (1 - w) + f(P, L, sigma2, variance) * w, 0.0)

    names = ("P", "L", "sigma2", "variance")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("the decay is positive", lambda f: f(*sample) > 0),
            ("twice the data halve it", lambda f: close(2 * f(600, 25, 30.0, 0.5), f(*sample))),
            ("a prior of twice the variance halves it", lambda f: close(2 * f(300, 25, 30.0, 1.0), f(*sample))),
            ("noise of twice the variance doubles it", lambda f: close(f(300, 25, 60.0, 0.5), 2 * f(*sample))),
            ("a single weight ends at the minimum of the action",
             lambda f: all(stationary(f, *case) for case in (sample, (7, 3, 2.0, 5.0), (1, 10, 0.3, 0.01)))),
        ]),
    )


def spinodal_from_times(answer: Answer) -> bool:
    """``answer(P, time)``: the P at which escape times diverge like (P - P_sp)^(-1/2)."""
    P = np.array([300.0, 305.0, 320.0, 350.0])

    def times(spinodal: float, scale: float = 70.0) -> np.ndarray:
        return scale / np.sqrt(P - spinodal)

    noisy = times(290.0) * np.array([1.01, 0.99, 1.005, 0.995])
    return verdict(
        answer,
        function("P, time", (P, times(290.0)), number()),
        [
            ("it finds the spinodal of a pure power law",
             lambda f: all(close(f(P, times(s)), s, rtol=1e-7) for s in (250, 290, 299))),
            ("the unit of time does not matter", lambda f: close(f(P, 60 * noisy), f(P, noisy), rtol=1e-7)),
            ("neither does the order of the runs", lambda f: close(f(P[::-1], noisy[::-1]), f(P, noisy), rtol=1e-7)),
            ("shifting every P shifts the spinodal", lambda f: close(f(P + 40, noisy), f(P, noisy) + 40, rtol=1e-7)),
            ("one per cent of noise moves it by less than two", lambda f: abs(f(P, noisy) - 290) < 2),
        ],
    )


def reverse_token(answer: Answer) -> bool:
    """``answer(M, W, t)``: copies of M and W after key token t has changed its sign."""
    rng = np.random.default_rng(0)
    V, L = 3, 4
    M, W = rng.normal(size=(V + L, V + L)), rng.normal(size=(V, V + L))
    keep = M.copy(), W.copy()

    def both(f: Answer, t: int) -> tuple[np.ndarray, np.ndarray]:
        new_M, new_W = f(M, W, t)
        return np.asarray(new_M, dtype=float), np.asarray(new_W, dtype=float)

    def twice(f: Answer) -> bool:
        again = f(*both(f, 1), 1)
        return close(again[0], M) and close(again[1], W)

    def through_tokens(f: Answer) -> bool:
        return all(close(a[:, :V] @ b[:, :V].T, M[:, :V] @ W[:, :V].T) for a, b in (both(f, t) for t in range(V)))

    def through_positions(f: Answer) -> bool:
        return all(close(a[:, V:], M[:, V:]) and close(b[:, V:], W[:, V:]) for a, b in (both(f, t) for t in range(V)))

    def only_t(f: Answer) -> bool:
        a, b = both(f, 1)
        return close(a[:, [0, 2]], M[:, [0, 2]]) and close(b[:, [0, 2]], W[:, [0, 2]]) and not close(a[:, 1], M[:, 1])

    def pair(answer: Any) -> str | None:
        try:
            shapes = tuple(np.shape(part) for part in answer)
        except TypeError:
            return "expected a pair of arrays"
        if shapes != (M.shape, W.shape):
            return f"expected a pair of arrays of shapes {M.shape} and {W.shape}"
        return next((problem for part in answer if (problem := array(np.shape(part))(part))), None)

    return verdict(
        answer,
        function("M, W, t", (M, W, 1), pair),
        [
            ("the arguments are left as they are", lambda f: (f(M, W, 1), close(M, keep[0]) and close(W, keep[1]))[1]),
            ("reversing twice changes nothing", twice),
            ("the norms of the weights stay", lambda f: close([np.linalg.norm(x) for x in both(f, 2)],
                                                              [np.linalg.norm(x) for x in keep])),
            ("what goes from token keys through token values stays", through_tokens),
            ("attention to positions and their values stay", through_positions),
            ("only the columns of token t change", only_t),
        ],
    )


def adam_path(answer: Answer) -> bool:
    """``answer(gradient, start, lr, steps)``: the positions of Adam in one dimension, start included, without epsilon."""

    def bowl(x: float) -> float:
        return 3 * (x - 1)

    def recursion(gradient: Callable[[float], float], x: float, lr: float, steps: int) -> np.ndarray:
        path, gradients = [x], []
        for n in range(1, steps + 1):
            gradients.append(gradient(path[-1]))
            age = np.arange(n)[::-1]
            first = 0.1 * np.sum(0.9**age * gradients) / (1 - 0.9**n)
            second = 0.001 * np.sum(0.999**age * np.square(gradients)) / (1 - 0.999**n)
            path.append(path[-1] - lr * first / np.sqrt(second))
        return np.array(path)

    def cubic(x: float) -> float:
        return -(0.01 + x**2)

    return verdict(
        answer,
        function("gradient, start, lr, steps", (bowl, -2.0, 0.1, 12), array((13,), "the 13 positions of 12 steps")),
        [
            ("it begins at the start", lambda f: close(f(bowl, -2.0, 0.1, 5)[0], -2.0)),
            ("the first step has the length lr, downhill", lambda f: close(f(bowl, -2.0, 0.1, 1)[1], -1.9)),
            ("a constant slope is walked down at the speed lr",
             lambda f: close(np.diff(f(lambda x: 7.0, 0.0, 0.01, 50)), np.full(50, -0.01), rtol=1e-6)),
            ("a steeper potential of the same shape is descended in the same steps",
             lambda f: close(f(lambda x: 50 * bowl(x), -2.0, 0.1, 40), f(bowl, -2.0, 0.1, 40), rtol=1e-6)),
            ("the moments forget with 0.9 and 0.999, and are corrected for their start",
             lambda f: all(close(f(*case), recursion(*case), rtol=1e-6)
                           for case in ((bowl, -2.0, 0.1, 60), (cubic, -0.5, 0.01, 80)))),
        ],
    )
