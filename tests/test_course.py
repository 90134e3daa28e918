"""The course: the self-test, the lecturer's plans, and the notes on every chapter."""

from __future__ import annotations

import pytest
from quiz_file import QuizError, load_quiz, quiz_path
from self_test import group
from visits import ROOT

# --- the self-test -----------------------------------------------------------------------------------------------


def test_groups_of_the_self_test_cover_the_quiz_once() -> None:
    from myst_book import load_book
    from test_contract import directives

    page = load_book(ROOT).pages["book/start/self-test"]
    shown = directives(page.text, "self-test")
    questions = load_quiz(quiz_path(ROOT, page.name))
    numbers: list[int] = []
    for block in shown:
        first, last, enough = group(block.argument.split(), int(block.option("enough")), len(questions))
        numbers += range(first, last + 1)
        advice = [part for part in block.content.split("\n\n") if part.strip()]
        assert enough > (last - first + 1) / 2 and len(advice) == 2
        assert "](" in advice[0] and advice[0] != advice[1]
    assert len(shown) == 2 and numbers == list(range(1, len(questions) + 1))


@pytest.mark.parametrize(
    ("arguments", "enough", "complaint"),
    [
        (["1", "six"], 3, "must be whole numbers, got '1 six'"),
        (["0", "6"], 3, "must run upwards within 1 to 12, got 0 to 6"),
        (["5", "2"], 3, "must run upwards"),
        (["7", "13"], 3, "within 1 to 12"),
        (["1", "6"], None, "enough must be from 1 to 6"),
        (["1", "6"], 7, "enough must be from 1 to 6, the number of questions, got 7"),
    ],
)
def test_a_wrong_group_is_refused(arguments: list[str], enough: int | None, complaint: str) -> None:
    assert group(["1", "6"], 5, 12) == (1, 6, 5)
    with pytest.raises(QuizError, match=complaint):
        group(arguments, enough, 12)
