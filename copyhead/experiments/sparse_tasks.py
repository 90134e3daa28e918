"""Parities and cellular automata learned by small networks: who solves what, and when.

Each cell trains some seeds side by side and stores ``<cell>_solved``, the step at which each seed reached 0.97 of mean
accuracy (inf: not by ``<cell>_horizon``), and ``<cell>_loss``, its last cross entropy per bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from copyhead.bit_tasks import Automaton, LinearMap, Noise, Task
from copyhead.encoder import Encoder, Mixer, Student
from copyhead.progress import bar
from copyhead.seeds import SeedsRun, train_seeds

BIAS = 4.0
SHAPES = ((1, 32), (2, 16), (8, 4), (1, 8), (2, 8), (8, 8), (4, 4), (4, 16))       # heads, head dimension; besides (4, 8)
TOKENS = 512                                                                       # inputs times S in every batch


@dataclass(frozen=True)
class Cell:
    """``kind`` is linear, rule or noise; ``size`` is S, ``order`` s or the number of the rule."""

    kind: str
    size: int
    order: int
    student: Student = Encoder()
    steps: int = 1000
    settings: Mapping[str, Any] = field(default_factory=dict)
    one_map: bool = False

    def run(self, seeds: int) -> SeedsRun:
        maps = [0] * seeds if self.one_map else range(seeds)
        tasks: Mapping[str, Task] = {
            "linear": LinearMap.random(self.size, self.order, maps) if self.kind == "linear" else Noise(self.size),
            "rule": Automaton(self.order, max(self.size, 3)) if self.kind == "rule" else Noise(self.size),
            "noise": Noise(self.size),
        }
        settings: dict[str, Any] = {key: [0] * seeds if value == "one" else value for key, value in self.settings.items()}
        settings |= {"batch": TOKENS // self.size, "record_every": 10 if self.size == 8 else 25}
        return train_seeds(tasks[self.kind], self.student, range(seeds), steps=self.steps, **settings)


def cells(patience: int = 1500) -> dict[str, Cell]:
    """All cells of the chapter; none runs for more than ``patience`` steps."""
    made: dict[str, Cell] = {}
    for s in range(1, 9):
        made[f"order{s}"] = Cell("linear", 8, s, steps=patience)
        if s < 8:                                                     # at s = S the bias shifts all scores: no bias at all
            made[f"told{s}"] = Cell("linear", 8, s, Encoder(bias=BIAS), patience)
    for heads, dim in SHAPES:
        made[f"heads{heads}x{dim}"] = Cell("linear", 8, 3, Encoder(heads, dim), patience)
    for s in range(1, 7):
        made[f"mixer{s}"] = Cell("linear", 8, s, Mixer(), patience)
    for name, lr in (("slow", 1e-3), ("fast", 1e-2)):
        for s in (3, 4):
            made[f"order{s}_{name}"] = Cell("linear", 8, s, Encoder(), patience, {"lr": lr})
            made[f"mixer{s}_{name}"] = Cell("linear", 8, s, Mixer(), patience, {"lr": lr})
    made["luck_map"] = Cell("linear", 8, 3, Encoder(), patience, {"init": "one", "data": "one"})
    made["luck_init"] = Cell("linear", 8, 3, Encoder(), patience, {"data": "one"}, one_map=True)
    made["luck_data"] = Cell("linear", 8, 3, Encoder(), patience, {"init": "one"}, one_map=True)
    for s in (2, 3):
        made[f"long{s}"] = Cell("linear", 12, s, steps=patience)
        made[f"long_mixer{s}"] = Cell("linear", 12, s, Mixer(), patience)
    for S in (8, 16, 32):
        made[f"rule110_{S}"] = Cell("rule", S, 110, steps=min(patience, 1000))
        made[f"rule150_{S}"] = Cell("rule", S, 150, steps=min(patience, 1000))
        for rule in (110, 150):
            made[f"rule{rule}_{S}_told"] = Cell("rule", S, rule, Encoder(bias=BIAS), min(patience, 1000))
    made["noise"] = Cell("noise", 8, 0, steps=min(patience, 300))
    return made


def seeds_of(name: str, seeds: int) -> int:
    """The cells that the chapter compares seed by seed get all seeds, the others half of them."""
    return seeds if name.startswith(("order", "luck")) and "_" not in name.removeprefix("luck_") else max(seeds // 2, 1)


def experiment(chosen: Mapping[str, Cell], seeds: int) -> dict[str, NDArray[Any]]:
    """All cells, and for some of them the way of the first seeds."""
    found: dict[str, NDArray[Any]] = {}
    torch.set_num_threads(1)
    with bar(len(chosen), name="cells") as progress:
        for name, cell in chosen.items():
            run = cell.run(seeds_of(name, seeds))
            found[f"{name}_solved"], found[f"{name}_horizon"] = run.solved(), np.array(run.horizon)
            found[f"{name}_loss"] = run.loss[:, -1]
            if name in ("order2", "order3", "order4"):
                keep = slice(None, None, max(1, len(run.step) // 24))
                found[f"{name}_step"], found[f"{name}_rows"] = run.step[keep], run.rows_solved()
                found[f"{name}_map"] = run.attention[0, keep].mean(axis=1).astype(np.float32)
                found[f"{name}_pattern"] = run.pattern[0]
                found[f"{name}_accuracy"] = run.accuracy[0, keep].astype(np.float32)
                found[f"{name}_curves"] = run.accuracy[:, keep].mean(axis=-1).astype(np.float32)
                found[f"{name}_share"] = run.on_pattern[:, keep].astype(np.float32)
            if name == "noise":
                found["noise_course"] = run.loss
            progress.update()
    return found


def quick() -> Mapping[str, ArrayLike]:
    """Two seeds and at most 180 steps, in which only the easy cells are solved: under a minute."""
    return experiment(cells(180), 2)


def full() -> Mapping[str, ArrayLike]:
    """Sixteen seeds: or eight: some seven minutes of CPU time."""
    return experiment(cells(), 16)
