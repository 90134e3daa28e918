"""The theory runs elsewhere too: newer Pythons, the oldest and the newest libraries, and without torch.

Each environment is made in ``_build/versions`` and kept.  In it, the theory's tests run, and the code of the chapters on
theory, cell after cell as one script.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from dependencies import code_without_magics
from environments import virtual_environment
from execute import chapters
from visits import ROOT

OLDEST = ["numpy==2.0.0", "scipy==1.13.0", "sympy==1.13.0", "matplotlib==3.9.0", "ipywidgets==7.7.1", "tqdm==4.66.0"]
NEWEST = ["numpy", "scipy", "sympy", "matplotlib", "ipywidgets", "tqdm"]
ENVIRONMENTS = {"3.11-oldest": OLDEST, "3.11-newest": NEWEST, "3.12-newest": NEWEST, "3.13-newest": NEWEST}
TESTS = ["test_setup", "test_theory_properties", "test_theory_reference", "test_reduced", "test_fit", "test_task",
         "test_patterns", "test_kernels", "test_coexistence", "test_results", "test_figures"]  # fmt: skip
PARTS = ("start/tour", "landau/", "prior/", "data/", "transitions/")


def interpreter(version: str) -> str | None:
    """A Python of that version, if it runs here."""
    path = sys.executable if sys.version.startswith(f"{version}.") else shutil.which(f"python{version}")
    if path and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
        return path
    return None


def theory_chapters() -> list[str]:
    return [name for name in chapters(ROOT) if name.removeprefix("book/").startswith(PARTS)]


def script(name: str) -> str:
    """The code of a chapter's cells without those that are exercises to be filled in."""
    cells = nbformat.read(ROOT / f"{name}.ipynb", 4).cells
    code = [c.source for c in cells if c.cell_type == "code" and "exercise" not in c.metadata.get("tags", [])]
    return "\n\n".join(map(code_without_magics, code))


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of an environment without torch."""
    base = interpreter(request.param.split("-")[0])
    if base is None:
        pytest.skip(f"no Python {request.param.split('-')[0]} here")
    folder = ROOT / "_build" / "versions" / request.param
    wanted = [*ENVIRONMENTS[request.param], "pytest", "hypothesis", "joblib", "pyyaml", "nbformat"]

    def install() -> None:
        subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", *wanted], check=True)

    return virtual_environment(folder, wanted, install, base)


def run(python: Path, *arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    command = [str(python), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_theory_holds(python: Path) -> None:
    files = [f"tests/{name}.py" for name in TESTS]
    done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow and not browser", *files)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 300  # type: ignore[index]


@pytest.mark.slow
def test_chapters_on_theory_run(python: Path, tmp_path: Path) -> None:
    failed = {}
    for name in theory_chapters():
        (tmp_path / "chapter.py").write_text(script(name), "utf-8")
        done = run(python, "-W", "error::DeprecationWarning:copyhead", "chapter.py", folder=tmp_path)
        if done.returncode:
            failed[name] = done.stderr.strip().splitlines()[-1]
    assert failed == {}
    assert len(theory_chapters()) >= 19


@pytest.mark.slow
def test_without_torch_the_error_says_what_to_install(python: Path) -> None:
    done = run(python, "-c", "import copyhead.training")
    assert done.returncode == 1
    assert "torch" in done.stderr.strip().splitlines()[-1]
