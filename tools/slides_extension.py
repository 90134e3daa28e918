"""Directives and roles of the slides; a Sphinx extension beside sphinx-revealjs, which writes the pages.

    ```{chapter-equation} eq-softmax-action     the formula, with its number and chapter
    ```{chapter-figure} transitions/softmax     the figure or slider of the cell whose code holds the text of :cell:
    ```{notes} 4                                speaker notes of the slide, which takes 4 minutes
    {chapter}`transitions/softmax`              title of the chapter
    {exercise}`ex-softmax-1`                    number, title, difficulty and minutes of the exercise
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.parsers.rst.states import Inliner
from myst_book import load_book
from slides_sources import Sources, UnknownReference
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from sphinx_revealjs.nodes import revealjs_section

WIDTH, HEIGHT = 1168, 430  # pixels that a figure has on a slide of 1280 x 720
GAP = 16
PANEL = re.compile(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)" style="flex-basis:[\d.]+px"')


def scale(sizes: list[tuple[float, float]], width: float, height: float) -> float:
    """The largest scale at which panels of these sizes, set in rows from left to right, fill at most this area."""

    def fits(factor: float) -> bool:
        x = y = row = 0.0
        for w, h in sizes:
            w, h = w * factor, h * factor
            if w > width:
                return False
            if x and x + w > width:
                x, y, row = 0.0, y + row + GAP, 0.0
            x, row = x + w + GAP, max(row, h)
        return y + row <= height

    return next((n / 100 for n in range(400, 10, -1) if fits(n / 100)), 0.1)


def enlarged(html: str, width: int, height: int) -> str:
    """The figure with panels of a fixed size that together fill the area."""
    factor = scale([(float(w), float(h)) for w, h in PANEL.findall(html)], width, height)

    def panel(match: re.Match[str]) -> str:
        w, h = (float(size) * factor for size in match.groups())
        return f'<svg viewBox="0 0 {match[1]} {match[2]}" style="flex:none;width:{w:.0f}px;height:{h:.0f}px"'

    return PANEL.sub(panel, html)


class FromChapters(SphinxDirective):
    """A directive that shows something of the book."""

    required_arguments = 1
    final_argument_whitespace = True

    @property
    def sources(self) -> Sources:
        return self.config.slides_sources

    def run(self) -> list[nodes.Node]:
        try:
            return self.show(self.arguments[0])
        except UnknownReference as error:
            raise self.error(str(error)) from None

    def show(self, argument: str) -> list[nodes.Node]:
        raise NotImplementedError


class ChapterEquation(FromChapters):
    """A formula by its label; ``size`` in per cent of the usual one."""

    option_spec = {"size": directives.positive_int}

    def show(self, argument: str) -> list[nodes.Node]:
        equation = self.sources.equation(argument)
        formula = nodes.math_block(equation.tex, equation.tex, nowrap=False, number=None, label=None)
        self.set_source_info(formula)
        source = nodes.paragraph("", f"{equation.page.title}, {equation.number}", classes=["origin"])
        if "size" not in self.options:
            return [formula, source]
        opening = nodes.raw("", f'<div style="font-size:{self.options["size"]}%">', format="html")
        return [opening, formula, nodes.raw("", "</div>", format="html"), source]


class ChapterFigure(FromChapters):
    """A figure or slider by its chapter and a piece of the code that draws it."""

    option_spec = {
        "cell": directives.unchanged_required,
        "width": directives.positive_int,
        "height": directives.positive_int,
        "side": directives.flag,
    }

    def show(self, argument: str) -> list[nodes.Node]:
        figure = self.sources.figure(argument, self.options.get("cell", ""))
        side = "side" in self.options
        width = self.options.get("width", 600 if side else WIDTH)
        html = enlarged(figure, width, self.options.get("height", HEIGHT))
        source = f'<p class="origin">{self.sources.chapter(argument).title}</p>'
        kind = "from-chapter side" if side else "from-chapter"
        # A swipe on the slider must not turn the slide.
        return [nodes.raw("", f'<div class="{kind}" data-prevent-swipe>{html}{source}</div>', format="html")]


class Notes(SphinxDirective):
    """Speaker notes; the argument is the time of the slide in minutes."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        minutes = int(self.arguments[0])
        timing = revealjs_section()
        timing["data-timing"] = 60 * minutes
        content = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, content)
        head = nodes.paragraph("", "", nodes.strong("", f"{minutes} min"))
        tags = [nodes.raw("", tag, format="html") for tag in ('<aside class="notes">', "</aside>")]
        return [timing, tags[0], head, *content.children, tags[1]]


def chapter_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, options: object = None, content: object = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Title of a chapter."""
    sources: Sources = inliner.document.settings.env.config.slides_sources
    return [nodes.emphasis(rawtext, sources.chapter(text).title)], []


def exercise_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, options: object = None, content: object = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """An exercise: what it is called, its number in the book, how hard it is and how long it takes."""
    exercise = inliner.document.settings.env.config.slides_sources.exercise(text)
    return [nodes.strong("", exercise.title), nodes.Text(f" ({exercise.number}; {exercise.facts})")], []


def open_book(app: Sphinx, config: Config) -> None:
    config.slides_sources = Sources(load_book(Path(config.slides_root)))


def stand_alone(app: Sphinx, doctree: nodes.document) -> None:
    """A deck is in no table of contents."""
    app.env.metadata[app.env.docname]["orphan"] = "true"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("slides_root", "", "env", str)
    app.add_config_value("slides_sources", None, "")
    app.connect("config-inited", open_book)
    app.connect("doctree-read", stand_alone)
    app.add_directive("chapter-equation", ChapterEquation)
    app.add_directive("chapter-figure", ChapterFigure)
    app.add_directive("notes", Notes)
    app.add_role("chapter", chapter_role)
    app.add_role("exercise", exercise_role)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
