"""The copy-then-match circuit: the two-layer action on the order parameters that symmetry leaves.

The task is ``bigram.bigrams`` on a ring; the network that of ``two_layer.py`` with the mask "ring", for P -> infinity at
fixed P / sigma2.  Permuting the vocabulary and rotating the context change nothing; weights with that symmetry give

    layer 1   logits u_k at distance k from the key (u_1: the predecessor),          G_1[b, c] = g_(b - c),
    layer 2   at the k-th position after the one asked for: a + raw (delta_k0 - 1/V) + copied sqrt(g_O) (g_k - rho/V)

with rho the row sum of G_1.  ``copied`` matches the query with tokens that layer 1 has brought: copy-then-match.
By symmetric criticality a stationary point in these L + 3 numbers is one of the population action over all weights.

**Prior.**  The squared norm of the smallest weights with these logits: a quadratic form u^T Q u for layer 1, and
(V-1) (raw^2 + copied^2) + a^2 / [(1 + g_O rho^2)(1 + 1/V)(1/V + 1/L)] for layer 2.
Softmax rows have free shifts: Q is minimised over them, and a drops out.

**Data.**  Centred tokens are read from two channels, the attended tokens and what layer 1 had brought there.  With
position weights w and v = sqrt(g_O) G_1^T w and <x, y> = (x.y - sum x sum y / V) / (V - 1) for different tokens,

    S_data = P / (2 sigma2) [(V-1)/V - (V-1) b^T (A + sigma2 / (g_O P))^-1 b] + (P/V) / (2 (sigma2 + K_0)),

A the Gram matrix of (w, v), b their products with the wanted position, K_0 = g_O P (sum w)^2 (1 + g_O rho^2)(1/V + 1/L).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize

from copyhead.reduced import Attention, check_attention
from copyhead.setup import Setup
from copyhead.validation import positive_number

Array = NDArray[np.float64]
FORMED = 0.5                 # ``copied`` of a state with the circuit is larger: it is about 0 without, 2 to 4 with it


@dataclass(frozen=True)
class InductionState:
    """A minimum: weight of the predecessor in layer 1, of the wanted token in layer 2, the action, the loss, and x."""

    copy: float
    match: float
    action: float
    loss: float
    x: Array


@dataclass(frozen=True)
class InductionTransition:
    """Equal action of the state without the circuit (``pooled``) and with it (``circuit``) at ``P``."""

    P: float
    pooled: InductionState
    circuit: InductionState


class InductionAction:
    """The action of L + 3 order parameters x = (u_0 ... u_(L-1), a, raw, copied); ``setup.L`` is the context length.

    ``V >= L`` because the context tokens differ.  ``a`` and a shift of u have no effect with softmax attention.
    """

    def __init__(self, setup: Setup, attention: Attention) -> None:
        check_attention(attention)
        if setup.V < setup.L or setup.L < 3:
            raise ValueError(f"V must be at least L >= 3, as the context tokens differ; got L = {setup.L}, V = {setup.V}")
        self.setup, self.attention = setup, attention
        self.prior = _circulant_prior(setup.L, setup.V)
        if attention == "softmax":
            shift = self.prior.sum(axis=1)
            self.prior = self.prior - np.outer(shift, shift) / shift.sum()
        k = np.arange(setup.L)
        self._offset = (k[:, None] - k) % setup.L                 # G_1^T w at position c: sum_k w_k g_(k - c)

    def circuit(self, u: float, copied: float, a: float = 0.0) -> Array:
        """The order parameters of copy-then-match alone: logit u on the predecessor and the match with what it brought."""
        x = np.zeros(self.setup.L + 3)
        x[1], x[-3], x[-1] = u, a, copied
        return x

    def attend(self, x: ArrayLike) -> tuple[Array, Array]:
        """Weights g_k of layer 1 and w_k of layer 2 by distance k, both of shape (L,)."""
        x = self._checked(x)
        L, V = self.setup.L, self.setup.V
        g = self._weights(x[:L])
        a, raw, copied = x[L:]
        logits = a + raw * (np.eye(L)[0] - 1 / V) + copied * np.sqrt(self.setup.g_O) * (g - g.sum() / V)
        return g, self._weights(logits)

    def action(self, x: ArrayLike, P: float) -> float:
        """S at x, with every term that does not depend on x."""
        return self._evaluate(self._checked(x), positive_number("P", P))[0]

    def loss(self, x: ArrayLike, P: float) -> float:
        """Squared error per sequence; 1 for zero output."""
        return self._evaluate(self._checked(x), positive_number("P", P))[1]

    def minimum(self, start: ArrayLike, P: float) -> InductionState:
        """The minimum downhill from ``start``."""
        P = positive_number("P", P)
        result = minimize(lambda x: self._evaluate(x, P)[0], self._checked(start), method="BFGS", options={"gtol": 1e-6})
        return self._state(result.x, P)

    def pooled(self, P: float) -> InductionState:
        """The state that a search from nearly nothing finds: layer 2 pools, and there is no circuit below its spinodal."""
        return self.minimum(self.circuit(1e-3, 1e-3, 0.5), P)

    def with_circuit(self, P: float) -> InductionState:
        """The state that a search from a strong circuit finds: with a circuit, above its spinodal."""
        linear = self.attention == "linear"
        strong = self.circuit(0.6 * self.setup.L, 0.6 * self.setup.L, 0.5) if linear else self.circuit(3.0, 3.0)
        return self.minimum(self.minimum(strong, max(P, 100 * self.setup.sigma2 * self.setup.L)).x, P)

    def transition(self, low: float, high: float) -> InductionTransition:
        """Equal action of the two states between ``low`` and ``high``; ValueError if they do not enclose it."""
        x = self.with_circuit(high).x

        def excess(P: float) -> float:
            pooled, circuit = self.pooled(P), self.minimum(x, P)
            if circuit.match - pooled.match < 1e-3:                           # one state only: which?
                return 1.0 if abs(circuit.x[-1]) > FORMED else -1.0
            return pooled.action - circuit.action

        if not excess(low) < 0 < excess(high):
            raise ValueError(f"low and high must enclose the transition, got {low!r} and {high!r}")
        P = brentq(excess, low, high, xtol=1e-9 * high)
        return InductionTransition(P, self.pooled(P), self.minimum(x, P))

    # --- internals -------------------------------------------------------------------------------------------------

    def _weights(self, logits: Array) -> Array:
        if self.attention == "linear":
            return logits / self.setup.L
        e = np.exp(logits - logits.max())
        return e / e.sum()

    def _evaluate(self, x: Array, P: float) -> tuple[float, float]:
        L, V, s2, g_O = self.setup.L, self.setup.V, self.setup.sigma2, self.setup.g_O
        g, w = self.attend(x)
        rho, both = g.sum(), np.stack([w, np.sqrt(g_O) * g[self._offset].T @ w])
        sums = both.sum(axis=1)
        A = (both @ both.T - np.outer(sums, sums) / V) / (V - 1)
        b = (both[:, 1] - sums / V) / (V - 1)
        c = np.linalg.solve(A + s2 / (g_O * P) * np.eye(2), b)
        channels = (1 + g_O * rho**2) * (1 / V + 1 / L)
        shared = g_O * P * w.sum() ** 2 * channels
        cost = x[:L] @ self.prior @ x[:L] + (V - 1) * (x[-2] ** 2 + x[-1] ** 2)
        if self.attention == "linear":
            cost += x[L] ** 2 / (channels * (1 + 1 / V))
        S = P / (2 * s2) * (V - 1) * (1 / V - b @ c) + P / V / (2 * (s2 + shared)) + cost / (2 * self.setup.g_W)
        loss = (V - 1) * (1 / V - 2 * b @ c + c @ A @ c) + (s2 / (s2 + shared)) ** 2 / V
        return float(S), float(loss)

    def _state(self, x: Array, P: float) -> InductionState:
        g, w = self.attend(x)
        return InductionState(float(g[1]), float(w[1]), *self._evaluate(x, P), x)

    def _checked(self, x: ArrayLike) -> Array:
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.setup.L + 3,):
            raise ValueError(f"x must have shape (L + 3,) = ({self.setup.L + 3},), got {x.shape}")
        return x


def _circulant_prior(L: int, V: int) -> Array:
    """Q with u^T Q u the squared norm of the smallest symmetric M_1 whose logits at distance k are u_k; shape (L, L).

    Such an M_1 is alpha I + beta J on tokens, constants mu and nu on the mixed blocks, and a circulant p_k on positions:
    u_k = beta + mu + nu + p_k, and alpha more at distance zero, where a token meets itself.
    """
    logits = np.concatenate([np.zeros((L, 1)), np.ones((L, 3)), np.eye(L)], axis=1)
    logits[0, 0] = 1
    norm = np.diag([V, V**2, L * V, L * V] + [L] * L).astype(float)
    norm[0, 1] = norm[1, 0] = V
    return np.linalg.inv(logits @ np.linalg.inv(norm) @ logits.T)
