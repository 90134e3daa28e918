"""Colours that can be told apart on both pages, alt text that says something, and figures that are closed."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import IPython.display
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from copyhead import figures

# Page backgrounds: light; dark page of sphinx-book-theme; dark page and raised surface of pydata-sphinx-theme.
BACKGROUNDS = ("#ffffff", "#121212", "#14181e", "#222832")
ALT = "a straight line that rises from the left"

# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear_rgb(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """WCAG 2 contrast ratio of two sRGB colours."""
    dark, light = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear_rgb(c)) for c in (a, b))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB (D65) of linear RGB, clipped to the gamut."""
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    x = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_measures_are_right() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert lab(np.ones(3)) == pytest.approx([100, 0, 0], abs=0.02)


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("name", figures.PALETTE)
def test_every_colour_stands_out_on_every_page(name: str, background: str) -> None:
    assert contrast(figures.PALETTE[name], background) >= 3


@pytest.mark.parametrize("kind", BLINDNESS)
def test_colours_stay_apart_for_colour_blind_readers(kind: str) -> None:
    colours = [c for name, c in figures.PALETTE.items() if name != "ink"]
    seen = {c: lab(np.array(BLINDNESS[kind]) @ linear_rgb(c)) for c in colours}
    for a, b in itertools.combinations(colours, 2):
        assert np.linalg.norm(seen[a] - seen[b]) > 20, (kind, a, b)  # about 2 is just noticeable


def test_lines_take_their_colours_from_the_palette() -> None:
    with figures.style():
        cycle = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    assert set(cycle) == set(figures.PALETTE.values()) - {figures.INK}


def test_style_ends_with_its_block() -> None:
    with mpl.rc_context():
        mpl.rcParams["axes.titlesize"] = 23
        with figures.style():
            assert mpl.rcParams["axes.titlesize"] == 9
        assert mpl.rcParams["axes.titlesize"] == 23


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(IPython.display, "display", found.append)
    return found


@pytest.mark.parametrize(
    "bad", ["", "too short", "figures/linear-action-map.png", "x" * 40, "my figure number 2.svg", None, 7]
)
def test_alt_text_must_say_something(bad: Any, displayed: list[Any]) -> None:
    fig, _ = figures.panel()
    with pytest.raises(ValueError, match="alt must"):
        figures.show(fig, alt=bad)
    assert displayed == []


@pytest.mark.parametrize("bad", [None, [], "figure", [1]])
def test_show_wants_figures(bad: Any) -> None:
    with pytest.raises(ValueError, match="fig must be"):
        figures.show(bad, alt=ALT)


def test_show_displays_once_with_its_alt_text_and_closes_the_figure(displayed: list[Any]) -> None:
    before = plt.get_fignums()
    fig, ax = plt.subplots()
    ax.plot([0, 1])
    figures.show(fig, alt='a line  "so"\nand <so>, rising')
    assert plt.get_fignums() == before
    (html,) = displayed
    assert 'role="img" aria-label="a line &quot;so&quot; and &lt;so&gt;, rising"' in html.data
    assert html.data.count("<svg") == 1


def test_show_puts_several_panels_in_one_picture(displayed: list[Any]) -> None:
    figures.show([figures.panel("left")[0], figures.panel("right")[0]], alt=ALT)
    assert displayed[0].data.count("<svg") == 2
    assert displayed[0].data.count('role="img"') == 1


def test_a_figure_that_cannot_be_drawn_is_closed_too() -> None:
    before = plt.get_fignums()
    fig, ax = plt.subplots()
    ax.set_title("$\\nosuchcommand$")
    with pytest.raises(ValueError):
        figures.render(fig)
    assert plt.get_fignums() == before


def test_axes_of_a_panel_do_not_move_with_their_labels() -> None:
    boxes = []
    for scale in (1, 123456):
        fig, ax = figures.panel("t", "x", "y")
        ax.plot([0, scale], [0, scale])
        figures.render(fig)
        boxes.append(ax.get_window_extent().bounds)
    assert boxes[0] == boxes[1]


def test_landscape_checks_its_shape_and_centres_its_pixels() -> None:
    _, ax = figures.panel()
    with pytest.raises(ValueError, match="values must have shape"):
        figures.landscape(ax, np.arange(3), np.arange(4), np.zeros((3, 4)))
    image = figures.landscape(ax, [0, 1, 2], [10, 20, 30, 40], np.zeros((4, 3)))
    assert image.get_extent() == [-0.5, 2.5, 5, 45] or image.get_extent() == (-0.5, 2.5, 5, 45)


def test_colour_bar_spans_the_limits_of_the_image() -> None:
    fig, ax = figures.panel(right=0.75)
    image = figures.heatmap(ax, np.eye(3), vmin=-1, vmax=2)
    figures.colorbar(ax, image, "weight")
    (bar,) = ax.child_axes
    assert bar.get_ylim() == (-1, 2)
    assert bar.get_ylabel() == "weight"
    figures.render(fig)


def test_importing_the_helpers_loads_no_plotting_library() -> None:
    code = "import sys, copyhead.figures, copyhead.sliders; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
