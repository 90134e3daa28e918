"""Two layers of attention at infinite embedding dimension, with the readout integrated out; in PyTorch.

**The reduction.**  One layer sees a sequence through the features Phi = [X | I] (``reduced.py``).  Its output is added to
the stream: h' = h + G_1 h W_1^T with independent Gaussian entries in the value matrix W_1.  Embedding vectors h_i and their
images W_1 h_i are, at infinite dimension, orthogonal families of vectors: what the second layer sees is the inner products
of the *doubled* features

    Phi_2 = [Phi | sqrt(g_O) G_1 Phi],

raw tokens and positions beside those that layer 1 has brought.  Logits of layer 2 are Phi_2 M_2 Phi_2^T with a Gaussian
M_2 of twice the size, and the output is read from Z = G_2 Phi_2, with kernel g_O Z Z^T.  So the posterior of (M_1, M_2) is

    S(M_1, M_2) = tr Y^T (K + sigma2)^-1 Y / 2 + (||M_1||^2 + ||M_2||^2) / (2 g_W),     posterior ~ exp(-chi S),

exactly, up to terms without chi: the kernel recursion of a deep network in a finite number of weights.

**The task** is ``bigram.bigrams``: only the last position, the query, has a target.
The mask says who sees whom.  "causal": a position sees itself and what came before.  "ring": the context positions see each
other, and the query sees the context in layer 2 only; then all context positions are equivalent.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from copyhead.bigram import asked_position
from copyhead.reduced import Attention, check_attention
from copyhead.ridge import Floats, RidgeAction
from copyhead.setup import Setup

Mask = Literal["ring", "causal"]


class TwoLayerAction(RidgeAction):
    """Action S(M_1, M_2) of the two-layer network on given sequences; ``setup.L`` is the length of the context.

    Weights are one flat array: M_1, shape (n, n) with n = V + L + 1, then M_2, shape (2 n, 2 n).  Features are ordered
    [token | position | brought token | brought position]; rows of M are queries, columns keys.

    Parameters
    ----------
    setup : Setup
        With chi divided out.  g_O is the variance of the value matrix and of the readout, g_W that of M_1 and M_2.
    attention : "linear" (U / L) or "softmax", in both layers
    tokens, targets : integers in 0..V-1, shapes (P, L + 1) and (P,)
    mask : "ring" or "causal"

    Raises
    ------
    ValueError
        For an unknown attention or mask, or tokens that do not fit the setup.
    """

    def __init__(self, setup: Setup, attention: Attention, tokens: NDArray[np.intp], targets: NDArray[np.intp],
                 mask: Mask = "causal") -> None:
        check_attention(attention)
        tokens, targets = np.asarray(tokens), np.asarray(targets)
        L, V, P = setup.L, setup.V, len(tokens)
        if tokens.shape != (P, L + 1) or P == 0 or targets.shape != (P,):
            raise ValueError(f"tokens and targets must have shapes (P >= 1, L + 1 = {L + 1}) and (P,), "
                             f"got {tokens.shape} and {targets.shape}")
        for name, array in (("tokens", tokens), ("targets", targets)):
            if not np.issubdtype(array.dtype, np.integer) or array.min() < 0 or array.max() >= V:
                raise ValueError(f"{name} must be integers in 0..{V - 1}, got dtype {array.dtype}")
        self.setup, self.attention_kind, self.mask, self.tokens = setup, attention, mask, tokens
        self.size = V + L + 1
        self.weights = 5 * self.size**2
        identity = np.broadcast_to(np.eye(L + 1), (P, L + 1, L + 1))
        self._Phi = torch.as_tensor(np.concatenate([np.eye(V)[tokens], identity], axis=-1))
        self._Y = torch.as_tensor(np.eye(V)[targets])
        self._seen, self._keys = visible(L, mask)

    def attention(self, weights: Floats) -> tuple[Floats, Floats]:
        """Attention of layer 1, shape (P, L + 1, L + 1), and of the query in layer 2, shape (P, L + 1)."""
        with torch.no_grad():
            G1, G2, _ = self._forward(torch.as_tensor(weights))
        rest = torch.zeros(len(G2), self.setup.L + 1 - self._keys, dtype=G2.dtype)
        return G1.numpy(), torch.cat([G2, rest], dim=1).numpy()

    def order_parameters(self, weights: Floats) -> tuple[float, float, float]:
        """Mean weights (copy, match, found), averaged over sequences.

        ``copy``: of the predecessor in layer 1, over the context positions that have one.  ``match``: of the wanted token in
        layer 2.  ``found``: in layer 1, of the token that equals the query, seen from the query (0 on the ring).
        """
        G1, G2 = self.attention(weights)
        b, rows = np.arange(self.mask == "causal", self.setup.L), np.arange(len(G2))
        asked = asked_position(self.tokens)
        copy, match = G1[:, b, (b - 1) % self.setup.L].mean(), G2[rows, (asked + 1) % self.setup.L].mean()
        return float(copy), float(match), float(G1[rows, -1, asked].mean())

    def descend(self, weights: Floats, tolerance: float = 1e-4, evaluations: int = 4000) -> Floats:
        """The minimum that L-BFGS finds: no gradient entry above ``tolerance`` unless evaluations run out."""
        options = dict(maxcor=30, ftol=0.0, gtol=tolerance, maxiter=evaluations, maxfun=evaluations)
        result = minimize(self.value_and_gradient, weights, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(result.x)

    def _forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        n, Phi = self.size, self._Phi
        M1, M2 = x[: n * n].reshape(n, n), x[n * n :].reshape(2 * n, 2 * n)
        G1 = attend((Phi @ M1) @ Phi.mT, self._seen, self.attention_kind, self.setup.L)
        doubled = torch.cat([Phi, np.sqrt(self.setup.g_O) * (G1 @ Phi)], dim=-1)
        keys = doubled[:, : self._keys]
        logits = (keys @ (doubled[:, -1] @ M2)[..., None])[..., 0]
        G2 = attend(logits, torch.ones(self._keys, dtype=torch.bool), self.attention_kind, self.setup.L)
        return G1, G2, (G2[:, None] @ keys)[:, 0]

    def _features(self, weights: Tensor) -> Tensor:
        return self._forward(weights)[2]


def visible(L: int, mask: Mask) -> tuple[Tensor, int]:
    """Which key each position sees in layer 1, boolean (L + 1, L + 1), and how many the query sees in layer 2.

    Raises ValueError for an unknown mask.
    """
    if mask not in ("ring", "causal"):
        raise ValueError(f"mask must be 'ring' or 'causal', got {mask!r}")
    seen = torch.ones(L + 1, L + 1, dtype=torch.bool)
    if mask == "causal":
        return torch.tril(seen), L + 1
    seen[-1] = seen[:, -1] = False
    return seen, L


def attend(U: Tensor, seen: Tensor, attention: Attention, L: int) -> Tensor:
    """Attention from logits U: U / L or a softmax over the last axis, zero where a key is not seen."""
    if attention == "linear":
        return U * seen / L
    weight = torch.exp(U - U.amax(dim=-1, keepdim=True)) * seen
    return weight / weight.sum(dim=-1, keepdim=True).clamp_min(1e-300)
