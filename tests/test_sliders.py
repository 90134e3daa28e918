"""Sliders outside the browser: arguments, size, the choice of mode, and the widget in a real kernel."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import nbformat
import numpy as np
import pytest
from matplotlib import pyplot as plt
from nbclient import NotebookClient
from slider_examples import SLOPES, line, line_slider, six_panels

from copyhead import figures, inline, sliders
from copyhead.sliders import slider_figure

ALT = "A line that rises to {value} at the right end"


@pytest.fixture(autouse=True)
def static(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYHEAD_STATIC", "1")


def data_of(html: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return json.loads(text)


def test_twenty_one_frames_of_six_panels_fit_into_300_kb() -> None:
    P = np.linspace(20, 400, 21).astype(int)
    slider = slider_figure(P, six_panels, name="P", alt="Six panels at P = {value}, all of them moving")
    assert len(slider.html.encode()) <= 300_000
    assert slider.html.count("<image") >= 3 * 21  # the frames are all there
    assert data_of(slider.html)["labels"] == [str(p) for p in P]


def test_a_slider_shows_itself_once_as_html() -> None:
    slider = line_slider()
    assert slider._repr_html_() == slider.html
    assert not hasattr(slider, "_ipython_display_")


def test_control_and_frames_are_described() -> None:
    html = line_slider(start=5).html
    data = data_of(html)
    assert data["start"] == SLOPES.index(5)
    assert data["alts"] == [ALT.replace("{value}", str(s)) for s in SLOPES]
    assert 'aria-valuetext="slope = 5"' in html
    assert f'aria-label="{data["alts"][3]}"' in html
    label = re.findall(r'<label for="([^"]+)">slope</label>', html)
    control = re.findall(r'<input type="range" id="([^"]+)"', html)
    assert len(label) == 1 and label == control


def test_equal_sliders_on_a_page_share_no_id() -> None:
    ids = re.findall(r' id="([^"]+)"', line_slider().html + line_slider().html)
    assert len(ids) == len(set(ids))


def test_two_builds_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = []
    for _ in range(2):  # a build runs each chapter in a fresh process
        monkeypatch.setattr(inline, "_seen", Counter())
        pages.append(line_slider().html)
    assert pages[0] == pages[1]


def test_texts_cannot_break_out_of_the_page() -> None:
    evil = '</script><b id="x">"&'
    alt = "a text that ends in {value}"
    html = slider_figure(["a" + evil, "b"], lambda v: figures.panel()[0], name=evil, alt=alt).html
    assert data_of(html)["name"] == evil
    assert data_of(html)["labels"] == ["a" + evil, "b"]
    reader = Tags()
    reader.feed(html)
    assert "b" not in reader.seen
    assert reader.seen.count("script") == 2


class Tags(HTMLParser):
    """The start tags that a browser finds."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


def test_values_and_labels() -> None:
    def labels(values: Any, **options: Any) -> list[str]:
        alt = "the value of x is now {value}"
        return data_of(slider_figure(values, lambda v: figures.panel()[0], name="x", alt=alt, **options).html)["labels"]

    assert labels(np.array([0.1, 0.25])) == ["0.1", "0.25"]
    assert labels(range(2)) == ["0", "1"]
    assert labels(["uniform", "copy"]) == ["uniform", "copy"]
    assert labels([1, 20], format="{:.1f} %") == ["1.0 %", "20.0 %"]
    assert labels([1, 20], format=lambda v: f"<{v}>") == ["<1>", "<20>"]


GOOD: dict[str, Any] = {"values": SLOPES, "draw": line, "name": "slope", "alt": ALT}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": []}, "values must be a non-empty sequence"),
        ({"values": "abc"}, "values must be a non-empty sequence"),
        ({"values": 3}, "values must be a non-empty sequence"),
        ({"values": [1, 1]}, "values must be different"),
        ({"values": [None, 1]}, "values must be different numbers or strings"),
        ({"values": [[1], [2]]}, "values must be different numbers or strings"),
        ({"draw": "figure"}, "draw must be a function"),
        ({"draw": lambda v: None}, "the result of draw must be a matplotlib Figure"),
        ({"draw": lambda v: figures.panel()}, "the result of draw must be a matplotlib Figure"),
        ({"draw": lambda v: figures.panel(width=3 + v / 10)[0]}, "same sizes for every value"),
        ({"draw": lambda v: [figures.panel()[0]] * (1 + (v > 2))}, "same sizes for every value"),
        ({"name": " "}, "name must be a non-empty string"),
        ({"alt": "short {value}"}, "alt must say"),
        ({"alt": "the same text for every single value"}, "alt must say what changes"),
        ({"alt": lambda v: None}, "alt must say"),
        ({"alt": None}, "alt must say"),
        ({"start": 3}, "start must be one of values"),
        ({"format": "{:d}", "values": [0.5, 1.5]}, "format must fit the values"),
        ({"format": "{:.0f}", "values": [0.1, 0.2]}, "format must write different values differently"),
        ({"format": lambda v: v}, "format must give a non-empty string"),
        ({"format": 3}, "format must be a format string or a function"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        slider_figure(**{**GOOD, **change})


def test_no_figure_is_left_open_whatever_draw_does() -> None:
    before = plt.get_fignums()

    def draw(value: int) -> Any:
        fig, _ = plt.subplots()
        plt.figure()  # forgotten
        if value == 3:
            raise RuntimeError("drawing failed")
        return fig

    slider_figure([1, 2], draw, name="n", alt="An empty figure, number {value}")
    assert plt.get_fignums() == before
    with pytest.raises(RuntimeError, match="drawing failed"):
        slider_figure([1, 2, 3], draw, name="n", alt="An empty figure, number {value}")
    assert plt.get_fignums() == before


def test_a_heavy_slider_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliders, "SIZE_LIMIT", 1000)
    with pytest.warns(UserWarning, match="kB of HTML"):
        line_slider()


def test_without_a_kernel_the_slider_is_static(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COPYHEAD_STATIC")
    assert line_slider().html.count('type="range"') == 1


LIVE = (
    """
import os, time
os.environ.pop("COPYHEAD_STATIC", None)
from matplotlib import pyplot as plt
from copyhead.sliders import slider_figure

def draw(value):
    fig, ax = plt.subplots(figsize=(3.4, 2.6))
    ax.plot(range(200), [value * i**0.5 for i in range(200)])
    ax.set(title=f"slope {value}", xlabel="$x$", ylabel="$y$", ylim=(0, 300))
    return fig

box = slider_figure(range(20), draw, name="P", alt="A curve that grows with {value}", start=3)
box""",
    """
slider, picture = box.children
seen, seconds = [], []
for i in range(20):
    before = time.process_time()
    slider.value = (i + 7) % 20
    seconds.append(time.process_time() - before)
    seen.append(f'data-text="slope {slider.label}"' in picture.value)
print(all(seen), slider.label, plt.get_fignums(), sorted(seconds)[10])""",
    """
before = time.process_time()
slider.value = 0
print(time.process_time() - before)""",
)


def test_twenty_moves_in_a_kernel_leave_one_output_and_no_figure() -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in LIVE]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (output,) = cells[0].outputs
    assert "application/vnd.jupyter.widget-view+json" in output.data
    assert "text/html" not in output.data
    (moves,) = cells[1].outputs  # a print, and nothing that a frame displayed
    right, label, fignums, median = moves.text.split()
    assert (right, label, fignums) == ("True", "6", "[]")
    assert float(median) <= 0.150  # seconds of processor time per new frame
    (again,) = cells[2].outputs
    assert float(again.text) < 0.010  # a frame seen before is not drawn again
