"""Editions of the book from one master: a tree of sources made from the chapters, the outputs that they already have, pages.

An edition is built from a copy of the sources below ``_build/<edition>/src`` in which the chapters are rewritten.  The
master's executed notebooks supply the outputs, so that nothing runs again; and what an edition leaves out is not in the
tree at all, so that no page, index or download can show it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat
import yaml
from execute import CACHE, EXECUTED, merge_outputs, seconds
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from myst_blocks import Block, blocks
from myst_book import Book, Page
from myst_nb.core.read import read_myst_markdown_notebook
from nbformat import NotebookNode

COPIED = ("references.bib", "requirements.txt", "tools", "vendor", "book")
CHAPTERS = (".md", ".ipynb")


@dataclass
class Solution:
    """A gated solution: half-open range of lines in its page, and the cells and text inside."""

    exercise: str
    start: int
    end: int = 0
    cells: list[Block] = field(default_factory=list)

    def holds(self, line: int) -> bool:
        return self.start <= line < self.end


def solutions(page: Page) -> list[Solution]:
    """The solutions of a page, in order."""
    found: list[Solution] = []
    is_open = False
    for block in blocks(page.text, page.grammar):
        if block.kind != "directive":
            continue
        if block.name == "solution-start":
            found.append(Solution(block.argument, block.start))
            is_open = True
        elif block.name == "solution-end":
            found[-1].end = block.end
            is_open = False
        elif block.name == "code-cell" and is_open:
            found[-1].cells.append(block)
    if is_open:
        raise page.grammar.error(found[-1].start + 1, "{solution-start} without {solution-end}")
    return found


def without_solutions(page: Page) -> str:
    """The text of a page with every gated solution left out."""
    lines = page.text.split("\n")
    gone = solutions(page)
    kept = [line for number, line in enumerate(lines) if not any(solution.holds(number) for solution in gone)]
    return "\n".join(kept)


def write(path: Path, data: bytes) -> None:
    """Write unless that is there already: what keeps its time stamp is not read again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copied(root: Path) -> Iterator[Path]:
    """What an edition takes over unchanged, relative to ``root``: everything but the chapters."""
    for name in COPIED:
        path = root / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            inside = file.relative_to(root)
            if file.is_file() and "__pycache__" not in inside.parts and not any(p.startswith(".") for p in inside.parts):
                if name != "book" or file.suffix not in CHAPTERS:
                    yield inside


def settings(root: Path) -> tuple[dict, dict]:
    """The master's configuration and table of contents, to be changed for an edition."""
    config, toc = (yaml.safe_load((root / name).read_text("utf-8")) for name in ("_config.yml", "_toc.yml"))
    return config, toc


def edition_book(book: Book, texts: dict[str, str], config: dict) -> Book:
    """The book with other texts (page name -> text) and another configuration, for the export of its notebooks."""
    pages = [replace(page, text=texts[page.name]) for page in book.pages.values()]
    return Book(book.root, config, pages, book.bibliography)


def write_tree(root: Path, tree: Path, texts: dict[str, str], config: dict, toc: dict) -> None:
    """Make ``tree`` the sources of an edition: the pages ``texts`` (page name -> text) and what they need.

    What an earlier edition left in ``tree`` and this one has not is removed.
    """
    config["execute"]["cache"] = str(tree / CACHE)  # a relative one may be looked for elsewhere
    files = {f"{name}.md": text.encode() for name, text in texts.items()}
    for name, value in (("_config.yml", config), ("_toc.yml", toc)):
        files[name] = yaml.safe_dump(value, sort_keys=False, allow_unicode=True).encode()
    files |= {path.as_posix(): (root / path).read_bytes() for path in copied(root)}
    for name, data in files.items():
        write(tree / name, data)
    for path in sorted(tree.rglob("*")):
        inside = path.relative_to(tree)
        if path.is_file() and inside.parts[0] != "_build" and inside.as_posix() not in files:
            path.unlink()


def outputs(root: Path, page: Page, gone: list[Solution]) -> tuple[NotebookNode, float]:
    """The chapter ``page`` with its outputs, without the cells in the solutions ``gone``; and its seconds."""
    executed = root / EXECUTED / f"{page.name}.ipynb"
    if not executed.exists():
        raise FileNotFoundError(f"{executed}: missing; run `make notebooks` first")
    chapter = read_myst_markdown_notebook(page.text, add_source_map=True, path=page.path)
    ran = nbformat.read(executed, 4)
    merge_outputs(chapter, ran)
    lines = chapter.metadata["source_map"]
    kept = [cell for cell, line in zip(chapter.cells, lines, strict=True) if not any(s.holds(line) for s in gone)]
    chapter.cells = kept
    return chapter, seconds(ran)


def fill_cache(root: Path, tree: Path, book: Book, texts: dict[str, str]) -> dict[str, float]:
    """Hand the master's outputs to the pages of ``tree``; the seconds that each took.  Nothing is executed.

    The code cells of an edition's page are those of the master outside left-out solutions, in order.
    """
    shutil.rmtree(tree / CACHE, ignore_errors=True)
    cache = get_cache(tree / CACHE)
    times = {}
    for page in book.pages.values():
        if not page.is_notebook or page.name not in texts:
            continue
        path = tree / f"{page.name}.md"
        target = read_myst_markdown_notebook(texts[page.name], add_source_map=True, path=path)
        gone = [] if "{solution-start}" in texts[page.name] else solutions(page)
        source, times[page.name] = outputs(root, page, gone)
        try:
            merge_outputs(target, source)
        except ValueError as error:
            raise ValueError(f"{page.name}: {error}") from None
        bundle = CacheBundleIn(target, str(path), data={"execution_seconds": times[page.name]})
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return times


def build_pages(tree: Path) -> Path:
    """Build the HTML of ``tree``, warnings being errors; its folder.  Raises RuntimeError with what Sphinx said."""
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", "-W", "-n", "--keep-going", "."]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, env=environment)
    if result.returncode:
        shutil.rmtree(tree / "_build/.doctrees", ignore_errors=True)  # or a second try would hide the warning
        raise RuntimeError(f"the pages could not be built:\n{(result.stdout + result.stderr)[-6000:]}")
    return tree / "_build/html"


def publish(staged: Path, target: Path) -> None:
    """Put the finished folder ``staged`` in the place of ``target`` in one step."""
    target.parent.mkdir(parents=True, exist_ok=True)
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    staged.rename(target)
    shutil.rmtree(old, ignore_errors=True)
