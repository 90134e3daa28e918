"""Checkers for the exercises on several heads and layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize

from copyhead.check._properties import array, close, expression, function, on_values, truth, verdict

Answer = Callable[..., Any]


def three_layer_cost(answer: Answer) -> bool:
    """``answer``: lowest (k_1 x^2 + k_2 y^2 + k_3 z^2) / 2 with x y z = t > 0, a SymPy expression."""

    def searched(t: float, *k: float) -> float:
        """Over x and y, with z = t / (x y)."""
        def cost(logs: Any) -> float:
            x, y = np.exp(logs)
            return float((k[0] * x**2 + k[1] * y**2 + k[2] * (t / (x * y)) ** 2) / 2)

        return float(minimize(cost, [0.0, 0.0], method="Nelder-Mead", options=dict(xatol=1e-9, fatol=1e-12)).fun)

    cases = [(1.0, 1.0, 1.0, 1.0), (0.3, 2.0, 5.0, 0.7), (4.0, 7.0, 9.0, 0.1)]
    names = ("t", "k_1", "k_2", "k_3")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("nothing costs nothing", lambda f: close(f(0.0, 1, 2, 3), 0.0)),
            ("the order of the layers does not matter", lambda f: close(f(0.5, 3, 1, 2), f(0.5, 1, 2, 3))),
            ("twice as stiff layers cost twice as much", lambda f: close(f(0.5, 2, 4, 6), 2 * f(0.5, 1, 2, 3))),
            ("it agrees with a search", lambda f: all(close(f(*case), searched(*case), rtol=1e-6) for case in cases)),
        ]),
    )


def next_kernel(answer: Answer) -> bool:
    """``answer(C, heads, g_O)``: C + g_O sum of G C H^T over the pairs (G, H) in ``heads``."""
    rng = np.random.default_rng(0)
    C, weights = rng.normal(size=(4, 4)), rng.normal(size=(3, 2, 4, 4))

    def by_entries(heads: Any, g_O: float) -> Any:
        K = C.copy()
        for G, H in heads:
            for a in range(4):
                for b in range(4):
                    K[a, b] += g_O * sum(G[a, c] * C[c, d] * H[b, d] for c in range(4) for d in range(4))
        return K

    one, three = [tuple(weights[0])], [tuple(pair) for pair in weights]
    return verdict(
        answer,
        function("C, heads, g_O", (C, one, 0.7), array((4, 4))),
        [
            ("without heads the residual stream is left", lambda f: close(f(C, [(0 * C, 0 * C)], 0.7), C)),
            ("it is linear in g_O", lambda f: close(f(C, one, 1.4) - C, 2 * (f(C, one, 0.7) - C))),
            ("exchanging the sequences transposes it",
             lambda f: close(f(C.T, [(H, G) for G, H in three], 0.7), np.asarray(f(C, three, 0.7)).T)),
            ("one head agrees entry by entry", lambda f: close(f(C, one, 0.7), by_entries(one, 0.7))),
            ("so do three", lambda f: close(f(C, three, 0.7), by_entries(three, 0.7))),
        ],
    )


def pooled_until(answer: Answer) -> bool:
    """``answer``: P / sigma2 at which the pull on the circuit equals the cost of its factors; g_O = g_W = 1; in SymPy."""
    from copyhead.induction import InductionAction
    from copyhead.setup import Setup

    def measured(L: int, V: int, k1: float) -> float:
        """Where the Hessian of the action over the two factors becomes singular, by differences."""
        action, h = InductionAction(Setup(L, V, 1.0), "softmax"), 1e-3

        def determinant(P: float) -> float:
            S = {(a, b): action.action(action.circuit(a * h, b * h), P) for a in (-1, 0, 1) for b in (-1, 0, 1)}
            first = (S[1, 0] - 2 * S[0, 0] + S[-1, 0]) / h**2
            second = (S[0, 1] - 2 * S[0, 0] + S[0, -1]) / h**2
            return first * second - ((S[1, 1] - S[1, -1] - S[-1, 1] + S[-1, -1]) / (4 * h**2)) ** 2

        return float(brentq(determinant, 1.0, 1e5, xtol=1e-6))

    cases = [(L, V, InductionAction(Setup(L, V, 1.0), "softmax").prior[1, 1]) for L, V in ((8, 10), (5, 9), (6, 12))]
    names = ("L", "V", "k_1")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("longer contexts need more data", lambda f: f(5, 20, 4) < f(8, 20, 7) < f(12, 20, 11)),
            ("when V comes close to L the pool carries no signal",
             lambda f: f(8, 8.001, 7) > 3 * f(8, 8.1, 7) > 3.3 * f(8, 9, 7)),
            ("for long contexts and V = 2 L it grows like the cube of the length",
             lambda f: abs(np.log2(f(800, 1600, 799) / f(400, 800, 399)) - 3) < 0.1),
            ("there the Hessian is singular", lambda f: all(close(f(*case), measured(*case), rtol=1e-4) for case in cases)),
        ]),
    )


def certified(answer: Answer) -> bool:
    """``answer(slope, heads)``: whether the slope annihilates the heads and is positive semidefinite."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]

    def case(values: list[float], count: int) -> tuple[Any, Any]:
        """A slope with these eigenvalues, and heads in the span of the first ``count`` eigenvectors."""
        return basis @ np.diag(values) @ basis.T, basis[:, :count] @ rng.normal(size=(count, 3))

    good = [case([0, 0, 1, 2, 3], 2), case([0, 1, 1, 2, 3], 1), case([0] * 5, 3)]
    saddle, moving = case([0, 0, -1, 2, 3], 2), case([1, 0, 0, 2, 3], 2)
    zero = (np.eye(5), np.zeros((5, 2)))
    return verdict(
        answer,
        function("slope, heads", good[0], truth),
        [
            ("it accepts heads in the kernel of a positive slope", lambda f: all(f(*each) for each in good)),
            ("it refuses heads that are not stationary", lambda f: not f(*moving)),
            ("it refuses a saddle: another head would help", lambda f: not f(*saddle)),
            ("no heads at all can be the minimum", lambda f: bool(f(*zero)) and not f(-zero[0], zero[1])),
            ("one weak negative direction is enough to refuse", lambda f: not f(*case([0, 0, -1e-4, 2, 3], 2))),
        ],
    )
