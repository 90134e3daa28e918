"""Words of the book that neither the dictionary (American and British, with what physics adds) nor a name explains."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from spylls.hunspell import Dictionary
from visits import ROOT

OWN = Path(__file__).parent / "data" / "words.txt"
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
# Not prose: inline directives, roles and their targets, addresses, labels, e-mail and file names, initials.
FILE = r"\b[\w-]+\.(?:py|md|yml|npz|ipynb|js|txt)\b"
TEXTS = ("{exercise", "{admonition", "{hint", "{note", "{prf", "{margin")  # directives whose body is prose
SKIP = re.compile(r"\{[\w:.-]+\}|https?://\S+|arXiv:\S+|<[^>]*>|^:[\w-]+:.*$|" + FILE, re.MULTILINE)


def markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, double_inline=True).use(front_matter_plugin)


def prose(text: str) -> Iterator[str]:
    """The text of a Markdown source without code and formulas; the body of a directive counts as text."""
    for token in markdown().parse(SKIP.sub(" ", text)):
        if token.type == "inline":
            for child in token.children or []:
                if child.type == "text":
                    yield child.content
        elif token.type == "fence" and token.info.startswith(TEXTS):
            yield from prose(token.content)


def texts() -> Iterator[tuple[str, str]]:
    """Where, and a piece of prose: the exported notebooks, the other pages, quizzes, the course, and the documents."""
    notebooks = sorted((ROOT / "book").rglob("*.ipynb"))
    for path in notebooks:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield from ((path.name, piece) for piece in prose("".join(cell["source"])))
    with_notebook = {path.with_suffix(".md") for path in notebooks}
    others = [p for folder in ("book", "course") for p in sorted((ROOT / folder).rglob("*.md")) if p not in with_notebook]
    for path in [*others, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]:
        yield from ((path.name, piece) for piece in prose(path.read_text("utf-8")))
    for path in sorted((ROOT / "book" / "quizzes").rglob("*.yml")):
        values = re.sub(r"^\s*-?\s*\w+:", " ", path.read_text("utf-8"), flags=re.MULTILINE)
        yield from ((path.name, piece) for piece in prose(values))


@cache
def dictionary() -> Dictionary:
    folder = resources.files("spylls") / "hunspell" / "data" / "en" / "en_US"
    return Dictionary.from_files(str(folder))


@cache
def own_words() -> frozenset[str]:
    return frozenset(OWN.read_text("utf-8").split())


@cache
def known(word: str) -> bool:
    """In the dictionary or our list, as it stands, in lower case, or without a possessive ending."""
    bare = re.sub(r"'s?$", "", word)
    return any(w in own_words() or w.lower() in own_words() or dictionary().lookup(w) for w in (word, bare))


def test_every_word_is_a_word() -> None:
    unknown = defaultdict(set)
    count = 0
    for where, piece in texts():
        for word in WORD.findall(piece.replace("’", "'")):
            count += 1
            if len(word) > 2 and not known(word):
                unknown[word].add(where)
    assert count > 50_000
    assert {word: sorted(places)[:3] for word, places in sorted(unknown.items())} == {}


def test_a_slip_is_found() -> None:
    assert not known("phyiscs") and not known("recieve") and not known("occured")
    assert known("neighbour") and known("spinodal") and known("Langevin's")


def test_the_list_is_sorted_and_holds_nothing_that_the_dictionary_knows() -> None:
    words = OWN.read_text("utf-8").split()
    assert words == sorted(set(words))
    assert [word for word in words if dictionary().lookup(word)] == []
