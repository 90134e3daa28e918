"""Order parameters of fitted networks: the paper's grid, the two softmax states, and what is left at finite P and L.

Six kinds of cells, all fits of the reduced network by ``fit_map(..., fast=True)``:

``fitted``         the paper's grid of P; every data set is one seed
``coexisting``     the P at which the two softmax states have equal action; ``coexisting_scaled`` with more data and noise
``loop``           softmax followed up and down in P
``finite_data``    P sequences at a fixed P / sigma2: theory has the same prediction for all of them
``finite_length``  sequences of length L at a fixed scaled P, also with attention restricted to four patterns and to two
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from copyhead.coexistence import equal_action, follow
from copyhead.fit import LinearFit, SoftmaxFit, fit_map
from copyhead.linear import LinearAction
from copyhead.patterns import G_star, J, global_sign, order_parameters
from copyhead.reduced import Attention, ReducedAction, planted
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction
from copyhead.sweep import sweep
from copyhead.task import sequences

SETUP = Setup(25, 5)
BOTH: tuple[Attention, Attention] = ("linear", "softmax")
GRID = (1, 10, 20, 60, 100, 200, 250, 275, 300, 400, 500, 600, 700, 800)     # P of the paper's Figs. 3 and 4
BETWEEN = (325, 350)                                                         # two more, where softmax has just jumped
SCALED_P = {"linear": 50 / 3, "softmax": 10.0}                               # P / sigma2 of ``finite_data``
BEYOND = {"linear": 2.0, "softmax": 1.3}             # of ``finite_length``: P in units of copy_P, and of the transition


def fitted(attention: Attention, P: int, seed: int) -> Mapping[str, Any]:
    """One fit at the paper's parameters: c1, c_G (softmax: c_G is a_G), action, loss, coverage."""
    return _numbers(fit_map(SETUP, attention, P, seed, fast=True))


def coexisting(seed: int, guess: int = 270) -> Mapping[str, Any]:
    """P of equal action on the data set ``seed``, and a_G, action and loss of both states there."""
    point = equal_action(SETUP, seed, guess)
    states = {"uniform": point.uniform, "copy": point.copy}
    return {"P": point.P} | {f"{name}_{x}": getattr(state, x) for name, state in states.items()
                             for x in ("a_G", "action", "loss")}


def coexisting_scaled(times: int, seed: int) -> Mapping[str, Any]:
    """The same with ``times`` the noise variance, and so ``times`` the sequences: P of equal action divided by ``times``."""
    return {"P": equal_action(replace(SETUP, sigma2=times * SETUP.sigma2), seed, 271 * times).P / times}


def loop(seed: int, values: Sequence[int]) -> Mapping[str, NDArray[np.float64]]:
    """a_G followed up and down through ``values`` (increasing): P, up, down, each of shape (len(values),)."""
    up, down = (follow(SETUP, order, seed) for order in (values, values[::-1]))
    return {"P": np.array(values), "up": up, "down": down[::-1]}


def finite_data(attention: Attention, P: int, seed: int) -> Mapping[str, Any]:
    """One fit to P sequences at P / sigma2 = ``SCALED_P``."""
    return _numbers(fit_map(Setup(25, 5, P / SCALED_P[attention]), attention, P, seed, fast=True))


def scaled_P(attention: Attention, L: int) -> float:
    """P / sigma2 of ``finite_length``: beyond the rise of copying by the same factor at every L."""
    setup = Setup(L, 5)
    if attention == "linear":
        return BEYOND[attention] * LinearAction(setup).copy_P / setup.sigma2
    transition = SoftmaxAction(setup).first_order_transition()
    if transition is None:
        raise ValueError(f"L must be large enough for a softmax transition, got {L}")
    return BEYOND[attention] * transition.P / setup.sigma2


