"""The two-layer action of endless data, on all weights that treat the tokens alike; in PyTorch.

Permuting the vocabulary changes neither task nor prior, so by symmetric criticality a stationary point among the weights
with that symmetry is one of the population action over all weights.  Such weights act on tokens as (a number) x identity on
what is left of a token when its mean 1/V is taken off, and arbitrarily on what all tokens share:

    M_1   alpha on centred tokens, and a matrix on the shared features [1/sqrt(V) | position];
    M_2   tau (2 x 2: raw and brought tokens, as query and as key), and a matrix on the doubled shared features.

The context tokens differ, and their names do not matter: L sequences, one for each position that can be asked for,
stand for the whole population.  Centred tokens with position weights x and y have the product
(x.y - sum x sum y / V) / (V - 1) on each of V - 1 modes.  The masks are those of ``two_layer.py``; on the ring, rotations
leave ``induction.InductionAction``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from copyhead.reduced import Attention, check_attention
from copyhead.setup import Setup
from copyhead.two_layer import Mask, attend, visible
from copyhead.validation import positive_number

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TwoLayerState:
    """A minimum: the order parameters of ``two_layer.TwoLayerAction``, action, loss, weights."""

    copy: float
    match: float
    found: float
    action: float
    loss: float
    weights: Floats


class TwoLayerTheory:
    """Population action of the two-layer network on in-context bigrams, in the sector symmetric under the vocabulary.

    Weights are one flat array of ``size`` numbers: M_1 on shared features, (n, n) with n = L + 2, alpha, M_2 on shared
    features, (2 n, 2 n), and tau, (2, 2).  ``setup.L`` is the length of the context, and V >= L.
    """

    def __init__(self, setup: Setup, attention: Attention, mask: Mask = "causal") -> None:
        check_attention(attention)
        if setup.V < setup.L or setup.L < 3:
            raise ValueError(f"V must be at least L >= 3, as the context tokens differ; got L = {setup.L}, V = {setup.V}")
        self.setup, self.attention_kind, self.mask = setup, attention, mask
        L, V = setup.L, setup.V
        self._seen, self._keys = visible(L, mask)
        asked = np.arange(L if mask == "ring" else L - 1)
        self._asked, self._wanted = asked, (asked + 1) % L
        self._X = torch.as_tensor(np.stack([np.eye(L)[[*range(L), j]] for j in asked]))          # (queries, L + 1, L)
        self._Y = torch.as_tensor(np.eye(L)[self._wanted])
        self._shared = torch.as_tensor(np.hstack([np.full((L + 1, 1), V**-0.5), np.eye(L + 1)]))
        self.size = 5 * (L + 2) ** 2 + 5

    def minimum(self, weights: Floats, P: float, tolerance: float = 1e-6) -> TwoLayerState:
        """The minimum that L-BFGS finds from ``weights``."""
        P = positive_number("P", P)
        options = dict(maxcor=30, ftol=0.0, gtol=tolerance, maxiter=5000, maxfun=5000)
        result = minimize(self.value_and_gradient, weights, args=(P,), jac=True, method="L-BFGS-B", options=options)
        return self.state(result.x, P)

    def state(self, weights: Floats, P: float) -> TwoLayerState:
        """Order parameters, action and loss of the given weights."""
        L = self.setup.L
        with torch.no_grad():
            G1, G2, _, _ = self._forward(torch.as_tensor(weights))
            S, loss = self._action(torch.as_tensor(weights), P)
        first, b, j = G1.numpy(), np.arange(self.mask == "causal", L), np.arange(len(self._asked))
        copy, match = first[:, b, (b - 1) % L].mean(), G2.numpy()[j, self._wanted].mean()
        return TwoLayerState(float(copy), float(match), float(first[j, -1, self._asked].mean()), float(S), float(loss),
                             np.array(weights))

    def small(self, seed: int = 0, scale: float = 1e-3) -> Floats:
        """Nearly nothing: independent Gaussian weights of standard deviation ``scale``."""
        return scale * np.random.default_rng(seed).standard_normal(self.size)

    def copy_then_match(self, u: float, copied: float) -> Floats:
        """Logit u on the predecessor in layer 1, and in layer 2 the match of the query with the brought token."""
        n, b = self.setup.L + 2, np.arange(self.mask == "causal", self.setup.L)
        M1 = np.zeros((n, n))
        M1[1 + b, 1 + (b - 1) % self.setup.L] = u
        return np.concatenate([M1.ravel(), [0.0], self._pooling().ravel(), [0.0, copied, 0.0, 0.0]])

    def match_then_shift(self, same: float, step: float) -> Floats:
        """Match with the same token in layer 1, and in layer 2 logit ``step`` from the brought position to the next one.

        Only with the mask "causal", where layer 1 serves the query too.
        """
        n, M2, j = self.setup.L + 2, self._pooling(), np.arange(self.setup.L - 1)
        M2[n + 1 + j, 1 + j + 1] = step
        return np.concatenate([np.zeros(n * n), [same], M2.ravel(), np.zeros(4)])

    def spread(self, weights: Floats) -> Floats:
        """The weights of ``two_layer.TwoLayerAction`` that these stand for."""
        L, V, n = self.setup.L, self.setup.V, self.setup.L + 2
        shared, centred = np.zeros((n, V + L + 1)), np.zeros((V + L + 1, V + L + 1))
        shared[0, :V], shared[1:, V:] = V**-0.5, np.eye(L + 1)
        centred[:V, :V] = np.eye(V) - 1 / V
        doubled, M2 = np.kron(np.eye(2), shared), weights[n * n + 1 : -4].reshape(2 * n, 2 * n)
        M1 = shared.T @ weights[: n * n].reshape(n, n) @ shared + weights[n * n] * centred
        M2 = doubled.T @ M2 @ doubled + np.kron(weights[-4:].reshape(2, 2), centred)
        return np.concatenate([M1.ravel(), M2.ravel()])

    def _pooling(self) -> Floats:
        """M_2 on shared features: linear attention has to pool by itself."""
        n = self.setup.L + 2
        M2 = np.zeros((2 * n, 2 * n))
        M2[1:n, 0] = self.attention_kind == "linear"
        return M2

    def value_and_gradient(self, weights: Floats, P: float) -> tuple[float, Floats]:
        """S and its gradient."""
        x = torch.as_tensor(np.array(weights, dtype=np.float64)).requires_grad_()
        S = self._action(x, P)[0]
        S.backward()
        assert x.grad is not None
        return float(S.detach()), x.grad.numpy()

    def _forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Both attentions, and what the readout sees: centred tokens (queries, 2, L) and shared features (queries, 2 n)."""
        n, L, V, g = self.setup.L + 2, self.setup.L, self.setup.V, float(np.sqrt(self.setup.g_O))
        M1, alpha, rest = x[: n * n].reshape(n, n), x[n * n], x[n * n + 1 :]
        M2, tau = rest[: 4 * n * n].reshape(2 * n, 2 * n), rest[4 * n * n :].reshape(2, 2)
        X, shared = self._X, self._shared
        G1 = attend(shared @ M1 @ shared.T + alpha * (X @ X.mT - 1 / V), self._seen, self.attention_kind, L)
        tokens = torch.stack([X, g * (G1 @ X)], dim=-2)                              # (queries, L + 1, 2, L)
        common = torch.cat([shared.expand(len(X), -1, -1), g * (G1 @ shared)], dim=-1)
        centred = tokens - tokens.sum(dim=-1, keepdim=True) / V
        match = torch.einsum("jrc,rs,jbsc->jb", centred[:, -1], tau, tokens)
        logits = (match + ((common[:, -1:] @ M2) @ common.mT)[:, 0])[:, : self._keys]
        G2 = attend(logits, torch.ones(self._keys, dtype=torch.bool), self.attention_kind, L)
        return (G1, G2, torch.einsum("jb,jbsc->jsc", G2, tokens[:, : self._keys]),
                (G2[:, None] @ common[:, : self._keys])[:, 0])

    def _action(self, x: Tensor, P: float) -> tuple[Tensor, Tensor]:
        n, V, s2 = self.setup.L + 2, self.setup.V, self.setup.sigma2
        _, _, z, common = self._forward(x)
        centred = (z - z.sum(dim=-1, keepdim=True) / V) / (V - 1)
        A = torch.einsum("jrc,jsc->rs", centred, z) / len(z)
        b = torch.einsum("jrc,jc->r", centred, self._Y) / len(z)
        C, d = common.T @ common / len(z), common.mean(dim=0) / np.sqrt(V)
        ridge = s2 / (self.setup.g_O * P)
        r, q = (torch.linalg.solve(m + ridge * torch.eye(len(m), dtype=m.dtype), v) for m, v in ((A, b), (C, d)))
        weight = x.square().sum() + (V - 2) * (x[n * n] ** 2 + x[-4:].square().sum())
        S = P / (2 * s2) * (1 - (V - 1) * (b @ r) - d @ q) + weight / (2 * self.setup.g_W)
        loss = 1 - (V - 1) * (2 * (b @ r) - r @ A @ r) - 2 * (d @ q) + q @ C @ q
        return S, loss
