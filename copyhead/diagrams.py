"""Phase diagrams drawn: theory's loss on a grid, the lines on which it predicts a change, and maps of both.

A diagram has P upwards and the length L or the vocabulary V to the right; the other one keeps its value of ``PAPER``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead import endpoints
from copyhead.linear import LinearAction
from copyhead.reduced import Attention
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Axis = Literal["L", "V"]
SIGMA2 = 30.0
PAPER = {"L": 25, "V": 5}
NAMES = {"L": "sequence length $L$", "V": "vocabulary $V$"}


def setup_at(axis: Axis, value: int, sigma2: float = SIGMA2) -> Setup:
    """The paper's parameters with ``axis`` set to ``value``."""
    return Setup(**{**PAPER, axis: int(value)}, sigma2=sigma2)


def model_at(attention: Attention, axis: Axis, value: int, sigma2: float = SIGMA2) -> LinearAction | SoftmaxAction:
    """The theory of that attention there."""
    return (LinearAction if attention == "linear" else SoftmaxAction)(setup_at(axis, value, sigma2))


def theory_loss(attention: Attention, P: ArrayLike, axis: Axis, values: Sequence[int]) -> Array:
    """Loss per token at the global minimum of the two-pattern theory, shape (len(P), len(values))."""
    return np.stack([model_at(attention, axis, value).minimum(np.asarray(P, float)).loss for value in values], axis=1)


def boundaries(attention: Attention, axis: Axis, values: Sequence[int]) -> dict[str, Array]:
    """Where theory predicts a change, as P over ``values``: arrays of shape (len(values),).

    Linear: ``onset``, the exact second-order point; ``copy``, eq. (17).  Softmax: ``transition`` with ``lower`` and
    ``upper`` spinodal, NaN where the change is smooth; there ``crossover`` is the P of the steepest fall of the loss with
    ln P, NaN elsewhere.
    """
    models = [model_at(attention, axis, value) for value in values]
    if attention == "linear":
        return {"onset": np.array([model.critical_P for model in models if isinstance(model, LinearAction)]),
                "copy": np.array([model.copy_P for model in models if isinstance(model, LinearAction)])}
    rows = []
    for model in models:
        jump = model.first_order_transition()
        rows.append((jump.P, jump.lower_spinodal, jump.upper_spinodal, np.nan) if jump
                    else (np.nan, np.nan, np.nan, steepest(model)))
    return dict(zip(("transition", "lower", "upper", "crossover"), np.array(rows).T, strict=True))


def steepest(model: LinearAction | SoftmaxAction) -> float:
    """P at which the loss of the global minimum falls fastest with ln P, between sigma2 / 10 and 100 sigma2."""
    P = model.setup.sigma2 * np.geomspace(0.1, 100, 2000)
    return float(np.sqrt(P[1:] * P[:-1])[np.argmin(np.diff(model.minimum(P).loss))])


def softmax_endpoint(V: float, sigma2: float = SIGMA2) -> tuple[float, float]:
    """(L_c, P_c): where the first-order line of softmax attention ends, L taken as a real number; g_O = g_W = 1."""
    end = endpoints.softmax_endpoint(V)
    return end.L, end.P * sigma2


# --- Drawing -------------------------------------------------------------------------------------------------------


def diagram(P: ArrayLike, axis: Axis, values: Sequence[int], loss: ArrayLike, *, title: str = "",
            lines: Mapping[str, Array] | None = None, end: tuple[float, float] | None = None, vmin: float = 0.0,
            vmax: float = 1.0, cmap: str = "viridis", label: str = "loss per token") -> tuple[Figure, Axes]:
    """A map of ``loss``, shape (len(P), len(values)): each square is one cell of the grid, P upwards.

    ``lines`` (as ``boundaries`` gives them) are drawn over it, first ones solid, spinodals dotted, the rest dashed; ``end``
    is a point (value on the axis, P).
    """
    from matplotlib import patheffects

    from copyhead.figures import colorbar, heatmap, panel

    P, values = np.asarray(P, float), np.asarray(values).tolist()
    fig, ax = panel(title, NAMES[axis], "sequences $P$", right=0.75)
    image = heatmap(ax, np.asarray(loss)[::-1], vmin=vmin, vmax=vmax, cmap=cmap)
    image.set_extent((-0.5, len(values) - 0.5, -0.5, len(P) - 0.5))
    ax.set(aspect="auto", xlim=(-0.5, len(values) - 0.5), ylim=(-0.5, len(P) - 0.5))
    colorbar(ax, image, label)

    def place(x: Any, y: Any) -> tuple[Array, Array]:
        """Coordinates in cells; an end of the grid reaches half a cell further."""
        column, row = (np.interp(at, grid, np.arange(len(grid))) for at, grid in ((x, values), (np.log(y), np.log(P))))
        return column, np.where((np.asarray(y) < P[0]) | (np.asarray(y) > P[-1]), np.nan, row)

    outline = [patheffects.Stroke(linewidth=3.2, foreground="0.1"), patheffects.Normal()]
    for name, boundary in (lines or {}).items():
        dashes = {"onset": "-", "transition": "-", "lower": ":", "upper": ":"}.get(name, "--")
        ax.plot(*place(values, boundary), dashes, color="w", lw=1.6, path_effects=outline)
    if end is not None:
        ax.plot(*place(*end), "o", color="w", ms=7, mec="0.1", mew=1.5)
    for grid, wanted, place_ticks in ((values, {"L": (6, 20, 40, 60), "V": (2, 5, 10, 15, 20)}[axis], ax.set_xticks),
                                      (P, (5, 10, 20, 50, 100, 200, 500, 1000), ax.set_yticks)):
        inside = [tick for tick in wanted if grid[0] <= tick <= grid[-1]]
        place_ticks(np.interp(np.log(inside), np.log(grid), np.arange(len(grid))), [str(tick) for tick in inside])
    return fig, ax
