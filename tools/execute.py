"""Run every chapter once and hand its outputs to the book.

The notebooks exported beside the chapters are run by pytest with nbmake, so a chapter that fails is a failing test.
Only those run whose fingerprint (see dependencies.py) differs from that of their last successful run.  The outputs
then go into the cache that myst-nb reads, so that building the book executes nothing.

    python tools/execute.py [--root DIR] [--list]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
import yaml
from dependencies import fingerprint
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from nbformat import NotebookNode

EXECUTED = "_build/notebooks"
CACHE = "_build/.jupyter_cache"
CELL_TIMEOUT_S = 300  # of one cell; a whole chapter is meant to stay under BUDGET_S
BUDGET_S = 45


def documents(toc: object) -> list[str]:
    """Document names in a parsed ``_toc.yml``, in reading order."""
    if isinstance(toc, list):
        return [name for entry in toc for name in documents(entry)]
    if isinstance(toc, dict):
        own = [toc[key] for key in ("root", "file") if key in toc]
        return own + [name for key in ("parts", "chapters", "sections") for name in documents(toc.get(key, []))]
    return []


def chapters(root: Path) -> list[str]:
    """The documents of the book under ``root`` that are notebooks."""
    names = documents(yaml.safe_load((root / "_toc.yml").read_text("utf-8")))
    return [name for name in names if is_myst_markdown_notebook((root / f"{name}.md").read_text("utf-8"))]


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def sources(notebook: NotebookNode) -> list[str]:
    return [cell.source for cell in code_cells(notebook)]


def stale(root: Path, names: list[str]) -> dict[str, str]:
    """Name -> fingerprint of the chapters whose outputs are missing or out of date."""
    todo = {}
    for name in names:
        exported = root / f"{name}.ipynb"
        if not exported.exists():
            raise FileNotFoundError(f"{exported}: missing; run tools/export_notebooks.py first")
        key = fingerprint(sources(nbformat.read(exported, 4)), root)
        executed = root / EXECUTED / f"{name}.ipynb"
        if not executed.exists() or nbformat.read(executed, 4).metadata.get("execution_key") != key:
            todo[name] = key
    return todo


def seconds(notebook: NotebookNode) -> float:
    """Time that the cells of an executed notebook took, from nbclient's own time stamps."""
    total = 0.0
    for cell in code_cells(notebook):
        stamps = cell.metadata.get("execution", {})
        if "iopub.execute_input" in stamps and "shell.execute_reply" in stamps:
            begin, end = (datetime.fromisoformat(stamps[key]) for key in ("iopub.execute_input", "shell.execute_reply"))
            total += (end - begin).total_seconds()
    return total


class Keeper:
    """Takes each notebook that passed out of the temporary folder at once, so that a killed build keeps it."""

    def __init__(self, root: Path, work: Path, todo: dict[str, str]) -> None:
        self.root, self.work, self.todo = root, work, todo
        self.kept: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("::")[0].removesuffix(".ipynb")
        if report.when != "call" or not report.passed or name not in self.todo:
            return
        notebook = nbformat.read(self.work / f"{name}.ipynb", 4)
        notebook.metadata["execution_key"] = self.todo[name]
        target = self.root / EXECUTED / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        nbformat.write(notebook, part)
        part.replace(target)
        self.kept.add(name)


def run(root: Path, todo: dict[str, str], jobs: int) -> list[str]:
    """Execute the notebooks of ``todo``, keep those that pass, and return the names of those that fail."""
    os.environ.update({"COPYHEAD_STATIC": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"})
    os.environ.pop("MPLBACKEND", None)  # a backend chosen by the user would replace the notebook's own
    # nbmake ignores everything below a folder named _build, so the notebooks run in a temporary one.
    with tempfile.TemporaryDirectory(prefix="copyhead-book-") as folder:
        work = Path(folder).resolve()
        for name in todo:
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / f"{name}.ipynb", work / f"{name}.ipynb")
        (work / "pytest.ini").write_text("[pytest]\n")
        keeper = Keeper(root, work, todo)
        command = ["-c", str(work / "pytest.ini"), f"--rootdir={work}", "-p", "no:cacheprovider", "-q"]
        command += ["--nbmake", "--overwrite", f"--nbmake-timeout={CELL_TIMEOUT_S}", "--durations=0"]
        command += ["-n", str(min(jobs, len(todo))), "--dist=load"]
        pytest.main(command + [str(work / f"{name}.ipynb") for name in todo], plugins=[keeper])
    return [name for name in todo if name not in keeper.kept]


def merge_outputs(chapter: NotebookNode, executed: NotebookNode) -> None:
    """Copy outputs into ``chapter``, whose code cells are the last ones of ``executed`` (set-up cells come first)."""
    ours, theirs = code_cells(chapter), code_cells(executed)
    theirs = theirs[len(theirs) - len(ours) :]
    # The export puts a title line before the code of a folded cell.
    titled = re.compile(r"\A# @title .*\n")
    if [cell.source.strip() for cell in ours] != [titled.sub("", cell.source).strip() for cell in theirs]:
        raise ValueError("the exported notebook has other code cells than the chapter: export it again")
    for cell, source in zip(ours, theirs, strict=True):
        cell.outputs, cell.execution_count = source.outputs, source.execution_count


def fill_cache(root: Path, names: list[str]) -> dict[str, float]:
    """Rebuild myst-nb's cache from the executed notebooks; return the seconds that each took."""
    shutil.rmtree(root / CACHE, ignore_errors=True)
    cache = get_cache(root / CACHE)
    times = {}
    for name in names:
        path = root / f"{name}.md"
        chapter = read_myst_markdown_notebook(path.read_text("utf-8"), add_source_map=True, path=path)
        executed = nbformat.read(root / EXECUTED / f"{name}.ipynb", 4)
        try:
            merge_outputs(chapter, executed)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        times[name] = seconds(executed)
        bundle = CacheBundleIn(chapter, str(path), data={"execution_seconds": times[name]})
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the chapters that changed and fill the cache of the book.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--list", action="store_true", help="only name the chapters that would run")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks at a time (default 2)")
    options = parser.parse_args()
    names = chapters(options.root)
    todo = stale(options.root, names)
    if options.list:
        print("\n".join(todo))
        return 0
    failed = run(options.root, todo, options.jobs) if todo else []
    print(f"chapters: {len(todo) - len(failed)} executed, {len(names) - len(todo)} unchanged, {len(failed)} failed")
    if failed:
        print("failed: " + ", ".join(failed), file=sys.stderr)
        return 1
    for name, time in fill_cache(options.root, names).items():
        print(f"  {name}: {time:.1f} s" + (f"  OVER THE BUDGET of {BUDGET_S} s" if time > BUDGET_S else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
