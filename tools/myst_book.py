"""The book as a whole: pages, repository address, and what labels, terms and citation keys stand for."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import yaml
from myst_blocks import Block, ExportError, Grammar, blocks, load_yaml, walk
from pybtex.database import BibliographyData, Person, parse_file
from pybtex.exceptions import PybtexError
from pybtex.richtext import Text

DEFAULT_EXTENSIONS = ("colon_fence", "linkify", "substitution", "tasklist", "dollarmath")  # of Jupyter Book


@dataclass(frozen=True)
class Page:
    """One source file; ``name`` is its path from the root without suffix, as in ``_toc.yml``."""

    name: str
    path: Path
    text: str
    grammar: Grammar
    is_notebook: bool

    @property
    def folder(self) -> str:
        return posixpath.dirname(self.name)

    @cached_property
    def title(self) -> str:
        for block in blocks(self.text, self.grammar):
            if block.name == "h1":
                return heading_text(block)
        raise ExportError(self.path, 1, "the page has no title")


@dataclass(frozen=True)
class Target:
    """What a label stands for: "equation" and "(3)", "exercise" and "Exercise 2", "section" and a heading."""

    page: Page
    kind: str
    text: str


def heading_text(block: Block) -> str:
    return re.sub(r"^\s*#+\s*|\s*#*\s*$", "", block.content)


def make_page(name: str, path: Path, text: str, extensions: frozenset[str]) -> Page:
    """Read front matter; a page with a kernelspec is a notebook and must be exportable."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    grammar = Grammar(path, extensions)
    head = re.match(r"---\n(.*?)\n---\s*(?:\n|$)", text, re.DOTALL)
    meta = load_yaml(head[1], "front matter", grammar, 1) if head else {}
    if "kernelspec" not in meta:
        grammar = Grammar(path, extensions, strict=False)
    return Page(name, path, text, grammar, "kernelspec" in meta)


class Book:
    """Pages in reading order, and everything that a page may refer to."""

    def __init__(self, root: Path, config: dict, pages: list[Page], bibliography: BibliographyData) -> None:
        self.root = root
        self.pages = {page.name: page for page in pages}
        self.bibliography = bibliography
        repository = config.get("repository") or {}
        url = str(repository.get("url", ""))
        match = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?", url)
        self.branch = str(repository.get("branch") or "main")
        if not match or not re.fullmatch(r"[\w./-]+", self.branch):
            raise ExportError(
                root / "_config.yml",
                1,
                "repository.url must be https://github.com/<owner>/<name>, repository.branch a branch name; "
                f"got {url!r} and {self.branch!r}",
            )
        self.owner_and_name = f"{match[1]}/{match[2]}"
        # An edition turns Colab off by an empty address.
        self.on_colab = (config.get("launch_buttons") or {}).get("colab_url", "there") != ""
        sphinx = (config.get("sphinx") or {}).get("config") or {}
        self.equations_per_page = not (sphinx.get("math_numfig", True) and sphinx.get("numfig", True))
        self.targets: dict[str, Target] = {}
        self.numbers: dict[tuple[str, int], str] = {}  # (page, line of the construct) -> its number
        self.terms: dict[str, Page] = {}
        counts: Counter[str] = Counter()
        for page in pages:
            if self.equations_per_page:
                counts["equation"] = 0
            self.collect(page, counts)

    @property
    def repository(self) -> str:
        return f"https://github.com/{self.owner_and_name}"

    def raw(self, path: str) -> str:
        return f"https://raw.githubusercontent.com/{self.owner_and_name}/{self.branch}/{quote(path)}"

    def blob(self, path: str) -> str:
        return f"{self.repository}/blob/{self.branch}/{quote(path)}"

    def collect(self, page: Page, counts: Counter[str]) -> None:
        """Number the constructs of a page as Sphinx does, and note labels and glossary terms."""
        waiting: list[Block] = []  # (label)= lines, which name the heading that follows
        for block in walk(page.text, page.grammar):
            if block.kind == "target":
                waiting.append(block)
                continue
            if block.kind == "comment":
                continue
            for target in waiting:
                is_heading = block.name.startswith("h") and block.kind == "text"
                text = heading_text(block) if is_heading else ""
                self.add(page, target.content, target.line, "section", text)
            waiting = []
            kind, text = self.describe(block, page, counts)
            if kind and block.label:
                self.add(page, block.label, block.line, kind, text)
            if block.name == "glossary":
                for line in block.content.split("\n"):
                    if line.strip() and not line[0].isspace():
                        self.terms.setdefault(line.strip().lower(), page)
        for target in waiting:
            self.add(page, target.content, target.line, "section", "")

    def describe(self, block: Block, page: Page, counts: Counter[str]) -> tuple[str, str]:
        """Kind of a construct and the text that refers to it; counts it where it has a number."""
        if block.kind == "math" or block.name == "math":
            if not block.label:
                return "", ""
            return "equation", f"({self.count(block, page, counts, 'equation')})"
        if block.kind != "directive":
            return "", ""
        if block.name == "figure":
            return "figure", f"Figure {self.count(block, page, counts, 'figure')}" if block.content else ""
        if block.name == "list-table":
            return "table", f"Table {self.count(block, page, counts, 'table')}" if block.argument else ""
        is_proof = block.name.startswith("prf:")
        if block.name != "exercise" and not is_proof:
            return "place", ""
        name = block.name.removeprefix("prf:")
        kind = "theorem" if is_proof else "exercise"
        if name == "proof" or "nonumber" in block.options:
            return kind, name.capitalize()
        return kind, f"{name.capitalize()} {self.count(block, page, counts, name)}"

    def count(self, block: Block, page: Page, counts: Counter[str], kind: str) -> int:
        counts[kind] += 1
        self.numbers[page.name, block.line] = str(counts[kind])
        return counts[kind]

    def add(self, page: Page, label: str, line: int, kind: str, text: str) -> None:
        label = label.strip()
        if label in self.targets:
            first = self.targets[label].page.path
            raise ExportError(page.path, line, f"duplicate label: {label} (already in {first})")
        self.targets[label] = Target(page, kind, text)

    def cite(self, key: str, textual: bool) -> str | None:
        """A citation as a Markdown link, or None if no entry has this key."""
        entry = self.bibliography.entries.get(key)
        if entry is None:
            return None
        names = [plain(person) for person in entry.persons.get("author") or entry.persons.get("editor") or []]
        who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        year = entry.fields.get("year", "n.d.")
        text = f"{who or key} ({year})" if textual else f"{who or key}, {year}"
        doi, eprint = entry.fields.get("doi"), entry.fields.get("eprint")
        url = f"https://doi.org/{doi}" if doi else entry.fields.get("url")
        url = url or (f"https://arxiv.org/abs/{eprint}" if eprint else None)
        return f"[{text}]({quote(url, safe=':/?#&=%~+,;@')})" if url else text


