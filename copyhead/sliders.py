"""A figure with one slider: prepared frames in a page without a kernel, a widget where a kernel runs.

``slider_figure`` is the only name to know.  In the built book (``COPYHEAD_STATIC=1``), and wherever there is
no Jupyter kernel or no ipywidgets, it returns HTML that holds every frame and a few lines of JavaScript;
nothing is fetched, and a reader without JavaScript sees the frame ``start``.  With a kernel it returns an
ipywidgets box that draws a frame when it is first asked for.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from html import escape
from numbers import Real
from typing import Any

import numpy as np

from copyhead.figures import checked_alt, no_leaks, render, style
from copyhead.inline import asset, panels_html, stylesheet, unique_id
from copyhead.progress import in_page
from copyhead.svg import Drawing

SIZE_LIMIT = 300_000  # bytes of HTML above which a page gets slow to load


class StaticSlider:
    """HTML of a slider that works without a kernel; shows itself once as the last expression of a cell."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        return self.html


def slider_figure(
    values: Sequence[Any] | np.ndarray,
    draw: Callable[[Any], Any],
    *,
    name: str,
    alt: str | Callable[[Any], str],
    format: str | Callable[[Any], str] = "{}",
    start: Any = None,
) -> Any:
    """Return a figure with a slider that selects one of ``values``; end a cell with it, or ``display`` it.

    Parameters
    ----------
    values : sequence of numbers or strings
        The positions of the slider, in order, all different.
    draw : callable
        ``draw(value)`` returns a matplotlib Figure, or a list of Figures: panels in a row that wraps on a
        narrow screen.  Number and sizes of the panels are the same for every value.  The book's style is on.
    name : str
        Label of the slider, for example ``"P"``.
    alt : callable or str
        ``alt(value)``, or a text in which ``{value}`` stands for the formatted value; it says what is seen.
    format : str or callable
        How a value is written: ``"{:.3g}"``, or a function of the value.
    start : element of ``values``, optional
        The value shown first, on paper and without JavaScript; by default the first one.

    Raises
    ------
    ValueError
        Naming the argument, for arguments or frames that break these rules.
    """
    frames = _Frames(values, draw, name, alt, format, start)
    if in_page() or not has_kernel():
        return StaticSlider(_static_html(frames))
    return _live_widget(frames)


class _Frames:
    """The checked arguments of a slider, and its frames, each drawn when first asked for."""

    def __init__(self, values: Any, draw: Any, name: Any, alt: Any, format: Any, start: Any) -> None:
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
            raise ValueError(f"values must be a non-empty sequence of numbers or strings, got {values!r}")
        self.values = [v.item() if hasattr(v, "item") else v for v in values]  # numpy's numbers as Python's
        good = all(isinstance(v, str | Real) for v in self.values)
        if not good or len(set(self.values)) != len(self.values):
            raise ValueError(f"values must be different numbers or strings, got {values!r}")
        if not callable(draw):
            raise ValueError(f"draw must be a function of the value that returns a Figure, got {draw!r}")
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"name must be a non-empty string, got {name!r}")
        if start is not None and start not in self.values:
            raise ValueError(f"start must be one of values, got {start!r}")
        self.draw, self.name = draw, name.strip()
        self.start = 0 if start is None else self.values.index(start)
        self.labels = [_formatted(format, v) for v in self.values]
        if len(set(self.labels)) != len(self.labels):
            raise ValueError(f"format must write different values differently, got {self.labels}")
        self.alts = [_alt(alt, v, label) for v, label in zip(self.values, self.labels, strict=True)]
        if len(self.alts) > 1 and len(set(self.alts)) == 1:
            raise ValueError("alt must say what changes: it is the same text for every value")
        self._drawn: dict[int, list[Drawing]] = {}

    def __getitem__(self, index: int) -> list[Drawing]:
        if index not in self._drawn:
            with no_leaks(), style():
                drawings = render(self.draw(self.values[index]), name="the result of draw")
            sizes = [(d.width, d.height) for d in drawings]
            for other in list(self._drawn.values())[:1]:
                expected = [(d.width, d.height) for d in other]
                if sizes != expected:
                    raise ValueError(
                        f"draw must return panels of the same sizes for every value: {sizes} points at "
                        f"{self.name} = {self.labels[index]}, {expected} before"
                    )
            self._drawn[index] = drawings
        return self._drawn[index]


