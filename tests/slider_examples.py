"""Figures that the slider tests move: a small one, and one as large as the largest of the book."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from copyhead import figures
from copyhead.sliders import StaticSlider, slider_figure

SLOPES = (0, 1, 2, 5, 10)


def line(slope: int) -> list[Figure]:
    """Two panels: a line with a ball at height ``slope``, and a heat map; a third tick label comes and goes."""
    left, ax = figures.panel("line", "$x$", "$y$")
    ax.plot([0, 1], [0, slope], color=figures.SOFTMAX)
    ax.plot([0.5], [slope], "o", color=figures.HIGHLIGHT, gid="ball")
    ax.set(xlim=(0, 1), ylim=(-1, 11), yticks=[0, 10] if slope < 5 else [0, 5, 10])
    ax.text(0.1, 9, f"slope {slope}")
    right, ax = figures.panel("map")
    figures.heatmap(ax, np.eye(4) * slope, vmin=0, vmax=10)
    return [left, right]


def line_slider(start: int = 1, name: str = "slope") -> StaticSlider:
    """The small figure's slider; the environment must ask for a static one."""
    return slider_figure(SLOPES, line, name=name, alt="A line that rises to {value} at the right end", start=start)


def six_panels(P: int) -> list[Figure]:
    """Two panels of 200-point lines, a landscape with its path, three 25 x 25 heat maps: all change with P."""
    rng = np.random.default_rng(P)
    t = P / 400
    x = np.linspace(-1, 1, 200)
    action, ax = figures.panel("softmax: action", r"$\hat a_G$", "action")
    ax.plot(x, x**6 - 1.5 * x**4 + (0.8 - t) * x**2, color=figures.SOFTMAX)
    ax.plot([t], [0.1], "o", color=figures.HIGHLIGHT, gid="ball")
    ax.set_ylim(-1, 1)
    loss, ax = figures.panel("loss", "$P$", "loss per token")
    ax.plot(400 * (x + 1) / 2, np.exp(-(x + 1) * t), color=figures.LINEAR, label="linear")
    ax.plot(400 * (x + 1) / 2, 1 / (1 + np.exp(20 * (x - t))), color=figures.SOFTMAX, label="softmax")
    ax.axvline(P, color=figures.HIGHLIGHT, lw=1)
    ax.legend()
    grid = np.linspace(-1, 1, 60)
    X, Y = np.meshgrid(grid, grid)
    valley, ax = figures.panel("linear: action", r"$\hat c_1$", r"$\hat c_G$", right=0.75)
    image = figures.landscape(ax, grid, grid, (X**2 + Y**2 - t) ** 2 + 0.3 * X, vmin=-0.5, vmax=3)
    figures.colorbar(ax, image, "action")
    ax.plot([0, t / 2, t], [0, -t, -t / 2], "-", color="white")
    maps = []
    for k in range(3):
        fig, ax = figures.panel(f"attention {k}", width=1.8, height=1.8)
        figures.heatmap(ax, rng.normal(size=(25, 25)) * 0.1 + t * np.eye(25, k=-1), vmin=-0.3, vmax=1)
        maps.append(fig)
    return [action, valley, loss, *maps]
