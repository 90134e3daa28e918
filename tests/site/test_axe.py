"""Every page under axe-core: nothing that it calls serious or critical.

axe needs many seconds for a long page, most of them for the contrast of every word.  `make test` has it look at one page
of every kind and leaves contrast to test_pages.py; `make check` runs all rules on all pages, in light and in dark.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from execute import documents
from visits import ROOT, visit_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = [*documents(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))), "search", "genindex"]
# The first page, a slider and the explorer, a quiz with formulas, the self-test, large tables, a plan, the search.
KINDS = ["book/index", "book/start/tour", "book/transitions/linear-crossover", "book/start/self-test",
         "book/reference/paper-map", "book/reference/bibliography", "book/reference/week", "search"]  # fmt: skip
# Formulas carry MathML for screen readers, pictures are one element with a name (test_pages.py): axe need not walk
# through their thousands of glyphs.
INSIDE = {"exclude": [["mjx-container"], [".copyhead-panels"]]}


def serious(browser: Browser, site: Path, name: str, scheme: Any, rules: dict[str, Any]) -> list[str]:
    """What axe finds on a page and calls serious or critical."""
    visit, context = visit_page(browser, site, name, scheme=scheme)
    found = Axe().run(visit.page, context=INSIDE, options={"rules": rules}).response
    context.close()
    assert len(found["passes"]) > 10, "axe looked at next to nothing"
    return [
        f"{violation['impact']} {violation['id']}: {node['html'][:150]}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:3]
    ]


@pytest.mark.browser
@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing_serious(name: str, browser: Browser, site: Path) -> None:
    assert serious(browser, site, name, "light", {"color-contrast": {"enabled": False}}) == []


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_on_any_page(name: str, scheme: str, browser: Browser, site: Path) -> None:
    assert serious(browser, site, name, scheme, {}) == []


@pytest.mark.browser
def test_axe_sees_a_fault(browser: Browser, tmp_path: Path) -> None:
    page = "<!doctype html><html lang=en><title>t</title><main><h1>t</h1><img src=''><button></button>" + "<p>x</p>" * 3
    (tmp_path / "bad.html").write_text(page)
    context = browser.new_context()
    view = context.new_page()
    view.goto((tmp_path / "bad.html").as_uri())
    found = {violation["id"] for violation in Axe().run(view).response["violations"]}
    context.close()
    assert {"image-alt", "button-name"} <= found
