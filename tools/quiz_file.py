"""Quiz files: ``book/quizzes/<part>/<chapter>.yml`` holds the questions of ``book/<part>/<chapter>.md``.

A file is a list of questions; CONTRIBUTING.md describes their keys.  What is wrong with one is said in a sentence that
names file, question, key and what is allowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import yaml

KINDS = ("one", "several", "number")
CHOICE_KEYS = {"question", "kind", "options"}
NUMBER_KEYS = {"question", "kind", "answer", "tolerance", "unit", "why"}
OPTION_KEYS = {"text", "correct", "why"}
LETTERS = "abcde"  # how the options are called where nobody can click them


class QuizError(ValueError):
    """What is wrong with a quiz file, and where."""


@dataclass(frozen=True)
class Option:
    """An answer to choose, and what choosing it teaches."""

    text: str
    why: str
    correct: bool = False


@dataclass(frozen=True)
class Question:
    """Text and ``why`` are Markdown of one paragraph; ``options`` is empty for a number, ``answer`` None for a choice."""

    text: str
    kind: str
    options: tuple[Option, ...] = ()
    answer: float | None = None
    tolerance: float = 0.0
    unit: str = ""
    why: str = ""


def quiz_path(root: Path, page: str) -> Path:
    """The quiz file of ``page``, which is named as in ``_toc.yml``: "book/start/tour"."""
    first, _, rest = page.partition("/")
    if first != "book" or not rest:
        raise QuizError(f"only pages below book/ have quizzes, not {page!r}")
    return root / "book" / "quizzes" / f"{rest}.yml"


def load_quiz(path: Path) -> list[Question]:
    """The questions in ``path``.  Raises QuizError, also where the file is missing."""
    try:
        found = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        hint = " (a text with a colon needs >- and a line of its own)" if "mapping values" in str(error) else ""
        raise QuizError(f"{path}: cannot be read: {' '.join(str(error).split())}{hint}") from None
    if not isinstance(found, list) or not found:
        raise QuizError(f"{path}: must be a list of questions (each begins with '- question:')")
    return [question(entry, f"{path}: question {number}") for number, entry in enumerate(found, 1)]


def question(entry: object, where: str) -> Question:
    """One entry of the list, checked."""
    if not isinstance(entry, dict):
        raise QuizError(f"{where}: must be a mapping, got {entry!r}")
    kind = entry.get("kind", "one")
    if kind not in KINDS:
        raise QuizError(f"{where}: kind must be one of {', '.join(KINDS)}, got {kind!r}")
    allowed = NUMBER_KEYS if kind == "number" else CHOICE_KEYS
    known(entry, allowed, f"{where} (kind: {kind})")
    text = paragraph(entry, "question", where)
    if kind == "number":
        answer, tolerance = number(entry, "answer", where), number(entry, "tolerance", where)
        if tolerance <= 0:
            raise QuizError(f"{where}: tolerance must be above 0 (it is absolute), got {tolerance}")
        unit = paragraph(entry, "unit", where) if "unit" in entry else ""
        return Question(text, kind, (), answer, tolerance, unit, paragraph(entry, "why", where))
    options = entry.get("options")
    if not isinstance(options, list) or not 3 <= len(options) <= len(LETTERS):
        raise QuizError(f"{where}: options must be a list of 3 to {len(LETTERS)}, got {options!r:.60}")
    checked = tuple(option(entry, f"{where}, option {i}") for i, entry in enumerate(options, 1))
    right = sum(entry.correct for entry in checked)
    if len({entry.text for entry in checked}) < len(checked):
        raise QuizError(f"{where}: two options have the same text")
    if kind == "one" and right != 1:
        raise QuizError(f"{where}: exactly one option must have 'correct: true', got {right} (or is it kind: several?)")
    if not right:
        raise QuizError(f"{where}: at least one option must have 'correct: true'")
    return Question(text, kind, checked)


def option(entry: object, where: str) -> Option:
    if not isinstance(entry, dict):
        raise QuizError(f"{where}: must be a mapping with text and why, got {entry!r}")
    known(entry, OPTION_KEYS, where)
    if entry.get("correct", True) is not True:
        raise QuizError(f"{where}: correct must be true or left out, got {entry['correct']!r}")
    return Option(paragraph(entry, "text", where), paragraph(entry, "why", where), "correct" in entry)


def known(entry: dict, allowed: set[str], where: str) -> None:
    for key in entry:
        if key not in allowed:
            raise QuizError(f"{where}: unknown key {key!r}; allowed are {', '.join(sorted(allowed))}")


def paragraph(entry: dict, key: str, where: str) -> str:
    """A text of one paragraph; line breaks in it are spaces."""
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise QuizError(f"{where}: {key} must be text, got {value!r} (put quotes around a number that is text)")
    if "\n\n" in value.strip() or "$$" in value:
        raise QuizError(f"{where}: {key} must be one paragraph without blank lines and displayed formulas")
    return " ".join(value.split())


def number(entry: dict, key: str, where: str) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise QuizError(f"{where}: {key} must be a finite number, got {value!r} (YAML wants 1.0e-3, not 1e-3)")
    return float(value)


def solution(asked: Question) -> str:
    """The answer to a question for a number, as Markdown."""
    value = f"**{asked.answer:.10g}** {asked.unit}".strip()
    return f"{value}, give or take {asked.tolerance:.10g}."


def markdown(questions: list[Question]) -> str:
    """The quiz as Markdown that needs no script: the answers of each question are folded."""
    parts = []
    for i, asked in enumerate(questions, 1):
        hint = {"one": "", "several": " (More than one may be right.)", "number": ""}[asked.kind]
        parts.append(f"**Question {i}.** {asked.text}{hint}")
        named = list(zip(LETTERS, asked.options, strict=False))
        if asked.kind == "number":
            inside = f"{solution(asked)} {asked.why}"
        else:
            parts.append("\n".join(f"- **{letter}.** {entry.text}" for letter, entry in named))
            verdict = {True: "right", False: "wrong"}
            inside = "\n".join(f"- **{letter}** is {verdict[entry.correct]}. {entry.why}" for letter, entry in named)
        parts.append(f"<details>\n<summary>Answer to question {i}</summary>\n\n{inside}\n\n</details>")
    return "\n\n".join(parts)
