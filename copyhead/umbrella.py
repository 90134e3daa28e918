"""Umbrella sampling: the free energy of softmax attention as a function of a_G, barrier included.

A chain stays in the state where it starts while the barrier is many kT high.  A spring on the order parameter takes it
to any a_G and shows the force that it feels there.  With

    U_i(M) = U(M) + k/2 (a_G(M) - c_i)^2

the density of a_G under spring i is proportional to exp(-F(a) - k/2 (a - c_i)^2), F = -ln of the density without spring.
Where this is a narrow Gaussian its mean a_i is the point at which the two forces balance,

    F'(a_i) = k (c_i - a_i),

and F follows by integration over the windows.  Nothing is normalised: the windows need not overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.interpolate import CubicSpline

from copyhead.diagnostics import Samples
from copyhead.posterior import ReducedPosterior
from copyhead.reduced import Floats
from copyhead.sampling import sample
from copyhead.setup import Setup
from copyhead.validation import positive_number, real_array

Array = NDArray[np.float64]


class SpringPosterior(ReducedPosterior):
    """Softmax posterior with a spring: U(M) + ``spring``/2 (a_G(M) - ``centre``)^2, called as ``posterior(M)``.

    Parameters
    ----------
    setup, tokens, chi, dtype
        As for ``ReducedPosterior``.
    spring : float, positive
        Stiffness k in units of kT; larger than any negative curvature of F, or the window is not one Gaussian.
    centre : float
        May be changed between runs: ``posterior.centre = 0.5``.
    """

    def __init__(self, setup: Setup, tokens: NDArray[np.intp], chi: float, spring: float, centre: float = 0.0,
                 dtype: DTypeLike = np.float64) -> None:
        super().__init__(setup, "softmax", tokens, chi, dtype)
        self.spring, self.centre = positive_number("spring", spring), float(centre)

    def a_G(self, M: Floats) -> float:
        """The order parameter of the mean attention; ``observe`` knows it too, and more slowly."""
        return self._a_G(self._forward(M))

    def _a_G(self, Z: Floats) -> float:
        copied = self._copied(Z[self.setup.V :])
        L = self.setup.L                                   # rows sum to one: a_G = sqrt(L) (L m - 1) / (L - 1)
        return float(np.sqrt(L) * (L * copied.mean(dtype=np.float64) - 1) / (L - 1))

    def _copied(self, G: Floats) -> Floats:
        """The entries of A^T, shape (L, P, L), at (key a - 1, sequence, query a); shape (L, P)."""
        queries = np.arange(self.setup.L)
        return G[queries - 1, :, queries]

    def _bias(self, Z: Floats, D: Floats | None) -> float:
        excess, L = self._a_G(Z) - self.centre, self.setup.L
        if D is not None:
            slope = np.sqrt(L) / ((L - 1) * len(self.tokens))              # d a_G / d A[a, a - 1] of one sequence
            queries = np.arange(L)
            D[self.setup.V :][queries - 1, :, queries] += Z.dtype.type(self.spring * excess * slope / self.chi)
        return self.spring / 2 * excess**2


def windows(posterior: SpringPosterior, centres: Sequence[float] | Array, starts: tuple[Array, Array], *, draws: int,
            tune: int = 60, seed: int = 0,
            observe: Callable[[Array], Mapping[str, float]] | None = None) -> list[Samples]:
    """Two chains in every window: one that comes from the first centre, and one that comes from the last.

    The chains are taken through all windows in opposite directions, from ``starts``, each window beginning where the
    one before ended.  Where a_G hides a second slow variable the two disagree, and R-hat of the window shows it.
    ``observe`` adds observables to "a_G"; random numbers are independent over windows and directions.
    """
    places = real_array("centres", np.asarray(centres))
    passes: list[list[Samples]] = []
    for way, M in enumerate(starts):
        found = []
        for i in range(len(places)) if way == 0 else range(len(places))[::-1]:
            posterior.centre = float(places[i])
            run = sample(posterior, [M], observe=lambda x: {"a_G": posterior.a_G(x), **(observe(x) if observe else {})},
                         draws=draws, tune=tune, seed=seed + 2 * i + way, progress=False)
            M = run.last[0]
            found.append(run)
        passes.append(found if way == 0 else found[::-1])
    return [_together(up, down) for up, down in zip(*passes, strict=True)]


def _together(first: Samples, second: Samples) -> Samples:
    def both(name: str) -> Any:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    draws = {name: np.concatenate([first.draws[name], second.draws[name]]) for name in first.draws}
    return Samples(draws, both("last"), first.method, both("step"), both("acceptance"), both("divergences"),
                   first.gradients + second.gradients)


def free_energy(means: Array, forces: Array, grid: Array) -> Array:
    """F on ``grid``, zero at its first point: the integral of the spline through ``forces`` = F' at ``means``.

    ``means`` increase; ``grid`` must not leave their range.  ``forces`` may have leading axes, e.g. replicas that carry
    the statistical error, and so has the result, shape (..., len(grid)).  Raises ValueError otherwise.
    """
    means, forces, grid = real_array("means", means), real_array("forces", forces), real_array("grid", grid)
    if means.ndim != 1 or np.any(np.diff(means) <= 0) or forces.shape[-1:] != means.shape:
        raise ValueError(f"means must increase and match forces, got shapes {means.shape} and {forces.shape}")
    if grid.min() < means[0] or grid.max() > means[-1]:
        raise ValueError(f"grid must lie in [{means[0]:.4g}, {means[-1]:.4g}], got {grid.min():.4g} to {grid.max():.4g}")
    primitive = CubicSpline(means, forces, axis=-1).antiderivative()
    values: Array = primitive(grid)
    return values - values[..., :1]