def plain(person: Person) -> str:
    names = [*person.prelast_names, *person.last_names]
    return str(Text.from_latex(" ".join(names)).render_as("text"))


def toc_names(toc: object, path: Path) -> list[str]:
    """Page names of a parsed ``_toc.yml`` in reading order."""
    if isinstance(toc, list):
        return [name for entry in toc for name in toc_names(entry, path)]
    if not isinstance(toc, dict):
        raise ExportError(path, 1, f"malformed table of contents: {toc!r}")
    if "glob" in toc:
        raise ExportError(path, 1, "unsupported construct: glob in the table of contents")
    names = [str(toc[key]) for key in ("root", "file") if key in toc]
    inside = [
        name for key in ("parts", "chapters", "sections") for name in toc_names(toc.get(key) or [], path)
    ]
    return [name.removesuffix(".md") for name in names] + inside


def read(path: Path, parse: Callable[[str], object]) -> dict:
    """A YAML file that holds a mapping."""
    try:
        value = parse(path.read_text("utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ExportError(path, 1, f"cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict):
        raise ExportError(path, 1, "is not a mapping")
    return value


def load_book(root: Path) -> Book:
    """The book whose ``_config.yml`` and ``_toc.yml`` stand in ``root``."""
    config = read(root / "_config.yml", yaml.safe_load)
    toc = read(root / "_toc.yml", yaml.safe_load)
    parse = config.get("parse") or {}
    extensions = frozenset(map(str, parse.get("myst_enable_extensions") or DEFAULT_EXTENSIONS))
    pages = []
    for name in toc_names(toc, root / "_toc.yml"):
        path = root / f"{name}.md"
        try:
            text = path.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise ExportError(root / "_toc.yml", 1, f"page {name} cannot be read: {error}") from None
        pages.append(make_page(name, path, text, extensions))
    entries = BibliographyData()
    sphinx = (config.get("sphinx") or {}).get("config") or {}
    for file in sphinx.get("bibtex_bibfiles") or config.get("bibtex_bibfiles") or []:
        try:
            entries.add_entries(parse_file(str(root / file)).entries.items())
        except (OSError, PybtexError) as error:
            raise ExportError(root / file, 1, f"cannot be read: {error}") from None
    return Book(root, config, pages, entries)
