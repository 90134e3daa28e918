"""Functions for the sweep tests, in a module so that worker processes can import them; run, it is a sweep to kill.

    python sweep_examples.py FOLDER OUTPUT N_JOBS      the sweep of ``slow`` over GRID, its calls logged
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from copyhead.results import save
from copyhead.sweep import cell_seed, sweep

GRID: dict[str, Any] = {"P": [3, 10, 30, 100], "kind": ["linear", "softmax"], "seed": range(3)}
LOG = "SWEEP_TEST_LOG"


def noisy(P, kind, seed):
    """Random numbers that depend on the coordinates alone."""
    generator = np.random.default_rng(cell_seed(P=P, kind=kind, seed=seed))
    loss, curve = generator.normal() / P, generator.normal(size=(2, 3))
    return {"loss": loss, "curve": curve, "start": f"{kind}-{seed}", "seed_used": seed}


def slow(P, kind, seed):
    with open(os.environ[LOG], "a") as log:  # short appends do not mix
        log.write(f"{P} {kind} {seed}\n")
    time.sleep(0.06)
    return noisy(P, kind, seed)


def fails_at_30(P, kind, seed):
    if P == 30 and kind == "softmax":
        raise FloatingPointError("the loss is not a number")
    return noisy(P, kind, seed)


def product(a, b):
    return {"product": a * b}


if __name__ == "__main__":
    folder, output, jobs = sys.argv[1:]
    result = sweep(slow, GRID, folder=Path(folder), n_jobs=int(jobs), progress=False)
    save(output, result.arrays, {"name": "sweep test"})
