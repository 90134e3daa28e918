"""Built decks in a browser: local, silent, typeset, within the slide, sliders that move, keys that turn slides.

Two decks are built for every run, all of them by `make check`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import slides
from myst_book import load_book
from visits import ROOT, Visit, visit_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

QUICK = ["0-day-1", "7-softmax"]
DECKS = sorted(path.stem for path in (ROOT / "course/slides").glob("*.md"))

# What of the present slide lies outside of it; hidden notes, texts for screen readers and stretchy glyphs do not count.
OUTSIDE = """() => [...Reveal.getCurrentSlide().querySelectorAll('*')]
  .filter(e => !e.closest('aside, .copyhead-status, .copyhead-live > .copyhead-note, svg *, mjx-assistive-mml, '
    + 'mjx-stretchy-v, script, style, [hidden]'))
  .map(e => [e, e.getBoundingClientRect()])
  .filter(([e, b]) => b.width && (b.left < 40 || b.top < 0 || b.right > 1240 || b.bottom > 715))
  .map(([e, b]) => [e.tagName, ...[b.left, b.top, b.right, b.bottom].map(Math.round)].join(' '))"""

FORMULAS = """() => [document.querySelectorAll('.math').length, document.querySelectorAll('.math mjx-container').length,
  document.querySelectorAll('mjx-merror').length]"""


def build(out: Path, names: list[str] | None) -> Path:
    if find_spec("sphinx_revealjs") is None:
        message = "sphinx-revealjs is missing: run `make env`"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    slides.build(ROOT, out, names)
    return out


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("slides"), QUICK)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("all-slides"), None)


@pytest.fixture
def deck(browser: Browser, few: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    opened, context = visit_page(browser, few, request.param, height=720)
    yield opened
    context.close()


def check(visit: Visit) -> None:
    page = visit.page
    page.wait_for_selector(".reveal.ready")
    formulas, typeset, errors = page.evaluate(FORMULAS)
    assert formulas == typeset and errors == 0
    faults = {}
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(f"Reveal.slide({number})")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 30)))")
        if outside := page.evaluate(OUTSIDE):
            faults[number + 1] = outside[:3]
        for slider in page.query_selector_all("section.present:not(.stack) .copyhead-slider"):
            before = slider.get_attribute("data-value")
            control = slider.query_selector("input")
            assert control is not None
            control.evaluate("""e => { e.value = e.value === e.max ? e.min : Number(e.value) + 1;
                e.dispatchEvent(new Event('input')); }""")
            assert slider.get_attribute("data-value") != before
    assert faults == {}
    assert visit.outside == [] and visit.failed == [] and visit.errors == []


@pytest.mark.parametrize("deck", QUICK, indirect=True)
def test_a_deck_is_local_typeset_and_within_its_slides(deck: Visit) -> None:
    check(deck)


@pytest.mark.parametrize("deck", ["7-softmax"], indirect=True)
def test_keys_turn_slides_unless_a_slider_has_the_focus(deck: Visit) -> None:
    page = deck.page
    page.wait_for_selector(".reveal.ready")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("Reveal.getIndices().h") == 1
    page.evaluate("Reveal.slide(3)")
    slider = page.locator("section.present:not(.stack) .copyhead-slider")
    before = slider.get_attribute("data-value")
    slider.locator("input").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("Reveal.getIndices().h") == 3
    assert slider.get_attribute("data-value") != before
    slider.locator("input").click()  # the mouse gives the keys back
    page.keyboard.press("ArrowRight")
    assert page.evaluate("Reveal.getIndices().h") == 4


@pytest.mark.parametrize("deck", ["7-softmax"], indirect=True)
def test_speaker_view_shows_notes_and_minutes(deck: Visit) -> None:
    page = deck.page
    page.wait_for_selector(".reveal.ready")
    with page.context.expect_page() as opened:
        page.keyboard.press("s")
    notes = opened.value.locator(".speaker-controls-notes .value")
    notes.get_by_text("2 min").wait_for()
    assert "Let people guess the consequence." in notes.inner_text()


def test_print_has_a_page_for_each_slide(few: Path, browser: Browser) -> None:
    (deck,) = slides.chosen_decks(load_book(ROOT), ["7-softmax"])
    slides.print_deck(browser, few, deck)
    printed = (few / "7-softmax.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == len(deck.slides)
    assert set(re.findall(rb"/MediaBox\s*\[([^]]*)\]", printed)) == {b"0 0 960 540"}


@pytest.mark.slow
@pytest.mark.parametrize("name", DECKS)
def test_all_decks(name: str, browser: Browser, every: Path) -> None:
    opened, context = visit_page(browser, every, name, height=720)
    check(opened)
    context.close()
