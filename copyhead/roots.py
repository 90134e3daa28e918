"""All zeros of a smooth function of one variable, including close pairs that a sampling grid steps over."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

Array = NDArray[np.float64]


def all_roots(function: Callable[[Array], Array], grid: Array, values: Array | None = None) -> list[tuple[float, bool]]:
    """Zeros of ``function`` on the increasing ``grid`` as (position, whether it rises through zero), in order.

    A pair of zeros inside one cell shows as an extremum that the parabola through three samples carries close to, or
    across, zero; each such extremum is refined and tested.  NaN marks where the function is not defined; a change of
    sign across such a gap is not a zero.
    ``values`` are the samples on the grid, if the caller has them.
    """
    values = function(grid) if values is None else values
    points = dict(zip(grid, np.where(np.isfinite(values), values, np.nan), strict=True))  # NaN compares as False below

    def at(s: float) -> float:
        return float(function(np.array([s]))[0])

    left, middle, right = values[:-2], values[1:-1], values[2:]
    with np.errstate(invalid="ignore", divide="ignore"):
        bend = left - 2 * middle + right
        vertex = middle - (right - left) ** 2 / (8 * bend)
        same = (left * middle > 0) & (middle * right > 0)  # False where a NaN or a bracketed zero is near
        toward = (middle * bend > 0) & (np.abs(middle) <= np.abs(left)) & (np.abs(middle) <= np.abs(right))
        suspicious = same & toward & (vertex / middle < 0.3)
    for i in 1 + np.flatnonzero(suspicious):
        sign = np.sign(values[i])
        dip = minimize_scalar(
            lambda s, sign=sign: sign * at(s), bounds=(grid[i - 1], grid[i + 1]), method="bounded", options={"xatol": 1e-12}
        )
        points[float(dip.x)] = sign * float(dip.fun)
    order = sorted(points)
    return [
        (brentq(at, a, b, xtol=1e-15, rtol=1e-14), bool(points[b] > points[a]))
        for a, b in zip(order[:-1], order[1:], strict=True)
        if points[a] * points[b] < 0
    ]
