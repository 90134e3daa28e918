"""Networks trained by Adam, run by run: the way they take, where they end, and where the most probable network is.

Experiments on the infinitely wide network (``networks.ReducedNetwork``, the readout a weight like any other):

``trained``   one network from small weights, its trajectory, its end, and its end after the signs of tokens are repaired
``flow``, ``escape``, ``spinodal``   how long softmax attention stays uniform, and up to which P it can
``sectors``   the action of linear attention's minima with one or two tokens of the wrong sign
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from copyhead.fit import fit_map
from copyhead.patterns import order_parameters
from copyhead.reduced import Attention, ReducedAction
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.starts import uniform_start
from copyhead.sweep import sweep
from copyhead.task import HELD_OUT, sequences

if TYPE_CHECKING:
    from copyhead.networks import ReducedNetwork
    from copyhead.training import TrainingRun

SETUP = Setup(L=25, V=5)
PAPER_P = (1, 10, 20, 60, 100, 200, 250, 275, 300, 400, 500, 600, 700, 800)
TEST_SEQUENCES = 100
STEPS, REPAIR_STEPS, RECORD_EVERY = 800, 600, 10
HASTE = 3.0                    # learning rate in units of the rule of ``training.learning_rate``, 0.01
KEPT = (*range(0, 200, 10), *range(200, 500, 20), *range(500, 801, 50))
STILL, QUIET = 10, 1e-5        # a run ends when the action moved by less than this share over so many records
COPYING = 0.4                  # softmax: a_G between the two states, near the barrier


def trained(attention: Attention, P: int, seed: int, *, steps: int = STEPS) -> Mapping[str, Any]:
    """Train one network from small weights and compare it with the MAP on the same sequences.

    Returns
    -------
    mapping
        ``loss``, ``test_loss``, ``c1``, ``c_G`` along the way at the steps ``KEPT``, NaN after the end; ``end``,
        ``repaired`` and ``map``: (action, loss, test loss, c1, c_G) when training ends, after the repair of the signs
        (the same where there is nothing to repair), and of the most probable network (without a test loss); ``last``
        step; ``wrong`` tokens before the repair; ``jump``: the first record with a_G > 0.4; ``patience``: where early
        stopping after a twentieth of the steps without a new minimum would have ended the run, by the held-out and by
        the training loss (step, c_G there), NaN for never.
    """
    from copyhead.networks import ReducedNetwork

    tokens = sequences(SETUP.L, SETUP.V, P, seed)
    network = ReducedNetwork(SETUP, attention, seed=seed)
    run = train_until_still(network, tokens, seed, steps, warmup=steps // 10 if attention == "softmax" else 0)
    where = np.searchsorted(run.step, KEPT)
    way = {name: np.full(len(KEPT), np.nan, dtype=np.float32) for name in ("loss", "test_loss", "c1", "c_G")}
    for name, kept in way.items():
        kept[where < len(run.step)] = getattr(run, name)[where[where < len(run.step)]]
    learned = attention == "linear" and max(abs(run.c1[-1]), run.c_G[-1]) > 0.05
    wrong = wrong_tokens(network, tokens) if learned else np.empty(0, dtype=np.intp)
    reverse_tokens(network, wrong)
    again = train_until_still(network, tokens, seed, REPAIR_STEPS) if len(wrong) else run
    fit = fit_map(SETUP, attention, P, seed, fast=True)
    best = order_parameters(fit.attention)
    copies = np.flatnonzero(run.c_G > COPYING) if attention == "softmax" else np.empty(0, dtype=np.intp)
    stops = [stopped(run.step, values, steps // 20) for values in (run.test_loss, run.loss)]
    return {**way, "end": _end(run), "repaired": _end(again), "map": [fit.action, fit.loss, np.nan, *best],
            "last": run.step[-1], "wrong": len(wrong), "jump": run.step[copies[0]] if len(copies) else np.nan,
            "patience": [(run.step[i], run.c_G[i]) if i is not None else (np.nan, np.nan) for i in stops]}


def train_until_still(network: ReducedNetwork, tokens: np.ndarray, seed: int, steps: int, warmup: int = 0,
                      haste: float = HASTE) -> TrainingRun:
    """Train by Adam for at most so many steps, or until the action stands still."""
    from copyhead.training import learning_rate, train

    actions: list[float] = []

    def moves(step: int, values: Mapping[str, float]) -> bool:
        actions.append(values["action"])
        return len(actions) <= STILL or abs(actions[-1 - STILL] - actions[-1]) > QUIET * abs(actions[-1])

    held_out = sequences(SETUP.L, SETUP.V, TEST_SEQUENCES, seed, stream=HELD_OUT)
    return train(network, tokens, steps=steps, lr=haste * learning_rate(network), warmup=warmup, held_out=held_out,
                 record_every=RECORD_EVERY, progress=False, on_record=moves)


def wrong_tokens(network: ReducedNetwork, tokens: np.ndarray) -> np.ndarray:
    """Tokens that linear attention copies with the wrong sign.

    Where the attention on the predecessor sums to T, token t comes out with the sign of T times the readout's preference
    for t over the other tokens.  That is positive for every token in the lowest minimum.
    """
    V = network.setup.V
    own = network.W.detach().double().numpy()[:, :V]
    preference = (V * np.diag(own) - own.sum(axis=0)) / (V - 1)
    c1, c_G = order_parameters(network.attention(tokens).detach().double().mean(dim=0).numpy())
    return np.flatnonzero(preference * (c1 + np.sqrt(network.setup.L) * c_G) < 0)


def reverse_tokens(network: ReducedNetwork, which: Iterable[int]) -> None:
    """Change the signs of the columns of M and W that belong to these key tokens."""
    for weight in (network.M, network.W):
        weight.data[:, list(which)] *= -1


def _end(run: TrainingRun) -> list[float]:
    return [run.action[-1], run.loss[-1], run.test_loss[-1], run.c1[-1], run.c_G[-1]]


def stopped(step: np.ndarray, loss: np.ndarray, patience: int) -> int | None:
    """Index of the record at which early stopping ends a run: no new minimum for so many steps; None for never."""
    best = np.array([np.argmin(loss[: i + 1]) for i in range(len(loss))])
    late = np.flatnonzero(step - step[best] >= patience)
    return int(late[0]) if len(late) else None


def flow(P: int, seed: int, *, step: float = 0.1, longest: float = 100.0) -> Mapping[str, float]:
    """Time in which gradient flow of S(M), from uniform attention, reaches a_G = 0.4; NaN if it takes too long.

    The readout is at its best at every moment.  The time is the sum of the steps of gradient descent, interpolated.
    """
    action = ReducedAction(SETUP, "softmax", sequences(SETUP.L, SETUP.V, P, seed), np.float32)
    M, before = uniform_start(action), 0.0
    for n in range(1, int(longest / step) + 1):
        M = M - step * action.value_and_gradient(M)[1]
        now = float(order_parameters(action.attention(M).mean(axis=0))[1])
        if now > COPYING:
            return {"time": step * (n - (now - COPYING) / (now - before))}
        before = now
    return {"time": np.nan}


def escape(P: int, seed: int, *, steps: int = 4000) -> Mapping[str, float]:
    """Steps of training from small weights until a_G = 0.4, NaN if that takes too long: ``gd`` at 0.02, ``adam`` at 0.01."""
    from copyhead.networks import ReducedNetwork
    from copyhead.training import train

    def time(method: Literal["adam", "gd"], lr: float) -> float:
        run = train(ReducedNetwork(SETUP, "softmax", seed=seed), tokens, steps=steps, lr=lr, optimizer=method,
                    record_every=5, progress=False, on_record=lambda _, values: values["c_G"] <= COPYING)
        return float(run.step[-1]) if run.a_G[-1] > COPYING else np.nan

    tokens = sequences(SETUP.L, SETUP.V, P, seed)
    return {"gd": time("gd", 0.02), "adam": time("adam", 0.01)}


def spinodal(seed: int) -> Mapping[str, int]:
    """The largest P, to within one sequence, at which a search from uniform attention stays uniform."""
    low, high = 270, 310
    while high - low > 1:
        middle = (low + high) // 2
        copies = fit_map(SETUP, "softmax", middle, seed, start="uniform", fast=True).a_G > COPYING
        low, high = (low, middle) if copies else (middle, high)
    return {"P": low}


def sectors(P: int, seed: int) -> Mapping[str, Any]:
    """Minima of linear attention with 1 and 2 tokens of the wrong sign: ``excess`` action and ``c1``, both (2, 3).

    Each is trained from the MAP with the columns of token t, or t and t + 1, reversed, for t = 0, 1, 2.  NaN where
    training has left the sector: near the pooling transition not every token has such a minimum.
    """
    import torch

    from copyhead.networks import ReducedNetwork

    tokens = sequences(SETUP.L, SETUP.V, P, seed)
    best = fit_map(SETUP, "linear", P, seed)
    readout = ReducedAction(SETUP, "linear", tokens).readout(best.M).T
    excess, c1 = np.full((2, 2, 3), np.nan)
    for flips in (1, 2):
        for t in range(3):
            network = ReducedNetwork(SETUP, "linear")
            network.M.data, network.W.data = (torch.tensor(x, dtype=torch.float32) for x in (best.M, readout))
            reverse_tokens(network, {t, (t + flips - 1) % SETUP.V})
            run = train_until_still(network, tokens, seed, STEPS, haste=1.0)      # lest it leap out of a shallow minimum
            if len(wrong_tokens(network, tokens)) == flips:
                excess[flips - 1, t], c1[flips - 1, t] = run.action[-1] - best.action, run.c1[-1]
    return {"excess": excess, "c1": c1, "best": best.c1}


def experiments(grid: tuple[int, ...], seeds: int, steps: int, near: tuple[int, ...], trained_near: tuple[int, ...],
                flipped: tuple[int, ...], folder: str | None) -> Result:
    """All experiments, as arrays ``runs_...`` over (attention, P, seed), ``flow_...``, ``escape_...`` and ``sectors_...``
    over (P, seed), and ``spinodal_...`` over seed."""
    def cells(part: str, function: Any, axes: Mapping[str, Any]) -> Result:
        return sweep(function, axes, folder=scratch(folder) / part if folder else None)

    few, many = range(min(seeds, 3)), range(seeds)
    return join(escape=cells("escape", escape, {"P": trained_near, "seed": few}),
                flow=cells("flow", flow, {"P": near, "seed": many}), spinodal=cells("spinodal", spinodal, {"seed": many}),
                sectors=cells("sectors", sectors, {"P": flipped, "seed": range(1)}),
                runs=cells("runs", partial(trained, steps=steps),
                           {"attention": ["linear", "softmax"], "P": grid, "seed": many}))


def quick() -> Result:
    """Two seeds on a coarser grid."""
    return experiments((20, 60, 200, 275, 300, 500), 2, 700, (300, 310, 330, 400), (300, 400), (200, 300), None)


def full() -> Result:
    """The paper's grid and ensemble of ten."""
    near, trained_near = (290, 295, 300, 310, 320, 340, 370, 400), (295, 300, 310, 330, 350, 400)
    return experiments(PAPER_P, 10, STEPS, near, trained_near, (200, 300, 500, 800), "adam")
