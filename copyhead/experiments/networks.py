"""Attention maps of networks fitted at growing P, of both kinds: the left half of the paper's Fig. 1.

Two kinds of cells, both most probable networks at d = infinity (``fit_map``): ``maps`` keeps the matrices of one fit,
``numbers`` the order parameters of many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from copyhead.fit import fit_map
from copyhead.patterns import order_parameters
from copyhead.reduced import Attention, ReducedAction
from copyhead.results import Result, join
from copyhead.setup import Setup
from copyhead.sweep import sweep
from copyhead.task import sequences

SETUP = Setup(L=25, V=5)
PANELS = (20, 100, 300, 800)                       # P of the paper's Fig. 1
PAPER_P = (20, 60, 100, 200, 250, 275, 300, 325, 350, 400, 500, 600, 700, 800)
BOTH: tuple[Attention, Attention] = ("linear", "softmax")


def maps(attention: Attention, P: int, seed: int) -> Mapping[str, Any]:
    """One fit: ``mean`` attention over the P sequences, (L, L), and ``single``, that of the first sequence alone.

    The sign of linear attention is fixed as in ``fit_map``.  ``spread`` is the root mean square over entries and
    sequences of what a sequence has of its own, and ``coverage`` the share of the attention in span{J, G*}.
    """
    tokens = sequences(SETUP.L, SETUP.V, P, seed)
    fit = fit_map(SETUP, attention, P, seed)
    G = ReducedAction(SETUP, attention, tokens).attention(fit.M)
    return {"mean": fit.attention.astype(np.float32), "single": G[0].astype(np.float32),
            "spread": np.sqrt(np.mean((G - fit.attention) ** 2)), "coverage": fit.coverage}


def numbers(attention: Attention, P: int, seed: int) -> Mapping[str, float]:
    """Order parameters, coverage and loss per token of one fit; for softmax attention c_G is a_G."""
    fit = fit_map(SETUP, attention, P, seed, fast=True)
    c1, c_G = order_parameters(fit.attention)
    return {"c1": float(c1), "c_G": float(c_G), "coverage": fit.coverage, "loss": fit.loss}


def quick() -> Result:
    """The four P of the figure, two data sets."""
    return _both(PANELS, 2)


def full() -> Result:
    """The paper's grid of P, ten data sets."""
    return _both(PAPER_P, 10)


def _both(grid: tuple[int, ...], seeds: int) -> Result:
    axes = {"attention": BOTH, "P": grid}
    return join(maps=sweep(maps, {**axes, "seed": [0]}), numbers=sweep(numbers, {**axes, "seed": range(seeds)}))
