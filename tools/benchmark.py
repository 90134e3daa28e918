"""The benchmark table of the README: what the package does in how much time, against its targets.

    python tools/benchmark.py                 all rows (several minutes)
    python tools/benchmark.py grid step       some of them: grid, panels, transition, step, gpu

Times are CPU seconds of one process with one thread (``OMP_NUM_THREADS=1``), which other work on the machine disturbs
least.  The exit status is 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.cost import DEVICES, adam_step

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))                    # where the row of the training step is

SETUP = Setup(25, 5)
P_STAR = 270.4                                              # of the fitted softmax network, to +- 2


@dataclass(frozen=True)
class Row:
    """One line of the table; ``met`` is None for an estimate."""

    work: str
    target: str
    measured: str
    met: bool | None

    def __str__(self) -> str:
        return f"| {self.work} | {self.target} | {self.measured}{'' if self.met in (True, None) else ' (missed)'} |"


def grid(seeds: int = 10, P: Sequence[int] = ()) -> Iterator[Row]:
    """Figs. 3 and 4 left: time, and distance of the mean over seeds from the theory."""
    from copyhead.experiments.order_parameters import GRID, fitted

    P = P or GRID
    began = time.process_time()
    fits = {a: [[fitted(a, n, seed) for seed in range(seeds)] for n in P] for a in ("linear", "softmax")}
    seconds = time.process_time() - began
    yield Row(f"Figs. 3 + 4 left: {len(P)} P x {seeds} seeds x 2 attentions, MAP", "<= 24 CPU s", f"{seconds:.1f} CPU s",
              seconds <= 24)
    c1, a_G = (np.array([np.mean([fit[name] for fit in row]) for row in fits[a]])
               for a, name in (("linear", "c1"), ("softmax", "c_G")))
    n = np.array(P)
    theory_c1 = LinearAction(SETUP).minimum(n.astype(float)).c1
    theory_a_G = np.array([SoftmaxAction(SETUP).minimum(float(x)).a_G for x in P])
    early, late = (n >= 60) & (n <= 500), (n >= 600) & (n <= 800)
    copy, uniform = n >= 300, n <= 250
    for what, off, where, most, unit in (
        ("c1 from theory, 60 <= P <= 500", c1 / np.where(theory_c1 > 0, theory_c1, 1) - 1, early, 0.02, "%"),
        ("c1 from theory, 600 <= P <= 800", c1 / np.where(theory_c1 > 0, theory_c1, 1) - 1, late, 0.045, "%"),
        ("a_G from theory, P >= 300", a_G / theory_a_G - 1, copy, 0.015, "%"),
        ("a_G from theory, P <= 250", a_G - theory_a_G, uniform, 0.015, ""),
    ):
        if where.any():
            largest = float(np.abs(off[where]).max())
            limit, found = (f"<= {100 * most:.1f} %", f"{100 * largest:.2f} %") if unit else (f"<= {most}", f"{largest:.4f}")
            yield Row(f"largest distance of {what}", limit, found, largest <= most)


def panels(count: int = 20) -> Iterator[Row]:
    """Figs. 3 and 4 centre and right: four panels of count x count fits, one seed."""
    from copyhead.experiments import phase_diagrams

    axes = (phase_diagrams.sample_numbers(count), phase_diagrams.evenly(6, 60, count), phase_diagrams.evenly(2, 20, count))
    began = time.process_time()
    made = phase_diagrams.panels(*axes, 1)
    seconds = time.process_time() - began
    fits = sum(part["loss"].size for part in made.values())
    yield Row(f"four phase diagrams, {count} P x {len(axes[1])} L and {count} P x {len(axes[2])} V ({fits} fits), one seed",
              "<= 180 CPU s", f"{seconds:.0f} CPU s", seconds <= 180)


def transition(seeds: int = 10) -> Iterator[Row]:
    """Where the two states of softmax attention have equal action."""
    from copyhead.experiments.order_parameters import coexisting

    began = time.process_time()
    P = np.array([coexisting(seed)["P"] for seed in range(seeds)])
    seconds = time.process_time() - began
    error = P.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else np.inf
    yield Row(f"softmax P* of the MAP over {seeds} data sets", f"{P_STAR} +- 2 in <= 60 s",
              f"{P.mean():.1f} +- {error:.1f} in {seconds:.0f} CPU s", bool(abs(P.mean() - P_STAR) <= 2 and seconds <= 60))


def step(d: int = 4096) -> Iterator[Row]:
    """One training step of the full network against the least that its weights ask for."""
    from test_network_benchmark import P, step_times

    bare, ours = step_times(d)
    yield Row(f"one step of the d = {d} network at P = {P}, one core", "<= 1.2 x bare E W E^T and fused Adam",
              f"{ours / bare:.2f} x ({1e3 * ours:.0f} ms against {1e3 * bare:.0f} ms)", ours <= 1.2 * bare)


def gpu(d: int = 10_000, steps: int = 1000) -> Iterator[Row]:
    """Estimates from counted bytes and operations; ``make gpu`` measures."""
    cost = adam_step(SETUP, d)
    for name, device in DEVICES.items():
        seconds = cost.seconds(device)
        counted = f"{cost.traffic / 1e9:.1f} GB and {cost.operations / 1e9:.0f} GFLOP"
        yield Row(f"{steps} steps at d = {d:,} on {'an' if name[0] == 'H' else 'a'} {name}", "none",
                  f"{steps * seconds:.0f} s (estimated from {counted} a step)", None)


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "grid": grid, "panels": panels, "transition": transition, "step": step, "gpu": gpu,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the rows of the benchmark table and print it in Markdown.")
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], help="all by default")
    options = parser.parse_args()
    print("| work | target | measured |\n|---|---|---|")
    missed = False
    for name in options.rows or ROWS:
        for row in ROWS[name]():
            print(row, flush=True)
            missed |= row.met is False
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
