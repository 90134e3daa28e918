"""Networks with several heads: where they jump, how they divide the work, and what they do on the way.

``jump``     the P at which two states of a network have equal action, on real sequences: the copy task with one and two
             heads, and the second stage of three heads under a teacher with three lags
``states``   most probable attention of three heads at several P
``run``      gradient flow of three heads with a slow readout
``chain``    minimal transformers on a Markov chain of high order; ``few`` the same with few sequences
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.markov import MarkovTask, train_markov
from copyhead.multi import MultiAction, MultiState
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.sweep import sweep
from copyhead.task import sequences
from copyhead.teacher import Teacher, copy_teacher, orthogonal_values
from copyhead.teacher_network import TeacherAction, train_heads

SETUP = Setup(25, 5)
STRENGTHS = (1.0, 0.75, 0.5)
TASKS = {"copy": copy_teacher(25, 5),
         "three": Teacher(25, np.array(STRENGTHS)[:, None, None] * orthogonal_values(5, 3))}
CASES: dict[str, tuple[str, int, list[int | None], list[int | None], int]] = {
    # the task, the number of heads, which lags they are on in the two states, and where to begin
    "one head": ("copy", 1, [None], [0], 272),
    "two heads": ("copy", 2, [None, None], [0, None], 248),
    "second lag": ("three", 3, [0, None, None], [0, 1, None], 365),
}
PATHS = {20.0: (0.02, 40.0), 1000 / 15: (0.01, 6.0)}      # P / sigma2 of ``run``: length of a step, end of the time
RECORDED = 40


def jump(case: str, seed: int, attempts: int = 5) -> Mapping[str, Any]:
    """P of equal action on the data set ``seed``, and the largest attention at the deciding lag in both states.

    Newton steps with the theory's slope, along states that are followed from one P to the next.
    """
    task, heads, before, after, P = CASES[case]
    teacher = TASKS[task]
    model = MultiAction(SETUP, teacher, heads)
    theory = [model.descend(model.assigned(lags, 1.8), P).x for lags in (before, after)]
    found: list[NDArray[np.float64]] = []
    for _ in range(attempts):
        action = TeacherAction(SETUP, "softmax", sequences(SETUP.L, SETUP.V, P, seed), teacher, heads)
        found = [action.descend(M) for M in (found or [action.planted(x) for x in theory])]
        gap = action.value(found[1]) - action.value(found[0])
        slope = SETUP.L * (action.loss(found[1]) - action.loss(found[0])) / (2 * SETUP.sigma2)
        step = -gap / slope
        if abs(step) < 0.5:
            break
        P += int(np.rint(step))
    lag = sum(k is not None for k in after) - 1
    uniform, copying = (float(action.weights(M)[:, lag].max()) for M in found)
    return {"P": P + step, "step": step, "before": uniform, "after": copying}


def states(P: int, seed: int) -> Mapping[str, Any]:
    """Attention of three heads at the three lags at the minimum that descends from the theory's, strongest lag first."""
    teacher = TASKS["three"]
    theory: MultiState = MultiAction(SETUP, teacher, 3).minima(P)[0]
    action = TeacherAction(SETUP, "softmax", sequences(SETUP.L, SETUP.V, P, seed), teacher, 3)
    return {"weights": action.weights(action.descend(action.planted(theory.x)))}


def run(ratio: float, seed: int, sigma2: float = 15.0, speed: float = 0.04) -> Mapping[str, Any]:
    """Gradient flow with a slow readout at P / sigma2 = ``ratio``; heads begin nearly alike."""
    step, end = PATHS[ratio]
    setup = Setup(25, 5, sigma2=sigma2)
    tokens = sequences(25, 5, round(ratio * sigma2), seed)
    start = 0.01 * np.random.default_rng(seed).standard_normal((3, 3))
    times = np.linspace(end / RECORDED, end, RECORDED)
    path = train_heads(setup, TASKS["three"], tokens, heads=3, speed=speed, step=step, times=times, start=start, seed=seed,
                       size=0.01)
    return {"time": path.time, "weights": path.weights, "loss": path.loss}


def chain(seeds: int, steps: int, data: int, every: int = 25) -> Mapping[str, Any]:
    """``train_markov`` as arrays; the heads of each seed as they come."""
    import torch

    torch.set_num_threads(1)
    found = train_markov(MarkovTask(), seeds=seeds, steps=steps, data=data, record_every=every)
    return {"step": found.step, "loss": found.loss, "kl": found.kl, "weights": found.weights}


def full() -> Result:
    """Ten data sets for the jump of the copy task, ten chains."""
    return _run(scratch("many_heads"), jumps=(["one head", "two heads"], range(10)), second=range(5),
                P=(220, 260, 300, 350, 400, 500, 700, 1000, 1400), seeds=range(2),
                chains=dict(seeds=[10], steps=[4000], data=[20_000]), few=dict(seeds=[3], steps=[600], data=[60, 250, 1000]))


def quick() -> Result:
    """Two data sets, two chains: about half a minute."""
    return _run(None, jumps=(["one head", "two heads"], range(2)), second=range(1), P=(220, 300, 500), seeds=range(1),
                chains=dict(seeds=[2], steps=[1500], data=[5000]), few=dict(seeds=[2], steps=[500], data=[60, 1000]))


def full_run() -> Result:
    """The flow of networks with few and with more data, one data set each."""
    return sweep(run, dict(ratio=list(PATHS), seed=range(1)), folder=scratch("many_heads-run"))


def quick_run() -> Result:
    """The same with half as many sequences at half the noise."""
    return sweep(partial(run, sigma2=7.5), dict(ratio=list(PATHS), seed=range(1)))


def _run(home: Path | None, *, jumps: tuple[Sequence[str], Sequence[int]], second: Sequence[int], P: Sequence[int],
         seeds: Sequence[int], chains: dict[str, Any], few: dict[str, Any]) -> Result:
    parts: dict[str, tuple[Any, dict[str, Any]]] = {
        "jump": (jump, dict(case=jumps[0], seed=jumps[1])),
        "second": (jump, dict(case=["second lag"], seed=second)),
        "states": (states, dict(P=P, seed=seeds)),
        "chain": (chain, chains),
        "few": (partial(chain, every=50), few),
    }
    return join(**{name: sweep(function, axes, folder=home / name if home else None)
                   for name, (function, axes) in parts.items()})
