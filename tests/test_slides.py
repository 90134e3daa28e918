"""The slides: what a deck names exists in the chapters, every slide has notes, and a fault is named with its line."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
import slides
from myst_book import Book, load_book
from slides_extension import GAP, enlarged, scale
from slides_sources import ROLE, Deck, Sources, UnknownReference, complaints, decks
from visits import ROOT

DECKS = sorted(path.stem for path in (ROOT / "course/slides").glob("*.md"))
NUMBER = re.compile(r"(?<![\w.\\^{])\d[\d,]*(?:\.\d+)?")


@pytest.fixture(scope="module")
def book() -> Book:
    return load_book(ROOT)


@pytest.fixture(scope="module")
def sources(book: Book) -> Sources:
    return Sources(book)


def deck_named(book: Book, name: str) -> Deck:
    return next(deck for deck in decks(book) if deck.name == name)


def named_chapters(deck: Deck) -> set[str]:
    """Chapters of the title slide, and those whose figures the deck shows."""
    found = {block.argument for block in deck.blocks if block.name == "chapter-figure"}
    return found | {name for kind, name in ROLE.findall(deck.path.read_text("utf-8")) if kind == "chapter"}


# --- The decks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECKS)
def test_every_reference_resolves_and_every_slide_has_notes(name: str, book: Book, sources: Sources) -> None:
    assert complaints(deck_named(book, name), sources) == []


@pytest.mark.parametrize("name", DECKS)
def test_a_deck_is_a_lecture(name: str, book: Book) -> None:
    deck = deck_named(book, name)
    assert 10 <= len(deck.slides) <= 16
    assert 40 <= deck.minutes <= 100
    text = deck.path.read_text("utf-8")
    first, last = text.partition("\n## ")[0], text.rpartition("\n## ")[2]
    assert first.startswith("# ") and "**Goals.**" in first and "**Chapters.** {chapter}`" in first
    assert last.count("{exercise}`") >= 3


@pytest.mark.parametrize("name", DECKS)
def test_a_number_on_a_slide_stands_in_its_chapters(name: str, book: Book) -> None:
    """Numbers of three or more digits, outside of the names of figures and formulas; a slide may round."""
    deck = deck_named(book, name)
    text = "\n".join(book.pages[f"book/{chapter}"].text for chapter in sorted(named_chapters(deck)))
    known = [float(number.replace(",", "")) for number in NUMBER.findall(text.replace("{,}", ",")) if number != ","]
    missing = []
    for block in deck.blocks:
        if block.kind != "text" and block.name != "notes":
            continue
        for number in NUMBER.findall(block.content.replace("{,}", ",")):
            number = number.rstrip(",")
            if sum(map(str.isdigit, number)) < 3:
                continue
            half = 0.51 * 10.0 ** -len(number.partition(".")[2])
            if not any(abs(float(number.replace(",", "")) - other) < half for other in known):
                missing.append(f"{deck.path.name}:{block.line}: {number}")
    assert missing == []


def test_every_chapter_outside_the_reference_has_a_deck(book: Book) -> None:
    shown = set().union(*(named_chapters(deck) for deck in decks(book)))
    parts = {name.split("/")[1] for name in book.pages if name.count("/") == 2} - {"reference"}
    chapters = {name.removeprefix("book/") for name, page in book.pages.items() if page.is_notebook}
    without = {name for name in chapters if name.split("/")[0] in parts - {"start"}} - shown
    assert without == set()
    assert "start/tour" in shown


def test_the_decks_that_a_plan_names_exist(book: Book) -> None:
    lines = [line for page in book.pages.values() for line in page.text.split("\n") if re.match(r"\*\*Decks?\.\*\*", line)]
    named = {name for line in lines for name in re.findall(r"`([^`]+)`", line)}
    assert named and named <= set(DECKS)


# --- What a deck may say, on a small book ----------------------------------------------------------------------------

CHAPTER = """---
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# A chapter

$$
E = mc^2
$$ (eq-one-energy)

```{code-cell} ipython3
first = 1
```

```{code-cell} ipython3
:tags: [hide-input]

show(first, alt="a picture")
```

```{exercise} A title
:label: ex-one-1

*core · 10 min · you gain: something*

Do it.
```
"""
DECK = """# A deck

**Goals.** Few. {chapter}`part/one`

```{notes} 2
Begin.
```

## A slide

```{chapter-equation} eq-one-energy
```

```{chapter-figure} part/one
:cell: show(first
```

Then {exercise}`ex-one-1`.

```{notes} 12
Say it.
```
"""
PICTURE = '<div class="copyhead-figure"><svg viewBox="0 0 200 100" style="flex-basis:267px"></svg></div>'


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A book of one chapter, executed, with one deck."""
    (tmp_path / "_config.yml").write_text("repository: {url: 'https://github.com/a/b', branch: main}\n")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/index\nchapters:\n  - file: book/part/one\n")
    (tmp_path / "book/part").mkdir(parents=True)
    (tmp_path / "book/index.md").write_text("# A book\n")
    (tmp_path / "book/part/one.md").write_text(CHAPTER)
    (tmp_path / "course/slides").mkdir(parents=True)
    (tmp_path / "course/slides/1-deck.md").write_text(DECK)
    notebook = nbformat.v4.new_notebook()
    picture = nbformat.v4.new_output("display_data", {"text/html": PICTURE})
    cells: tuple = (("%pip install", []), ("first = 1", []), ('# @title Code\nshow(first, alt="a picture")', [picture]))
    for source, outputs in cells:
        notebook.cells.append(nbformat.v4.new_code_cell(source, outputs=outputs))
    (tmp_path / "_build/notebooks/book/part").mkdir(parents=True)
    nbformat.write(notebook, tmp_path / "_build/notebooks/book/part/one.ipynb")
    return tmp_path


