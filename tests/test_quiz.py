"""Quiz files, their errors, and what becomes of them in pages and notebooks; tests/site/test_quizzes.py answers them."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from export_notebooks import export_page
from myst_blocks import ExportError
from myst_book import Book, load_book, make_page
from myst_inline import Inline
from pybtex.database import BibliographyData
from quiz_file import LETTERS, Option, Question, QuizError, load_quiz, markdown, quiz_path
from visits import ROOT

FILES = sorted((ROOT / "book" / "quizzes").rglob("*.yml"))
GOOD = """\
- question: >-
    How large
    is $x$?
  options:
    - {text: large, why: too much}
    - {text: "0.5", correct: true, why: by symmetry}
    - {text: small, why: too little}
- question: Which?
  kind: several
  options:
    - {text: a, correct: true, why: w}
    - {text: b, correct: true, why: w}
    - {text: c, why: w}
- question: How many?
  kind: number
  answer: -2
  tolerance: 0.5
  unit: tokens
  why: Count.
"""


def load(tmp_path: Path, text: str) -> list[Question]:
    path = tmp_path / "quiz.yml"
    path.write_text(text, "utf-8")
    return load_quiz(path)


def test_a_file_is_read(tmp_path: Path) -> None:
    one, several, number = load(tmp_path, GOOD)
    options = (Option("large", "too much"), Option("0.5", "by symmetry", True), Option("small", "too little"))
    assert one == Question("How large is $x$?", "one", options)
    assert [option.correct for option in several.options] == [True, True, False]
    assert number == Question("How many?", "number", (), -2.0, 0.5, "tokens", "Count.")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("kind: number", "kind: numeric", r"question 3: kind must be one of one, several, number, got 'numeric'"),
        ("kind: several", "kind: one", r"question 2: exactly one option must have 'correct: true', got 2"),
        ("correct: true, why: w", "why: w", r"question 2: at least one option must have 'correct: true'"),
        ("correct: true, why: by", "why: by", r"question 1: exactly one option .* got 0"),
        ("why: too much", "hint: too much", r"question 1, option 1: unknown key 'hint'; allowed are correct, text, why"),
        (", why: too little", "", r"question 1, option 3: why must be text, got None"),
        ('"0.5"', "0.5", r"question 1, option 2: text must be text, got 0.5 \(put quotes"),
        ("correct: true, why: by", "correct: no, why: by", r"question 1, option 2: correct must be true or left out"),
        ("    - {text: large, why: too much}\n", "", r"question 1: options must be a list of 3 to 5"),
        ("text: small", "text: large", r"question 1: two options have the same text"),
        ("- {text: c, why: w}", "- c", r"question 2, option 3: must be a mapping with text and why, got 'c'"),
        ("  answer: -2\n", "", r"question 3: answer must be a finite number, got None"),
        ("answer: -2", "answer: .nan", r"question 3: answer must be a finite number, got nan"),
        ("answer: -2", "answer: true", r"question 3: answer must be a finite number, got True"),
        ("answer: -2", "answer: 1e-3", r"got '1e-3' \(YAML wants 1.0e-3"),
        ("tolerance: 0.5", "tolerance: 0", r"question 3: tolerance must be above 0"),
        ("unit: tokens", "units: tokens", r"question 3 \(kind: number\): unknown key 'units'; allowed are answer, kind, q"),
        ("kind: number", "kind: one", r"question 3 \(kind: one\): unknown key 'answer'; allowed are kind, options, q"),
        ("question: Which?", "question: 7", r"question 2: question must be text, got 7"),
        ("    is $x$?", "    $$x$$?", r"question 1: question must be one paragraph"),
        ("- question: Which?", "- Which?\n- question: x", r"question 2: must be a mapping, got 'Which\?'"),
        ("why: Count.", "why: Count: one", r"quiz.yml: cannot be read: mapping values are not allowed here .* line \d+"),
        (GOOD, "question: alone", r"quiz.yml: must be a list of questions"),
        (GOOD, "", r"quiz.yml: must be a list of questions"),
    ],
)
def test_errors_say_where_and_what_is_allowed(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    with pytest.raises(QuizError, match=r"quiz\.yml: ") as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert re.search(complaint, str(caught.value)), str(caught.value)


def test_missing_file_and_page_without_quiz(tmp_path: Path) -> None:
    with pytest.raises(QuizError, match=r"none\.yml: cannot be read"):
        load_quiz(tmp_path / "none.yml")
    assert quiz_path(tmp_path, "book/start/tour") == tmp_path / "book/quizzes/start/tour.yml"
    for page in ("index", "other/tour"):
        with pytest.raises(QuizError, match="below book/"):
            quiz_path(tmp_path, page)


def test_markdown_folds_every_answer(tmp_path: Path) -> None:
    text = markdown(load(tmp_path, GOOD))
    folds = re.findall(r"<details>\n<summary>Answer to question (\d)</summary>\n\n(.*?)\n\n</details>", text, re.DOTALL)
    assert [number for number, _ in folds] == ["1", "2", "3"]
    assert folds[0][1] == "- **a** is wrong. too much\n- **b** is right. by symmetry\n- **c** is wrong. too little"
    assert folds[2][1] == "**-2** tokens, give or take 0.5. Count."
    outside = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert "**Question 1.** How large is $x$?\n\n- **a.** large\n- **b.** 0.5\n- **c.** small" in outside
    assert "right." not in outside.replace("may be right.", "") and "-2" not in outside


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("```{quiz}\n```", r"page\.md:7: .*book.quizzes.part.page\.yml: cannot be read"),
        ("```{quiz} other\n```", r"page\.md:7: \{quiz\} has neither argument nor body"),
        ("```{quiz}\nHow many?\n```", r"page\.md:7: \{quiz\} has neither argument nor body"),
        ("```{quiz}\n:from: other\n```", r"page\.md:7: unknown option of \{quiz\}: from"),
    ],
)
def test_export_refuses_a_quiz_that_it_cannot_show(tmp_path: Path, source: str, complaint: str) -> None:
    text = f"---\nkernelspec: {{}}\n---\n\n# Page\n\n{source}\n"
    page = make_page("book/part/page", tmp_path / "page.md", text, frozenset())
    small = Book(tmp_path, {"repository": {"url": "https://github.com/a/b"}}, [], BibliographyData())
    with pytest.raises(ExportError, match=complaint):
        export_page(small, page)


# --- the quizzes of the book -------------------------------------------------------------------------------------------


@cache
def book() -> Book:
    return load_book(ROOT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT / "book").as_posix())
def test_quiz_of_the_book(path: Path) -> None:
    """It is well formed, belongs to a page that shows it, and its links, terms and citations lead somewhere."""
    questions = load_quiz(path)
    page = book().pages[f"book/{path.relative_to(ROOT / 'book' / 'quizzes').with_suffix('').as_posix()}"]
    assert "```{quiz}" in page.text or "```{self-test}" in page.text
    assert Inline(book(), page).render(markdown(questions), 1)
    texts = [question.text for question in questions]
    assert len(set(texts)) == len(texts)
    for question in questions:
        assert all(len(option.why) >= 20 for option in question.options) and len(question.options) <= len(LETTERS)


def test_right_options_cannot_be_guessed() -> None:
    """Over the book, neither their place nor their length gives them away."""
    single = [question for path in FILES for question in load_quiz(path) if question.kind == "one"]
    place = Counter(next(i for i, option in enumerate(q.options) if option.correct) for q in single)
    assert max(place.values()) <= 0.4 * len(single), place
    longest = sum(max(q.options, key=lambda option: len(option.text)).correct for q in single)
    assert longest <= 0.4 * len(single), f"{longest} of {len(single)}"
