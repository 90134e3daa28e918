"""Editions: what leaves solutions out, what finds those that stayed, and what refuses to publish."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest
import student
from edition import publish, settings, solutions, without_solutions, write_tree
from export_notebooks import Notebook
from leaks import LENGTH, Fingerprints, divide, leaks, runs, words
from myst_book import Page, load_book
from nbformat import NotebookNode
from visits import ROOT

BOOK = load_book(ROOT)
CHAPTERS = [page for page in BOOK.pages.values() if page.is_notebook]


@pytest.fixture(scope="module")
def known() -> Fingerprints:
    return student.master_fingerprints(ROOT)


# --- leaving out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.name)
def test_two_readers_of_the_source_agree_on_what_is_a_solution(page: Page) -> None:
    """The parser that leaves solutions out, and the reading of lines that fingerprints them."""
    outside, inside = divide(page.text)
    assert without_solutions(page) == outside
    assert [solution.exercise for solution in solutions(page)] == list(inside)
    assert "solution}" not in outside and "solution-" not in outside and "solution]" not in outside


def test_every_solution_has_fingerprints_of_its_own(known: Fingerprints) -> None:
    solved = [solution.exercise for page in CHAPTERS for solution in solutions(page)]
    assert known.unmarked == [] and set(known.runs.values()) == set(solved)
    assert len(solved) > 100


# --- finding what stayed -----------------------------------------------------------------------------------------------


def solution_of(known: Fingerprints, label: str) -> tuple[str, str]:
    """A line of prose and a code cell of the solution of an exercise."""
    page = next(page for page in CHAPTERS if any(s.exercise == label for s in solutions(page)))
    solution = next(s for s in solutions(page) if s.exercise == label)
    prose = [line for line in divide(page.text)[1][label].split("\n") if runs(words(line)) & set(known.runs)]
    return prose[0], solution.cells[0].content


LABEL = "ex-second-order-2"


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    """A small finished edition: a page, a notebook, a search index, an object inventory."""
    page = BOOK.pages["book/landau/second-order"]
    html = tmp_path / "html/book/landau/second-order.html"
    html.parent.mkdir(parents=True)
    html.write_text(f"<html><body><pre>{divide(page.text)[0]}</pre></body></html>".replace("{eq}", ""))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("jump_size = ...", id="one")])
    path = tmp_path / "notebooks/book/landau/second-order.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    index = {"docnames": [page.name], "terms": {"magnet": 0}, "titleterms": {}}
    (tmp_path / "html/searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
    return tmp_path


def test_clean_edition_has_no_leak(clean: Path, known: Fingerprints) -> None:
    assert leaks(clean, known) == []


def plant(folder: Path, kind: str, known: Fingerprints) -> None:
    """Put a piece of a solution into an edition."""
    prose, code = solution_of(known, LABEL)
    page = folder / "html/book/landau/second-order.html"
    path = folder / "notebooks/book/landau/second-order.ipynb"
    html, notebook = page.read_text(), nbformat.read(path, 4)
    extra: NotebookNode | None = None
    if kind == "prose in a page":
        html += f"<p>{prose}</p>"
    elif kind == "prose with markup in a page":
        html += "<p>" + " ".join(f"<em>{word}</em>" for word in prose.replace("$", "").split()) + "</p>"
    elif kind == "code in a page":
        html += "<pre>" + "".join(f'<span class="n">{line}</span>\n' for line in code.split("\n")) + "</pre>"
    elif kind == "class of a solution":
        html += '<div class="solution dropdown admonition"></div>'
    elif kind == "title of a solution":
        html += "<p>Solution to Exercise 7</p>"
    elif kind == "tag in a page":
        html += '<div class="cell tag_solution docutils container"></div>'
    elif kind == "code in a notebook":
        extra = nbformat.v4.new_code_cell(code)
    elif kind == "prose in a notebook":
        extra = nbformat.v4.new_markdown_cell(prose)
    elif kind == "tag in a notebook":
        extra = nbformat.v4.new_code_cell("pass", metadata={"tags": ["solution"]})
    elif kind == "fold in a notebook":
        extra = nbformat.v4.new_markdown_cell("<details>\n<summary>Solution of Exercise 3</summary>\n\n</details>")
    elif kind == "output of a notebook":
        extra = nbformat.v4.new_code_cell("pass", outputs=[nbformat.v4.new_output("stream", text=code)])
    elif kind == "source of a page":
        (folder / "html/_sources").mkdir()
        (folder / "html/_sources/page.md.txt").write_text("```{solution-start} ex-second-order-2\n```\n")
    elif kind == "search index":
        word = sorted(known.stems["book/data/inversion"])[0]
        index = {"docnames": ["book/data/inversion"], "terms": {word: [0]}, "titleterms": {}}
        (folder / "html/searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
    elif kind == "title in the search index":
        (folder / "html/searchindex.js").write_text(
            'Search.setIndex({"docnames": [], "terms": {}, "titleterms": {}, "alltitles": {"Solution to Exercise 3": []}})')
    page.write_text(html)
    if extra is not None:
        notebook.cells.append(extra)
        nbformat.write(notebook, path)


KINDS = (
    "prose in a page", "prose with markup in a page", "code in a page", "class of a solution", "title of a solution",
    "tag in a page", "code in a notebook", "prose in a notebook", "tag in a notebook", "fold in a notebook",
    "output of a notebook", "source of a page", "search index", "title in the search index",
)


@pytest.mark.parametrize("kind", KINDS)
def test_planted_leak_is_found(clean: Path, known: Fingerprints, kind: str) -> None:
    plant(clean, kind, known)
    assert leaks(clean, known) != []


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.name)
def test_leaks_of_every_chapter_are_found(page: Page, tmp_path: Path, known: Fingerprints) -> None:
    """The notebook with solutions, its markers taken away, leaks each of them."""
    cells = [cell["source"] for cell in Notebook(BOOK, page).build()["cells"]]
    marks = ("# @title", "<summary>")
    plain = [{"source": [line for line in source if not any(mark in line for mark in marks)]} for source in cells]
    (tmp_path / "master.ipynb").write_text(json.dumps({"cells": plain}))
    found = "\n".join(leaks(tmp_path, known))
    assert all(solution.exercise in found or not solution.cells for solution in solutions(page))


def test_runs_have_words_in_them() -> None:
    assert runs(["0"] * 2 * LENGTH) == set() and len(runs([*"abcdefgh", "0", "0"])) == 3 and LENGTH == 8


# --- refusing to publish -----------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book of one chapter whose pages are written without Sphinx, and an edition from before."""
    for name in ("_config.yml", "references.bib", "book/landau/second-order.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    quiz = "book/quizzes/landau/second-order.yml"
    if (ROOT / quiz).exists():
        (tmp_path / quiz).parent.mkdir(parents=True)
        shutil.copy(ROOT / quiz, tmp_path / quiz)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/landau/second-order\n")
    text = (tmp_path / "book/landau/second-order.md").read_text()
    known_elsewhere = ("prf:ref", "eq", "ref", "doc", "term")
    lines = [line for line in text.split("\n") if not any(f"{{{role}}}" in line for role in known_elsewhere)]
    (tmp_path / "book/landau/second-order.md").write_text("\n".join(line for line in lines if ".md)" not in line))
    old = tmp_path / "dist/student/html/index.html"
    old.parent.mkdir(parents=True)
    old.write_text("the edition from before")
    monkeypatch.setattr(student, "fill_cache", lambda *_: {})
    return tmp_path


def pages(addition: str = ""):
    """A stand-in for Sphinx that writes the sources of the tree as pages."""
    def build(tree: Path) -> Path:
        folder = tree / "_build/html"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for source in (tree / "book").rglob("*.md"):
            (folder / f"{source.stem}.html").write_text(f"<p>{source.read_text()}</p>{addition}")
        return folder
    return build


def test_student_edition_is_written(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student, "build_pages", pages())
    assert student.main(["--root", str(small)]) == 0
    assert not (small / "dist/student/html/index.html").exists(), "the edition from before is still there"
    notebook = nbformat.read(small / "dist/student/notebooks/book/landau/second-order.ipynb", 4)
    nbformat.validate(notebook)
    assert "colab.research" not in notebook.cells[2].source
    assert "1 / r" not in "".join(cell.source for cell in notebook.cells if "exercise" in cell.metadata.get("tags", []))
    assert sorted(path.name for path in (small / "dist").iterdir()) == ["student"]


def test_badges_lead_to_the_repository_of_the_students(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student, "build_pages", pages())
    assert student.main(["--root", str(small), "--repository", "https://github.com/school/course"]) == 0
    text = (small / "dist/student/notebooks/book/landau/second-order.ipynb").read_text()
    assert "colab.research.google.com/github/school/course/blob/main/book/landau/second-order.ipynb" in text
    assert f"git+{BOOK.repository}.git" in text and "git+https://github.com/school" not in text


@pytest.mark.parametrize("kind", ["leak", "warning"])
def test_refused_edition_leaves_the_last_one(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    prose, _ = solution_of(student.master_fingerprints(small), LABEL)

    def fails(tree: Path) -> Path:
        raise RuntimeError("the pages could not be built")

    monkeypatch.setattr(student, "build_pages", pages(f"<p>{prose}</p>") if kind == "leak" else fails)
    before = sorted(path for path in (small / "dist").rglob("*"))
    assert student.main(["--root", str(small)]) == 1
    assert sorted(path for path in (small / "dist").rglob("*")) == before
    assert (small / "dist/student/html/index.html").read_text() == "the edition from before"
    assert "student edition: " in capsys.readouterr().err


def test_publishing_replaces_the_whole_folder(tmp_path: Path) -> None:
    for name, file in (("staged", "new"), ("dist/student", "old")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / file).touch()
    publish(tmp_path / "staged", tmp_path / "dist/student")
    assert [path.name for path in (tmp_path / "dist").rglob("*")] == ["student", "new"]


def test_tree_forgets_what_the_master_no_longer_has(small: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    texts = {name: page.text for name, page in load_book(small).pages.items()}
    write_tree(small, tree, texts | {"book/gone": "# Gone\n"}, *settings(small))
    assert (tree / "book/gone.md").exists()
    write_tree(small, tree, texts, *settings(small))
    assert not (tree / "book/gone.md").exists() and (tree / "book/landau/second-order.md").exists()
