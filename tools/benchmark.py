"""The benchmark table of the README: what the networks do in how much time, against the targets.

    python tools/benchmark.py            several minutes
    python tools/benchmark.py -k step    some rows, chosen as pytest does

The rows come from the tests in ``tests/test_*_benchmark.py``, which print them and fail where a target is missed; here
they are run one after the other, in one thread, and the rows collected.  Estimates for GPUs follow, from counted bytes and
operations; ``make gpu`` measures.  The exit status is pytest's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from copyhead import Setup
from copyhead.cost import DEVICES, adam_step

ROOT = Path(__file__).resolve().parent.parent


def measured(options: Sequence[str] = (), root: Path = ROOT) -> tuple[list[str], int]:
    """Rows that the benchmark tests print, and pytest's exit status."""
    files = sorted(str(path) for path in (root / "tests").glob("test_*_benchmark.py"))
    command = [sys.executable, "-m", "pytest", "-s", "-q", *files, *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    lines = [line.strip() for line in result.stdout.splitlines()]
    if result.returncode:
        print(result.stdout, file=sys.stderr)
    return [line for line in lines if line.startswith("| ") and line.endswith(" |")], result.returncode


def estimated(d: int = 10_000, steps: int = 1000) -> list[str]:
    """Rows for Adam steps of the network of the paper's size on GPUs that are not here."""
    cost = adam_step(Setup(25, 5), d)
    counted = f"{cost.traffic / 1e9:.1f} GB and {cost.operations / 1e9:.0f} GFLOP a step"
    return [f"| {steps} Adam steps of the d = {d:,} network, one {name} | | {steps * cost.seconds(device):.0f} s "
            f"(estimated from {counted}) |" for name, device in DEVICES.items()]


def main() -> int:
    rows, status = measured(sys.argv[1:])
    print("\n".join(["| work | target | measured |", "|---|---|---|", *rows, *estimated()]))
    return status


if __name__ == "__main__":
    sys.exit(main())
