"""Build the slides: one reveal.js deck for every file in course/slides, which open without a network.

    python tools/slides.py [NAME ...] [--out dist/slides] [--no-pdf]

Formulas and figures come from the chapters and from their executed notebooks (`make notebooks`).  With a Chromium on
the path every deck is printed to PDF as well.
"""

from __future__ import annotations

import argparse
import html
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myst_blocks import ExportError
from myst_book import Book, load_book
from slides_sources import DECKS, Deck, Sources, complaints, decks
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils
from visits import find_chromium, launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
REVEAL: dict[str, Any] = {
    "width": 1280,
    "height": 720,
    "margin": 0,
    "center": False,
    "hash": True,
    "slideNumber": "c/t",
    "controlsTutorial": False,
    "transition": "none",
    "pdfSeparateFragments": False,
    "pdfMaxPagesPerSlide": 1,
}


class Complaints(Exception):
    """Faults of the decks, one a line."""

    def __init__(self, found: list[str]) -> None:
        super().__init__("\n".join(found))


def configuration(root: Path, chosen: list[Deck]) -> dict:
    """Configuration of Sphinx for these decks."""
    style = root / DECKS / "_static"
    return {
        "extensions": ["myst_parser", "sphinx.ext.mathjax", "sphinx_revealjs", "slides_extension"],
        "slides_root": str(root),
        "root_doc": chosen[0].name,
        "include_patterns": [f"{deck.name}.md" for deck in chosen],
        "language": "en",
        "project": "Phase transitions in attention",
        "myst_enable_extensions": ["colon_fence", "dollarmath", "deflist"],
        "highlight_language": "none",
        "html_extra_path": [str(root / "vendor")],
        "exclude_patterns": ["mathjax-node", "SHA256SUMS"],  # relative to vendor/: for builds only
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "mathjax_path": "../vendor/mathjax/tex-mml-chtml.js",
        "revealjs_html_theme": "revealjs-simple",
        "revealjs_style_theme": "white-contrast",
        "revealjs_static_path": [str(style)],
        "revealjs_css_files": ["slides.css"],
        "revealjs_script_files": ["slides.js"],
        "revealjs_script_conf": dict(REVEAL),
        "revealjs_script_plugins": [{"src": "revealjs/plugin/notes/notes.js", "name": "RevealNotes"}],
    }


def chosen_decks(book: Book, names: list[str] | None = None) -> list[Deck]:
    """The decks ``names``, all of them by default; raises Complaints for a name that no deck has."""
    known = decks(book)
    chosen = [deck for deck in known if not names or deck.name in names]
    if not chosen or (names and len(chosen) != len(set(names))):
        raise Complaints([f"no such deck among {names}; there are: {', '.join(deck.name for deck in known)}"])
    return chosen


def build(root: Path, out: Path, names: list[str] | None = None) -> list[Deck]:
    """Write the decks ``names`` (all of them by default) to the folder ``out``, which is emptied; return them.

    Raises Complaints, with a line for every fault of a deck, before anything is written, and ExportError for a
    fault of the book.
    """
    root = root.resolve()  # Sphinx takes relative paths from the folder of the decks
    book = load_book(root)
    chosen = chosen_decks(book, names)
    sources = Sources(book)
    if found := [fault for deck in chosen for fault in complaints(deck, sources)]:
        raise Complaints(found)
    folder = root / DECKS
    shutil.rmtree(out, ignore_errors=True)
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            str(folder), None, str(out), str(out / ".doctrees"), "revealjs",
            confoverrides=configuration(root, chosen), status=None, warning=sys.stderr,
            freshenv=True, warningiserror=True, keep_going=True,
        )
        app.build(force_all=True)
    shutil.rmtree(out / ".doctrees")
    if app.statuscode:
        raise Complaints([f"{folder}: the slides were not built without a warning"])
    write_index(out, chosen)
    return chosen


def write_index(out: Path, chosen: list[Deck]) -> None:
    """The page from which a lecturer opens a deck."""
    rows = "".join(
        f'<li><a href="{deck.name}.html">{html.escape(deck.slides[0][0])}</a>, {len(deck.slides)} slides,'
        f" {deck.minutes} minutes</li>\n"
        for deck in chosen
    )
    page = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Slides: phase transitions in attention</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{{font:18px/1.5 system-ui,sans-serif;max-width:46em;margin:2em auto;padding:0 1em}}</style></head>
<body><h1>Slides</h1>
<p>Arrow keys turn slides; S opens the speaker notes; F fills the screen; Esc shows all slides.
Add <code>?print-pdf</code> to the address of a deck to print it.</p>
<ol>
{rows}</ol></body></html>
"""
    (out / "index.html").write_text(page, "utf-8")


def print_deck(browser: Browser, out: Path, deck: Deck) -> None:
    """The PDF of a deck in ``out``, one page a slide."""
    page = browser.new_page(viewport={"width": REVEAL["width"], "height": REVEAL["height"]})
    page.goto((out / f"{deck.name}.html").resolve().as_uri() + "?print-pdf")
    page.wait_for_selector(".reveal.ready .pdf-page", state="attached")
    page.evaluate("() => window.MathJax?.startup?.promise ?? null")
    page.pdf(path=out / f"{deck.name}.pdf", prefer_css_page_size=True, print_background=True)
    page.close()


def print_decks(path: str, out: Path, chosen: list[Deck]) -> None:
    """A PDF of every deck, by the Chromium at ``path``."""
    with launched(path) as browser:
        for deck in chosen:
            print_deck(browser, out, deck)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the slides from course/slides.")
    parser.add_argument("names", nargs="*", help="decks to build, such as 1-tour (default: all)")
    parser.add_argument("--out", type=Path, default=ROOT / "dist/slides")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--no-pdf", action="store_true")
    options = parser.parse_args(arguments)
    try:
        chosen = build(options.root, options.out, options.names)
    except (ExportError, Complaints) as error:
        print(error, file=sys.stderr)
        return 1
    for deck in chosen:
        print(f"  {deck.name}: {len(deck.slides)} slides, {deck.minutes} minutes")
    browser = find_chromium()
    if options.no_pdf:
        print("slides: no PDF was asked for")
    elif browser is None:
        print("slides: no PDF, because Chromium was not found (Debian: apt-get install chromium)")
    else:
        print_decks(browser, options.out, chosen)
        print(f"slides: a PDF beside each of the {len(chosen)} decks")
    print(f"Open this address in a browser:\n  {(options.out / 'index.html').resolve().as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
