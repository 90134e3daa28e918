"""The posterior at finite chi, sampled: Hamiltonian Monte Carlo in M with the readout integrated out.

Four sweeps, joined:

``table``     the points at which order parameters are quoted; two chains from opposite starts
``branches``  softmax inside its metastable window, two chains that both start in one state
``chi``       three points at growing chi: how far the sampled means are from the MAP
``hopping``   softmax at L = 18, where the barrier is low enough to be crossed

Every cell carries the diagnostics of its chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.fit import fit_map
from copyhead.posterior import ReducedPosterior
from copyhead.reduced import Attention
from copyhead.results import Result, join, scratch
from copyhead.sampling import sample
from copyhead.setup import Setup
from copyhead.sweep import cell_seed, sweep
from copyhead.task import sequences

SETUP = Setup(25, 5)
CHI = 30.0
# attention, P, moves for tuning and draws per chain.  ESS per trajectory is near one, and lowest for c_G of linear
# attention beyond its crossover.
TABLE: tuple[tuple[Attention, int, int, int], ...] = (
    ("linear", 60, 150, 400), ("linear", 100, 150, 400), ("linear", 300, 150, 400), ("linear", 500, 200, 900),
    ("linear", 800, 200, 700), ("softmax", 200, 150, 400), ("softmax", 325, 150, 400), ("softmax", 400, 150, 400),
    ("softmax", 800, 150, 400))
BRANCHES = (290, 300, 305, 320)                                  # P of ``branches``
GROWING: tuple[tuple[Attention, int], ...] = (("linear", 60), ("linear", 500), ("softmax", 400))
CHIS = (30.0, 100.0, 300.0, 1000.0)
KEPT = 200                                                       # draws of each chain that are stored for pictures


def sampled(attention: Attention, P: int, starts: tuple[str, str], tune: int, draws: int, *, chi: float = CHI, L: int = 25,
            seed: int = 0) -> dict[str, Any]:
    """Two chains on the data set ``seed``, begun at the MAP states of the named starts ("zero": at M = 0).

    For each observable x: mean_x, sd_x, error_x (Monte Carlo standard error), rhat_x, ess_x, and kept_x, shape
    (2, KEPT), evenly thinned; besides, acceptance and step of both chains, gradients, and whether they mixed.
    """
    setup = Setup(L, 5)
    posterior = ReducedPosterior(setup, attention, sequences(L, 5, P, seed), chi, np.float32)
    begin = [_start(setup, attention, P, seed, name) for name in starts]
    number = cell_seed(attention=attention, P=P, starts="+".join(starts), chi=chi, L=L, seed=seed)
    samples = sample(posterior, begin, observe=posterior.observe, tune=tune, draws=draws, seed=number, progress=False)
    kept = np.linspace(0, draws - 1, min(draws, KEPT)).astype(int)
    values: dict[str, Any] = {"mixed": samples.mixed, "gradients": samples.gradients, "acceptance": samples.acceptance,
                              "step": samples.step}
    order = ("c1", "c_G") if attention == "linear" else ("a_G", "a_G")
    for name, source in zip(("c1", "c_G", "loss", "potential"), (*order, "loss", "potential"), strict=True):
        values |= {f"mean_{name}": samples.mean(source), f"sd_{name}": samples.sd(source),
                   f"error_{name}": samples.standard_error(source), f"rhat_{name}": samples.rhat[source],
                   f"ess_{name}": samples.ess[source], f"kept_{name}": samples.draws[source][:, kept].astype(np.float32)}
    return values


def _start(setup: Setup, attention: Attention, P: int, seed: int, name: str) -> NDArray[np.float64]:
    if name == "zero":
        return np.zeros((setup.V + setup.L, setup.V + setup.L))
    return fit_map(setup, attention, P, seed, start=name, fast=True).M


def table_point(point: int) -> Mapping[str, Any]:
    """Row ``point`` of ``TABLE``, from opposite starts: M = 0 (for softmax the uniform state) and the copy state."""
    attention, P, tune, draws = TABLE[point]
    return {"attention": attention, "P": P, **sampled(attention, P, ("zero", "copy"), tune, draws)}


def branch(P: int, start: str, draws: int) -> Mapping[str, Any]:
    """Softmax at P, both chains begun in one state: how long does it last?"""
    return sampled("softmax", P, (start, start), 100, draws)


def growing_chi(point: int, chi: float, draws: int) -> Mapping[str, Any]:
    """Row ``point`` of ``GROWING`` at chi, with the MAP of the same data set."""
    attention, P = GROWING[point]
    fit = fit_map(SETUP, attention, P, 0)
    found = sampled(attention, P, ("copy", "copy"), 150, draws, chi=chi)
    map_c1, map_c_G = (fit.a_G, fit.a_G) if attention == "softmax" else (fit.c1, fit.c_G)   # type: ignore[union-attr]
    return {"attention": attention, "P": P, "map_c1": map_c1, "map_c_G": map_c_G, **found}


def hopping(P: int, draws: int) -> Mapping[str, Any]:
    """Softmax at L = 18 from opposite starts; all draws of a_G are kept."""
    return sampled("softmax", P, ("zero", "copy"), 150, draws, L=18)


def experiment(*, points: tuple[int, ...], branches: tuple[int, ...], chis: tuple[float, ...], draws: int,
               keep: bool) -> Result:
    """The four sweeps."""
    def folder(name: str) -> Any:
        return scratch("posterior") / name if keep else None

    parts = {
        "table": sweep(table_point, {"point": points}, folder=folder("table")),
        "branches": sweep(partial(branch, draws=draws), {"P": branches, "start": ("uniform", "copy")},
                          folder=folder("branches")),
        "chi": sweep(partial(growing_chi, draws=draws), {"point": range(len(GROWING)), "chi": chis}, folder=folder("chi")),
        "hopping": sweep(partial(hopping, draws=6 * draws), {"P": (258,)}, folder=folder("hopping")),
    }
    return join(**parts)


def quick() -> Result:
    """One point of each attention, one P in the window, two chi: about a minute."""
    return experiment(points=(0, 6), branches=(300,), chis=(30.0, 300.0), draws=60, keep=False)


def full() -> Result:
    """All points: some twenty CPU minutes."""
    return experiment(points=tuple(range(len(TABLE))), branches=BRANCHES, chis=CHIS, draws=400, keep=True)
