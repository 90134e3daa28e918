"""One look for every figure of the book, and a helper that shows a figure with its alt text.

Colours are chosen for thin lines on the light page (#ffffff) and on the dark one (#121212, with boxes up to
#222832): each has a WCAG contrast of at least 3 against all of these, and every two stay apart for readers
with protanopia, deuteranopia or tritanopia.  Backgrounds are transparent.  Black and ``INK`` are drawn in the
colour of the page's own text; on a heat map use white or "0.1", which stay as they are.

Sizes are chosen for a phone: a ``panel`` is 3.4 inches wide, so that two stand side by side in the book's
column and stack on a screen of 390 pixels, where two of 1.8 inches still stand side by side.  A single figure
wider than about 4 inches shrinks there until its labels are hard to read; show a list of panels instead.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from copyhead.inline import panels_html, stylesheet
from copyhead.svg import INK, SMOOTH, Drawing, minimise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

LINEAR = "#9366cc"  # linear attention
SOFTMAX = "#0066ff"  # softmax attention
THEORY = "#36a160"  # a theory that is neither of the two
DATA = "#c24c0a"  # fitted or sampled networks, measurements
HIGHLIGHT = "#d175a1"  # what the text points at
PALETTE: Mapping[str, str] = MappingProxyType(
    {"linear": LINEAR, "softmax": SOFTMAX, "theory": THEORY, "data": DATA, "highlight": HIGHLIGHT, "ink": INK}
)
SEQUENTIAL = "viridis"  # heat maps from low to high
DIVERGING = "PuOr_r"  # heat maps with a meaningful zero; give symmetric vmin and vmax

_PICTURE_FILES = (".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp")
_LEVELS = 64  # colours in a heat map: enough for the eye, few enough for small images
_STYLE: dict[Any, Any] = {
    "figure.facecolor": "none",
    "figure.dpi": 96,
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 9,
    "axes.titley": 1.0,  # fixed: the search for a free place costs a quarter of the drawing time
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "grid.color": INK,
    "grid.alpha": 0.3,
    "font.size": 9,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "mathtext.fontset": "dejavusans",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "image.cmap": SEQUENTIAL,
    "image.interpolation": "none",
    "savefig.facecolor": "none",
    "savefig.bbox": None,
    "svg.fonttype": "path",  # the reader's machine need not have our font
    "svg.hashsalt": "copyhead",
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the book's style inside a ``with`` block; sliders draw their frames in one."""
    import matplotlib as mpl

    with mpl.rc_context():
        use_style()
        yield


def use_style() -> None:
    """Apply the book's style from here on; the first ``panel`` of a notebook does so."""
    import matplotlib as mpl
    from cycler import cycler

    colours: Any = cycler(color=[SOFTMAX, DATA, LINEAR, THEORY, HIGHLIGHT])
    mpl.rcParams.update({**_STYLE, "axes.prop_cycle": colours})


def panel(
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    *,
    width: float = 3.4,
    height: float = 2.6,
    right: float = 0.15,
) -> tuple[Figure, Axes]:
    """Return a figure of ``width`` x ``height`` inches with one pair of axes.

    The margins are fixed in inches (give ``right=0.75`` for a colour bar), so that the axes do not move when
    tick labels change.  The figure is not registered with pyplot, so there is nothing to close.  What is added
    to it later shall look alike, so the book's style stays in force, as after ``use_style``.
    """
    from matplotlib.figure import Figure

    left, bottom, top = 0.62, 0.46, 0.28
    use_style()
    fig = Figure(figsize=(width, height))
    box = (left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height)
    ax = fig.add_axes(box)
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    ax.locator_params(nbins=5)
    return fig, ax


def heatmap(
    ax: Axes, matrix: Any, *, vmin: float | None = None, vmax: float | None = None, cmap: str = SEQUENTIAL
) -> AxesImage:
    """Draw a matrix of shape (rows, columns) as crisp squares, row 0 on top."""
    image = ax.imshow(np.asarray(matrix), cmap=_few(cmap), vmin=vmin, vmax=vmax, interpolation="none")
    ax.spines[:].set_visible(True)
    return image


