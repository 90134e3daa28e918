"""The exported notebooks run on Colab's versions, and installing the package there changes none of them.

The environment is built once from ``colab-constraints.txt`` and kept in ``_build/colab-venv``.  The package gets into
it the way a reader's does: by the first code cell of a notebook, with a local clone in place of the public address.
Notebooks run in live mode, in an empty folder, as on Colab.
"""

from __future__ import annotations

import fcntl
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from environments import virtual_environment
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = Path(__file__).parent / "colab-constraints.txt"
VENV = ROOT / "_build/colab-venv"
PYTHON = VENV / "bin/python"
# The pins of Colab pull in a notebook server through ipywidgets; the kernel side needs only these two.
WITHOUT_DEPENDENCIES = ("ipywidgets", "ipython_genutils")
# Colab has these too, but not in a version to be had here without gigabytes (torch) or known to us (joblib, ArviZ).
STAND_INS = ("torch==2.13.0", "joblib>=1.3", "arviz>=0.17,<1")
sys.path.insert(0, str(ROOT / "tools"))

from myst_book import load_book  # noqa: E402


def pip(*arguments: str) -> str:
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


def pins() -> list[str]:
    lines = CONSTRAINTS.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def install_pins() -> None:
    alone = [pin for pin in pins() if pin.startswith(WITHOUT_DEPENDENCIES)] + ["ipython_genutils"]
    rest = [pin for pin in pins() if pin not in alone]
    # setuptools builds the package without network later; pip does not list it as installed.
    pip("install", "--quiet", "--no-compile", "setuptools>=77", *rest, *STAND_INS)
    pip("install", "--quiet", "--no-deps", *alone)


def freeze() -> set[str]:
    return {line for line in pip("freeze").splitlines() if not line.startswith("copyhead")}


def notebooks() -> list[Path]:
    return [page.path.with_suffix(".ipynb") for page in load_book(ROOT).pages.values() if page.is_notebook]


def clone(folder: Path) -> Path:
    """A repository with the package as it stands in the working tree."""
    repository = folder / "clone"
    repository.mkdir()
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, repository)
    shutil.copytree(ROOT / "copyhead", repository / "copyhead", ignore=shutil.ignore_patterns("__pycache__"))
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "--quiet", "--initial-branch=main"], ["add", "."], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    return repository


def execute(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run all cells, with the interpreter of the environment, in ``folder``."""
    NotebookClient(notebook, timeout=300, kernel_name="colab", resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


@pytest.fixture(scope="module", autouse=True)
def kernel(tmp_path_factory: pytest.TempPathFactory) -> object:
    """The environment with a kernel called "colab", free of the switches that the book's build sets."""
    VENV.parent.mkdir(exist_ok=True)
    lock = VENV.with_suffix(".lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # one process at a time builds, installs and runs
    virtual_environment(VENV, [CONSTRAINTS.read_text("utf-8"), *STAND_INS, inspect.getsource(install_pins)], install_pins)
    spec = tmp_path_factory.mktemp("jupyter") / "kernels/colab"
    spec.mkdir(parents=True)
    argv = [str(PYTHON), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Colab", "language": "python"}))
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("COPYHEAD_", "MPL", "PYTHON"))]:
            patch.delenv(name)
        patch.setenv("JUPYTER_PATH", str(spec.parent.parent))
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # pip's spelling of "do not isolate"
        yield
    lock.close()


@pytest.fixture(scope="module")
def installed(kernel: object, tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """Install the package by the set-up cell; the other installed packages before and after."""
    folder = tmp_path_factory.mktemp("install")
    pip("uninstall", "--quiet", "--yes", "copyhead")
    before = freeze()
    cell = next(cell for cell in nbformat.read(notebooks()[0], 4).cells if cell.cell_type == "code")
    local, count = re.subn(r'git\+https://[^"]*', f"git+file://localhost{clone(folder)}@main", cell.source)
    assert count == 1
    check = nbformat.v4.new_code_cell("import copyhead\nprint(copyhead.__file__)")
    notebook = execute(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(local), check]), folder)
    assert str(VENV) in notebook.cells[1].outputs[0].text, notebook.cells[0].outputs
    return before, freeze()


def run_live(path: Path, folder: Path) -> nbformat.NotebookNode:
    notebook = execute(nbformat.read(path, 4), folder)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            # A stub prints that it is not finished; nothing may complain on the side.
            assert output.get("name") != "stderr", output.text
    return notebook


def has_slider(notebook: nbformat.NotebookNode) -> bool:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return any("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in outputs)


def test_installing_changes_no_version_and_the_tour_runs(installed: tuple[set[str], set[str]], tmp_path: Path) -> None:
    """One test, so that parallel workers do not wait for each other's turn with the environment."""
    before, after = installed
    assert before == after
    assert set(pins()) <= before
    assert has_slider(run_live(ROOT / "book/start/tour.ipynb", tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_every_notebook_runs_live(installed: tuple[set[str], set[str]], path: Path, tmp_path: Path) -> None:
    notebook = run_live(path, tmp_path)
    calls_slider = any("slider_figure(" in cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert has_slider(notebook) or not calls_slider
