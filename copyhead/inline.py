"""Drawings as HTML: panels in a row that wraps, with ids that are unique on the page."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources

from copyhead.frames import merge, resolve
from copyhead.svg import Drawing

_seen: Counter[str] = Counter()


@cache
def asset(name: str) -> str:
    """Return the text of a file that ships with the package."""
    return resources.files("copyhead").joinpath(name).read_text(encoding="utf-8")


def stylesheet() -> str:
    """Return the style element that every figure carries, so that it looks right wherever it is copied to."""
    return f"<style>{asset('figure.css')}</style>"


def unique_id(content: str) -> str:
    """Return an id made from ``content`` (so that builds repeat), with a counter for equal contents."""
    key = "ch" + hashlib.sha1(content.encode()).hexdigest()[:7]
    _seen[key] += 1
    return key if _seen[key] == 1 else f"{key}x{_seen[key]}"


def panels_html(frames: Sequence[Sequence[Drawing]], alt: str, shown: int = 0) -> str:
    """Return the panels of a figure as one element with the accessible name ``alt``.

    ``frames[i][k]`` is panel ``k`` in frame ``i``; a plain figure has one frame.  Frame ``shown`` is visible.
    """
    panels = list(zip(*frames, strict=True))
    bodies = [merge([drawing.items for drawing in panel], shown) for panel in panels]
    definitions: dict[str, str] = {}
    for panel in panels:
        for drawing in panel:
            definitions |= drawing.definitions
    separator = "\0"
    text, defs = resolve(separator.join(bodies), definitions, unique_id("".join(bodies)))
    out = []
    for panel, body in zip(panels, text.split(separator), strict=True):
        width, height = panel[0].width, panel[0].height
        box = f'viewBox="0 0 {width:g} {height:g}" style="flex-basis:{width * 96 / 72:.0f}px"'
        out.append(f'<svg {box} aria-hidden="true">{defs and f"<defs>{defs}</defs>"}{body}</svg>')
        defs = ""  # the first panel holds the definitions of all
    return f'<div class="copyhead-panels" role="img" aria-label="{escape(alt)}">{"".join(out)}</div>'
