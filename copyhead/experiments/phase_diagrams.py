"""Phase diagrams: the loss of the most probable network over sequences and length, and over sequences and vocabulary.

Four panels, each a sweep over P, L (at V = 5) or V (at L = 25), and seeds of the data:

    linear_L, linear_V      arrays loss, action, c1, c_G
    softmax_L, softmax_V    arrays loss, action, a_G

and one sweep, ``endpoint``, along the line of the softmax transition: two fits at each P, from the uniform and from the
copy state.  Their losses differ where both are minima; where their actions are equal is the transition.

A cell of a panel is one fit of the infinitely wide network to P random sequences (``fit_map``); no theory enters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from copyhead.diagrams import PAPER, SIGMA2, boundaries
from copyhead.fit import fit_map
from copyhead.reduced import Attention
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.sweep import sweep

PANELS: tuple[tuple[Attention, str], ...] = (("linear", "L"), ("softmax", "L"), ("linear", "V"), ("softmax", "V"))


def sample_numbers(count: int) -> list[int]:
    """P from 5 to 1000, evenly spaced on a logarithmic axis and rounded."""
    return [round(P) for P in np.geomspace(5, 1000, count)]


def evenly(first: int, last: int, count: int) -> list[int]:
    """Whole numbers from ``first`` to ``last``, as evenly as rounding allows; at most as many as there are."""
    return sorted({round(value) for value in np.linspace(first, last, count)})


def fitted(attention: Attention, P: int, L: int, V: int, seed: int) -> Mapping[str, float]:
    """One cell: the most probable network for P sequences of length L over V tokens."""
    fit = fit_map(Setup(L, V, SIGMA2), attention, P, seed, fast=True)
    order = ("c1", "c_G") if attention == "linear" else ("a_G",)
    return {name: getattr(fit, name) for name in ("loss", "action", *order)}


def two_starts(L: int, seed: int, points: int) -> Mapping[str, Any]:
    """Fits from the uniform and from the copy start at ``points`` values of P around theory's transition or crossover.

    Arrays P, uniform_loss, copy_loss, uniform_action, copy_action of shape (points,).  P reaches from 8 % below theory's
    line to 6 % above: for L <= 25 beyond the window in which the network has two states, on both sides.
    """
    line = boundaries("softmax", "L", [L])
    centre = np.nansum([line["transition"], line["crossover"]])              # one of the two is NaN
    P = np.round(centre * np.linspace(0.92, 1.06, points)).astype(int)
    arrays: dict[str, Any] = {"P": P}
    for start in ("uniform", "copy"):
        fits = [fit_map(Setup(L, PAPER["V"], SIGMA2), "softmax", int(n), seed, start=start, fast=True) for n in P]
        arrays |= {f"{start}_{name}": [getattr(fit, name) for fit in fits] for name in ("loss", "action")}
    return arrays


def endpoint(L: Sequence[int], seeds: int, points: int, **options: Any) -> Result:
    """``two_starts`` over lengths and data sets."""
    return sweep(partial(two_starts, points=points), {"L": L, "seed": range(seeds)}, **options)


def panels(P: Sequence[int], L: Sequence[int], V: Sequence[int], seeds: int, *, n_jobs: int | None = None,
           keep: bool = False) -> dict[str, Result]:
    """The four panels on the given axes; ``keep`` the cells on disk, so that a killed run can go on."""
    axes = {"L": L, "V": V}
    other = {"L": "V", "V": "L"}
    parts = {}
    for attention, axis in PANELS:
        name = f"{attention}_{axis}"
        function = partial(fitted, attention, **{other[axis]: PAPER[other[axis]]})
        parts[name] = sweep(function, {"P": P, axis: axes[axis], "seed": range(seeds)}, n_jobs=n_jobs,
                            folder=scratch("phase_diagrams") / name if keep else None)
    return parts


def quick() -> Result:
    """8 x 8 cells a panel and seven lengths around the endpoint, one data set."""
    maps = panels(sample_numbers(8), evenly(6, 60, 8), evenly(2, 20, 8), seeds=1, n_jobs=-1)
    return join(**maps, endpoint=endpoint((14, 16, 17, 18, 19, 20, 25), seeds=1, points=41, n_jobs=-1))


def full() -> Result:
    """20 x 20 cells a panel (the vocabulary has only 19 sizes from 2 to 20) and twelve lengths, three data sets."""
    maps = panels(sample_numbers(20), evenly(6, 60, 20), evenly(2, 20, 20), seeds=3, n_jobs=-1, keep=True)
    end = endpoint((12, 14, 15, 16, 17, 18, 19, 20, 22, 25, 30, 40), seeds=3, points=57, n_jobs=-1,
                   folder=scratch("phase_diagrams") / "endpoint")
    return join(**maps, endpoint=end)
