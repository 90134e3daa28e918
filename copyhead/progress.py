"""A progress bar that vanishes, and that a page of the book never shows."""

from __future__ import annotations

import os
from typing import Any


def in_page() -> bool:
    """Whether the book is being built (``COPYHEAD_STATIC``): a page has no place for what moves or needs a kernel."""
    return os.environ.get("COPYHEAD_STATIC", "") not in ("", "0")


def bar(total: int, *, done: int = 0, show: bool = True, unit: str = "it", name: str = "") -> Any:
    """A tqdm bar of ``total`` steps of which ``done`` are behind: a context manager with ``update``.

    Plain text also in a notebook, where the widget of ``tqdm.auto`` would stay behind in a saved file.
    """
    from tqdm import tqdm

    return tqdm(total=total, initial=done, leave=False, disable=in_page() or not show, unit=unit, desc=name or None)
