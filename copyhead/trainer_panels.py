"""The two panels of the trainer: the loss while it trains, and the order parameters on the curves of the theory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.figures import DATA, HIGHLIGHT, LINEAR, SOFTMAX, panel
from copyhead.linear import LinearAction
from copyhead.reduced import Attention
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = {"cold": "o", "up": "^", "down": "v"}
WORDS = {"cold": "cold start", "up": "warm start from below", "down": "warm start from above"}
LINES = {"cold": "-", "up": "--", "down": ":"}
Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Point:
    """Where a run ended: P, its start ("cold", "up", "down") and the order parameters (softmax: c_G is a_G)."""

    P: float
    start: str
    c1: float
    c_G: float


class Panels:
    """Theory curves over P for one setup, computed once, and the panels on which networks are compared with them.

    ``d_model`` is the embedding dimension of the networks, for the titles; the theory is that of infinite dimension.
    """

    def __init__(self, setup: Setup, values: Sequence[int], d_model: float = math.inf) -> None:
        self.setup, self.values = setup, values
        self.size = f", d = {d_model:.0f}" if math.isfinite(d_model) else ""
        self.linear, self.softmax = LinearAction(setup), SoftmaxAction(setup)
        self.transition = self.softmax.first_order_transition()
        self.dense = np.unique(np.concatenate([np.linspace(1, 1.03 * max(values), 200), self._resolved()]))
        self.linear_states = self.linear.minimum(self.dense)
        self.softmax_states = [self.softmax.minima(P) for P in self.dense]

    def _resolved(self) -> Floats:
        """Values of P close to where the curves bend or end."""
        near = [self.linear.critical_P + np.geomspace(1e-3, 20, 20)]
        if self.transition is not None:
            t = self.transition
            ends = np.array([[t.lower_spinodal, t.P, t.upper_spinodal]]).T * (1 + np.array([-1e-9, 1e-9]))
            near += [ends.ravel(), t.lower_spinodal + np.geomspace(1e-2, 5, 8), t.upper_spinodal - np.geomspace(1e-2, 5, 8)]
        return np.concatenate(near)

    @cached_property
    def branches(self) -> list[tuple[Floats, Floats, bool]]:
        """Softmax theory as curves (P, a_G, stable): a curve ends where its state stops being the lowest, or being."""
        if self.transition is None:
            return [(self.dense, np.array([float(s[0].a_G) for s in self.softmax_states]), True)]
        t = self.transition
        divide = math.sqrt(float(t.uniform.a_G) * float(t.copy.a_G))        # between the two states, all along
        found: dict[tuple[bool, bool], list[tuple[float, float]]] = {}
        for P, states in zip(self.dense, self.softmax_states, strict=True):
            for rank, state in enumerate(states):
                found.setdefault((bool(state.a_G > divide), rank == 0), []).append((P, float(state.a_G)))
        return [(*np.array(points).T, stable) for (_, stable), points in found.items()]  # type: ignore[misc]

    def losses(self, attention: Attention, P: float) -> list[float]:
        """Theory's loss of all states that are stable or metastable at P, the stable one first."""
        states: Sequence[Any] = self.softmax.minima(P) if attention == "softmax" else [self.linear.minimum(P)]
        return [float(state.loss) for state in states]

    # --- the panels ----------------------------------------------------------------------------------------------------

    def loss(self, attention: Attention, P: float, curves: Sequence[tuple[str, ArrayLike, ArrayLike]],
             longest: int = 0) -> Figure:
        """Loss against step, for curves (start, steps, losses); theory's values are horizontal lines."""
        fig, ax = panel(f"{attention}{self.size}, P = {P}: loss", "step", "loss per token")
        for rank, level in enumerate(self.losses(attention, P)):
            ax.axhline(level, color=self._colour(attention), lw=1.2, ls="-" if rank == 0 else "--")
        end = max([longest, 100, *(int(np.max(steps)) for _, steps, _ in curves if np.size(steps))])
        for start, steps, losses in curves:
            ax.plot(steps, losses, LINES[start], color=DATA, lw=1.5, marker=MARKERS[start], markevery=[-1], label=start)
        ax.set(xlim=(0, end), ylim=(0, 1.2), yticks=[0, 0.5, 1])
        ax.locator_params(axis="x", nbins=4)
        if curves:
            ax.legend(loc="upper right", ncols=3, columnspacing=1, borderaxespad=0)
        return fig

    def order(self, attention: Attention, P: float, points: Sequence[Point], current: Sequence[Point] = ()) -> Figure:
        """Order parameters against P: theory's curves, points of networks, the present P, and larger its points.

        An inset enlarges the range of P in which softmax attention has two states.
        """
        linear = attention == "linear"
        name = "pooling (full), copying (open)" if linear else "copying"
        fig, ax = panel(f"{attention}{self.size}: {name}", "P", r"$\hat c_1$, $\hat c_G$" if linear else r"$\hat a_G$")
        self._comparison(ax, attention, P, points, current)
        ax.set(xlim=(0, self.dense[-1]), ylim=(-0.03, 0.62) if linear else (-0.1, 1.95),
               yticks=[0, 0.2, 0.4, 0.6] if linear else [0, 0.5, 1, 1.5])
        ax.locator_params(axis="x", nbins=4)
        if linear:
            ax.legend(loc="upper left", ncols=2)
        elif self.transition is not None:
            window = self.transition.lower_spinodal - 12, self.transition.upper_spinodal + 12
            close = ax.inset_axes((0.5, 0.19, 0.48, 0.4))
            self._comparison(close, attention, P, points, current)
            close.set(xlim=window, ylim=(-0.1, 1.1), yticks=[0, 1])
            close.spines[:].set_visible(True)
            close.locator_params(axis="x", nbins=3)
        return fig

    def _comparison(self, ax: Axes, attention: Attention, P: float, points: Sequence[Point],
                    current: Sequence[Point]) -> None:
        if attention == "linear":
            ax.plot(self.dense, self.linear_states.c1, color=LINEAR, lw=1.4, label=r"$\hat c_1$ theory")
            ax.plot(self.dense, self.linear_states.c_G, "--", color=LINEAR, lw=1.4, label=r"$\hat c_G$ theory")
        else:
            for x, y, stable in self.branches:
                ax.plot(x, y, "-" if stable else "--", color=SOFTMAX, lw=1.4)
        ax.axvline(P, color=HIGHLIGHT, lw=1)
        for start in MARKERS:
            self._points(ax, attention, [p for p in points if p.start == start], start)
        for point in current:
            self._points(ax, attention, [point], point.start, size=8, edge=HIGHLIGHT)

    def _points(self, ax: Axes, attention: Attention, points: list[Point], start: str, size: float = 4.5,
                edge: str = DATA) -> None:
        x = [p.P for p in points]
        marker = MARKERS[start]
        style: dict[str, Any] = dict(ls="none", marker=marker, ms=size, mec=edge, mew=1)
        ax.plot(x, [p.c_G for p in points], mfc="none" if attention == "linear" else DATA, **style)
        if attention == "linear":
            ax.plot(x, [p.c1 for p in points], mfc=DATA, **style)

    def _colour(self, attention: Attention) -> str:
        return LINEAR if attention == "linear" else SOFTMAX

    # --- in words --------------------------------------------------------------------------------------------------------

    def theory(self, attention: Attention, P: float) -> str:
        """The theory's order parameters at P, in words; a second softmax state in brackets."""
        if attention == "linear":
            state = self.linear.minimum(P)
            return f"c1 = {state.c1:.3f}, c_G = {state.c_G:.3f}"
        stable, *other = self.softmax.minima(P)
        return f"a_G = {stable.a_G:.3f}" + "".join(f" (metastable: {state.a_G:.3f})" for state in other)


def reading(attention: Attention, point: Point) -> str:
    """The order parameters of a network in words."""
    return f"c1 = {point.c1:.3f}, c_G = {point.c_G:.3f}" if attention == "linear" else f"a_G = {point.c_G:.3f}"
