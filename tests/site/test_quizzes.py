"""Quizzes in Chromium: answered by keyboard, heard by a screen reader, read on paper and without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from quiz_file import Question, load_quiz
from test_pages import CONTRASTS, wear
from visits import ROOT, Visit, silent_visit, visit_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.browser

FOLDER = ROOT / "book" / "quizzes"
NAMES = [path.relative_to(FOLDER).with_suffix("").as_posix() for path in sorted(FOLDER.rglob("*.yml"))]
SAMPLE = "start/tour"  # its quiz has questions of each kind
TEXTS = "'.quiz :is(legend, label, p, li, strong, summary, button, input, .quiz-unit)'"
OWN_CONTRASTS = CONTRASTS.replace("'article h1, article h2, article p, article li, article a, article td'", TEXTS)


@pytest.fixture
def visit(browser: Browser, site: Path) -> Iterator[Visit]:
    """The sample page; at the end it must have been silent and local."""
    with silent_visit(browser, site, f"book/{SAMPLE}") as opened:
        yield opened


def asked(kind: str) -> tuple[int, Question]:
    """Place and text of the first question of a kind in the sample."""
    return next((i, q) for i, q in enumerate(load_quiz(FOLDER / f"{SAMPLE}.yml")) if q.kind == kind)


def field(visit: Visit, index: int) -> Locator:
    return visit.page.locator(".quiz-question").nth(index)


def words(text: str) -> list[str]:
    """What of a Markdown text is neither formula nor mark, long enough to be recognised in a page."""
    return [part for i, part in enumerate(text.split("$")) if i % 2 == 0 and len(part.strip()) > 15]


def answer(question: Locator, wanted: Question, right: bool) -> None:
    """Fill in the right answer, or a wrong one."""
    if wanted.kind == "number":
        assert wanted.answer is not None
        question.locator("input").fill(repr(wanted.answer + (0 if right else 3 * wanted.tolerance)))
        return
    chosen = [i for i, option in enumerate(wanted.options) if option.correct == right]
    if wanted.kind == "one":
        question.locator("input").nth(chosen[0]).check()
        return
    for i in range(len(wanted.options)):
        question.locator("input").nth(i).set_checked(i in chosen)


def test_one_right_and_one_wrong_by_keyboard(visit: Visit) -> None:
    index, wanted = asked("one")
    question, keys = field(visit, index), visit.page.keyboard
    verdict = question.locator(".quiz-verdict")
    right = next(i for i, option in enumerate(wanted.options) if option.correct)
    assert question.locator(".quiz-answers").is_hidden()

    question.locator("input").first.focus()
    keys.press("Space")
    keys.press("ArrowDown")
    keys.press("ArrowUp")
    for _ in range(right):
        keys.press("ArrowDown")
    keys.press("Tab")
    assert visit.page.evaluate("document.activeElement.className") == "quiz-check"
    # the ring around what has the focus is seen
    assert visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    keys.press("Enter")
    assert verdict.inner_text().startswith("Right.")
    assert all(part.strip() in verdict.inner_text() for part in words(wanted.options[right].why))
    assert visit.page.evaluate("document.activeElement.className") == "quiz-check"

    keys.press("Shift+Tab")
    keys.press("ArrowDown")  # the next option; what was said of the last one goes
    assert verdict.inner_text() == ""
    keys.press("Enter")
    wrong = wanted.options[(right + 1) % len(wanted.options)]
    assert verdict.inner_text().startswith("Not right.")
    assert all(part.strip() in verdict.inner_text() for part in words(wrong.why))
    assert question.get_attribute("data-state") == "wrong"

    # Now all explanations can be unfolded, by keyboard again.
    keys.press("Tab")
    keys.press("Tab")
    assert visit.page.evaluate("document.activeElement.tagName") == "SUMMARY"
    keys.press("Enter")
    assert question.locator(".quiz-answers li:visible").count() == len(wanted.options)


def test_number(visit: Visit) -> None:
    index, wanted = asked("number")
    assert wanted.answer is not None
    question, keys = field(visit, index), visit.page.keyboard
    verdict = question.locator(".quiz-verdict")
    question.locator("button").click()
    assert verdict.inner_text() == "Enter a number first." and question.locator(".quiz-answers").is_hidden()
    for miss, said in ((-1.01, "too small"), (-1, "Right."), (0, "Right."), (1, "Right."), (1.01, "too large")):
        question.locator("input").fill(repr(wanted.answer + miss * wanted.tolerance))
        assert verdict.inner_text() == ""
        keys.press("Enter")
        assert said in verdict.inner_text(), miss


def test_several(visit: Visit) -> None:
    index, wanted = asked("several")
    question = field(visit, index)
    verdict, boxes = question.locator(".quiz-verdict"), question.locator("input")
    right = [i for i, option in enumerate(wanted.options) if option.correct]
    wrong = [i for i, option in enumerate(wanted.options) if not option.correct]
    question.locator("button").click()
    assert verdict.inner_text() == "Choose an answer first."
    boxes.nth(right[0]).check()
    question.locator("button").click()
    assert verdict.inner_text().startswith("So far right, but not all.")
    for i in right[1:]:
        boxes.nth(i).check()
    question.locator("button").click()
    assert verdict.inner_text().startswith("Right.") and verdict.locator("p").count() == 1 + len(right)
    boxes.nth(wrong[0]).check()
    question.locator("button").click()
    assert verdict.inner_text().startswith("Not right.") and verdict.inner_text().count("Wrong: ") == 1


def test_screen_reader_hears_question_options_and_verdict(visit: Visit) -> None:
    index, wanted = asked("one")
    question = field(visit, index)
    tree = question.aria_snapshot()
    assert f'group "Question {index + 1}.' in tree and tree.count("- radio ") == len(wanted.options)
    assert f'button "Check question {index + 1}"' in tree
    assert question.locator("[role=status]").count() == 1
    assert all(part.strip() in tree for option in wanted.options for part in words(option.text))


def test_nothing_is_kept(visit: Visit) -> None:
    index, wanted = asked("one")
    before = visit.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    requests = len(visit.requests)
    answer(field(visit, index), wanted, right=True)
    field(visit, index).locator("button").click()
    after = visit.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    # MathJax may fetch a font of its own, from the disk, for a formula that it has not set before.
    assert after == before and all("/vendor/mathjax/" in url for url in visit.requests[requests:])
    visit.page.reload()
    assert visit.page.locator(".quiz input:checked").count() == 0
    assert visit.page.locator(".quiz-verdict").nth(index).inner_text() == ""


@pytest.mark.parametrize("name", NAMES)
def test_every_question_accepts_its_answer_and_no_other(browser: Browser, site: Path, name: str) -> None:
    with silent_visit(browser, site, f"book/{name}") as visit:
        wanted = load_quiz(FOLDER / f"{name}.yml")
        assert visit.page.locator(".quiz-question").count() == len(wanted)
        for index, question in enumerate(wanted):
            for right, state in ((False, "wrong"), (True, "right")):
                answer(field(visit, index), question, right)
                field(visit, index).locator("button").click()
                assert field(visit, index).get_attribute("data-state") == state, (index + 1, right)
        assert visit.page.locator(".quiz mjx-merror").count() == 0
        assert "$" not in " ".join(visit.page.locator(".quiz").all_inner_texts())
        assert TEXTS in OWN_CONTRASTS
        for scheme in ("light", "dark"):
            wear(visit.page, scheme)
            visit.page.eval_on_selector_all(".quiz-answers", "all => all.forEach(e => { e.open = true; })")
            assert [found for found in visit.page.evaluate(OWN_CONTRASTS) if found[0] < 4.5] == []
        visit.page.set_viewport_size({"width": 360, "height": 800})
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_answers_are_folded_without_scripts_and_open_on_paper(browser: Browser, site: Path) -> None:
    visit, context = visit_page(browser, site, f"book/{SAMPLE}", javascript=False)
    folds = visit.page.locator(".quiz-answers")
    assert folds.count() == len(load_quiz(FOLDER / f"{SAMPLE}.yml")) == visit.page.locator(".quiz summary:visible").count()
    assert visit.page.locator(".quiz-answers li:visible").count() == visit.page.locator(".quiz-check").count() == 0
    visit.page.locator(".quiz summary").first.click()
    assert visit.page.locator(".quiz-answers li:visible").count() > 0
    context.close()
    for javascript in (True, False):
        visit, context = visit_page(browser, site, f"book/{SAMPLE}", javascript=javascript)
        visit.page.emulate_media(media="print")
        if javascript:
            visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        hidden = visit.page.eval_on_selector_all(
            ".quiz-answers li, .quiz-answers p", "all => all.filter(e => !e.checkVisibility()).length"
        )
        assert hidden == 0 and visit.page.locator(".quiz-check:visible").count() == 0
        if javascript:
            visit.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
            visit.page.emulate_media(media="screen")
            assert visit.page.locator(".quiz-answers:visible").count() == 0
        context.close()
