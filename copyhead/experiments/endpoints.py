"""Where jumps end, in fitted networks: linear attention at (L, V) = (100, 2), the end of the line of softmax at V = 5.

Four sweeps, joined:

``equal``       linear attention, over sigma2 and data sets: the P / sigma2 at which the pooled and the copy state have equal
                action, over all (V + L)^2 weights, and what the shift from theory's value is made of
``loop``        one data set followed up and down through the window with two states
``softmax``     over sigma2, length and data sets: the jump of a_G where the two states have equal action, NaN without one
``line``        loss along the softmax line from both starts, at lengths on both sides of the endpoint

Fits of linear attention start from theory's two states at theory's coexistence, which only saves time: each descent runs
until the action is within a thousandth of its minimum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.coexistence import equal_action
from copyhead.fit import fit_map
from copyhead.linear import LinearAction
from copyhead.patterns import global_sign, order_parameters
from copyhead.population import PopulationAction, PopulationHessian
from copyhead.preconditioned import ChunkedAction, descend_preconditioned
from copyhead.results import Result, join, scratch
from copyhead.sectors import symmetric_matrix
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction
from copyhead.sweep import sweep
from copyhead.task import sequences

LINEAR = (100, 2)
V = 5
Array = NDArray[np.float64]
FIELDS = ("action", "loss", "c1", "c_G", "evaluations")
TOLERANCE, EVALUATIONS = 1e-3, 80
SLOPE = 2.9                      # L (loss_pooled - loss_copy) / 2 in theory, to two digits: a first guess needs no more


@cache
def theory() -> tuple[float, list[Array], list[PopulationHessian]]:
    """P / sigma2 of coexistence in the complete closure, the two states as M, and the population Hessian at each.

    None of the three depends on sigma2, which is 1 here.
    """
    setup = Setup(*LINEAR, 1.0)
    jump = LinearAction(setup, closure="complete").first_order_transition()
    assert jump is not None
    states = [symmetric_matrix(*LINEAR, s.c1, s.c_G, s.tau, s.kappa) for s in (jump.uniform, jump.copy)]
    return jump.P, states, [PopulationAction(setup, jump.P).hessian(M) for M in states]


def fitted(action: ChunkedAction, M: Array, state: int) -> tuple[Array, dict[str, float]]:
    """The minimum below M, preconditioned with the Hessian of ``state`` (0 pooled, 1 copy), and what it shows."""
    end = descend_preconditioned(action, M, theory()[2][state], tolerance=TOLERANCE, evaluations=EVALUATIONS)
    c1, c_G = order_parameters(action.attention(end.M))
    sign = global_sign(c1, c_G, LINEAR[0])
    values = (end.action, action.loss(end.M), float(sign * c1), float(sign * c_G), end.evaluations)
    return end.M, dict(zip(FIELDS, values, strict=True))


def data(sigma2: float, x: float, seed: int) -> ChunkedAction:
    """The action on round(x sigma2) sequences."""
    tokens = sequences(*LINEAR, round(x * sigma2), seed)
    return ChunkedAction(Setup(*LINEAR, sigma2), tokens, chunk=250, dtype=np.float32)


def shift(sigma2: float, seed: int) -> dict[str, float]:
    """What moves the point of equal action: contributions to action(copy) - action(pooled) at theory's coexistence.

    ``fixed``: with the attention of theory's states; ``relaxed``: by the first Newton step of each, -g H^-1 g / 2.
    """
    x, states, hessians = theory()
    action, parts = data(sigma2, x, seed), []
    for M, hessian in zip(states, hessians, strict=True):
        value, gradient = action.value_and_gradient(M)
        parts.append((value, -np.vdot(gradient, hessian.solve(gradient)) / 2))
    (pooled, first), (copy, second) = parts
    return {"fixed": float(copy - pooled), "relaxed": float(second - first)}


def equal(sigma2: float, seed: int) -> Mapping[str, Any]:
    """P / sigma2 of equal action, by Newton steps with the slope L (loss_pooled - loss_copy) / 2 that the fits measure.

    They begin where ``shift`` leads to expect it.  Where a state is lost there, which shows as both descents ending
    together, P is lowered.
    """
    x, states, _ = theory()
    made = shift(sigma2, seed)
    x += (made["fixed"] + made["relaxed"]) / SLOPE
    for _ in range(12):
        action = data(sigma2, x, seed)
        (M0, pooled), (M1, copy) = (fitted(action, M, i) for i, M in enumerate(states))
        if copy["c_G"] - pooled["c_G"] < 0.02:
            x -= 0.15
            continue
        x = round(x * sigma2) / sigma2
        step = (copy["action"] - pooled["action"]) / (LINEAR[0] * (pooled["loss"] - copy["loss"]) / 2)
        if abs(step) < 0.03:
            ends = {f"{name}_{key}": values[key] for name, values in (("pooled", pooled), ("copy", copy)) for key in FIELDS}
            return {"x": x + step, **made, **ends}
        x, states = x + step, [M0, M1]
    raise RuntimeError(f"no equal action found at sigma2 = {sigma2}, seed {seed}")


def loop(sigma2: float, seed: int, values: Sequence[float]) -> Mapping[str, Any]:
    """c1, c_G, loss and action at each P / sigma2, upwards from the pooled state and downwards from the copy state."""
    arrays: dict[str, Any] = {"x": np.array(values)}
    for name, state, order in (("up", 0, list(values)), ("down", 1, list(values)[::-1])):
        M, found = theory()[1][state], []
        for x in order:
            M, end = fitted(data(sigma2, x, seed), M, state)
            found.append(end)
        for key in FIELDS[:4]:
            arrays[f"{name}_{key}"] = np.array([end[key] for end in (found if name == "up" else found[::-1])])
    return arrays


def softmax_jump(sigma2: float, L: int, seed: int) -> Mapping[str, float]:
    """P / sigma2 and a_G of the two states at equal action, searched from theory's P downwards; NaN if none is found."""
    setup = Setup(L, V, sigma2)
    jump = SoftmaxAction(setup, closure="complete").first_order_transition()
    for share in (1.0, 0.995, 0.99, 0.985, 0.98, 0.975, 0.97, 0.965):
        if jump is None:
            break
        try:
            point = equal_action(setup, seed, round(share * jump.P))
        except (ValueError, RuntimeError):                              # one state only, here or a little further on
            continue
        return {"x": point.P / sigma2, "uniform": point.uniform.a_G, "copy": point.copy.a_G}
    return dict.fromkeys(("x", "uniform", "copy"), float("nan"))


