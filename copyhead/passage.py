r"""The law of a first passage in one dimension: mean, spread and survival curve, from free energy and diffusion alone.

    dx = [D' - D F'] dt + sqrt(2 D) dB,       equilibrium exp(-F), F in units of kT; D may depend on x.

The walk on a grid with the rates between neighbours

    k(i -> i+1) = D_mid / h_i h_mid exp(-(F_{i+1} - F_i) / 2)     and backwards with the other sign

has the same equilibrium and becomes the diffusion as the grid gets finer.  Its passages from one point to the next are
independent, so means and variances add up; those of one step follow from the step before by asking where the first move
went, a recursion of positive terms.  The survival curve solves du/dt = Q u, u = 1 at first, with the walk's generator Q.

``fold_mean`` and ``fold_variation`` are about the passage that every slow escape past a vanishing barrier shares,
dx = (z + x^2) dt + sqrt(2) dB from -inf to +inf.  Substituting u = y - x, v = (x + y)/2 in the double integral for its mean
makes v Gaussian and leaves

    mean(z) = sqrt(pi) int_0^inf u^(-1/2) exp(-z u - u^3/12) du.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_banded
from scipy.special import gamma

from copyhead.barrier import Profile
from copyhead.validation import real_array

Array = NDArray[np.float64]
FINEST = 0.3                     # kT: intervals over which F changes by more are divided


class Passage:
    """First passage from ``start`` to ``end`` > start in a profile that reflects where its grid begins.

    Parameters
    ----------
    profile : Profile
        F on its grid, in kT; between grid points F and D are linear.
    D : number or array of the shape of the grid
    start, end : points of the range of the grid

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    def __init__(self, profile: Profile, D: ArrayLike, start: float, end: float) -> None:
        x, F = profile.x, profile.F
        if not x[0] <= start < end <= x[-1]:
            raise ValueError(f"start < end must lie in [{x[0]:.4g}, {x[-1]:.4g}], got {start!r} and {end!r}")
        mobility = np.broadcast_to(real_array("D", D, low=0.0), x.shape)
        last = int(np.searchsorted(x, end))                          # the first grid point at the end or beyond absorbs
        pieces = np.ceil(np.abs(np.diff(F)[:last]) / FINEST).astype(int) + 1
        fine = np.append(np.repeat(x[:last], pieces) + _fractions(pieces) * np.repeat(np.diff(x)[:last], pieces), x[last])
        x, F, mobility = fine, np.interp(fine, x, F), np.interp(fine, x, mobility)
        last, h = len(x) - 1, np.diff(x)
        width = np.append(h[:1] / 2, (h[1:] + h[:-1]) / 2)           # of the cell around each point before the end
        rate, half = (mobility[1:] + mobility[:-1]) / 2 / h, np.diff(F) / 2
        self._up = rate / width * np.exp(-half)                      # from i to i + 1, i < last
        self._down = np.append(0.0, rate[:-1] / width[1:] * np.exp(half[:-1]))       # from i to i - 1
        self._first = int(np.abs(x[:last] - start).argmin())         # a passage starts at a grid point

    @cached_property
    def _moments(self) -> tuple[float, float]:
        mean = square = total = variance = 0.0
        for i, (up, down) in enumerate(zip(self._up.tolist(), self._down.tolist(), strict=True)):
            wait, p, q = 1 / (up + down), up / (up + down), down / (up + down)
            before, before_square = mean, square
            mean = (wait + q * before) / p
            square = (2 * wait**2 + 2 * q * wait * (before + mean) + q * (before_square + 2 * before * mean)) / p
            if i >= self._first:
                total, variance = total + mean, variance + square - mean**2
        return total, variance

    @property
    def mean(self) -> float:
        return self._moments[0]

    @property
    def variation(self) -> float:
        """Standard deviation over mean."""
        return math.sqrt(self._moments[1]) / self._moments[0]

    def survival(self, t: ArrayLike, steps: int = 400) -> Array:
        """Probability that the end has not been reached by t >= 0, shape of t; error of order (max t / steps)^2.

        An implicit scheme of second order that damps all fast modes: exp(z) ~ (1 + (1 - 2 c) z) / (1 - c z)^2.
        """
        t = np.asarray(t, dtype=float)
        dt, c = float(t.max()) / steps, 1 - math.sqrt(0.5)
        Q = np.stack([np.append(0.0, self._up[:-1]), -self._up - self._down, np.append(self._down[1:], 0.0)])
        left = -c * dt * Q
        left[1] += 1
        u, kept = np.ones(len(self._up)), [1.0]
        for _ in range(steps):
            moved = Q[1] * u
            moved[:-1] += self._up[:-1] * u[1:]
            moved[1:] += self._down[1:] * u[:-1]
            u = solve_banded((1, 1), left, solve_banded((1, 1), left, u + (1 - 2 * c) * dt * moved))
            kept.append(float(u[self._first]))
        return np.interp(t, dt * np.arange(steps + 1), kept)


def _fractions(pieces: NDArray[np.intp]) -> Array:
    """0, 1/k, ..., (k-1)/k for each k of ``pieces``, one after the other."""
    start = np.repeat(np.cumsum(pieces) - pieces, pieces)
    return (np.arange(pieces.sum()) - start) / np.repeat(pieces, pieces)


def fold_mean(z: ArrayLike) -> float | Array:
    """Mean time of dx = (z + x^2) dt + sqrt(2) dB from -inf to +inf; shape of z.  Equation: eq-waiting-times-fold-mean.

    pi / sqrt(z) for large z, pi / sqrt(-z) e^{4 (-z)^{3/2} / 3} for very negative z, and exact between.
    """
    w, weight = np.polynomial.legendre.leggauss(400)
    values = real_array("z", z)
    top = np.sqrt(4 * np.maximum(-values, 0)) + 8                    # the exponent is largest at u = 2 sqrt(-z), u = s^2
    s = (w + 1) / 2 * np.sqrt(top)[..., None]                        # in s the integrand has no singularity
    value = np.sqrt(np.pi * top) * (np.exp(-values[..., None] * s**2 - s**6 / 12) * weight).sum(axis=-1)
    return float(value) if value.ndim == 0 else value


def fold_variation(z: float, points: int = 3000) -> float:
    """Standard deviation over mean of the same passage: 1 for z -> -inf, 1/sqrt(3) at z = 0, sqrt(3/(4 pi)) z^(-3/4) beyond.

    From a walk between -X and X; what lies beyond adds to the mean, which is known, and X^-5 to the variance.
    """
    z = float(real_array("z", z))
    X = 6 + 2 * math.sqrt(abs(z))
    x = np.linspace(-X, X, points)
    walk = Passage(Profile(x, -z * x - x**3 / 3), 1.0, -X, X)
    return walk.variation * walk.mean / float(fold_mean(z))


MARGINAL_MEAN = math.sqrt(math.pi) * 12 ** (1 / 6) * float(gamma(1 / 6)) / 3        # fold_mean(0)