def finite_length(attention: Attention, L: int, per_position: int, seed: int) -> Mapping[str, Any]:
    """Three fits to P = L ``per_position`` sequences of length L at ``scaled_P``.

    Of all M; of those that mix the four patterns (``four_...``); and of those that mix the theory's two (``two_...``).
    """
    P = L * per_position
    setup = Setup(L, 5, P / scaled_P(attention, L))
    fit = fit_map(setup, attention, P, seed, fast=True)
    action = ReducedAction(setup, attention, sequences(L, 5, P, seed), np.float32)
    found = _numbers(fit)
    for name, basis in (("four", invariant_patterns(L, 5)), ("two", invariant_patterns(L, 5)[:2])):
        found |= {f"{name}_{x}": value for x, value in restricted(action, basis, fit.M).items()}
    return found


def invariant_patterns(L: int, V: int) -> NDArray[np.float64]:
    """M whose logits say: all positions, the predecessor, the same token, oneself; shape (4, V + L, V + L).

    These logits stay as they are when tokens are renamed, or when positions are.
    """
    same_token = np.zeros((V + L, V + L))
    same_token[:V, :V] = np.eye(V) - 1 / V
    return np.stack([planted(J(L), V), planted(G_star(L), V), same_token, planted(np.eye(L), V)])


def restricted(action: ReducedAction, basis: NDArray[np.float64], near: NDArray[np.float64]) -> dict[str, float]:
    """c1, c_G and action of the best mixture of ``basis``, shape (n, V + L, V + L), from the one nearest to ``near``."""

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = action.value_and_gradient(np.tensordot(weights, basis, axes=1))
        return value, np.tensordot(basis, gradient, axes=2)

    start = np.linalg.lstsq(basis.reshape(len(basis), -1).T, near.ravel(), rcond=None)[0]
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options=dict(ftol=1e-8, gtol=1e-3))
    c1, c_G = order_parameters(action.attention(np.tensordot(best.x, basis, axes=1)).mean(axis=0))
    sign = global_sign(c1, c_G, action.setup.L)
    return {"c1": float(sign * c1), "c_G": float(sign * c_G), "action": float(best.fun)}


def _numbers(fit: LinearFit | SoftmaxFit) -> dict[str, Any]:
    c1, c_G = order_parameters(fit.attention)
    return {"c1": float(c1), "c_G": float(c_G), "action": fit.action, "loss": fit.loss, "coverage": fit.coverage,
            "evaluations": fit.evaluations}


# --- what the chapter shows ----------------------------------------------------------------------------------------


def full() -> Result:
    """Ten data sets; twenty where fluctuations are measured, three for every length."""
    return _run(scratch("order_parameters"), range(10), fits=sorted(GRID + BETWEEN), scaled=(2, 4, 8), step=2,
                data=((75, 150, 300, 600, 1200, 2400), range(20)), length=((16, 25, 40, 64), (24, 48), range(3)))


def quick() -> Result:
    """Three data sets, half as many points: under a minute on two cores."""
    return _run(None, range(3), fits=GRID, scaled=(2, 4), step=5,
                data=((75, 150, 300, 600), range(6)), length=((16, 25, 40), (12, 24), range(1)))


def _run(home: Path | None, seeds: Sequence[int], *, fits: Sequence[int], scaled: Sequence[int], step: int,
         data: tuple[Sequence[int], ...], length: tuple[Sequence[int], ...]) -> Result:
    """All cells; the keywords are the axes of each part, apart from ``seeds``."""
    followed = partial(loop, values=tuple(range(250, 305, step)))
    parts: dict[str, tuple[Any, dict[str, Any]]] = {
        "fits": (fitted, dict(attention=BOTH, P=fits, seed=seeds)),
        "coexistence": (coexisting, dict(seed=seeds)),
        "scaled": (coexisting_scaled, dict(times=scaled, seed=seeds)),
        "loop": (followed, dict(seed=seeds)),
        "data": (finite_data, dict(attention=BOTH, P=data[0], seed=data[1])),
        "length": (finite_length, dict(attention=BOTH, L=length[0], per_position=length[1], seed=length[2])),
    }
    return join(**{name: sweep(function, axes, folder=home / name if home else None)
                   for name, (function, axes) in parts.items()})
