"""Compute an experiment in full and store its result where the package ships it.

    python tools/store.py phase_diagrams     runs copyhead.experiments.phase_diagrams.full()
    python tools/store.py adam-curves        runs copyhead.experiments.adam.full_curves()

The result goes to ``copyhead/stored/<name>.npz``.  Sweeps that use ``results.scratch`` keep their finished cells in
``_build/stored/<name>``: killed and called again, they go on where they were.  When the result is stored they go.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
from pathlib import Path

from copyhead.results import compute, save


def main() -> int:
    parser = argparse.ArgumentParser(description="Compute an experiment in full and store its result.")
    parser.add_argument("name", help="module of copyhead.experiments, or module-part for its function full_part")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    module, _, part = options.name.partition("-")
    function = getattr(importlib.import_module(f"copyhead.experiments.{module}"), f"full_{part}" if part else "full")
    cells = options.root / "_build" / "stored" / options.name
    os.environ["COPYHEAD_CACHE"] = str(cells)
    result = compute(options.name, "full", function)
    target = options.root / "copyhead" / "stored" / f"{options.name}.npz"
    save(target, result.arrays, result.provenance)
    shutil.rmtree(cells, ignore_errors=True)
    print(f"{target} ({target.stat().st_size / 1000:.0f} kB)\n{result}\n{result.describe()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
