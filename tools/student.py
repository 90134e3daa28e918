"""Write the student edition: pages and notebooks without solutions, to dist/student/.

    python tools/student.py [--root DIR] [--repository URL]

Nothing is written, and the last edition stays, unless the leak test finds nothing (see leaks.py).  With ``--repository``
the badges lead to that repository, which is to hold the contents of dist/student/notebooks; without it there are none, for
the master has the solutions.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from edition import build_pages, edition_book, fill_cache, publish, settings, without_solutions, write, write_tree
from export_notebooks import Notebook
from grading import as_file, gradable
from leaks import Fingerprints, fingerprints, leaks
from myst_blocks import ExportError
from myst_book import Book, load_book

SHOWN = 20  # leaks that are listed


def student_texts(book: Book) -> dict[str, str]:
    """Page name -> source without solutions."""
    return {page.name: without_solutions(page) if page.is_notebook else page.text for page in book.pages.values()}


def student_notebooks(book: Book, package: str) -> dict[str, dict]:
    """Page name -> notebook of each chapter of a book without solutions; the package comes from ``package``."""
    found = {}
    for page in book.pages.values():
        if page.is_notebook:
            notebook = Notebook(book, page).build()
            text = json.dumps(gradable(notebook, page)).replace(f"git+{book.repository}.git", f"git+{package}.git")
            found[page.name] = json.loads(text)
    return found


def stage(root: Path, repository: str | None) -> Path:
    """Build the edition below ``_build/student``; the folder to publish."""
    book = load_book(root)
    tree, staged = root / "_build/student/src", root / "_build/student/staged"
    texts = student_texts(book)
    config, toc = settings(root)
    if repository:
        config["repository"]["url"] = repository
    else:
        config.setdefault("launch_buttons", {})["colab_url"] = ""
    write_tree(root, tree, texts, config, toc)
    fill_cache(root, tree, book, texts)
    shutil.rmtree(staged, ignore_errors=True)
    for name, notebook in student_notebooks(edition_book(book, texts, config), book.repository).items():
        for folder in (tree, staged / "notebooks"):  # the pages offer the notebook for download
            write(folder / f"{name}.ipynb", as_file(notebook).encode())
    shutil.copytree(build_pages(tree), staged / "html")
    return staged


def master_fingerprints(root: Path) -> Fingerprints:
    """Fingerprints of the solutions of the master; quizzes and bibliography are shown beside the chapters."""
    beside = [*sorted((root / "book/quizzes").rglob("*.yml")), root / "references.bib"]
    allowed = [path.read_text("utf-8") for path in beside if path.exists()]
    return fingerprints({name: page.text for name, page in load_book(root).pages.items()}, allowed)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the student edition to dist/student/.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--repository", help="where the student notebooks are to be published")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    try:
        staged = stage(root, options.repository or None)
    except (ExportError, OSError, RuntimeError, ValueError) as error:
        print(f"student edition: {error}", file=sys.stderr)
        return 1
    known = master_fingerprints(root)
    found = leaks(staged, known)
    if found:
        print("\n".join(found[:SHOWN]), file=sys.stderr)
        print(f"student edition: {len(found)} leaks of solutions; nothing was written to dist/", file=sys.stderr)
        return 1
    publish(staged, root / "dist/student")
    solved = len(set(known.runs.values()))
    print(f"student edition: {root / 'dist/student'} ({solved} solutions left out, none found in it)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
