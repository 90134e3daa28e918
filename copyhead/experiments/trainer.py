"""Short training runs along P: cold, and warm-started up and down, which is what the slider of ``trainer.py`` does live.

A **cold** run starts from new small weights.  A **warm** run starts from the weights that were trained at another P, plus
a draw of the same small weights: without that kick a network in an exactly symmetric state would stay there for ever.
The training sequences are nested in P (``task.sequences``), so a sweep follows one growing or shrinking data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from copyhead.reduced import Attention
from copyhead.results import Result, scratch
from copyhead.setup import Setup
from copyhead.sweep import sweep
from copyhead.task import sequences

if TYPE_CHECKING:
    from copyhead.training import TrainingRun

PAPER_P = (20, 60, 100, 200, 250, 275, 300, 325, 350, 400, 500, 600, 700, 800)
# The paper's grid, with more values where linear attention turns on and where softmax attention has two states.
GRID = tuple(sorted({*PAPER_P, 30, 40, 260, 270, 280, 290}))
STARTS = ("cold", "up", "down")
STEPS, RECORD_EVERY = 800, 10
HASTE = 2.0                    # learning rate in units of the rule of ``training.learning_rate``
STILL, QUIET = 16, 2e-5        # a run ends when the action moved by less than this share over so many records
WIDTH = 256                    # embedding dimension of the stored runs of the full network


def train_at(setup: Setup, attention: Attention, P: int, *, start: Any = None, d_model: int | None = None, seed: int = 0,
             data_seed: int = 0, steps: int = STEPS, device: Any = None,
             on_record: Callable[[int, Mapping[str, float]], Any] | None = None) -> tuple[TrainingRun, Any]:
    """Train one network with Adam on P sequences until the action stands still; return the run and the network.

    ``start`` is a trained network of the same kind to go on from, which stays as it is.  ``d_model`` gives the full
    network, its absence the reduced one.  ``on_record`` may return False to stop.
    """
    from copyhead.networks import CopyNetwork, Network, ReducedNetwork
    from copyhead.training import learning_rate, train

    network: Network = (
        ReducedNetwork(setup, attention, seed=seed, device=device) if d_model is None
        else CopyNetwork(setup, attention, d_model, seed=seed, device=device))
    if start is not None:
        for mine, trained in zip(network.parameters(), start.parameters(), strict=True):
            mine.data.add_(trained.data) if mine.requires_grad else mine.data.copy_(trained.data)
    actions: list[float] = []

    def watch(step: int, values: Mapping[str, float]) -> bool:
        actions.append(values["action"])
        if on_record is not None and on_record(step, values) is False:
            return False
        return len(actions) <= STILL or abs(actions[-1 - STILL] - actions[-1]) > QUIET * abs(actions[-1])

    run = train(network, sequences(setup.L, setup.V, P, data_seed), steps=steps, lr=HASTE * learning_rate(network),
                record_every=RECORD_EVERY, progress=False, on_record=watch)
    return run, network


def branch(attention: Attention, start: str, *, values: tuple[int, ...] = GRID, d_model: int | None = None,
           steps: int = STEPS) -> dict[str, NDArray[np.floating]]:
    """Train at all ``values``; "up" and "down" start each run from the one before in that order.

    Arrays ``c1``, ``c_G``, ``action`` at the end of each run, shape (values,), and ``curve``, the loss every
    ``RECORD_EVERY`` steps, NaN after the end, shape (values, records).
    """
    setup = Setup(L=25, V=5)
    ends = np.empty((3, len(values)))
    curve = np.full((len(values), steps // RECORD_EVERY + 1), np.nan, dtype=np.float32)
    order = range(len(values))
    network = None
    for i in reversed(order) if start == "down" else order:
        run, network = train_at(setup, attention, values[i], start=None if start == "cold" else network, d_model=d_model,
                                steps=steps)
        ends[:, i] = run.c1[-1], run.c_G[-1], run.action[-1]
        curve[i, : len(run.loss)] = run.loss
    return {"c1": ends[0], "c_G": ends[1], "action": ends[2], "curve": curve}


def runs(values: tuple[int, ...], d_model: int | None, steps: int, folder: str | None = None) -> Result:
    """All branches: arrays of shape (attention, start, values, ...); ``d_model`` is infinite for the reduced network."""
    function = partial(branch, values=values, d_model=d_model, steps=steps)
    cells = sweep(function, {"attention": ["linear", "softmax"], "start": list(STARTS)},
                  folder=None if folder is None else scratch(folder))
    size = np.array(np.inf if d_model is None else d_model)
    return Result({**cells.arrays, "P": np.array(values), "d_model": size}, cells.provenance)


def quick() -> Result:
    """Fewer values, shorter runs."""
    return runs((20, 60, 200, 260, 270, 280, 300, 400), None, 500)


def full() -> Result:
    """The whole grid."""
    return runs(GRID, None, STEPS, "trainer")


def quick_wide() -> Result:
    """The full network, narrow, at a few values."""
    return runs((60, 200, 300, 500), WIDTH, 400)


def full_wide() -> Result:
    """The full network with frozen embeddings of dimension ``WIDTH`` on the paper's grid."""
    return runs(PAPER_P, WIDTH, STEPS, "trainer-wide")
