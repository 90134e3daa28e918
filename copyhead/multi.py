"""The action of H heads that learn from a teacher with K value maps, for both kinds of attention.

On centred tokens the kernel of the student, K = g_O sum_h G_h C G_h^T, acts on L x L matrices of coefficients as the sum of
the H projections on the heads' attention matrices, once for every token mode and output channel.  With
W the teacher's overlaps, t[h, k] = <G_h, R_k>, N[h, j] = <G_h, G_j> (Frobenius) and lam = V sigma2 / (g_O P),

    S_data = P / (2 V sigma2) [ tr W N_R - tr W t^T (N + lam)^-1 t ]  +  the mean target's term,

where N_R holds the products of the patterns R_k.  Those are disjoint and regular here: R_k has s_k ones in every row and
every column, so that N_R = L diag(s).  A lag has s_k = 1.

Both kinds of attention stay in the span of the K patterns and of "everything else": G_h has the weight w[h, k] at each one
of R_k and w[h, 0] at each of the other L - sum_k s_k positions of a row.  (The gradient of the action at such attention has
the same form, so what is stationary in this family is stationary among all attention that ignores tokens.)

**softmax**, coordinates: the logits ell[h, k] at the patterns above those elsewhere; row shifts are minimised out,

    S_prior = sum_h [ L sum_k s_k ell_hk^2 - (sum_k s_k ell_hk)^2 ] / (2 g_W).

**linear**, coordinates: c[h, 0] and c[h, k] of G_h = c_h0 J / L + sum_k c_hk R_k, so K + 1 of them for each head, with

    S_prior = L^2 / (2 g_W) sum_h tr B G_h B G_h^T,   B = 1 - J / (L + V).

One lag and one head give ``SoftmaxAction`` (prior "exact") and ``LinearAction``; one lag and H heads give ``heads``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize

from copyhead.reduced import Attention, check_attention
from copyhead.setup import Setup
from copyhead.teacher import Teacher
from copyhead.validation import positive_number, whole_number

Array = NDArray[np.float64]
ON = 0.1                  # a head is on a lag that has at least this share of its attention
FINE = 20.0               # the first step of a search has length 1 in this multiple of x: long steps leave shallow wells
SAME = 1e-4               # two minima whose coordinates differ by less are one


@dataclass(frozen=True)
class MultiState:
    """A stationary state.

    ``x`` coordinates, shape (H, K) for softmax and (H, K + 1) for linear attention; ``weights`` attention at one position
    of each lag or pattern, (H, K); ``action``; ``heads_on`` how many heads are on each lag, a tuple of K integers.
    """

    x: Array
    weights: Array
    action: float

    @property
    def heads_on(self) -> tuple[int, ...]:
        return heads_on(self.weights)


def heads_on(weights: ArrayLike) -> tuple[int, ...]:
    """How many heads are on each lag, for attention weights of shape (H, K).

    A head is on the lag to which it attends most, if it gives it at least the share ``ON``.
    """
    weights = np.asarray(weights)
    favourite = np.where(weights.max(axis=1) >= ON, weights.argmax(axis=1), -1)
    return tuple(int(np.sum(favourite == k)) for k in range(weights.shape[1]))


class MultiAction:
    """Action in the population (equivalent-kernel) approximation, chi divided out.

    Parameters
    ----------
    setup : Setup
    teacher : Teacher with the same L and V, and with disjoint regular patterns that leave some position out
    heads : int, at least 1
    attention : "softmax" or "linear"
    """

    def __init__(self, setup: Setup, teacher: Teacher, heads: int = 1, attention: Attention = "softmax") -> None:
        check_attention(attention)
        if (teacher.L, teacher.V) != (setup.L, setup.V):
            raise ValueError(f"teacher must have (L, V) = {(setup.L, setup.V)}, got {(teacher.L, teacher.V)}")
        sizes, patterns = teacher.sizes, teacher.patterns()
        if sizes.sum() >= setup.L:
            raise ValueError(f"teacher must ask in a row for fewer lags than L = {setup.L}, got {sizes.sum()}")
        if patterns.sum(axis=0).max() > 1 or np.any(patterns.sum(axis=1) != sizes[:, None]):
            raise ValueError("teacher must have disjoint patterns with as many ones in every column as in every row")
        self.setup, self.teacher, self.attention_kind = setup, teacher, attention
        self.heads, self.K = whole_number("heads", heads, minimum=1), teacher.K
        L, K, softmax = setup.L, teacher.K, attention == "softmax"
        self.shape = (self.heads, K if softmax else K + 1)
        self._row = np.array([L - sizes.sum(), *sizes], dtype=float)      # row sum of attention with weights w
        self._gram = L * np.diag(self._row)                      # of "elsewhere" and the patterns
        self._power = L * self._row[1:]                          # <R_k, R_k>
        self._spread = np.vstack([np.full(K + 1, 1 / L), np.eye(K + 1)[1:]])      # weights = c @ _spread (linear)
        if softmax:
            self.stiffness = L * np.diag(sizes) - np.outer(sizes, sizes)   # S_prior = sum_h x_h . stiffness . x_h / (2 g_W)
        else:
            gram, row = self._spread @ self._gram @ self._spread.T, self._spread @ self._row
            shared = L / (L + setup.V)
            self.stiffness = L**2 * (gram - (2 * shared - shared**2) * np.outer(row, row))

    # --- the student's attention ---------------------------------------------------------------------------------------

    def weights(self, x: ArrayLike) -> Array:
        """Attention elsewhere and at the lags, shape (H, K + 1)."""
        x = np.asarray(x, dtype=float).reshape(self.shape)
        if self.attention_kind == "linear":
            return x @ self._spread
        z = np.hstack([np.zeros((self.heads, 1)), x])
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / (e @ self._row)[:, None]

    def pull_back(self, x: Array, slope: Array) -> Array:
        """dS/dx from dS/dweights, by the chain rule; (H, K + 1) to the shape of x."""
        if self.attention_kind == "linear":
            return slope @ self._spread.T
        w = self.weights(x)
        return w[:, 1:] * (slope[:, 1:] - self._row[1:] * np.sum(slope * w, axis=1, keepdims=True))

    def overlaps(self, w: Array) -> tuple[Array, Array]:
        """t of shape (H, K) and N of shape (H, H) for attention weights w of shape (H, K + 1)."""
        return w[:, 1:] * self._power, w @ self._gram @ w.T

    def ridge(self, P: float) -> float:
        """lam = V sigma2 / (g_O P)."""
        return self.setup.V * self.setup.sigma2 / (self.setup.g_O * P)

    def readout(self, x: ArrayLike, P: float) -> Array:
        """Most probable readouts, (H, K): head h reads out sum_k u_hk A_k."""
        t, N = self.overlaps(self.weights(x))
        return np.asarray(np.linalg.solve(N + self.ridge(P) * np.eye(self.heads), t))

    # --- the action ----------------------------------------------------------------------------------------------------

    def action(self, x: ArrayLike, P: float) -> float:
        """S(x) with every term."""
        return self.action_and_gradient(x, P)[0]

    def gradient(self, x: ArrayLike, P: float) -> Array:
        """dS/dx, of the shape of x."""
        return self.action_and_gradient(x, P)[1]

    def action_and_gradient(self, x: ArrayLike, P: float) -> tuple[float, Array]:
        """S and dS/dx."""
        P = positive_number("P", P)
        x = np.asarray(x, dtype=float).reshape(self.shape)
        return self.explicit(x, self.readout(x, P), P)[:2]

    def explicit(self, x: Array, u: Array, P: float) -> tuple[float, Array, Array]:
        """The action before the readouts are minimised out: S, dS/dx, and dS/du without the factor W on its right."""
        setup, W, w = self.setup, self.teacher.W, self.weights(x)
        L, scale = setup.L, P / (setup.V * setup.sigma2)
        t, N = self.overlaps(w)
        uW = u @ W
        error = self._power @ np.diag(W) - 2 * np.vdot(uW, t) + np.vdot(uW @ u.T, N)
        rho = w @ self._row
        channels = setup.g_O * P * (L / setup.V + 1)
        shared = setup.sigma2 + channels * rho @ rho
        S = (scale * error + np.vdot(uW, u) / setup.g_O + P * L * self.teacher.mean / shared
             + np.vdot(x @ self.stiffness, x) / setup.g_W) / 2
        slope = scale * uW @ u.T @ w @ self._gram
        slope[:, 1:] -= scale * self._power * uW
        slope -= P * L * self.teacher.mean * channels / shared**2 * np.outer(rho, self._row)
        dx = x @ self.stiffness / setup.g_W + self.pull_back(x, slope)
        return float(S), dx, scale * (N @ u - t) + u / setup.g_O

    def loss(self, x: ArrayLike, P: float) -> float:
        """Mean squared error per token, 2 sigma2 / L times dS/dP at a minimum."""
        x = np.asarray(x, dtype=float).reshape(self.shape)
        t, N = self.overlaps(self.weights(x))
        setup, u, W = self.setup, self.readout(x, P), self.teacher.W
        rho = self.weights(x) @ self._row
        kept = 1 + setup.g_O * P * (setup.L / setup.V + 1) * (rho @ rho) / setup.sigma2
        error = self._power @ np.diag(W) - 2 * np.vdot(u @ W, t) + np.vdot(u @ W @ u.T, N)
        return float(error / (setup.V * setup.L) + self.teacher.mean / kept**2)

    def hessian(self, x: ArrayLike, P: float, step: float = 1e-4) -> Array:
        """Second derivatives from central differences of the gradient, shape (x.size, x.size)."""
        x = np.asarray(x, dtype=float).reshape(self.shape)
        steps = [d.reshape(self.shape) for d in step * np.eye(x.size)]
        rows = np.array([(self.gradient(x + d, P) - self.gradient(x - d, P)).ravel() for d in steps]) / (2 * step)
        return np.asarray(rows + rows.T) / 2

    # --- stationary states ---------------------------------------------------------------------------------------------

    def descend(self, start: ArrayLike, P: float, symmetric: bool = False) -> MultiState:
        """The minimum downhill from ``start``; with ``symmetric`` among states in which all heads do the same."""
        P, start = positive_number("P", P), np.asarray(start, dtype=float).reshape(self.shape)
        copies = np.ones((self.heads, 1)) if symmetric else None

        def objective(flat: Array) -> tuple[float, Array]:
            x = flat.reshape(self.shape) if copies is None else copies * flat
            S, slope = self.action_and_gradient(x / FINE, P)
            return S, (slope if copies is None else slope.sum(axis=0)).ravel() / FINE

        flat = FINE * (start.ravel() if copies is None else start.mean(axis=0))
        found = minimize(objective, flat, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 2000}).x / FINE
        return self._state(found.reshape(self.shape) if copies is None else copies * found, P)

    def assigned(self, lags: Sequence[int | None], gap: float | None = None) -> Array:
        """Softmax start: head h has the logit ``gap`` (default ln L) on the lag number lags[h], 0..K-1, or on none."""
        x = np.zeros(self.shape)
        for h, k in enumerate(lags):
            if k is not None:
                x[h, k] = np.log(self.setup.L) if gap is None else gap
        return x

    def minima(self, P: float) -> list[MultiState]:
        """The minima of softmax attention reached from every assignment of heads to lags or to none, by action.

        Permutations of the heads are one state.  The number of starts is that of ways to put H heads into K + 1 places.
        """
        if self.attention_kind != "softmax":
            raise ValueError("attention must be 'softmax' here: linear heads can be rotated into each other")
        found: list[MultiState] = []
        for lags in combinations_with_replacement([None, *range(self.K)], self.heads):
            state = self.descend(self.assigned(lags) + 0.01 * np.arange(self.heads)[:, None], P)
            order = np.lexsort(state.x.round(3).T)
            state = MultiState(state.x[order], state.weights[order], state.action)
            if not any(np.allclose(state.x, other.x, atol=SAME * 30) for other in found):
                found.append(state)
        return sorted(found, key=lambda state: state.action)

    def equal_action(self, first: Array, second: Array, low: float, high: float) -> float | None:
        """P in (low, high) at which the minima followed from two starts have equal action; None if one of them is lost.

        ``first`` is the better at ``low``; a lost branch is one that falls into the other.
        """
        def gap(P: float) -> float:
            one, two = (self.descend(x, P) for x in (first, second))
            return two.action - one.action

        if gap(low) <= 0 or gap(high) >= 0:
            return None
        P = float(brentq(gap, low, high, xtol=1e-6))
        states = [self.descend(x, P) for x in (first, second)]
        return None if np.allclose(states[0].weights, states[1].weights, atol=SAME) else P

    def _state(self, x: Array, P: float) -> MultiState:
        return MultiState(x, self.weights(x)[:, 1:], self.action(x, P))
