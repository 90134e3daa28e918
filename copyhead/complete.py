"""The complete closure: all four order parameters that the symmetry of the copy task leaves.

The task is unchanged when tokens are renamed and positions rotated.  Attention with that symmetry may use the content of the
tokens in one way only, by treating keys that hold the query's own token differently:

    G^ab = [a + g G*_ab + tau (delta(x^a, x^b) - 1/V) + kappa delta_ab] / L,

and softmax attention has the logits  ell G*_ab + tau delta(x^a, x^b) + kappa delta_ab.  ``closure="complete"`` keeps tau and
kappa, ``closure="paper"`` sets them to zero.  The two actions are in ``complete_linear`` and ``complete_softmax``; here is
what they share: the curve of stationary states, found by Newton's method from the curve of the paper's closure.

For L = 2 all keys are the predecessor or the query itself, and a shift of both only adds a constant: kappa is zero there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline

from copyhead.patterns import G_star, J
from copyhead.reduced import planted
from copyhead.validation import real_array, whole_number

Array = NDArray[np.float64]
Equations = Callable[[Array, Array], tuple[Array, Array, Array]]
CLOSURES = ("paper", "complete")


def check_closure(closure: object) -> None:
    """Raise ValueError unless ``closure`` is one of CLOSURES."""
    if not isinstance(closure, str) or closure not in CLOSURES:
        raise ValueError(f"closure must be 'paper' or 'complete', got {closure!r}")


def complete_weights(constant: float, copy: float, tau: float, kappa: float, L: int, V: int) -> Array:
    """The M of smallest norm with logits  constant + copy G* + tau (delta - 1/V) + kappa delta_ab; shape (V + L, V + L)."""
    M = planted(constant * J(L) + copy * G_star(L) + kappa * np.eye(L), V)
    M[:V, :V] += tau * (np.eye(V) - 1 / V)
    return M


def same_token_logits(M: ArrayLike, V: int) -> tuple[float, float]:
    """(tau, kappa) of any M, shape (V + L, V + L): how much larger the logits of the own token and of oneself are.

    tau is the mean diagonal minus the mean off-diagonal element of the token block, kappa the same of the position block
    without the predecessors.  Both are blind to the weights that no logit shows.  L = 2 has no kappa, and zero is returned.
    """
    M = np.asarray(M, dtype=np.float64)
    V = whole_number("V", V, minimum=2)
    L = len(M) - V
    if M.shape != (V + L, V + L) or L < 2:
        raise ValueError(f"M must have shape (V + L, V + L) with V = {V} and L >= 2, got shape {M.shape}")
    token, place = M[:V, :V], M[V:, V:]
    others = 1 - np.eye(L) - G_star(L)
    tau = np.trace(token) / V - (token.sum() - np.trace(token)) / (V * (V - 1))
    return float(tau), float(np.trace(place) / L - (others * place).sum() / others.sum()) if L > 2 else 0.0


class StationaryCurve:
    """Unknowns u(s) with r(s, u) = 0, followed along an increasing grid of s.

    ``equations(s, u)`` gives r, shape (n, k), its derivatives in u, shape (n, k, k), and in s, shape (n, k), for n points at
    once.  The last unknown is ln P up to a factor ``rate`` and a constant.  ``start`` (n, k) is a guess on ``grid``; where
    Newton's method does not take it to a solution, the neighbour's solution is the next guess.

    Raises RuntimeError if the curve cannot be followed to the ends of the grid.
    """

    def __init__(self, equations: Equations, grid: Array, start: Array, rate: float, constant: float) -> None:
        self._equations, self.grid, self._rate, self._constant = equations, grid, rate, constant
        table, good = self._newton(grid, start)
        while not good.all():
            guess, known = table.copy(), good.copy()
            for shift in (1, -1):                               # a solved neighbour on the left, else on the right
                beside = np.roll(good, shift)
                beside[0 if shift == 1 else -1] = False
                use = ~known & beside
                guess[use] = np.roll(table, shift, axis=0)[use]
                known |= use
            fresh = known & ~good
            if not fresh.any():
                raise RuntimeError("the curve of stationary states could not be followed")
            table[fresh], good[fresh] = self._newton(grid[fresh], guess[fresh])
            if not good[fresh].any():
                raise RuntimeError("the curve of stationary states could not be followed")
        self._table = table
        self._between = CubicHermiteSpline(grid, table, self._slope(grid, table))

    def unknowns(self, s: Array) -> Array:
        """u at each s, shape (len(s), k)."""
        return self._newton(s, self._between(np.clip(s, self.grid[0], self.grid[-1])))[0]

    def __call__(self, s: Array) -> tuple[Array, Array]:
        """(ln P, d ln P / ds) at each s."""
        u = self._table if s is self.grid else self.unknowns(s)
        return self._constant + self._rate * u[:, -1], self._rate * self._slope(s, u)[:, -1]

    def _slope(self, s: Array, u: Array) -> Array:
        """du/ds."""
        _, by_u, by_s = self._equations(s, u)
        return np.asarray(np.linalg.solve(by_u, -by_s[..., None])[..., 0], dtype=np.float64)

    def _newton(self, s: Array, u: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Solutions, and where a last step shows that they are ones."""
        u = u.copy()
        active = np.arange(len(s))
        for _ in range(60):
            r, by_u, _ = self._equations(s[active], u[active])
            with np.errstate(all="ignore"):
                step = np.linalg.solve(by_u, -r[..., None])[..., 0]
            size = np.abs(step[:, -1])                          # of ln P: at most one e-fold a step
            step *= np.minimum(1.0, 1.0 / np.maximum(size, 1e-300))[:, None]
            u[active] += step
            done = np.all(np.abs(step) <= 1e-11 * (1e-3 + np.abs(u[active])), axis=1)
            active = active[~done]
            if not len(active):
                break
        good = np.ones(len(s), dtype=bool)
        good[active] = False
        return u, good & np.isfinite(u).all(axis=1)


def order_parameter_arrays(first: dict[str, ArrayLike], P: ArrayLike) -> list[Array]:
    """Checked arrays of the named order parameters and of P > 0, broadcast against each other."""
    arrays = [real_array(name, value) for name, value in first.items()]
    return list(np.broadcast_arrays(*arrays, real_array("P", P, low=0.0)))
