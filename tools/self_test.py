"""The directive ``{self-test}``: a group of questions of the page's quiz file, with advice that follows from the score.

    ```{self-test} 1 6
    :enough: 5

    What to do with fewer than five right answers.

    What to do with five or more.
    ```

shows questions 1 to 6.  Without scripts both pieces of advice can be read; ``book/_static/self-test.js`` counts the first
answers and shows the one that holds.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from quiz import Quiz, assets, block, html_block, inline
from quiz_file import QuizError, load_quiz, quiz_path
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


class SelfTest(Quiz):
    """``{self-test} first last`` with the option ``enough`` and two paragraphs."""

    required_arguments = 2
    has_content = True
    option_spec = {"enough": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        try:
            path = quiz_path(Path(self.env.srcdir), self.env.docname)
            self.env.note_dependency(str(path))
            questions = load_quiz(path)
            first, last, enough = group(self.arguments, self.options.get("enough"), len(questions))
        except QuizError as error:
            raise self.error(str(error)) from None
        parsed = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, parsed)
        if len(parsed) != 2 or not all(isinstance(child, nodes.paragraph) for child in parsed):
            raise self.error("self-test needs two paragraphs: advice for a low score, and for one that is enough")
        whole = block("div", classes="quiz self-test", **{"data-enough": str(enough)})
        whole.extend(self.fieldset(number, questions[number - 1]) for number in range(first, last + 1))
        whole += self.advice(list(parsed), enough)
        self.set_source_info(whole)
        return [whole]

    def advice(self, paragraphs: list[nodes.Node], enough: int) -> html_block:
        leads = f"Fewer than {enough} right: ", f"{enough} or more right: "
        box = block("div", classes="self-test-advice")
        for lead, paragraph, when in zip(leads, paragraphs, ("low", "enough"), strict=True):
            text = inline("p", inline("strong", nodes.Text(lead)), classes=f"self-test-{when}")
            text.extend(paragraph.children)
            box += text
        # A region that is to be read out must be there, and empty, before anything is said in it.
        box += block("div", classes="self-test-result", role="status")
        return box


def group(arguments: list[str], enough: int | None, total: int) -> tuple[int, int, int]:
    """The numbers of the group, checked.  Raises QuizError."""
    try:
        first, last = map(int, arguments)
    except ValueError:
        raise QuizError(f"self-test: first and last question must be whole numbers, got {' '.join(arguments)!r}") from None
    if not 1 <= first <= last <= total:
        raise QuizError(f"self-test: questions must run upwards within 1 to {total}, got {first} to {last}")
    if enough is None or not 1 <= enough <= last - first + 1:
        raise QuizError(f"self-test: enough must be from 1 to {last - first + 1}, the number of questions, got {enough}")
    return first, last, enough


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("self-test", SelfTest)
    app.connect("html-page-context", assets("self-test"))
    # A change of this file makes Sphinx read every page again.
    app.add_config_value("self_test_hash", hashlib.sha256(Path(__file__).read_bytes()).hexdigest(), "env")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
