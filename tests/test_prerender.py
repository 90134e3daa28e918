"""Formulas that are set when the book is built: read from the page as TeX, written as HTML with MathML beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prerender import FONTS, SHEET, formulas_of, node, typeset, with_formulas

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = """<html data-content_root="../../"><head><title>t</title><script>window.MathJax = {"a": 1}</script>
<script defer="defer" src="../../_static/../vendor/mathjax/tex-mml-chtml.js?v=1"></script></head><body>
<p>Let <span class="math notranslate nohighlight">\\(a &lt; b\\)</span> and <code>\\(x\\)</code>.</p>
<div class="math notranslate nohighlight" id="equation-one">
<span class="eqno">(1)<a class="headerlink" href="#equation-one">#</a></span>\\[\\frac{a}{b}\\]</div>
<div class="output text_latex math notranslate nohighlight">
\\[\\displaystyle x^{2}\\]</div></body></html>"""
FORMULAS = [("a < b", False), (r"\frac{a}{b}", True), (r"\displaystyle x^{2}", True)]


@pytest.fixture(scope="module")
def executable() -> str:
    path = node()
    assert path is not None, "Playwright brings a node along"
    return path


def test_formulas_are_found_and_code_is_left_alone() -> None:
    assert formulas_of(PAGE) == FORMULAS


def test_a_page_gets_html_and_loses_the_script(executable: str) -> None:
    html, css = typeset(FORMULAS, executable)
    page = with_formulas(PAGE, dict(zip(FORMULAS, html, strict=True)))
    assert page.count("<mjx-container") == 3 and page.count("<math ") == 3  # seen, and read aloud
    assert "<mfrac>" in page and "<mo>&lt;</mo>" in page
    assert "<code>\\(x\\)</code>" in page and "(1)<a" in page
    assert "window.MathJax" not in page and "<script" not in page
    assert page.count(f'href="../../_static/{SHEET}"') == 1
    assert with_formulas(page, {}) == page and formulas_of(page) == []
    assert f"{FONTS}/MathJax_Main-Regular.woff" in css


def test_equal_formulas_give_equal_html(executable: str) -> None:
    assert typeset(FORMULAS, executable) == typeset(FORMULAS, executable)


def test_a_formula_that_cannot_be_read_stops_the_build(executable: str) -> None:
    with pytest.raises(ValueError, match=r"cannot read the formula .*frac\{a"):
        typeset([("x", False), (r"\frac{a", True)], executable)


def test_no_built_page_leaves_formulas_to_the_browser(site: Path) -> None:
    pages = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    for path in pages:
        text = path.read_text("utf-8")
        assert "window.MathJax" not in text and formulas_of(text) == [], path.name
    assert sum(path.read_text("utf-8").count("<mjx-container") for path in pages) > 5000


@pytest.mark.browser
def test_fonts_of_formulas_are_there(browser: Browser, site: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto((site / "book" / "transitions" / "softmax.html").as_uri(), wait_until="load")
    page.evaluate("() => document.fonts.ready.then(() => null)")
    loaded = page.evaluate("() => [...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)")
    assert any("MJX" in family for family in loaded)
    # A formula is about as tall as the letters around it.
    ratio = page.evaluate("""() => { const f = document.querySelector('article p mjx-container');
        return parseFloat(getComputedStyle(f).fontSize) / parseFloat(getComputedStyle(f.closest('p')).fontSize); }""")
    assert 1.05 < ratio < 1.3
    context.close()
