"""The directive ``{quiz}``: the questions of a chapter's quiz file as native HTML.

What Sphinx writes needs no script: each question is a fieldset with its options, and the explanations stand in a
``<details>``.  ``book/_static/quiz.js`` adds the button "Check" and what it says, and keeps nothing once the page is closed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from docutils import nodes
from quiz_file import LETTERS, Question, QuizError, load_quiz, quiz_path, solution
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator


class html_block(nodes.General, nodes.Element):
    """An HTML element that holds other elements; ``tag`` and ``html`` (its attributes) are attributes of the node."""


class html_text(nodes.General, nodes.TextElement):
    """An HTML element that holds text."""


def visit(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, node["tag"], "", **node["html"]))


def depart(self: HTML5Translator, node: nodes.Element) -> None:
    if node["tag"] != "input":  # which has no end
        self.body.append(f"</{node['tag']}>\n")


def block(tag: str, *children: nodes.Node, classes: str = "", **html: str) -> html_block:
    return html_block("", *children, tag=tag, **sorted_out(classes, html))


def inline(tag: str, *children: nodes.Node, classes: str = "", **html: str) -> html_text:
    return html_text("", "", *children, tag=tag, **sorted_out(classes, html))


def sorted_out(classes: str, html: dict[str, str]) -> dict[str, object]:
    """Attributes as docutils wants them: classes and ids are its own, the others stay (``for_`` is ``for``)."""
    ids = [html.pop("id")] if "id" in html else []
    return {"classes": classes.split(), "ids": ids, "html": {key.rstrip("_"): value for key, value in html.items()}}


class Quiz(SphinxDirective):
    """``{quiz}``, without argument, options and body."""

    def run(self) -> list[nodes.Node]:
        try:
            path = quiz_path(Path(self.env.srcdir), self.env.docname)
            self.env.note_dependency(str(path))
            questions = load_quiz(path)
        except QuizError as error:
            raise self.error(str(error)) from None
        whole = block("div", classes="quiz")
        whole.extend(self.fieldset(number, question) for number, question in enumerate(questions, 1))
        self.set_source_info(whole)
        return [whole]

    def markdown(self, text: str) -> list[nodes.Node]:
        found, messages = self.state.inline_text(text, self.lineno)
        return [*found, *messages]

    def fieldset(self, number: int, asked: Question) -> html_block:
        name = f"quiz-{number}"
        hint = " (More than one may be right.)" if asked.kind == "several" else ""
        legend = inline("legend", inline("span", nodes.Text(f"Question {number}."), classes="quiz-number"), nodes.Text(" "))
        legend.extend([*self.markdown(asked.text), nodes.Text(hint)])
        data = {"data-kind": asked.kind}
        if asked.kind == "number":
            data |= {"data-answer": repr(asked.answer), "data-tolerance": repr(asked.tolerance)}
        field = block("fieldset", legend, classes="quiz-question", **data)
        if asked.kind == "number":
            field += self.number_line(name, asked)
        else:
            field.extend(self.option_line(name, i, asked) for i in range(len(asked.options)))
        # A region that is to be read out must be there, and empty, before anything is said in it.
        field += block("div", classes="quiz-verdict", role="status")
        field += self.answers(asked)
        return field

    def option_line(self, name: str, index: int, asked: Question) -> html_block:
        own = f"{name}-{LETTERS[index]}"
        kind = "radio" if asked.kind == "one" else "checkbox"
        text = asked.options[index].text
        # A formula alone is no name that every screen reader finds; its TeX is one.
        spoken = {} if re.sub(r"\$[^$]*\$|\W", "", text) else {"aria-label": text.replace("$", "")}
        box = inline("input", type=kind, name=name, id=own, value=str(index), autocomplete="off", **spoken)
        label = inline("label", *self.markdown(text), for_=own)
        return block("div", box, label, classes="quiz-option")

    def number_line(self, name: str, asked: Question) -> html_block:
        label = inline("label", nodes.Text("Your number:"), for_=name)
        box = inline("input", type="number", step="any", id=name, autocomplete="off")
        line = block("div", label, box, classes="quiz-option")
        if asked.unit:
            line += inline("span", *self.markdown(asked.unit), classes="quiz-unit")
        return line

    def answers(self, asked: Question) -> html_block:
        """The explanations: one item an option, in the order of the options; the script repeats what was chosen."""
        fold = block("details", inline("summary", nodes.Text("Answer and explanations")), classes="quiz-answers")
        if asked.kind == "number":
            why = inline("span", *self.markdown(asked.why), classes="quiz-why")
            fold += inline("p", *self.markdown(solution(asked)), nodes.Text(" "), why)
            return fold
        items = block("ul")
        for option in asked.options:
            verdict = inline("strong", nodes.Text("Right: " if option.correct else "Wrong: "))
            text = inline("span", *self.markdown(option.text), classes="quiz-answer")
            why = inline("span", *self.markdown(option.why), classes="quiz-why")
            flag = {"data-correct": "true"} if option.correct else {}
            items += inline("li", verdict, text, nodes.Text(" "), why, **flag)
        fold += items
        return fold


def assets(name: str) -> Callable[..., None]:
    """A handler that gives the files ``name``.css and .js to the pages that have a block of the class ``name``."""

    def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
        if doctree and any(name in node["classes"] for node in doctree.findall(html_block)):
            app.add_css_file(f"{name}.css")
            app.add_js_file(f"{name}.js", loading_method="defer")

    return add


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("quiz", Quiz)
    for node in (html_block, html_text):
        app.add_node(node, html=(visit, depart))
    app.connect("html-page-context", assets("quiz"))
    # A change of these files makes Sphinx read every page again.
    own = b"".join(Path(__file__).with_name(name).read_bytes() for name in ("quiz.py", "quiz_file.py"))
    app.add_config_value("quiz_hash", hashlib.sha256(own).hexdigest(), "env")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
