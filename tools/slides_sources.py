"""What a slide may refer to in the chapters: equations, figures, exercises, titles; and the check of a whole deck.

A slide names, it does not copy: the equation by its label, the figure by its chapter and a piece of the code of the
cell that draws it, the exercise by its label, the chapter by its name.  What is unknown or ambiguous is an error with
file and line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from myst_blocks import Block, ExportError, Grammar, blocks, walk
from myst_book import Book, Page

EXECUTED = "_build/notebooks"
DECKS = "course/slides"
ROLE = re.compile(r"\{(chapter|exercise)\}`([^`]+)`")
TITLE = re.compile(r"\A# @title .*\n")  # which the export puts before the code of a folded cell
MINUTES = re.compile(r"[1-9]\d?")


class UnknownReference(ValueError):
    """A reference of a slide that leads nowhere, or to more than one place."""


@dataclass(frozen=True)
class Equation:
    tex: str
    page: Page
    number: str  # as the chapter shows it, "(3)"


@dataclass(frozen=True)
class Exercise:
    title: str
    facts: str  # "core · 10 min"
    page: Page
    number: str  # as the book shows it, "Exercise 12"


class Sources:
    """The chapters of ``book``, searched by what a slide writes."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._blocks: dict[str, list[Block]] = {}

    def blocks(self, page: Page) -> list[Block]:
        if page.name not in self._blocks:
            self._blocks[page.name] = list(walk(page.text, page.grammar))
        return self._blocks[page.name]

    def chapter(self, name: str) -> Page:
        """The page ``book/<name>``, as in ``transitions/softmax``."""
        page = self.book.pages.get(f"book/{name}")
        if page is None:
            raise UnknownReference(f"unknown chapter: {name!r} (a name such as 'transitions/softmax')")
        return page

    def labelled(self, label: str, kind: str) -> Block:
        target = self.book.targets.get(label)
        if target is None or target.kind != kind:
            raise UnknownReference(f"unknown {kind}: {label!r}")
        return next(block for block in self.blocks(target.page) if block.label == label)

    def equation(self, label: str) -> Equation:
        block = self.labelled(label, "equation")
        target = self.book.targets[label]
        return Equation(block.content.strip(), target.page, target.text)

    def exercise(self, label: str) -> Exercise:
        block = self.labelled(label, "exercise")
        target = self.book.targets[label]
        first = block.content.strip().partition("\n")[0].strip("*")
        return Exercise(block.argument, " · ".join(first.split(" · ")[:2]), target.page, target.text)

    def cell(self, name: str, fragment: str) -> str:
        """The code of the one cell of chapter ``name`` that holds ``fragment``."""
        cells = [block.content for block in self.blocks(self.chapter(name)) if block.name == "code-cell"]
        found = [code for code in cells if fragment in code]
        if not fragment or len(found) != 1:
            raise UnknownReference(f"{len(found)} cells of {name} hold the code {fragment!r}, not one")
        return found[0]

    def figure(self, name: str, fragment: str) -> str:
        """The HTML that this cell showed when the chapter was last executed."""
        code = self.cell(name, fragment).strip()
        path = self.book.root / EXECUTED / f"book/{name}.ipynb"
        if not path.exists():
            raise UnknownReference(f"{name} was not executed: run `make notebooks`")
        cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        cell = next((cell for cell in cells if TITLE.sub("", cell.source).strip() == code), None)
        if cell is None:
            raise UnknownReference(f"this cell of {name} changed since it was executed: run `make notebooks`")
        pictures = [o.data["text/html"] for o in cell.outputs if "text/html" in o.get("data", {})]
        if len(pictures) != 1 or "copyhead-figure" not in pictures[0]:
            raise UnknownReference(f"the cell of {name} with {fragment!r} shows {len(pictures)} figures, not one")
        return pictures[0]


@dataclass(frozen=True)
class Deck:
    """One source of slides; a slide is a heading of the first or second level with what follows it."""

    path: Path
    extensions: frozenset[str]

    @property
    def name(self) -> str:
        return self.path.stem

    @cached_property
    def blocks(self) -> list[Block]:
        grammar = Grammar(self.path, self.extensions, strict=False)
        return list(blocks(self.path.read_text("utf-8"), grammar))

    @cached_property
    def slides(self) -> list[tuple[str, list[Block]]]:
        """Title and blocks of each slide."""
        found: list[tuple[str, list[Block]]] = []
        for block in self.blocks:
            if block.name in ("h1", "h2"):
                found.append((block.content.lstrip("# "), []))
            elif found:
                found[-1][1].append(block)
        return found

    def notes(self, slide: list[Block]) -> list[Block]:
        return [block for block in slide if block.name == "notes"]

    @property
    def minutes(self) -> int:
        return sum(int(note.argument) for _, slide in self.slides for note in self.notes(slide))


def decks(book: Book) -> list[Deck]:
    """Every deck, in the order of the numbers in the names."""
    extensions = next(iter(book.pages.values())).grammar.extensions
    return [Deck(path, extensions) for path in sorted((book.root / DECKS).glob("*.md"), key=order)]


def order(path: Path) -> tuple[int, str]:
    number = path.stem.partition("-")[0]
    return (int(number) if number.isdigit() else 99, path.stem)


def resolve(block: Block, sources: Sources) -> None:
    """Raise UnknownReference for a reference in ``block`` that leads nowhere."""
    if block.name == "chapter-equation":
        sources.equation(block.argument)
    elif block.name == "chapter-figure":
        sources.cell(block.argument, block.option("cell"))
    for kind, target in ROLE.findall(block.content) if block.kind == "text" else ():
        if kind == "chapter":
            sources.chapter(target)
        else:
            sources.exercise(target)


def complaints(deck: Deck, sources: Sources) -> list[str]:
    """What is wrong with a deck: references that lead nowhere, slides without notes or minutes, formulas in notes."""
    found: list[str] = []

    def complain(line: int, message: str) -> None:
        found.append(f"{deck.path}:{line}: {message}")

    try:
        every = list(walk(deck.path.read_text("utf-8"), Grammar(deck.path, deck.extensions, strict=False)))
    except ExportError as error:
        return [str(error)]
    figures: set[tuple[str, str]] = set()
    for block in every:
        try:
            resolve(block, sources)
        except UnknownReference as error:
            complain(block.line, str(error))
        key = (block.argument, block.option("cell"))
        if block.name == "chapter-figure":
            if key in figures:  # its ids would not be unique on the page
                complain(block.line, "this figure is already in the deck")
            figures.add(key)
        if block.name == "notes" and "$" in block.content:
            complain(block.line, "the speaker view cannot show formulas: write them in words")
    line = 1
    for title, slide in deck.slides:
        line = slide[0].line if slide else line
        notes = deck.notes(slide)
        if len(notes) != 1 or not notes[0].content.strip():
            complain(line, f"the slide {title!r} needs speaker notes, once")
        elif not MINUTES.fullmatch(notes[0].argument):
            complain(notes[0].line, f"notes begin with whole minutes from 1 to 99, got {notes[0].argument!r}")
    return found