def landscape(
    ax: Axes,
    x: Any,
    y: Any,
    values: Any,
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    cmap: str = SEQUENTIAL,
) -> AxesImage:
    """Draw ``values`` of shape (len(y), len(x)) on evenly spaced grids as a smooth raster, y upwards.

    A grid of about 60 x 60 is enough: the browser interpolates between its points.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    values = np.asarray(values)
    if values.shape != (y.size, x.size):
        raise ValueError(f"values must have shape (len(y), len(x)) = {(y.size, x.size)}, got {values.shape}")
    dx, dy = (x[-1] - x[0]) / (x.size - 1) / 2, (y[-1] - y[0]) / (y.size - 1) / 2
    image = ax.imshow(
        values,
        cmap=_few(cmap),
        vmin=vmin,
        vmax=vmax,
        origin="lower",
        extent=(x[0] - dx, x[-1] + dx, y[0] - dy, y[-1] + dy),
        aspect="auto",
        interpolation="none",
        url=SMOOTH,
    )
    ax.spines[:].set_visible(True)
    return image


def colorbar(ax: Axes, image: AxesImage, label: str = "") -> None:
    """Put a colour bar to the right of ``ax``; the panel needs ``right=0.75``."""
    low, high = image.get_clim()
    bar = ax.inset_axes((1.03, 0.0, 0.05, 1.0))
    ramp = np.linspace(low, high, _LEVELS)[:, None]
    extent = (0.0, 1.0, low, high)
    bar.imshow(ramp, cmap=image.get_cmap(), origin="lower", extent=extent, aspect="auto", url=SMOOTH)
    bar.set_xticks([])
    bar.locator_params(axis="y", nbins=5)
    bar.yaxis.tick_right()
    bar.yaxis.set_label_position("right")
    bar.set_ylabel(label)
    bar.spines[:].set_visible(True)


def _few(cmap: str) -> Colormap:
    import matplotlib as mpl

    return mpl.colormaps[cmap].resampled(_LEVELS)


def show(fig: Figure | Sequence[Figure], *, alt: str) -> None:
    """Display a figure, or several panels in a row that wraps on a narrow screen, and close it.

    ``alt`` says in at least 20 characters what is seen; a file name is refused with ValueError.
    """
    from IPython.display import HTML, display

    alt = checked_alt(alt)
    display(HTML(f'<div class="copyhead-figure">{stylesheet()}{panels_html([render(fig)], alt)}</div>'))


def checked_alt(alt: Any) -> str:
    """Return ``alt`` with single spaces, or raise ValueError if it does not describe a picture."""
    text = " ".join(alt.split()) if isinstance(alt, str) else ""
    if len(text) < 20 or " " not in text or text.lower().endswith(_PICTURE_FILES):
        raise ValueError(f"alt must say in at least 20 characters what is seen, not name a file, got {alt!r}")
    return text


def as_panels(figures: Any, name: str = "fig") -> list[Figure]:
    """Return one figure or a sequence of figures as a non-empty list, or raise ValueError naming ``name``."""
    from matplotlib.figure import Figure

    panels = [figures] if isinstance(figures, Figure) else figures
    if isinstance(panels, list | tuple) and panels and all(isinstance(p, Figure) for p in panels):
        return list(panels)
    raise ValueError(f"{name} must be a matplotlib Figure or a non-empty list of Figures, got {figures!r}")


def render(figures: Figure | Sequence[Figure], name: str = "fig") -> list[Drawing]:
    """Return the minimised drawings of one figure or of several panels, and close those that pyplot holds."""
    panels = as_panels(figures, name)
    pyplot: Any = sys.modules.get("matplotlib.pyplot")  # if nobody imported it, it holds no figure
    drawings = []
    try:
        with style():
            for fig in panels:
                buffer = io.StringIO()
                fig.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
                drawings.append(minimise(buffer.getvalue()))
    finally:
        for fig in panels if pyplot else ():
            pyplot.close(fig)
    return drawings


@contextmanager
def no_leaks() -> Iterator[None]:
    """Close on leaving, also by an exception, every pyplot figure that was opened inside."""

    def opened() -> set[int]:
        pyplot: Any = sys.modules.get("matplotlib.pyplot")
        return set(pyplot.get_fignums()) if pyplot else set()

    before = opened()
    try:
        yield
    finally:
        for number in opened() - before:
            sys.modules["matplotlib.pyplot"].close(number)
