"""Tests and benchmark on a CUDA machine: ``make gpu``.

First the tests marked ``gpu``: CPU and CUDA give the same numbers.  Then what the chapters do on a GPU, each once after
a warm-up, and single steps of the network at several d.  The times go to ``tools/gpu.json``; commit it, and the headers
of the chapters show them in place of estimates.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpu_times import FILE

from copyhead import Setup
from copyhead.cost import adam_step

ROOT = Path(__file__).resolve().parent.parent
DIMENSIONS = (1024, 4096, 10_000)
SEQUENCES = 300


def full_size(device: str) -> None:
    from copyhead.experiments.full_size import FULL, adam

    adam("softmax", SEQUENCES, FULL, 0, device=device)


def live_run(device: str) -> None:
    from copyhead.experiments.full_size import SETUP
    from copyhead.experiments.trainer import train_at

    train_at(SETUP, "linear", 500, device=device)
    train_at(SETUP, "softmax", 300, device=device)


def ensembles(device: str) -> None:
    from copyhead.ensemble import fit_ensemble
    from copyhead.experiments.order_parameters import GRID, SETUP

    for attention in ("linear", "softmax"):
        fit_ensemble(SETUP, attention, GRID, range(10), device=device)  # type: ignore[arg-type]


# What a reader of these chapters waits for on a GPU.
WORK: Mapping[str, Callable[[str], None]] = {
    "book/experiments/full-size": full_size,
    "book/experiments/adam": live_run,
    "book/experiments/order-parameters": ensembles,
}


def measure(device: str, work: Mapping[str, Callable[[str], None]], dimensions: Sequence[int]) -> dict[str, Any]:
    """Minutes of each piece of work and seconds of a step at each dimension."""
    import torch

    steps = {str(d): step_time(device, d) for d in dimensions}
    minutes, known = {}, {}
    for chapter, function in work.items():
        if function not in known:
            began = time.perf_counter()
            function(device)
            known[function] = (time.perf_counter() - began) / 60
        minutes[chapter] = round(known[function], 3)
    name = torch.cuda.get_device_name() if device.startswith("cuda") else "CPU"
    return {"device": name, "torch": torch.__version__, "created": datetime.now(UTC).strftime("%Y-%m-%d"),
            "minutes": minutes, "steps": steps}


def step_time(device: str, d: int, repeats: int = 20) -> float:
    """Seconds of one Adam step of the network of dimension d: the median of some, after a warm-up."""
    import torch

    from copyhead.experiments.full_size import SETUP
    from copyhead.networks import CopyNetwork
    from copyhead.task import sequences

    network = CopyNetwork(SETUP, "softmax", d, device=device)
    data = network.encode(sequences(SETUP.L, SETUP.V, SEQUENCES, 0))
    method = torch.optim.Adam([p for p in network.parameters() if p.requires_grad], lr=0.1 / d, fused=True)
    times = []
    for _ in range(repeats + 3):
        began = time.perf_counter()
        method.zero_grad()
        network.action(data).backward()
        method.step()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return sorted(times[3:])[repeats // 2]


def report(record: Mapping[str, Any]) -> str:
    """The record as a table, with what the count of bytes says beside the steps."""
    lines = [f"{record['device']}, torch {record['torch']}", f"{'d':>8} {'step, ms':>10} {'GB moved':>10} {'GB/s':>8}"]
    for d, seconds in record["steps"].items():
        moved = adam_step(Setup(25, 5), int(d)).traffic / 1e9
        lines.append(f"{d:>8} {1000 * seconds:10.2f} {moved:10.3f} {moved / seconds:8.0f}")
    lines += [f"{chapter}: {minutes:.2f} min" for chapter, minutes in record["minutes"].items()]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the GPU tests and measure times on this machine's CUDA device.")
    parser.add_argument("--output", type=Path, default=ROOT / FILE)
    options = parser.parse_args()
    import torch

    if not torch.cuda.is_available():
        print(f"make gpu needs a CUDA device, and torch {torch.__version__} finds none here "
              f"(built for CUDA: {torch.version.cuda or 'no'}).\nNothing was tested, nothing was measured, and "
              f"{FILE} stays as it is; the headers of the chapters show estimates.", file=sys.stderr)
        return 1
    tests = subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "gpu"], cwd=ROOT, check=False)
    if tests.returncode:
        print("The GPU tests failed, so nothing was measured.", file=sys.stderr)
        return tests.returncode
    record = measure("cuda", WORK, DIMENSIONS)
    options.output.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    print(report(record), f"\nWritten to {options.output}; commit it, and `make book` shows these times.", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
