"""Print the built book as one PDF: bookmarks, links that work, formulas and figures as curves, solutions at the end.

    python tools/pdf_book.py SITE TARGET.pdf

Chromium opens every page of the built HTML, so that formulas are set as a reader sees them; ``pdf_page.js`` turns each
page into a piece of one document, and Chromium prints that.  It is printed twice: the first copy tells on which pages
the chapters begin, the second has these numbers in its table of contents.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from execute import documents
from prerender import SHEET
from visits import find_chromium, launched, visit_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
FOOTER = (
    '<div style="font:8pt DejaVu Sans,sans-serif;color:#555;width:100%;text-align:center">'
    '<span class="pageNumber"></span></div>'
)


class Piece(NamedTuple):
    """A chapter as part of the long document."""

    name: str
    part: str
    title: str
    body: str
    solutions: str

    @property
    def slug(self) -> str:
        return self.name.replace("/", "-")


def parts(toc: dict) -> list[tuple[str, str]]:
    """Document names in reading order, each with the caption of its part ("" for the first page)."""
    out = [(toc["root"], "")]
    for part in toc["parts"]:
        out += [(name, part["caption"]) for name in documents(part["chapters"])]
    return out


def read_pieces(browser: Browser, site: Path, toc: dict) -> list[Piece]:
    """The chapters, in reading order."""
    names = documents(toc)
    script = (TOOLS / "pdf_page.js").read_text("utf-8")
    pieces: list[Piece] = []
    for name, part in parts(toc):
        visit, context = visit_page(browser, site, name)
        visit.page.emulate_media(media="print")
        got = visit.page.evaluate(script, {"slug": name.replace("/", "-"), "pages": names})
        context.close()
        pieces.append(Piece(name, part, got["title"], got["body"], got["solutions"]))
    return pieces


def formula_rules(site: Path) -> str:
    """The style sheet that the build wrote for its formulas, with whole addresses of the fonts.

    Raises
    ------
    FileNotFoundError
        If the formulas of ``site`` were left to the reader's browser (prerender.py says when).
    """
    folder = (site / "_static").resolve()
    text = (folder / SHEET).read_text("utf-8")
    return re.sub(r"""url\(["']?\.\./([^)"']*)["']?\)""", lambda m: f'url("{folder.parent.as_uri()}/{m[1]}")', text)


def contents(pieces: list[Piece], numbers: dict[str, int]) -> str:
    """The table of contents; an entry without a page number yet keeps the room for one."""
    lines, part = [], ""

    def line(kind: str, anchor: str, text: str) -> None:
        lines.append(
            f'<p class="{kind}"><a href="#{anchor}">{escape(text)}</a><span class="no">{numbers.get(anchor, 0)}</span></p>'
        )

    for piece in pieces[1:]:
        if piece.part != part:
            part = piece.part
            line("part", anchor_of(part), part)
        line("chapter", piece.slug, piece.title)
    line("part", "solutions", "Solutions")
    return f'<div class="toc"><h2 id="contents">Contents</h2>{"".join(lines)}</div>'


def anchor_of(part: str) -> str:
    return "part-" + re.sub(r"\W+", "-", part.lower())


def document(pieces: list[Piece], rules: str, numbers: dict[str, int], about: dict) -> str:
    """The long document."""
    styles = "\n".join([rules, pygments(), (TOOLS / "pdf_book.css").read_text("utf-8")])
    out = [
        f'<div class="cover"><div class="name">{escape(about["title"])}</div>'
        f'<div class="small">{escape(about["author"])}<br>Version {escape(about["version"])}<br>'
        f"{escape(str(about['copyright']))}</div></div>",
        contents(pieces, numbers),
    ]
    part = ""
    for piece in pieces:
        if piece.part != part:
            part = piece.part
            out.append(f'<h1 id="{anchor_of(part)}">{escape(part)}</h1>')
        out.append(f'<div id="{piece.slug}">{piece.body}</div>')
    out.append('<h1 id="solutions">Solutions</h1>')
    out += [f"<h2>{escape(p.title)}</h2>{p.solutions}" for p in pieces if p.solutions]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(about["title"])}</title>'
        f"<style>{styles}</style></head><body>{''.join(out)}</body></html>"
    )


def pygments() -> str:
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(style="default").get_style_defs(".highlight")


def print_document(browser: Browser, text: str, target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "book.html")
        source.write_text(text, "utf-8")
        page = browser.new_page()
        page.set_default_timeout(600_000)
        page.goto(source.as_uri(), wait_until="load", timeout=600_000)
        page.evaluate("() => document.fonts.ready.then(() => null)")
        page.pdf(
            path=target, prefer_css_page_size=True, outline=True, tagged=True, print_background=True,
            display_header_footer=True, header_template="<span></span>", footer_template=FOOTER,
        )  # fmt: skip
        page.close()


def page_numbers(path: Path) -> dict[str, int]:
    """Anchor -> number of the page it stands on, counted from 1."""
    import pikepdf

    with pikepdf.open(path) as pdf:
        places: dict[Any, int] = {page.objgen: number for number, page in enumerate(pdf.pages, 1)}
        return {name.lstrip("/"): places[target[0].objgen] for name, target in pdf.Root.Dests.items()}


def compress(path: Path) -> None:
    """Write ``path`` anew with its objects in compressed streams: the structure for screen readers shrinks tenfold."""
    import pikepdf

    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.save(path, object_stream_mode=pikepdf.ObjectStreamMode.generate, recompress_flate=True, deterministic_id=True)


def write_pdf(browser: Browser, site: Path, target: Path, version: str, root: Path = ROOT) -> None:
    """Print the pages of ``site``, built from the repository ``root``, into the file ``target``."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    about = yaml.safe_load((root / "_config.yml").read_text("utf-8")) | {"version": version}
    pieces, rules = read_pieces(browser, site, toc), formula_rules(site)
    print_document(browser, document(pieces, rules, {}, about), target)
    print_document(browser, document(pieces, rules, page_numbers(target), about), target)
    compress(target)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium; raises FileNotFoundError where there is none."""
    path = find_chromium()
    if path is None:
        raise FileNotFoundError("Chromium is needed to print the book: install it, or set CHROMIUM to the path of one")
    with launched(path) as browser:
        yield browser


def main() -> int:
    parser = argparse.ArgumentParser(description="Print the built book as one PDF.")
    parser.add_argument("site", type=Path, help="folder of the built HTML")
    parser.add_argument("target", type=Path, help="the file to write")
    options = parser.parse_args()
    from copyhead import __version__

    try:
        with chromium() as browser:
            write_pdf(browser, options.site, options.target, __version__)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
