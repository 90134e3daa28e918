"""Visits of built pages with a headless Chromium that reaches for no network of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str | None:
    """Path of a Chromium: that of the variable CHROMIUM if set, else the first one on the path."""
    if "CHROMIUM" in os.environ:
        return shutil.which(os.environ["CHROMIUM"])
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def launched(path: str) -> Iterator[Browser]:
    """The Chromium at ``path``, headless, for the length of a ``with`` block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@dataclass
class Visit:
    """A page of the book opened from its file, and what happened while it loaded (and since)."""

    page: Page
    name: str
    requests: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def outside(self) -> list[str]:
        """Requests that are not for a local file."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]


def visit_page(
    browser: Browser,
    site: Path,
    name: str,
    *,
    width: int = 1280,
    height: int = 900,
    scheme: Literal["light", "dark"] = "light",
    javascript: bool = True,
) -> tuple[Visit, BrowserContext]:
    """Open document ``name`` (as in ``_toc.yml``) and wait until its formulas are set."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=javascript
    )
    visit = Visit(context.new_page(), name)
    page = visit.page
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("requestfailed", lambda request: visit.failed.append(request.url))
    page.on("console", lambda message: visit.errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: visit.errors.append(str(error)))
    page.goto((site / f"{name}.html").as_uri(), wait_until="load")
    if javascript:
        # MathJax loads deferred, so its absence at "load" means that the page has no formula.
        page.evaluate("() => window.MathJax?.startup?.promise ?? null")
    return visit, context


@contextmanager
def silent_visit(browser: Browser, site: Path, name: str, **options: Any) -> Iterator[Visit]:
    """Open a page for the length of a ``with`` block; at its end the page must have been silent and local."""
    visit, context = visit_page(browser, site, name, **options)
    yield visit
    assert visit.errors == []
    assert visit.outside == []
    context.close()
