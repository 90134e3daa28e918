"""Style and types, as `make lint` checks them: the package, the tools, the tests, and the cells of the chapters."""

from __future__ import annotations

import subprocess
import sys

import pytest
from visits import ROOT


def check(*command: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if result.returncode:
        pytest.fail(f"{' '.join(command[:6])}\n{result.stdout}{result.stderr}", pytrace=False)


def test_ruff_on_code() -> None:
    check("ruff", "check", "--output-format=concise", "copyhead", "tools", "tests")


def test_ruff_on_cells() -> None:
    # Named one by one, because discovery leaves out what is exported; hidden folders hold editors' copies.
    paths = (path.relative_to(ROOT) for path in sorted((ROOT / "book").rglob("*.ipynb")))
    names = [str(path) for path in paths if not any(part.startswith(".") for part in path.parts)]
    assert names, "no exported notebooks: run `make notebooks` first"
    check("ruff", "check", "--no-cache", "--output-format=concise", *names)


def test_types() -> None:
    check("mypy")
    check("mypy", "--disallow-untyped-defs", "copyhead", "tools")
