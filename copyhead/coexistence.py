"""Where the two states of a fitted softmax head are equally good, and how far each survives, on one growing data set.

At one seed the data sets of different P are nested, so P can be moved like a control parameter.  A fit that starts from
the solution at a neighbouring P follows its branch as far as that exists; comparing the actions of the two branches
gives the P of equal action, and following each until it jumps gives the hysteresis loop.  No theory enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from copyhead.fit import SoftmaxFit, fit_map
from copyhead.setup import Setup
from copyhead.validation import whole_number


@dataclass(frozen=True)
class Coexistence:
    """The point of equal action on one data set.

    Attributes
    ----------
    P : float
        Interpolated between the two neighbouring whole numbers at which the difference of actions changes sign.
    uniform, copy : SoftmaxFit
        The two states at the lower of these numbers.
    """

    P: float
    uniform: SoftmaxFit
    copy: SoftmaxFit


def equal_action(setup: Setup, seed: int = 0, guess: int = 270, *, attempts: int = 12) -> Coexistence:
    """Number of training sequences at which the uniform and the copy state have equal action, on one data set.

    By dS_min / dP = L loss / (2 sigma2) for each branch, the difference of actions falls with P at the rate
    L (loss_uniform - loss_copy) / (2 sigma2), all of which the fits measure: Newton steps, from ``guess``, along branches
    that are followed from one P to the next.

    Raises
    ------
    ValueError
        If ``guess`` is not a positive integer at which both states exist.
    RuntimeError
        If no sign change is found, for example because a branch ends first.
    """
    P = whole_number("guess", guess, minimum=1)
    states = {name: fit_map(setup, "softmax", P, seed, start=name, fast=True) for name in ("uniform", "copy")}
    known: dict[int, tuple[float, SoftmaxFit, SoftmaxFit]] = {}
    for _ in range(attempts):
        uniform, copy = states["uniform"], states["copy"]
        if copy.a_G - uniform.a_G < 0.1 * copy.a_G:
            if not known:
                raise ValueError(f"guess must be a P at which two states exist, got {guess}: both starts lead to "
                                 f"a_G = {copy.a_G:.3f}")
            raise RuntimeError(f"a branch ended at P = {P} before the actions were equal (seed {seed})")
        gap = copy.action - uniform.action                      # falls through zero as P grows
        known[P] = (gap, uniform, copy)
        below = max((p for p in known if known[p][0] > 0), default=None)
        above = min((p for p in known if known[p][0] <= 0), default=None)
        if below is not None and above is not None and above - below == 1:
            high, low = known[below][0], known[above][0]
            return Coexistence(below + high / (high - low), *known[below][1:])
        step = gap / (setup.L * (uniform.loss - copy.loss) / (2 * setup.sigma2))
        target = int(np.floor(P + step)) if P + step < P else int(np.ceil(P + step))
        if target in known:                                     # the root lies next to a P that has been visited
            target += 1 if known[target][0] > 0 else -1
        P = target
        states = {name: fit_map(setup, "softmax", P, seed, start=fit.M, fast=True) for name, fit in states.items()}
    raise RuntimeError(f"no equal action within {attempts} fits of each branch (seed {seed}, last P = {P})")


def follow(setup: Setup, values: Sequence[int], seed: int = 0, start: str = "both") -> NDArray[np.float64]:
    """a_G at each P of ``values`` in the order given, each fit starting where the one before ended; shape (len(values),).

    Increasing values from below show the uniform state until it is lost, decreasing ones from above the copy state.
    The fits are fast ones.  They lose a branch where tight fits do; the first value after a jump may be up to a tenth off,
    because the search ends on its slow way there.
    """
    found, M = [], None
    for P in values:
        fit = fit_map(setup, "softmax", P, seed, start=start if M is None else M, fast=True)
        M = fit.M
        found.append(fit.a_G)
    return np.array(found)
