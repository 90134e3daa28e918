"""Write the notebook for Colab beside every chapter.

    python tools/export_notebooks.py            write them
    python tools/export_notebooks.py --check    exit 1 if one is missing, out of date, or has no chapter

The result is plain Markdown and code without outputs, and depends on the sources only.  A construct that the
export does not know is an error that names file and line.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gpu_times import gpu_time
from myst_blocks import Block, ExportError, blocks
from myst_book import Book, Page, load_book
from myst_markdown import Markdown, details, quote

HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
INSTALL = """\
from importlib.util import find_spec

if find_spec("copyhead") is None:
    %pip install --quiet --no-deps "copyhead @ git+{address}.git@{branch}\""""


class Notebook:
    """The cells of one chapter, in order."""

    def __init__(self, book: Book, page: Page) -> None:
        self.book = book
        self.page = page
        self.markdown = Markdown(book, page)
        self.cells: list[dict] = []
        self.solution: str | None = None  # summary line of the fold, while inside a gated solution
        self.gate_line = 0
        self.has_gpu = False

    def add(self, kind: str, source: str, metadata: dict | None = None) -> None:
        cell: dict = {"cell_type": kind, "id": f"cell-{len(self.cells):03d}", "metadata": metadata or {}}
        cell["source"] = source.splitlines(keepends=True)
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        self.cells.append(cell)

    def add_hidden(self, source: str, title: str, tags: list[str]) -> None:
        metadata: dict = {"cellView": "form", "jupyter": {"source_hidden": True}}
        metadata |= {"tags": tags} if tags else {}
        self.add("code", f"# @title {title}\n{source}", metadata)

    def add_text(self, lines: list[str], first_line: int) -> None:
        source = self.markdown.render("\n".join(lines), first_line)
        if source.strip():
            self.add("markdown", details(self.solution, source) if self.solution else source)

    def build(self) -> dict:
        lines = self.page.text.split("\n")
        pending: list[str] = []  # text not yet in a cell; its last line is just before ``position``
        position = 0
        has_title = False
        for block in blocks(self.page.text, self.page.grammar):
            pending += lines[position : block.start]
            source = lines[block.start : block.end]
            position = block.end
            first_line = block.start - len(pending) + 1
            if block.kind == "front matter":
                # Blank lines keep the count of lines right.
                pending += [""] * len(source)
            elif block.kind == "break" or (block.kind == "directive" and block.name in STRUCTURE):
                self.add_text(pending, first_line)
                pending = []
                if block.kind == "directive":
                    if block.prefix:
                        message = f"{{{block.name}}} must stand at the top level of the page"
                        raise self.page.grammar.error(block.line, message)
                    STRUCTURE[block.name](self, block)
            elif block.name == "h1" and not has_title:
                self.add_text(pending + source, first_line)
                self.add_hidden_setup()
                pending = []
                has_title = True
            else:
                pending += source
        self.add_text(pending + lines[position:], position - len(pending) + 1)
        if self.solution:
            raise self.page.grammar.error(self.gate_line, "{solution-start} without {solution-end}")
        if not has_title:
            raise self.page.grammar.error(1, "the page has no title")
        metadata: dict = {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
        if self.has_gpu:
            metadata |= {"accelerator": "GPU", "colab": {"gpuType": "T4"}}
        return {"cells": self.cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}

    def add_hidden_setup(self) -> None:
        source = INSTALL.format(address=self.book.repository, branch=self.book.branch)
        self.add_hidden(source, "Set up: install copyhead if it is missing", [])

    def code_cell(self, block: Block) -> None:
        source = block.content.strip("\n")
        if block.argument not in ("ipython3", "python", "python3"):
            raise self.page.grammar.error(block.line, f"unknown language of a code cell: {block.argument!r}")
        hidden = bool(HIDDEN & set(block.tags))
        if not self.solution and not hidden:
            self.add("code", source, {"tags": block.tags} if block.tags else {})
            return
        if source.startswith("%%"):
            raise self.page.grammar.error(block.line, "a hidden cell cannot begin with a cell magic")
        first = source.partition("\n")[0]
        comment = first.removeprefix("# ").rstrip(".") if first.startswith("# ") else "Code of this output"
        self.add_hidden(source, "Solution" if self.solution else comment, block.tags)

    def open_gate(self, block: Block) -> None:
        target = self.book.targets.get(block.argument)
        if target is None or target.kind != "exercise" or target.page is not self.page:
            raise self.page.grammar.error(
                block.line, f"unresolved label: {block.argument} in {{solution-start}}"
            )
        if self.solution:
            raise self.page.grammar.error(self.gate_line, "{solution-start} without {solution-end}")
        self.solution, self.gate_line = f"Solution of {target.text}", block.line

    def close_gate(self, block: Block) -> None:
        if not self.solution:
            raise self.page.grammar.error(block.line, "{solution-end} without {solution-start}")
        self.solution = None

    def header(self, block: Block) -> None:
        """The box at the top of a chapter, with the way to Colab."""
        times = [f"Reading {block.option('reading')} min"]
        if gpu := block.option("gpu"):
            device, time = gpu_time(self.book.root, self.page.name, gpu)
            times.append(f"on a {device} {time}")
            self.has_gpu = True
        if self.book.on_colab:
            colab = f"https://colab.research.google.com/github/{self.book.owner_and_name}/blob/{self.book.branch}"
            times.append(f"[Open in Colab]({colab}/{self.page.name}.ipynb)")
        body = self.markdown.render(block.content, block.body_line, quoted=True)
        self.add("markdown", quote(f"{body}\n\n{' · '.join(times)}"))


STRUCTURE = {
    "code-cell": Notebook.code_cell,
    "solution-start": Notebook.open_gate,
    "solution-end": Notebook.close_gate,
    "chapter-header": Notebook.header,
}


def export_page(book: Book, page: Page) -> str:
    """The notebook of ``page`` as the text of an ``.ipynb`` file."""
    return json.dumps(Notebook(book, page).build(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def exported(book: Book) -> tuple[dict[Path, str], list[ExportError]]:
    """Notebook paths with their contents, and what could not be exported."""
    results: dict[Path, str] = {}
    errors: list[ExportError] = []
    for page in book.pages.values():
        if page.is_notebook:
            try:
                results[page.path.with_suffix(".ipynb")] = export_page(book, page)
            except ExportError as error:
                errors.append(error)
    return results, errors


def differences(book: Book, results: dict[Path, str]) -> list[str]:
    """What ``--check`` complains about."""
    found = []
    for path, text in results.items():
        if not path.exists():
            found.append(f"{path}: missing")
        elif path.read_text("utf-8") != text:
            found.append(f"{path}: differs from what its chapter gives")
    for path in sorted((book.root / "book").rglob("*.ipynb")):
        if path not in results and not any(
            part.startswith(".") for part in path.relative_to(book.root).parts
        ):
            found.append(f"{path}: has no chapter")
    return found


def main(arguments: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description="Write the notebook for Colab beside every chapter.")
    options.add_argument("--check", action="store_true", help="exit 1 if a notebook is out of date")
    options.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    chosen = options.parse_args(arguments)
    try:
        book = load_book(chosen.root)
        results, errors = exported(book)
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    complaints = [str(error) for error in errors]
    if chosen.check and not errors:
        complaints = differences(book, results)
        if complaints:
            complaints.append("run tools/export_notebooks.py and commit the result")
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
        return 1
    written = 0
    for path, text in results.items():
        if not chosen.check and (not path.exists() or path.read_text("utf-8") != text):
            path.write_text(text, "utf-8")
            written += 1
    print(f"notebooks: {len(results)} in all, {written} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
