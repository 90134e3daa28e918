"""Draw an exam and its key, to dist/exam/<seed>/.

    python tools/exam.py --seed 1 [--questions 8] [--root DIR]

The same seed gives the same exam.  There is a question of every part, then others as the seed wants; each template of
``course/exam`` (see exam_question.py) is used once at most.  Answers are computed, and stand in the key only.
"""

from __future__ import annotations

import argparse
import html
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from edition import publish
from exam_question import PARTS, Question, Template, drawn, templates
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

QUESTIONS = 8
PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 serif; }}
h2 {{ break-after: avoid; }} section {{ break-inside: avoid; }}</style>
<script defer src="../mathjax/tex-mml-chtml.js"></script></head><body>
{body}
</body></html>
"""


def choose(every: list[Template], seed: int, count: int) -> list[Template]:
    """One template of every part and ``count`` in all, in the order of ``every``.  ValueError if that cannot be."""
    present = [part for part in PARTS if any(entry.part == part for entry in every)]
    if not len(present) <= count <= len(every):
        raise ValueError(f"questions must be between {len(present)} and {len(every)}, got {count}")
    shuffled = [every[i] for i in np.random.default_rng([seed, 0]).permutation(len(every))]
    first = [next(entry for entry in shuffled if entry.part == part) for part in present]
    rest = [entry for entry in shuffled if entry not in first]
    chosen = first + rest[: count - len(first)]
    return [entry for entry in every if entry in chosen]


def questions_text(exam: list[tuple[Template, Question]], seed: int) -> str:
    minutes, points = (sum(getattr(entry, name) for entry, _ in exam) for name in ("minutes", "points"))
    parts = [f"# Exam {seed}", f"{len(exam)} questions, {points} points, {minutes} minutes. Give numbers to three digits."]
    for number, (entry, question) in enumerate(exam, 1):
        parts += [f"## {number}. {entry.title}", f"*{entry.points} points, about {entry.minutes} min*", question.text]
    return "\n\n".join(parts) + "\n"


def key_text(exam: list[tuple[Template, Question]], seed: int) -> str:
    parts = [f"# Key of exam {seed}"]
    for number, (entry, question) in enumerate(exam, 1):
        pairs = zip(question.asked, question.values, strict=True)
        answers = ", ".join(f"`{name}` = **{value:.5g}**" for name, value in pairs)
        parts += [f"## {number}. {entry.title} ({entry.points} points)", answers, question.working]
    return "\n\n".join(parts) + "\n"


def as_page(text: str) -> str:
    """A page that shows Markdown with formulas, by the MathJax that lies beside the exams."""

    def formula(content: str, options: dict) -> str:
        return html.escape(rf"\[{content}\]" if options["display_mode"] else rf"\({content}\)")

    body = MarkdownIt().use(dollarmath_plugin, renderer=formula).render(text)
    return PAGE.format(title=text.split("\n", 1)[0].lstrip("# "), body=body)


def as_notebook(text: str) -> str:
    """The questions as a notebook with an empty cell under each."""
    cells: list[dict] = []
    for number, piece in enumerate(text.split("\n## ")):
        source = (piece if number == 0 else f"## {piece}").strip()
        cells.append({"cell_type": "markdown", "id": f"text-{number}", "metadata": {}, "source": source})
        if number:
            cells.append({"cell_type": "code", "id": f"answer-{number}", "metadata": {}, "source": "",
                          "execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def write_exam(root: Path, seed: int, count: int) -> Path:
    """Write exam and key; the folder."""
    exam = [(entry, drawn(entry, seed)) for entry in choose(templates(root), seed, count)]
    target, staged = root / "dist/exam" / str(seed), root / "_build/exam" / str(seed)
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    questions, key = questions_text(exam, seed), key_text(exam, seed)
    for name, text in (("questions", questions), ("key", key)):
        (staged / f"{name}.md").write_text(text, "utf-8")
        (staged / f"{name}.html").write_text(as_page(text), "utf-8")
    (staged / "questions.ipynb").write_text(as_notebook(questions), "utf-8")
    publish(staged, target)
    shutil.copytree(root / "vendor/vendor/mathjax", root / "dist/exam/mathjax", dirs_exist_ok=True)
    return target


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draw an exam and its key, to dist/exam/<seed>/.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    try:
        if options.seed < 0:
            raise ValueError(f"seed must be a whole number from 0 on, got {options.seed}")
        print(f"exam: {write_exam(options.root.resolve(), options.seed, options.questions)}")
    except ValueError as error:
        print(f"exam: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
