"""Minimised drawings and merged frames still hold what went in."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from PIL import Image

from copyhead import figures
from copyhead.frames import merge, resolve
from copyhead.inline import panels_html
from copyhead.svg import short_path

COORDINATE = st.floats(-2000, 2000, allow_nan=False).map(lambda v: round(v, 6))
POINT = st.tuples(COORDINATE, COORDINATE)
SEGMENT = st.one_of(
    st.tuples(st.just("L"), st.tuples(POINT)),
    st.tuples(st.just("Q"), st.tuples(POINT, POINT)),
    st.tuples(st.just("C"), st.tuples(POINT, POINT, POINT)),
    st.tuples(st.just("Z"), st.just(())),
    st.tuples(st.just("M"), st.tuples(POINT)),
)


def read_relative(data: str) -> list[tuple[str, list[tuple[float, float]]]]:
    """Read a relative path back into absolute commands, by the grammar of SVG alone."""
    sizes = {"m": 2, "l": 2, "h": 1, "v": 1, "q": 4, "c": 6}
    tokens = re.findall(r"[a-z]|-?(?:\d+\.?\d*|\.\d+)", data)
    x = y = x0 = y0 = 0.0
    out: list[tuple[str, list[tuple[float, float]]]] = []
    letter, i = "", 0
    while i < len(tokens):
        if tokens[i].isalpha():
            letter = tokens[i]
            i += 1
        if letter == "z":
            x, y = x0, y0
            out.append(("Z", []))
            continue
        numbers = [float(t) for t in tokens[i : i + sizes[letter]]]
        i += sizes[letter]
        if letter in "hv":
            numbers = [numbers[0], 0.0] if letter == "h" else [0.0, numbers[0]]
        points = [(x + a, y + b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
        x, y = points[-1]
        if letter == "m":
            x0, y0 = x, y
        out.append((letter.upper().replace("H", "L").replace("V", "L"), points))
    return out


def grid(a: float) -> float:
    """The nearest hundredth of a number as it is written, ties broken as in short_path."""
    return round(float(f"{a:f}") * 100) / 100


@given(POINT, st.lists(SEGMENT, min_size=1, max_size=60))
def test_short_path_stays_within_the_rounding_of_each_point(start: tuple[float, float], segments: list) -> None:
    commands = [("M", (start,)), *segments]
    text = "\n".join(f"{c} " + " ".join(f"{a:f} {b:f}" for a, b in points) for c, points in commands)
    found = read_relative(short_path(text))
    expected: list[tuple[str, list[tuple[float, float]]]] = []
    for letter, points in commands:  # a step shorter than the grid may be dropped after another straight step
        near = [(grid(a), grid(b)) for a, b in points]
        if letter == "L" and expected and expected[-1][0] == "L" and expected[-1][1] == near:
            continue
        expected.append((letter, near))
    assert [c for c, _ in found] == [c for c, _ in expected]
    for (_, a), (_, b) in zip(found, expected, strict=True):
        assert np.allclose(a, b, rtol=0, atol=1e-9)  # sums of exact hundredths: no error adds up along the path


def test_short_path_is_the_expected_text() -> None:
    assert short_path("M 1 2 \nL 1.5 2 \nL 1.5 -0.25 \nL 1.25 0.004 \nL 2 3 \nz \n") == "m1 2h.5v-2.25l-.25.25.75 3z"


ITEM = st.sampled_from("abcdefgh").map(lambda c: f"<{c}/>")


def visible(merged: str, frame: int) -> list[str]:
    """The items that a browser shows when exactly the groups of ``frame`` are switched on."""
    root = ET.fromstring(f"<svg>{merged}</svg>")
    found: list[str] = []
    for element in root:
        if element.tag != "g":
            found.append(f"<{element.tag}/>")
        elif str(frame) in element.attrib["data-f"].split():
            found += [f"<{e.tag}/>" for e in element]
    return found


@settings(max_examples=300)
@given(st.lists(st.lists(ITEM, max_size=12), min_size=1, max_size=6), st.data())
def test_merged_frames_show_each_frame_in_its_painting_order(frames: list[list[str]], data: st.DataObject) -> None:
    frames = [[item for item in frame if item != "<g/>"] for frame in frames]
    shown = data.draw(st.integers(0, len(frames) - 1))
    merged = merge(frames, shown)
    for i, frame in enumerate(frames):
        assert visible(merged, i) == frame
    for group in ET.fromstring(f"<svg>{merged}</svg>").iter("g"):
        assert (group.attrib.get("display") != "none") == (str(shown) in group.attrib["data-f"].split())


def test_what_frames_share_is_written_once() -> None:
    shared = [f"<path d='m0 {i}'/>" for i in range(50)]
    frames = [[*shared[:25], f"<circle r='{i}'/>", *shared[25:]] for i in range(10)]
    merged = merge(frames, 0)
    assert all(merged.count(item) == 1 for item in shared)
    assert merged.count("data-f") == 10


def test_resolve_writes_nested_definitions_and_only_used_ones() -> None:
    a, b, c = "a" * 16, "b" * 16, "c" * 16
    table = {a: f'<g><use href="#@{b}@"/></g>', b: "<path/>", c: "<circle/>"}
    text, defs = resolve(f'<use href="#@{a}@"/><use href="#@{a}@"/>', table, "x")
    assert text == '<use href="#x-0"/><use href="#x-0"/>'
    assert defs == '<g id="x-0"><use href="#x-1"/></g><path id="x-1"/>'


def drawing_of(paint: Callable[[Axes], object]) -> str:
    fig, ax = figures.panel("title", r"$\hat c_1$")
    paint(ax)
    return panels_html([figures.render(fig)], "an alt text for the test")


def test_every_reference_has_its_definition_and_ids_do_not_repeat() -> None:
    def paint(ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], "o-")
        ax.fill_between([0, 1], [0, 1], alpha=0.3)

    page = drawing_of(paint) + drawing_of(paint)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    references = set(re.findall(r'href="#([^"]+)"', page)) | set(re.findall(r"url\(#([^)]+)\)", page))
    assert references and references == set(ids)


def test_the_minimised_drawing_is_clean() -> None:
    text = drawing_of(lambda ax: ax.plot([0, 1], [0, 1], color="black"))
    for unwanted in ("<!--", "metadata", "xlink", "DejaVu", "#000000", figures.INK, "http"):
        assert unwanted not in text
    assert "currentColor" in text
    assert 'data-text="title"' in text
    # transparent: nothing is filled but glyphs (which inherit the colour of the text)
    assert set(re.findall(r"[\";]fill:([^;\"]+)", text)) <= {"none", "currentColor"}


def test_own_gids_survive_and_matplotlibs_do_not() -> None:
    text = drawing_of(lambda ax: ax.plot([0.5], [0.5], "o", gid="ball"))
    assert re.findall(r'data-gid="([^"]*)"', text) == ["ball"]


@pytest.mark.parametrize("cmap", [figures.SEQUENTIAL, figures.DIVERGING])
def test_heat_map_pixels_are_the_colours_of_the_matrix(cmap: str) -> None:
    matrix = np.random.default_rng(0).random((25, 25))
    text = drawing_of(lambda ax: figures.heatmap(ax, matrix, vmin=0, vmax=1, cmap=cmap))
    image = Image.open(io.BytesIO(base64.b64decode(re.findall(r"base64,([^\"]+)", text)[0])))
    expected = mpl.colormaps[cmap].resampled(64)(matrix, bytes=True)[..., :3]
    assert image.mode == "P"  # a palette: small
    assert np.array_equal(np.asarray(image.convert("RGB")), expected)
    assert "pixelated" in text


def test_landscape_is_left_to_the_browser_to_smooth() -> None:
    grid = np.linspace(-1, 1, 20)
    text = drawing_of(lambda ax: figures.landscape(ax, grid, grid, np.outer(grid, grid)))
    assert "<image" in text and "pixelated" not in text and "<a" not in text
