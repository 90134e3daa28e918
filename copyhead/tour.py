"""The panels of the tour: theory and fitted networks at one number of training sequences P, for both attentions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from copyhead.figures import HIGHLIGHT, INK, LINEAR, SOFTMAX, heatmap, landscape, panel
from copyhead.fit import LinearFit, SoftmaxFit, fit_map
from copyhead.linear import LinearAction
from copyhead.patterns import pattern
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DEPTH = 4.0  # units of action shown above the lowest state
_TOLERANCE = 1e-3  # of the fits: order parameters to about 1e-4, less than a line's width


class Tour:
    """Fit both attentions at every P of ``values`` (one data set, ``seed``) and draw them beside the theory.

    Parameters
    ----------
    setup : Setup
    values : increasing positive integers
        The numbers of training sequences at which networks are fitted.
    seed : int
        Seed of the training sequences.
    """

    def __init__(self, setup: Setup, values: Sequence[int], seed: int = 0) -> None:
        self.setup, self.values = setup, [int(P) for P in values]
        self.linear, self.softmax = LinearAction(setup), SoftmaxAction(setup)
        self.linear_fits: dict[int, LinearFit] = {
            P: fit_map(setup, "linear", P, seed, tolerance=_TOLERANCE) for P in self.values
        }
        self.softmax_fits: dict[int, SoftmaxFit] = {
            P: fit_map(setup, "softmax", P, seed, tolerance=_TOLERANCE) for P in self.values
        }

    def draw(self, P: int) -> list[Figure]:
        """Six panels: loss, action of softmax, order parameters, landscape of linear, and the attention maps."""
        return [
            self._loss(P),
            self._order_parameters(P),
            self._softmax_action(P),
            self._linear_landscape(P),
            self._attention(P, "softmax"),
            self._attention(P, "linear"),
        ]

    def alt(self, P: int) -> str:
        """What the panels show at P, in words."""
        a, b, f, g = self.linear.minimum(P), self.softmax.minimum(P), self.linear_fits[P], self.softmax_fits[P]
        wells = "two wells" if len(self.softmax.minima(P)) == 2 else "one well"
        return (
            f"P = {P}. Linear attention: theory c1 = {a.c1:.3f}, c_G = {a.c_G:.3f}, loss {a.loss:.2f}; "
            f"fitted network c1 = {f.c1:.3f}, c_G = {f.c_G:.3f}, loss {f.loss:.2f}. "
            f"Softmax attention: theory a_G = {b.a_G:.3f}, loss {b.loss:.2f}, the action has {wells}; "
            f"fitted network a_G = {g.a_G:.3f}, loss {g.loss:.2f}."
        )

    # --- panels ------------------------------------------------------------------------------------------------------

    @cached_property
    def _grid(self) -> tuple[np.ndarray, Any, Any]:
        """Dense P and both global minima on it, with the jump resolved."""
        P = np.linspace(5, 1.02 * self.values[-1], 400)
        t = self.softmax.first_order_transition()
        if t is not None:
            P = np.sort(np.append(P, [t.P * (1 - 1e-9), t.P * (1 + 1e-9)]))
        return P, self.linear.minimum(P), self.softmax.minimum(P)

    def _mark(self, ax: Axes, P: int, *points: tuple[Any, str]) -> None:
        ax.axvline(P, color=HIGHLIGHT, lw=1)
        for height, colour in points:
            ax.plot(P, height, "o", ms=8, mfc=colour, mec=HIGHLIGHT, mew=1.5)

    def _loss(self, P: int) -> Figure:
        fig, ax = panel("Loss: theory (line), networks (dots)", "P", "loss")
        grid, linear, softmax = self._grid
        for states, fits, colour, name in (
            (linear, self.linear_fits, LINEAR, "linear"),
            (softmax, self.softmax_fits, SOFTMAX, "softmax"),
        ):
            ax.plot(grid, states.loss, color=colour, label=name)
            ax.plot(self.values, [fits[p].loss for p in self.values], ".", color=colour)
        self._mark(ax, P, (self.linear.minimum(P).loss, LINEAR), (self.softmax.minimum(P).loss, SOFTMAX))
        ax.set_ylim(0, 1.05)
        ax.legend(loc="upper right")
        return fig

    def _order_parameters(self, P: int) -> Figure:
        fig, ax = panel("Order parameters", "P", "order parameter")
        grid, linear, softmax = self._grid
        root = np.sqrt(self.setup.L)
        curves = (
            (linear.c1, [f.c1 for f in self.linear_fits.values()], LINEAR, "-", r"$\hat c_1$ linear"),
            (linear.c_G, [f.c_G for f in self.linear_fits.values()], LINEAR, "--", r"$\hat c_G$ linear"),
            (
                softmax.a_G / root,
                [f.a_G / root for f in self.softmax_fits.values()],
                SOFTMAX,
                "-",
                r"$\hat a_G/\sqrt{L}$ softmax",
            ),
        )
        for theory, fitted, colour, line, name in curves:
            ax.plot(grid, theory, line, color=colour, label=name)
            ax.plot(self.values, fitted, ".", color=colour)
        now = self.linear.minimum(P)
        self._mark(ax, P, (now.c1, LINEAR), (now.c_G, LINEAR), (self.softmax.minimum(P).a_G / root, SOFTMAX))
        ax.set_ylim(-0.02, 0.95)
        ax.legend(loc="upper left")
        return fig

    def _softmax_action(self, P: int) -> Figure:
        fig, ax = panel("Softmax: action above its lowest state", r"copy order parameter $\hat a_G$", r"$S-S_{\min}$")
        a = np.linspace(-0.15, 2.0, 260)
        states = self.softmax.minima(P)
        ax.plot(a, self.softmax.action(a, P) - states[0].action, color=SOFTMAX)
        for state in states[1:]:
            ax.plot(state.a_G, state.action - states[0].action + 0.09, "o", ms=8, mfc="none", mec=INK, mew=1.5)
        ax.plot(states[0].a_G, 0.09, "o", ms=8, mfc=SOFTMAX, mec=HIGHLIGHT, mew=1.5)
        ax.plot(self.softmax_fits[P].a_G, -0.3, "^", ms=6, color=HIGHLIGHT)
        ax.set(xlim=(-0.15, 2.0), ylim=(-0.5, _DEPTH))
        return fig

    def _linear_landscape(self, P: int) -> Figure:
        fig, ax = panel("Linear: action landscape (dark = low)", r"pooling $\hat c_1$", r"copying $\hat c_G$")
        x, y = np.linspace(-0.7, 0.7, 57), np.linspace(-0.56, 0.56, 57)
        action = self.linear.action(x, y[:, None], P)
        landscape(ax, x, y, np.minimum(action - self.linear.minimum(P).action, 2 * _DEPTH), vmin=0, vmax=2 * _DEPTH)
        grid, states, _ = self._grid
        now = self.linear.minimum(P)
        passed = grid <= P
        for sign in (1, -1):
            ax.plot(sign * states.c1[passed], sign * states.c_G[passed], color=HIGHLIGHT, lw=1.2)
            ax.plot(sign * now.c1, sign * now.c_G, "o", ms=8, mfc=LINEAR, mec=HIGHLIGHT, mew=1.5)
        ax.plot(self.linear_fits[P].c1, self.linear_fits[P].c_G, "^", ms=7, mfc="none", mec="white", mew=1.2)
        return fig

    def _attention(self, P: int, attention: str) -> Figure:
        L = self.setup.L
        if attention == "softmax":
            a_G = float(self.softmax.minimum(P).a_G)
            theory, fitted = pattern(1 - a_G / np.sqrt(L), a_G, L), self.softmax_fits[P].attention
        else:
            state = self.linear.minimum(P)
            theory, fitted = pattern(float(state.c1), float(state.c_G), L), self.linear_fits[P].attention
        fig, left = panel(f"{attention.capitalize()}: theory", height=1.95)
        left.set_position((0.02, 0.03, 0.47, 0.82))
        right = fig.add_axes((0.51, 0.03, 0.47, 0.82))
        right.set_title("fitted network")
        for ax, matrix in ((left, theory), (right, fitted)):
            heatmap(ax, matrix, vmin=0, vmax=0.2)
            ax.set(xticks=[], yticks=[])
        return fig