def faults(root: Path) -> list[str]:
    book = load_book(root)
    (deck,) = decks(book)
    return [fault.partition("1-deck.md:")[2] for fault in complaints(deck, Sources(book))]


def test_what_exists_is_found(small: Path) -> None:
    assert faults(small) == []
    sources = Sources(load_book(small))
    assert sources.figure("part/one", "show(first") == PICTURE
    assert sources.equation("eq-one-energy").tex == "E = mc^2"
    assert sources.equation("eq-one-energy").number == "(1)"
    exercise = sources.exercise("ex-one-1")
    assert (exercise.title, exercise.facts, exercise.number) == ("A title", "core · 10 min", "Exercise 1")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("eq-one-energy", "eq-one-mass", 11, "unknown equation: 'eq-one-mass'"),
        ("eq-one-energy", "ex-one-1", 11, "unknown equation: 'ex-one-1'"),
        ("show(first", "show(last", 14, "0 cells of part/one hold the code 'show(last', not one"),
        (":cell: show(first", ":cell: first", 14, "2 cells of part/one hold the code 'first', not one"),
        (":cell: show(first\n", "", 14, "2 cells of part/one hold the code '', not one"),
        ("{chapter-figure} part/one", "{chapter-figure} part/two", 14, "unknown chapter: 'part/two'"),
        ("{chapter}`part/one`", "{chapter}`one`", 3, "unknown chapter: 'one'"),
        ("{exercise}`ex-one-1`", "{exercise}`ex-one-2`", 18, "unknown exercise: 'ex-one-2'"),
        ("{notes} 12", "{notes} long", 20, "notes begin with whole minutes from 1 to 99, got 'long'"),
        ("{notes} 12", "{note}", 11, "the slide 'A slide' needs speaker notes, once"),
        ("Say it.", "", 11, "the slide 'A slide' needs speaker notes, once"),
        ("Say it.", "Say $E$.", 20, "the speaker view cannot show formulas"),
        ("Then", "```{chapter-figure} part/one\n:cell: show(first\n```\n\nThen", 18, "this figure is already in the deck"),
    ],
    ids=["no equation", "no equation but an exercise", "no cell", "two cells", "cell not named", "no such chapter",
         "chapter without part", "no exercise", "no minutes", "no notes", "empty notes", "formula in notes", "twice"],
)
def test_a_fault_is_named_with_its_line(small: Path, old: str, new: str, line: int, message: str) -> None:
    deck = small / "course/slides/1-deck.md"
    assert DECK.count(old) == 1
    deck.write_text(DECK.replace(old, new))
    (fault,) = faults(small)
    assert fault.startswith(f"{line}: {message}")


def test_a_fault_stops_the_build(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deck = small / "course/slides/1-deck.md"
    deck.write_text(DECK.replace("eq-one-energy", "eq-one-mass"))
    assert slides.main(["--root", str(small), "--out", str(small / "out"), "--no-pdf"]) == 1
    assert capsys.readouterr().err == f"{deck}:11: unknown equation: 'eq-one-mass'\n"
    assert not (small / "out").exists()


def test_an_unknown_deck_is_named(small: Path) -> None:
    with pytest.raises(slides.Complaints, match=r"no such deck among \['2-deck'\]; there are: 1-deck"):
        slides.build(small, small / "out", ["2-deck"])


def test_a_figure_needs_the_present_execution(small: Path) -> None:
    executed = small / "_build/notebooks/book/part/one.ipynb"
    notebook = nbformat.read(executed, 4)
    notebook.cells[2].source = "show(another)"
    nbformat.write(notebook, executed)
    with pytest.raises(UnknownReference, match="this cell of part/one changed since it was executed"):
        Sources(load_book(small)).figure("part/one", "show(first")
    executed.unlink()
    with pytest.raises(UnknownReference, match="part/one was not executed: run `make notebooks`"):
        Sources(load_book(small)).figure("part/one", "show(first")


def test_a_cell_without_a_figure_is_none(small: Path) -> None:
    with pytest.raises(UnknownReference, match="shows 0 figures, not one"):
        Sources(load_book(small)).figure("part/one", "first = 1")


# --- Sizes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("area", [(1168, 430), (600, 400), (1168, 250)], ids=["wide", "side", "flat"])
def test_panels_fill_the_area_and_no_more(count: int, area: tuple[int, int]) -> None:
    """Equal panels: the best number of columns is found by trying all."""
    w, h = 245.0, 187.0
    width, height = area
    best = 0.0
    for columns in range(1, count + 1):
        rows = -(-count // columns)
        best = max(best, min((width - (columns - 1) * GAP) / columns / w, (height - (rows - 1) * GAP) / rows / h))
    assert best - 0.011 < scale([(w, h)] * count, width, height) <= best


def test_a_panel_keeps_its_shape() -> None:
    html = enlarged(PICTURE, 600, 100)
    sizes = re.findall(r'viewBox="0 0 200 100" style="flex:none;width:(\d+)px;height:(\d+)px"', html)
    assert sizes == [("200", "100")]
