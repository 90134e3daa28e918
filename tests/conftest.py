"""Shared fixtures: the built book, a headless Chromium, and visits of pages.

`make test` builds the book first.  On a user's machine without Chromium the tests that need it, and only those, are
skipped, with a banner at the end of the run; under CI a missing Chromium is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from visits import ROOT, Visit, find_chromium, launched, visit_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

MISSING = "Chromium not found: the built pages cannot be tested"


@pytest.fixture(scope="session")
def site() -> Path:
    """Folder of the built HTML."""
    folder = ROOT / "_build" / "html"
    if not (folder / "index.html").exists():
        pytest.fail(f"there is no built book in {folder}: run `make book` first", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for the whole run."""
    path = find_chromium()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(f"{MISSING}, and under CI they must be", pytrace=False)
        pytest.skip(MISSING)
    with launched(path) as chromium:
        yield chromium


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[Callable[..., Visit]]:
    """``open_page(name, width=1280, height=900, scheme="light", javascript=True)`` gives a Visit; closed afterwards."""
    contexts: list[BrowserContext] = []

    def open_one(name: str, **options: Any) -> Visit:
        visit, context = visit_page(browser, site, name, **options)
        contexts.append(context)
        return visit

    yield open_one
    for context in contexts:
        context.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly when the pages could not be tested."""
    skipped = [r for r in terminalreporter.getreports("skipped") if MISSING in str(r.longrepr)]
    if not skipped:
        return
    for line in (
        "!" * 100,
        f"  CHROMIUM NOT FOUND: {len(skipped)} tests of the built pages were SKIPPED.  Everything else ran.",
        "  Install Chromium (Debian: apt-get install chromium), or set CHROMIUM to the path of one.",
        "!" * 100,
    ):
        terminalreporter.write_line(line, red=True, bold=True)
