"""Every page of the book, opened from its file: silent, readable on a phone, in the dark, on paper and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from execute import documents
from visits import ROOT, Visit, visit_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = documents(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
FILE_NAME = re.compile(r"\S*\.(png|svg|jpe?g|gif|webp)|[\w/-]*", re.IGNORECASE)
RAW_MARKUP = re.compile(r"\{[a-z][\w:.-]*\}`|`{3,}\s*\{|:{3,}\s*\{|\{[a-z][\w:.-]*\}\s*$", re.MULTILINE)

# Name and place of every picture in the text; icons and buttons of the theme are not pictures.
PICTURES = """() => [...document.querySelectorAll('article img, article svg, article canvas, article [role=img]')]
  .filter(e => !e.closest('button, mjx-container, [aria-hidden=true], .headerlink') && e.getClientRects().length)
  .filter(e => !e.parentElement.closest('[role=img], svg'))
  .map(e => ({tag: e.tagName, name: (e.getAttribute('alt') || e.getAttribute('aria-label') ||
      (e.getAttribute('aria-labelledby') && document.getElementById(e.getAttribute('aria-labelledby'))?.textContent) ||
      e.querySelector(':scope > title')?.textContent || '').trim()}))"""

# Text of the article that is neither code nor a formula.
PROSE = """() => { const copy = document.querySelector('article').cloneNode(true);
  copy.querySelectorAll('pre, code, script, style, mjx-container, svg').forEach(e => e.remove());
  return copy.textContent; }"""

# Contrast ratio (WCAG 2) of each piece of text with the layers of colour behind it.
CONTRASTS = """() => {
  const rgba = c => { const v = c.match(/[\\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
  const over = (top, below) => [0, 1, 2].map(i => top[3] * top[i] + (1 - top[3]) * below[i]);
  const behind = e => { const layers = [];
    for (; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    return layers.reduceRight((below, top) => over(top, below), [255, 255, 255]); };
  const luminance = c => { const [r, g, b] = c.map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  return [...document.querySelectorAll('article h1, article h2, article p, article li, article a, article td')]
    .filter(e => e.getClientRects().length && e.textContent.trim() && !e.classList.contains('headerlink'))
    .map(e => { const below = behind(e), b = luminance(below);
      const a = luminance(over(rgba(getComputedStyle(e).color), below));
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.trim().slice(0, 60)]; }); }"""


@pytest.fixture(scope="module", params=PAGES)
def visit(request: pytest.FixtureRequest, browser: Browser, site: Path) -> Iterator[Visit]:
    """Each page, opened once for all tests of this file; a test leaves width and colours as it found them."""
    opened, context = visit_page(browser, site, request.param)
    yield opened
    context.close()


@pytest.mark.browser
def test_page_is_silent_and_local(visit: Visit) -> None:
    assert visit.requests, "nothing was recorded"
    assert visit.outside == []
    assert visit.failed == []
    assert visit.errors == []


@pytest.mark.browser
def test_page_is_whole(visit: Visit) -> None:
    page = visit.page
    assert page.locator("article h1").count() == 1
    assert page.locator(".bd-header-article").count() == 1
    assert page.locator(".bd-header:visible").count() == 0
    assert page.locator("article .output.traceback, article .output_error").count() == 0
    # Widgets need a kernel; a page without one must not hold their remains.
    assert page.locator(".jupyter-widgets, script[type*='jupyter.widget']").count() == 0
    assert "(children=" not in page.locator("article").inner_text()


@pytest.mark.browser
def test_formulas_are_set(visit: Visit) -> None:
    page = visit.page
    bare = page.eval_on_selector_all(
        "article .math", "all => all.filter(e => !e.querySelector('mjx-container')).map(e => e.textContent)"
    )
    assert bare == []
    wrong = page.eval_on_selector_all(
        "mjx-merror, [data-mjx-error]", "all => all.map(e => e.getAttribute('data-mjx-error') || e.textContent)"
    )
    assert wrong == []


@pytest.mark.browser
def test_no_raw_markup_is_left(visit: Visit) -> None:
    found = RAW_MARKUP.findall(visit.page.evaluate(PROSE))
    assert found == []


@pytest.mark.browser
def test_pictures_say_what_they_show(visit: Visit) -> None:
    for picture in visit.page.evaluate(PICTURES):
        name = picture["name"]
        assert len(name) >= 20 and not FILE_NAME.fullmatch(name), f"<{picture['tag'].lower()}> named {name!r}"


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 360])
def test_page_fits_a_phone(visit: Visit, width: int) -> None:
    page = visit.page
    page.set_viewport_size({"width": width, "height": 800})
    try:
        needed = page.evaluate("() => document.documentElement.scrollWidth")
        wide = page.evaluate(
            """width => [...document.querySelectorAll('article *')]
            .filter(e => e.getBoundingClientRect().right > width + 1 &&
                ![...Array(20)].reduce(s => s.done || !s.e ? s : {e: s.e.parentElement,
                    done: getComputedStyle(s.e).overflowX !== 'visible'}, {e: e.parentElement}).done)
            .map(e => e.outerHTML.slice(0, 120)).slice(0, 3)""",
            width,
        )
        assert needed <= width, f"the page is {needed} px wide; perhaps {wide}"
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})


def wear(page: Page, scheme: str) -> None:
    """Have the system ask for the theme ``scheme``, and wait until the page has put it on."""
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.wait_for_function("s => document.documentElement.dataset.theme === s", arg=scheme, timeout=5000)


def faint_texts(page: Page) -> list[tuple[float, str]]:
    """Contrast and text of whatever stands out from its background by less than 4.5."""
    return [(round(ratio, 2), text) for ratio, text in page.evaluate(CONTRASTS) if ratio < 4.5]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_themes(visit: Visit, scheme: str) -> None:
    page = visit.page
    try:
        wear(page, scheme)
        assert faint_texts(page) == []
    finally:
        page.emulate_media(color_scheme="light")


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_page_reads_without_scripts(name: str, open_page: Callable[..., Visit]) -> None:
    page = open_page(name, javascript=False).page
    assert page.locator("article h1").is_visible()
    hidden = page.eval_on_selector_all(
        "article p, article li, article td",
        """all => all.filter(e => e.textContent.trim() && !e.closest('details') && !e.getClientRects().length)
            .map(e => e.textContent)""",
    )
    assert hidden == []


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_prints(visit: Visit, scheme: str) -> None:
    page = visit.page
    try:
        wear(page, scheme)
        page.emulate_media(media="print")
        page.wait_for_function("() => document.documentElement.dataset.theme === 'light'", timeout=5000)
        assert page.locator("h1:visible").count() == 1
        assert not page.locator(".bd-sidebar-primary").is_visible()
        for facts in page.locator(".chapter-facts").all():
            assert facts.is_visible() and "Reading" in facts.inner_text()
        assert faint_texts(page) == []
    finally:
        page.emulate_media(media="screen", color_scheme="light")


class Links(HTMLParser):
    """Ids of a page and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" or (key == "name" and tag == "a"):
                self.ids.add(value or "")
            elif key in ("href", "src") and value:
                self.targets.append(value)


def test_links_inside_the_book_lead_somewhere(site: Path) -> None:
    parsed = {path: Links(path.read_text("utf-8")) for path in site.rglob("*.html") if "_static" not in path.parts}
    assert len(parsed) > len(PAGES)
    broken, checked = [], 0
    for path, links in parsed.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            checked += 1
            anchor = unquote(parts.fragment)
            if not goal.exists():
                broken.append(f"{path.relative_to(site)}: {target} does not exist")
            elif anchor and goal in parsed and anchor not in parsed[goal].ids:
                broken.append(f"{path.relative_to(site)}: {target} has no such anchor")
    assert broken == []
    assert checked > 0