def _formatted(format: Any, value: Any) -> str:
    if callable(format):
        text = format(value)
    elif isinstance(format, str):
        plain = format == "{}" and isinstance(value, float)
        try:
            text = f"{value:g}" if plain else format.format(value)
        except (ValueError, IndexError, KeyError) as error:
            raise ValueError(f"format must fit the values, got {format!r} for {value!r}: {error}") from None
    else:
        raise ValueError(f"format must be a format string or a function, got {format!r}")
    if not isinstance(text, str) or not text:
        raise ValueError(f"format must give a non-empty string, got {text!r} for {value!r}")
    return text


def _alt(alt: Any, value: Any, label: str) -> str:
    if callable(alt):
        return checked_alt(alt(value))
    return checked_alt(alt.replace("{value}", label) if isinstance(alt, str) else alt)


def has_kernel() -> bool:
    try:
        import ipywidgets  # noqa: F401
        from IPython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


def _static_html(frames: _Frames) -> str:
    drawn = [frames[i] for i in range(len(frames.values))]
    start, label = frames.start, escape(frames.labels[frames.start])
    name, alt = escape(frames.name), frames.alts[start]
    picture = panels_html(drawn, alt, start)
    data = {"name": frames.name, "labels": frames.labels, "alts": frames.alts, "start": start}
    payload = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
    identifier = unique_id(picture)
    width = 1.15 * max(map(len, frames.labels))  # room for the longest label: letters are wider than digits
    html = (
        f'<div class="copyhead-figure copyhead-slider" data-value="{label}">{stylesheet()}'
        f'<div class="copyhead-control" hidden><label for="{identifier}">{name}</label>'
        f'<output for="{identifier}" style="min-width:{width:.1f}ch">{label}</output>'
        f'<input type="range" id="{identifier}" min="0" max="{len(drawn) - 1}" step="1" value="{start}" '
        f'aria-valuetext="{name} = {label}" autocomplete="off"></div>'
        f'<p class="copyhead-note">Shown: {name} = <span class="copyhead-shown">{label}</span>. '
        f"Moving through all {len(drawn)} values of {name} needs JavaScript, on screen.</p>"
        f'{picture}<p class="copyhead-status" role="status" aria-live="polite"></p>'
        f'<script type="application/json">{payload}</script>'
        f"<script>{{{asset('slider.js')}}}</script></div>"
    )
    size = len(html.encode())
    if size > SIZE_LIMIT:
        warnings.warn(
            f"this slider holds {size / 1000:.0f} kB of HTML, more than {SIZE_LIMIT / 1000:.0f} kB: "
            "draw fewer points, fewer contours or smaller rasters",
            stacklevel=3,
        )
    return html


def _live_widget(frames: _Frames) -> Any:
    import ipywidgets as widgets

    pictures: dict[int, str] = {}

    def picture(index: int) -> str:
        if index not in pictures:
            inner = panels_html([frames[index]], frames.alts[index])
            pictures[index] = f'<div class="copyhead-figure">{stylesheet()}{inner}</div>'
        return pictures[index]

    slider = widgets.SelectionSlider(
        options=[(label, i) for i, label in enumerate(frames.labels)],
        value=frames.start,
        description=frames.name,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="100%", max_width="44em"),
    )
    figure = widgets.HTML(picture(frames.start))
    slider.observe(lambda change: setattr(figure, "value", picture(change["new"])), names="value")
    return widgets.VBox([slider, figure])
