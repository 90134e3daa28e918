"""One curve of stationary points of an action, followed by a parameter s on which ln P is single valued.

Where ln P(s) rises the points are minima, where it falls they are maxima or saddles, and its turning points are the
spinodals.  All minima at a given P are therefore one root per rising segment: none can be missed and none is spurious.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from copyhead.roots import all_roots

Array = NDArray[np.float64]
Curve = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Segment:
    """A monotone piece of the branch: table of s, ln P and d ln P/ds, and whether ln P rises along it."""

    s: Array
    log_P: Array
    slope: Array
    rising: bool


class Branch:
    """Segments between the folds of ``curve``: s -> (ln P, d ln P / ds), tabulated on the increasing ``grid`` of s."""

    def __init__(self, curve: Curve, grid: Array) -> None:
        self._curve = curve
        log_P, slope = curve(grid)
        self.folds = [(s, self._at(s)) for s, _ in all_roots(lambda s: curve(s)[1], grid, slope)]  # (s, ln P) of spinodals
        ends = [
            (grid[0], log_P[0], slope[0]),
            *((s, value, 0.0) for s, value in self.folds),
            (grid[-1], log_P[-1], slope[-1]),
        ]
        self.segments: list[Segment] = []
        for low, high in zip(ends[:-1], ends[1:], strict=True):
            inside = (grid > low[0]) & (grid < high[0])
            s, value, rise = (
                np.concatenate([[first], column[inside], [last]])
                for first, column, last in zip(low, (grid, log_P, slope), high, strict=True)
            )
            self.segments.append(Segment(s, value, rise, rising=len(self.segments) % 2 == 0))

    def _at(self, s: float) -> float:
        return float(self._curve(np.array([s]))[0][0])

    def solve(self, segment: Segment, log_P: Array) -> Array:
        """Parameter s at each ``log_P`` on the segment, NaN where the segment does not reach; same shape as ``log_P``.

        Newton's method kept inside a bracket that starts as the table's cell and only shrinks; the table's own slopes give
        a first guess that needs one or two steps.
        """
        sign = 1.0 if segment.rising else -1.0
        table = sign * segment.log_P
        target = sign * log_P
        inside = (target >= table[0]) & (target <= table[-1])
        if not inside.any():
            return np.full(np.shape(log_P), np.nan)
        cell = np.clip(np.searchsorted(table, target) - 1, 0, len(table) - 2)
        low, high = segment.s[cell], segment.s[cell + 1]
        s = np.clip(_inverse_hermite(segment, cell, log_P), low, high)
        for _ in range(100):
            value, slope = self._curve(s)
            error = sign * value - target
            low, high = np.where(error < 0, s, low), np.where(error > 0, s, high)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = s - error / (sign * slope)
            usable = (step >= low) & (step <= high)
            new = np.where(error == 0, s, np.where(usable, step, (low + high) / 2))
            done = np.abs(error) <= 1e-13 * (1 + np.abs(target))  # near the rounding of ln P; one more step was made
            s = new
            if np.all(done | ~inside):
                break
        return np.where(inside, s, np.nan)


def _inverse_hermite(segment: Segment, cell: NDArray[np.intp], log_P: Array) -> Array:
    """Cubic interpolation of s(ln P) in the table's cells; linear where a cell ends on a fold (infinite ds/d ln P)."""
    s0, s1 = segment.s[cell], segment.s[cell + 1]
    f0, d0, d1 = segment.log_P[cell], segment.slope[cell], segment.slope[cell + 1]
    width = segment.log_P[cell + 1] - f0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.clip((log_P - f0) / width, 0, 1)
        linear = s0 + np.where(np.isfinite(t), t, 0.5) * (s1 - s0)
        guess = linear + t * (1 - t) * ((1 - t) * (width / d0 - (s1 - s0)) - t * (width / d1 - (s1 - s0)))
    return np.where(np.isfinite(guess), guess, linear)
