"""First-order transitions: the coexistence point between the two folds of a branch of stationary points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from copyhead.branch import Branch


@dataclass(frozen=True)
class FirstOrderTransition:
    """A first-order transition in P.

    ``P`` is where both states have the same action.  Below ``lower_spinodal`` the copy state is gone, above
    ``upper_spinodal`` the uniform (for linear attention: pooled) state is gone.  ``uniform`` and ``copy`` are the coexisting
    states at ``P``; ``barrier`` is the action of the saddle between them minus theirs; ``loss_jump`` is
    ``uniform.loss - copy.loss``, positive.
    """

    P: float
    lower_spinodal: float
    upper_spinodal: float
    uniform: Any
    copy: Any
    barrier: float
    loss_jump: float


def coexistence(
    branch: Branch, state: Callable[[float, float], Any], scale: float, slope: float
) -> FirstOrderTransition | None:
    """Equal-action point of the two rising segments around the branch's pair of folds; None without folds.

    ``state(s, log_q)`` gives the state at parameter s; P = ``scale`` * exp(log_q).  The difference of the two actions falls
    monotonically in P because dS/dP = ``slope`` * loss and the copy state has the smaller loss, so the root is unique.
    """
    if not branch.folds:
        return None
    if len(branch.folds) != 2:
        raise RuntimeError(
            f"double precision does not resolve the branch at this length (found {len(branch.folds)} turning points "
            "instead of two): use L <= 10**6"
        )
    first, middle, last = branch.segments
    upper, lower = branch.folds[0][1], branch.folds[1][1]

    def at(segment: Any, log_q: float) -> Any:
        return state(float(branch.solve(segment, np.array([log_q]))[0]), log_q)

    def excess(log_q: float) -> float:
        return at(first, log_q).action - at(last, log_q).action

    log_q = brentq(excess, lower + 1e-15 * abs(lower), upper - 1e-15 * abs(upper), xtol=1e-15, rtol=1e-15)
    uniform, copy, saddle = (at(segment, log_q) for segment in (first, last, middle))
    # one Newton step with the exact slope d(difference)/dP removes what brentq's stopping rule left
    P = scale * math.exp(log_q) - (uniform.action - copy.action) / (slope * (uniform.loss - copy.loss))
    return FirstOrderTransition(
        P=P,
        lower_spinodal=scale * math.exp(lower),
        upper_spinodal=scale * math.exp(upper),
        uniform=uniform,
        copy=copy,
        barrier=saddle.action - (uniform.action + copy.action) / 2,
        loss_jump=uniform.loss - copy.loss,
    )
