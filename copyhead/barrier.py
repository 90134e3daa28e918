r"""A free energy of one variable with two wells: barrier, odds, and how long a metastable state lives.

F is in units of kT, F = -ln(density) + const; from an action it is chi S + S_1.  The variable diffuses,

    dx = -D F'(x) dt + sqrt(2 D) dB,

so its equilibrium is exp(-F).  The mean time from the bottom a of one well to the bottom b of the other is exactly

    tau = 1/D int_a^b dy e^{F(y)} int_{-inf}^y dz e^{-F(z)},

and Kramers' formula 2 pi / (D sqrt(F''_well |F''_top|)) e^{barrier} is the Laplace approximation of it.  The chapter on
first-order transitions derives both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import cumulative_trapezoid

from copyhead.validation import positive_number, real_array

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Profile:
    """F on an increasing grid x that reaches beyond both wells; shapes (n,).

    Raises
    ------
    ValueError
        Unless x increases and both are finite and of one shape (n,), n at least 5.
    """

    x: Array
    F: Array

    def __post_init__(self) -> None:
        x, F = real_array("x", self.x), real_array("F", self.F)
        if x.ndim != 1 or x.shape != F.shape or len(x) < 5 or np.any(np.diff(x) <= 0):
            raise ValueError(f"x must increase and F have its shape (n >= 5,), got shapes {x.shape} and {F.shape}")
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "F", F)

    @property
    def wells(self) -> tuple[int, int, int] | None:
        """Indices of left bottom, top, right bottom; None where there is one well.

        Of several tops the one with the highest lower side counts: ripples of noise do not.
        """
        inner = np.flatnonzero((self.F[1:-1] > self.F[:-2]) & (self.F[1:-1] >= self.F[2:])) + 1
        if not len(inner):
            return None
        bottoms = [(int(np.argmin(self.F[:i])), int(i) + int(np.argmin(self.F[i:]))) for i in inner]
        lower = [self.F[i] - max(self.F[a], self.F[b]) for i, (a, b) in zip(inner, bottoms, strict=True)]
        best = int(np.argmax(lower))
        return bottoms[best][0], int(inner[best]), bottoms[best][1]

    @property
    def barriers(self) -> tuple[float, float]:
        """Height of the top above the left and above the right bottom, in kT; (0, 0) where there is one well."""
        found = self.wells
        if found is None:
            return 0.0, 0.0
        left, top, right = found
        return float(self.F[top] - self.F[left]), float(self.F[top] - self.F[right])

    def log_odds(self, edge: float | None = None) -> float:
        """ln of the weight right of ``edge`` over the weight left of it; by default the edge is the top.

        Raises ValueError if there is no top and no edge is given.
        """
        if edge is None:
            found = self.wells
            if found is None:
                raise ValueError("edge must be given where F has one well")
            edge = float(self.x[found[1]])
        x = np.append(self.x, edge)
        order = np.argsort(x, kind="stable")
        x, F = x[order], np.append(self.F, np.interp(edge, self.x, self.F))[order]
        left, right = x <= edge, x >= edge
        return _log_weight(x[right], F[right]) - _log_weight(x[left], F[left])

    def lifetime(self, D: ArrayLike, right: bool = False) -> float:
        """Mean time from the bottom of the left well to that of the right one (``right``: the other way).

        ``D`` is a number or has the shape of x.  Infinite grids are cut where x ends.  ValueError where there is one well.
        """
        found = self.wells
        if found is None:
            raise ValueError("a lifetime needs two wells, F has one")
        a, _, b = found
        D = np.broadcast_to(real_array("D", D, low=0.0), self.x.shape)
        x, F, D = (self.x, self.F, D) if not right else (-self.x[::-1], self.F[::-1], D[::-1])
        a, b = (a, b) if not right else (len(x) - 1 - b, len(x) - 1 - a)
        inner = cumulative_trapezoid(np.exp(-(F - F[a])), x, initial=0)
        way = slice(a, b + 1)
        return float(np.trapezoid(np.exp(F[way] - F[a]) / D[way] * inner[way], x[way]))


def _log_weight(x: Array, F: Array) -> float:
    """ln of the integral of e^-F by the trapezoidal rule."""
    lowest = float(F.min())
    return float(np.log(np.trapezoid(np.exp(lowest - F), x))) - lowest


def kramers(well_curvature: float, top_curvature: float, barrier: float, D: float = 1.0) -> float:
    """Kramers' mean time 2 pi / (D sqrt(F''_well |F''_top|)) e^barrier; F in kT.  Equation: eq-first-order-kramers.

    Raises ValueError unless ``well_curvature``, minus ``top_curvature`` and D are positive.
    """
    well, top = positive_number("well_curvature", well_curvature), positive_number("-top_curvature", -top_curvature)
    return float(2 * np.pi / (positive_number("D", D) * np.sqrt(well * top)) * np.exp(barrier))
