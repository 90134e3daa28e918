"""The self-test in Chromium: first answers are counted, and the advice follows the score."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from quiz_file import load_quiz
from test_quizzes import FOLDER, answer
from visits import Visit, silent_visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(browser: Browser, site: Path) -> Iterator[Visit]:
    with silent_visit(browser, site, "book/start/self-test") as opened:
        yield opened


def test_advice_follows_the_first_answers(visit: Visit) -> None:
    questions = load_quiz(FOLDER / "start/self-test.yml")
    groups = visit.page.locator(".self-test")
    fields = visit.page.locator(".quiz-question")
    assert groups.count() == 2 and fields.count() == len(questions)
    for i in range(6):  # all right in the first group
        answer(fields.nth(i), questions[i], right=True)
        fields.nth(i).locator("button").click()
    for i in range(6, 12):  # all wrong in the second, and mended, which does not count
        for right in (False, True):
            answer(fields.nth(i), questions[i], right=right)
            fields.nth(i).locator("button").click()
    said = []
    for i in range(2):
        button = groups.nth(i).locator(".self-test-advice button")
        button.focus()
        visit.page.keyboard.press("Enter")
        result = groups.nth(i).locator(".self-test-result")
        assert result.get_attribute("role") == "status"
        said.append(result.inner_text())
        assert result.locator("a").count() >= 1
    assert said[0].startswith("6 of 6 right") and "may skip" in said[0]
    assert said[1].startswith("0 of 6 right") and "first" in said[1] and "may skip" not in said[1]


def test_open_questions_are_named_and_do_not_count(visit: Visit) -> None:
    group = visit.page.locator(".self-test").first
    assert not group.locator(".self-test-low").is_visible() and not group.locator(".self-test-enough").is_visible()
    group.locator(".self-test-advice button").click()
    assert group.locator(".self-test-result").inner_text().startswith("0 of 6 right at the first try, 6 not answered.")


def test_on_paper_both_pieces_of_advice_can_be_read(visit: Visit) -> None:
    visit.page.emulate_media(media="print")
    advice = visit.page.locator(".self-test-advice").first
    assert advice.locator(".self-test-low").is_visible() and advice.locator(".self-test-enough").is_visible()
    assert not advice.locator("button").is_visible()
