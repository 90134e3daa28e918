"""Every chapter ran, passed, and is what the book shows."""

from __future__ import annotations

import nbformat
import pytest
from execute import EXECUTED, chapters, code_cells, seconds, stale
from jupyter_cache import get_cache
from myst_nb.core.read import read_myst_markdown_notebook
from visits import ROOT

CHAPTERS = chapters(ROOT)


def test_there_are_chapters() -> None:
    assert "book/start/tour" in CHAPTERS


@pytest.mark.parametrize("name", CHAPTERS)
def test_last_run_passed_with_the_present_sources(name: str) -> None:
    # tools/execute.py keeps a run only when nbmake passes it, under the fingerprint of what it depended on.
    assert name not in stale(ROOT, [name]), "run `make notebooks` first"
    notebook = nbformat.read(ROOT / EXECUTED / f"{name}.ipynb", 4)
    cells = [cell for cell in code_cells(notebook) if cell.source.strip()]
    assert all("shell.execute_reply" in cell.metadata.execution for cell in cells)
    assert seconds(notebook) > 0


@pytest.mark.parametrize("name", CHAPTERS)
def test_page_shows_the_outputs_of_that_run(name: str) -> None:
    path = ROOT / f"{name}.md"
    chapter = read_myst_markdown_notebook(path.read_text("utf-8"), add_source_map=True, path=path)
    _, shown = get_cache(ROOT / "_build" / ".jupyter_cache").merge_match_into_notebook(chapter)
    ran = nbformat.read(ROOT / EXECUTED / f"{name}.ipynb", 4)
    assert [cell.outputs for cell in code_cells(shown)] == [cell.outputs for cell in code_cells(ran)[1:]]
