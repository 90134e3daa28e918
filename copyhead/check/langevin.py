"""Checkers for the exercises on Langevin dynamics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, expression, function, number, on_values, verdict

Answer = Callable[..., Any]


def langevin_variance(answer: Answer) -> bool:
    """``answer(lam, eta)``: the stationary variance of Euler's step in a direction of stiffness lam, or infinity."""
    rng = np.random.default_rng(0)
    cases = [(lam, x / lam) for lam, x in zip(rng.uniform(0.1, 50, 8), rng.uniform(0.01, 1.95, 8), strict=True)]

    def stationary(f: Answer) -> bool:
        return all(close((1 - eta * lam) ** 2 * f(lam, eta) + 2 * eta, f(lam, eta)) for lam, eta in cases)

    return verdict(
        answer,
        function("lam, eta", (2.0, 0.1), number()),
        [
            ("small steps give the variance of the target", lambda f: close(f(4.0, 1e-9), 0.25, rtol=1e-6)),
            ("the variance is positive", lambda f: all(f(*case) > 0 for case in cases)),
            ("one more step leaves the variance as it is", stationary),
            ("it is infinite where the step is unstable", lambda f: f(4.0, 0.6) == np.inf and f(1.0, 17.0) == np.inf),
            ("and at the limit of stability", lambda f: f(4.0, 0.5) == np.inf),
        ],
    )


def mean_loss_langevin(answer: Answer) -> bool:
    """``answer(P, L, noise, variance)``: temperature and decay that go with the mean loss per token."""
    cases = [(300, 25, 1.0, 0.033), (7, 3, 0.4, 5.0), (1, 10, 2.5, 0.01)]

    def right_density(f: Answer, P: int, L: int, noise: float, variance: float) -> bool:
        """One weight that is the output on all P L targets 1: log densities must differ by the same at any two weights."""
        temperature, decay = f(P, L, noise, variance)
        w = np.array([-0.7, 0.2, 1.0, 3.0])
        run = -((1 - w) ** 2 + decay * w**2 / 2) / temperature
        posterior = -P * L * (1 - w) ** 2 / (2 * noise) - w**2 / (2 * variance)
        return close(run - run[0], posterior - posterior[0])

    return verdict(
        answer,
        function("P, L, noise, variance", cases[0], array((2,), "a temperature and a decay")),
        [
            ("both are positive", lambda f: all(min(f(*case)) > 0 for case in cases)),
            ("without data in sight, every weight has its prior width",
             lambda f: all(close(f(*case)[0] / f(*case)[1], case[3]) for case in cases)),
            ("twice the data halve the temperature", lambda f: close(2 * f(600, 25, 1.0, 0.3)[0], f(300, 25, 1.0, 0.3)[0])),
            ("the prior has no say in the temperature", lambda f: close(f(300, 25, 1.0, 0.3)[0], f(300, 25, 1.0, 0.6)[0])),
            ("the stationary density is the posterior", lambda f: all(right_density(f, *case) for case in cases)),
        ],
    )


def acceptance(answer: Answer) -> bool:
    """``answer(U, momentum, new_U, new_momentum)``: the probability to accept a proposal of Hamiltonian Monte Carlo."""
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(), rng.normal(size=3), rng.normal(), rng.normal(size=3)) for _ in range(12)]
    still = np.zeros(2)

    def balanced(f: Answer) -> bool:
        def weight(U: float, momentum: np.ndarray) -> float:
            return float(np.exp(-U - np.sum(momentum**2) / 2))

        return all(close(weight(*p[:2]) * f(*p), weight(*p[2:]) * f(*p[2:], *p[:2])) for p in pairs)

    return verdict(
        answer,
        function("U, momentum, new_U, new_momentum", pairs[0], number("a probability")),
        [
            ("it is a probability", lambda f: all(0 <= f(*p) <= 1 for p in pairs)),
            ("a proposal of lower energy is always accepted", lambda f: close(f(3.0, still, 1.0, still), 1.0)),
            ("energy may move between potential and momentum for nothing",
             lambda f: close(f(0.0, np.array([2.0, 0.0]), 2.0, still), 1.0)),
            ("as much goes from A to B as from B to A", balanced),
            ("reversing a momentum changes nothing", lambda f: all(close(f(*p[:3], -p[3]), f(*p)) for p in pairs)),
            ("an enormous gain does not overflow", lambda f: close(f(1e5, still, 0.0, still), 1.0)),
            ("a potential that is infinite or not a number is refused",
             lambda f: f(0.0, still, np.inf, still) == 0 and f(0.0, still, np.nan, still) == 0),
        ],
    )


def attention_noise(answer: Answer) -> bool:
    """``answer``: the squared size that the noise of all attention weights adds to the attention, a SymPy expression."""
    L, V, k, g_W, chi = 7, 3, 40.0, 0.8, 30.0

    def drawn(f: Answer) -> bool:
        """Entries from their Gaussians, put into the attention of random sequences."""
        rng = np.random.default_rng(1)
        share = np.concatenate([np.full(V, 1 / V), np.full(L, 1 / L)])
        deviation = np.sqrt(g_W / chi / (1 + 2 * k * np.outer(share, share) * g_W))
        norms = []
        for _ in range(2000):
            M, tokens = rng.normal(size=(V + L, V + L)) * deviation, rng.integers(V, size=L)
            rows = M[tokens] + M[V:]
            norms.append(np.sum(np.square(rows[:, tokens] + rows[:, V:])) / L**2)
        return bool(abs(f(L, V, k, g_W, chi) / np.mean(norms) - 1) < 4 * np.std(norms) / np.sqrt(2000) / np.mean(norms))

    names = ("L", "V", "k", "g_W", "chi")
    return verdict(
        answer,
        expression(*names),
        on_values(names, [
            ("without data it is four times the prior variance", lambda f: close(f(25, 5, 0.0, 0.7, 30.0), 4 * 0.7 / 30)),
            ("it is proportional to 1 / chi", lambda f: close(f(L, V, k, g_W, 2 * chi), f(L, V, k, g_W, chi) / 2)),
            ("a steeper data term suppresses it", lambda f: f(L, V, 2 * k, g_W, chi) < f(L, V, k, g_W, chi)),
            ("queries and keys play the same role: L and V may be exchanged",
             lambda f: close(f(L, V, k, g_W, chi), f(V, L, k, g_W, chi))),
            ("at large k every weight has the same share, whatever its prior",
             lambda f: close(f(7, 3, 1e12, 0.8, 30.0), (7 + 3) ** 2 / (2e12 * 30), rtol=1e-6)),
            ("weights drawn at random have it", drawn),
        ]),
    )