def line(L: int, seed: int, points: int, sigma2: float = 30.0) -> Mapping[str, Any]:
    """Losses from the uniform and the copy start at ``points`` values of P / sigma2, 12 % around theory's line."""
    model = SoftmaxAction(Setup(L, V, sigma2), closure="complete")
    jump = model.first_order_transition()
    P = np.geomspace(3 * sigma2, 15 * sigma2, 2000)
    centre = jump.P if jump else float(P[np.argmin(np.gradient(model.minimum(P).loss, np.log(P)))])
    places = np.round(centre * np.geomspace(0.85, 1.12, points)).astype(int)
    arrays: dict[str, Any] = {"x": places / sigma2}
    for start in ("uniform", "copy"):
        fits = [fit_map(model.setup, "softmax", int(n), seed, start=start, fast=True) for n in places]
        arrays[start] = [fit.loss for fit in fits]
    return arrays


def _all(sigmas: Mapping[float, int], softmax: Mapping[str, Sequence[Any]], values: Sequence[float], points: int,
         seeds: int, keep: bool) -> Result:
    """``sigmas``: data sets for each sigma2 of the linear part."""
    def kept(name: str) -> Any:
        return scratch("endpoints") / name if keep else None

    parts = {f"equal{sigma2:g}": sweep(equal, {"sigma2": [sigma2], "seed": range(count)}, folder=kept(f"equal{sigma2:g}"))
             for sigma2, count in sigmas.items()}
    hysteresis = partial(loop, values=tuple(values))
    parts["loop"] = sweep(hysteresis, {"sigma2": [240.0], "seed": [0]}, folder=kept("loop"))
    parts["softmax"] = sweep(softmax_jump, softmax, folder=kept("softmax"))
    parts["line"] = sweep(partial(line, points=points), {"L": [10, 12, 14, 18, 20, 25], "seed": range(seeds)},
                          folder=kept("line"))
    return join(**parts)


def quick() -> Result:
    """Small data sets and two lengths."""
    return _all({60.0: 1, 120.0: 1}, {"sigma2": [30.0], "L": [18, 20], "seed": range(1)}, (24.2, 24.5), 5, 1, keep=False)


def full() -> Result:
    """Five noise levels for linear attention, four for softmax."""
    return _all({60.0: 4, 120.0: 4, 240.0: 4, 480.0: 3, 960.0: 2},
                {"sigma2": [30.0, 120.0, 480.0, 1920.0], "L": [17, 18, 19, 20, 22, 25], "seed": range(4)},
                (24.0, 24.1, 24.2, 24.3, 24.4, 24.5, 24.6, 24.7, 24.8, 24.9), 21, 3, keep=True)
