"""Checkers for the exercises on sample complexity and on the loss."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from copyhead.check._properties import close, expression, function, number, value_at, verdict
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction
from copyhead.task import sequences

Answer = Callable[..., Any]


# --- sample complexity -------------------------------------------------------------------------------------------


def effective_exponent(answer: Answer) -> bool:
    """``answer(log_L)`` is d ln q*/d ln ln L of the softmax threshold for a small vocabulary."""
    logs = [6.0, 20.0, 100.0, 5000.0]

    def threshold(log_L: float) -> float:
        """ln of the smallest ell^2 (1 + L exp(-2 ell)): the amount of data at which a gap first pays off."""
        found = minimize_scalar(
            lambda ell: 2 * np.log(ell) + np.logaddexp(0.0, log_L - 2 * ell),
            bounds=(0.4 * log_L, 0.6 * log_L + 8), method="bounded", options={"xatol": 1e-10},
        )
        return float(found.fun)

    def difference(log_L: float) -> float:
        step = 1e-3
        return (threshold(log_L * np.exp(step)) - threshold(log_L * np.exp(-step))) / (2 * step)

    return verdict(
        answer,
        function("log_L", (20.0,), number()),
        [
            ("the exponent stays below 2", lambda f: all(f(x) < 2 for x in logs)),
            ("it grows with the length", lambda f: all(f(a) < f(b) for a, b in zip(logs[:-1], logs[1:], strict=True))),
            ("it tends to 2 for absurdly long sequences", lambda f: 1.999 < f(1e5) < 2),
            ("it is the slope of the smallest ell^2 (1 + L exp(-2 ell)) in double logarithms",
             lambda f: all(close(f(x), difference(x), rtol=1e-5) for x in logs)),
        ],
    )


def closed_pair_P(answer: Answer) -> bool:
    """``answer(L, V, sigma2, g_O, g_W)`` is the P* of the closed pair for the prior stiffness L - 1."""

    def exact(L: int, V: int, sigma2: float, g_O: float, g_W: float) -> float:
        transition = SoftmaxAction(Setup(L, V, sigma2, g_O, g_W)).first_order_transition()
        assert transition is not None
        return transition.P

    long = [(10**4, 5, 1.0, 1.0, 1.0), (10**4, 2, 3.0, 1.0, 0.5), (10**5, 20, 1.0, 2.0, 3.0)]
    others = [(60, 50, 30.0, 1.0, 2.0), (200, 3, 1.0, 0.2, 1.0)]

    def residual(f: Answer, L: int, V: int, sigma2: float, g_O: float, g_W: float) -> float:
        q = g_O * f(L, V, sigma2, g_O, g_W) / sigma2
        scaled = q * g_W * (V - 1) * L / (g_O * V * (L - 1))      # must be ell^3 / (ell - 1)
        ells = [r.real for r in np.roots([1, 0, -scaled, scaled]) if abs(r.imag) < 1e-9 and r.real > 1.5]
        return min(abs(2 * ell - np.log(L * (ell - 1)) - np.log1p(V / q)) for ell in ells)

    return verdict(
        answer,
        function("L, V, sigma2, g_O, g_W", (100, 5, 1.0, 1.0, 1.0), number()),
        [
            ("P* is proportional to the noise variance",
             lambda f: close(f(100, 5, 30.0, 1.0, 1.0), 30 * f(100, 5, 1.0, 1.0, 1.0))),
            ("P* g_O depends on the ratio g_O / g_W only",
             lambda f: close(3 * f(100, 5, 1.0, 3.0, 6.0), f(100, 5, 1.0, 1.0, 2.0))),
            ("for long sequences a louder readout hardly matters, and a wider prior needs fewer data",
             lambda f: abs(f(10**8, 2, 1.0, 2.0, 1.0) / f(10**8, 2, 1.0, 1.0, 1.0) - 1) < 0.05
             and f(10**8, 2, 1.0, 1.0, 2.0) < 0.6 * f(10**8, 2, 1.0, 1.0, 1.0)),
            ("it agrees with the full theory to 0.2 % from L = 10,000 on",
             lambda f: all(abs(f(*case) / exact(*case) - 1) < 2e-3 for case in long)),
            ("both equations of the pair hold, also for short sequences and large vocabularies",
             lambda f: all(residual(f, *case) < 1e-8 for case in [*long, *others])),
        ],
    )


def find_lag(answer: Answer) -> bool:
    """``answer(tokens, targets)`` is the cyclic lag b in 0..L-1 with targets[a] = tokens[a - b] up to noise."""

    def case(L: int, V: int, P: int, lag: int, spoilt: float) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([L, V, P, lag])
        tokens = sequences(L, V, P, seed=lag)
        shifted = np.roll(tokens, lag, axis=1)
        return tokens, np.where(rng.random(tokens.shape) < spoilt, rng.integers(V, size=tokens.shape), shifted)

    def finds(f: Answer, L: int, V: int, P: int, lag: int, spoilt: float = 0.0) -> bool:
        return int(f(*case(L, V, P, lag, spoilt))) == lag

    return verdict(
        answer,
        function("tokens, targets", case(25, 5, 20, 1, 0.0), number("a lag")),
        [
            ("it finds the copy head's lag of 1", lambda f: finds(f, 25, 5, 20, 1)),
            ("it finds lag 0, where the targets are the tokens", lambda f: finds(f, 25, 5, 20, 0)),
            ("it finds every other lag", lambda f: all(finds(f, 12, 5, 20, lag) for lag in range(12))),
            ("one long sequence is enough", lambda f: finds(f, 400, 2, 1, 137)),
            ("it bears half of the targets replaced by random tokens", lambda f: finds(f, 100, 5, 20, 31, 0.5)),
        ],
    )


# --- the loss ----------------------------------------------------------------------------------------------------


def uniform_loss(answer: Answer) -> bool:
    """``answer()`` is the loss per token of uniform softmax attention, a SymPy expression in L, V and q."""

    def at(f: Answer, L: float, V: float, q: float) -> float:
        return value_at(f(), {"L": L, "V": V, "q": q}).real

    def exact(L: int, V: int, q: float) -> float:
        return float(SoftmaxAction(Setup(L, V, 2.0, 3.0)).loss(0.0, q * 2.0 / 3.0))

    cases = [(25, 5, 0.3), (25, 5, 20.0), (4, 30, 7.0), (200, 2, 0.05)]
    return verdict(
        answer,
        function("", (), expression("L", "V", "q")),
        [
            ("without data the loss is 1", lambda f: close(at(f, 25, 5, 0.0), 1.0)),
            ("more data lower it", lambda f: at(f, 25, 5, 0.1) > at(f, 25, 5, 1.0) > at(f, 25, 5, 10.0)),
            ("with endless data it is the unigram loss", lambda f: close(at(f, 25, 5, 1e12), 0.768, rtol=1e-9)),
            ("the approach to the plateau is quadratic in 1/q",
             lambda f: close((at(f, 25, 5, 1e4) - 0.768) / (at(f, 25, 5, 2e4) - 0.768), 4.0, rtol=1e-2)),
            ("it is the theory's loss at a_G = 0", lambda f: all(close(at(f, *case), exact(*case)) for case in cases)),
        ],
    )


def two_token_accuracy(answer: Answer) -> bool:
    """``answer(m, L)``: how often the heavier of two tokens is the right one, for copy weight m and V = 2."""

    def enumerated(m: float, L: int) -> float:
        """All choices of the other L - 1 tokens, one by one; a tie counts one half."""
        others = np.indices((2,) * (L - 1)).reshape(L - 1, -1).sum(axis=0)     # how many equal the target
        w = (1 - m) / (L - 1)
        margin = m + w * (2 * others - (L - 1))
        return float(np.mean(np.where(np.abs(margin) < 1e-12, 0.5, margin > 0)))

    def majority(L: int) -> float:
        """Uniform attention at odd L: the token is among the majority of L fair coins."""
        return sum(comb(L - 1, k) for k in range((L - 1) // 2, L)) / 2 ** (L - 1)

    weights = [0.0, 0.05, 0.17, 0.3, 0.45, 0.9]
    return verdict(
        answer,
        function("m, L", (0.3, 7), number("a probability")),
        [
            ("full weight on the right token is always right", lambda f: close(f(1.0, 25), 1.0)),
            ("no weight on it is a coin toss", lambda f: close(f(0.0, 6), 0.5) and close(f(0.0, 25), 0.5)),
            ("more weight never hurts", lambda f: np.all(np.diff([f(x, 101) for x in np.linspace(0, 1, 40)]) >= -1e-12)),
            ("uniform attention is right when the token is in the majority",
             lambda f: all(close(f(1 / L, L), majority(L)) for L in (3, 9, 25))),
            ("weight above one half is always right", lambda f: close(f(0.51, 400), 1.0)),
            ("it agrees with all sequences counted one by one, ties as one half",
             lambda f: all(close(f(x, L), enumerated(x, L)) for x in weights for L in (3, 6, 9))
             and all(close(f(1 / 3, L), enumerated(1 / 3, L)) for L in (3, 7))),
        ],
    )


def transition_from_losses(answer: Answer) -> bool:
    """``answer(P, uniform, copy, excess, L, sigma2)``: where S_copy = S_uniform, from loss curves and the excess at P[0]."""
    grid = np.linspace(100.0, 200.0, 201)

    def flat(f: Answer, excess: float, gap: float, L: int, sigma2: float) -> float:
        return float(f(grid, np.full(201, 0.7), np.full(201, 0.7 - gap), excess, L, sigma2))

    def bent(f: Answer) -> bool:
        copy = 0.7 - 0.004 * (grid - 100)               # Delta S = -excess + L/(2 sigma2) 0.002 (P - 100)^2
        return close(f(grid, np.full(201, 0.7), copy, 0.9, 10, 5.0), 100 + np.sqrt(0.9 / 0.002), rtol=1e-4)

    def softmax(f: Answer) -> bool:
        model = SoftmaxAction(Setup(40, 5, 30.0))
        transition = model.first_order_transition()
        assert transition is not None
        samples = np.linspace(transition.lower_spinodal + 1, transition.upper_spinodal - 1, 80)
        states = [sorted(model.minima(float(P)), key=lambda state: state.a_G) for P in samples]
        losses = np.array([[state.loss for state in pair] for pair in states])
        excess = states[0][1].action - states[0][0].action
        return close(f(samples, losses[:, 0], losses[:, 1], excess, 40, 30.0), transition.P, rtol=1e-4)

    return verdict(
        answer,
        function("P, uniform, copy, excess, L, sigma2", (grid, 0 * grid + 0.7, 0 * grid + 0.3, 1.0, 10, 5.0), number()),
        [
            ("without an excess at the start the transition is there", lambda f: close(flat(f, 0.0, 0.4, 10, 5.0), 100.0)),
            ("twice the excess is twice as far", lambda f: close(flat(f, 4.0, 0.4, 10, 5.0) - 100,
                                                                 2 * (flat(f, 2.0, 0.4, 10, 5.0) - 100), rtol=1e-6)),
            ("a constant gap of the losses closes the excess at the rate L / (2 sigma2) times the gap",
             lambda f: close(flat(f, 6.0, 0.4, 10, 5.0), 115.0, rtol=1e-6)
             and close(flat(f, 6.0, 0.2, 40, 8.0), 112.0, rtol=1e-6)),
            ("a gap that opens gradually is integrated", bent),
            ("it finds the softmax transition at L = 40 from its two loss curves", softmax),
        ],
    )
