"""The networks, in PyTorch: the paper's with d-dimensional embeddings, and what is left of it at any d.

Both are a ``Network`` (``forward.py``): they differ in how weights make the kernel T and the readout r.

**CopyNetwork** has an embedding vector of length d for every token and every position, the columns of E, shape
(d, V + L).  The embedded sequence would be Phi E^T, of shape (P, L, d), but only V + L different vectors occur, so

    T = E^T W_G E / d,   or   (W_Q E)^T (W_K E) / d,       r = W_O E,

and a step costs a few passes over the weights instead of P L d^2 operations.

**ReducedNetwork** has T = R M R and r = W R with R = C^(1/2): the same network with frozen embeddings of metric
C = E^T E / d.  C = 1 is d = infinity.

**How one becomes the other.**  E / sqrt(d) = Q^T R with orthonormal rows of Q, shape (V + L, d).  Then M = Q W_G Q^T and
W = sqrt(d) W_O Q^T give the same T and r, and what W_G and W_O have outside these directions is felt by the prior alone.

Prior variances, chi divided out: g_W for W_G and M, g_O / d for W_O, g_O for W.  The entries of W_Q and W_K share the
variance sqrt(g_W / (chi d_k)), so that W_Q^T W_K has entries of variance g_W / chi; a product does not scale like its
factors, which leaves a chi in the action.  Embeddings have no term: their prior has no chi, so that dividing by chi
makes it vanish.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from copyhead.forward import SMALL, Encoded, Init, Network
from copyhead.metric import embedding_vectors, square_root
from copyhead.projection import project
from copyhead.reduced import Attention
from copyhead.setup import Setup
from copyhead.validation import whole_number

__all__ = ["CopyNetwork", "Encoded", "Init", "Network", "ReducedNetwork"]


class ReducedNetwork(Network):
    """The network with frozen embeddings of a given metric, in its (V + L)^2 + V (V + L) weights M and W.

    Parameters
    ----------
    setup : Setup
    attention : "linear" or "softmax"
    chi : float, positive
        Used by ``init="prior"`` alone: the action has chi divided out.
    metric : symmetric and positive semidefinite, shape (V + L, V + L); None for the unit matrix, d = infinity
    init : "small" or "prior"
        Independent Gaussian entries of 0.01 sqrt(g), or from the prior: variance g / chi.
    seed : int, at least 0
    device, dtype : as for any tensor; torch.float32 (default) or torch.float64

    Attributes
    ----------
    M : parameter, (V + L, V + L), prior variance g_W.  T = C^(1/2) M C^(1/2).
    W : parameter, (V, V + L), prior variance g_O.  r = W C^(1/2).

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    root: Tensor | None

    def __init__(self, setup: Setup, attention: Attention, chi: float = 1.0, *, metric: ArrayLike | None = None,
                 init: Init = "small", seed: int = 0, device: Any = None, dtype: torch.dtype = torch.float32) -> None:
        super().__init__(setup, attention, chi, init, seed, device, dtype)
        n = setup.V + setup.L
        root = None if metric is None else square_root(np.asarray(metric, dtype=np.float64), n)
        self.register_buffer("root", None if root is None else torch.as_tensor(root).to(self._device, dtype))
        self.W = self._draw(setup.V, n, variance=setup.g_O)
        self.M = self._draw(n, n, variance=setup.g_W)

    def _weights(self) -> tuple[Tensor, Tensor, Tensor]:
        prior = self.M.square().sum() / (2 * self.setup.g_W) + self.W.square().sum() / (2 * self.setup.g_O)
        if self.root is None:
            return self.M, self.W, prior
        return self.root @ self.M @ self.root, self.W @ self.root, prior


class CopyNetwork(Network):
    """The paper's network: embeddings of dimension d, attention weights, readout.

    Parameters
    ----------
    setup : Setup
    attention : "linear" or "softmax"
    d_model : int, at least 1
        Embedding dimension d.
    chi : float, positive
        Width of ``init="prior"``; with W_Q and W_K also in the action (see the module).
    parametrization : "W_G" or "W_QW_K"
        One attention matrix of shape (d, d), or two of shape (d_k, d).
    d_k : int, at least 1
        Inner width; needed with "W_QW_K" and only there.
    train_embeddings : bool
        Whether E is a parameter to be trained.  It has no decay.
    init : "small" or "prior"
        Entries of 0.01 times the prior width at chi = 1 (W_Q and W_K: 0.1, so that their product is at 0.01), or the
        prior with chi.  E is standard normal in both.
    seed : int, at least 0
        The embedding depends on (V, L, d_model, seed) only: ``metric()`` is ``metric.random_metric(V, L, d, seed)``.
    device, dtype : as for any tensor; torch.float32 (default) or torch.float64

    Attributes
    ----------
    E : parameter, (d, V + L).  Column t embeds token t, column V + a position a.
    W_O : parameter, (V, d), prior variance g_O / d.
    W_G : parameter, (d, d), prior variance g_W; or W_Q and W_K, (d_k, d), prior variance sqrt(g_W / (chi d_k)).

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    def __init__(self, setup: Setup, attention: Attention, d_model: int, chi: float = 1.0, *,
                 parametrization: Literal["W_G", "W_QW_K"] = "W_G", d_k: int | None = None,
                 train_embeddings: bool = False, init: Init = "small", seed: int = 0, device: Any = None,
                 dtype: torch.dtype = torch.float32) -> None:
        super().__init__(setup, attention, chi, init, seed, device, dtype)
        self.d_model = d = whole_number("d_model", d_model, minimum=1)
        if parametrization not in ("W_G", "W_QW_K"):
            raise ValueError(f"parametrization must be 'W_G' or 'W_QW_K', got {parametrization!r}")
        if not isinstance(train_embeddings, bool):
            raise ValueError(f"train_embeddings must be True or False, got {train_embeddings!r}")
        self.parametrization = parametrization
        E = torch.as_tensor(embedding_vectors(setup.V, setup.L, d, seed))
        self.E = torch.nn.Parameter(E.to(self._device, dtype), requires_grad=train_embeddings)
        self.W_O = self._draw(setup.V, d, variance=setup.g_O / d)
        if parametrization == "W_G":
            if d_k is not None:
                raise ValueError(f"d_k must be None with parametrization 'W_G', got {d_k!r}")
            self.W_G = self._draw(d, d, variance=setup.g_W)
        else:
            self.d_k = whole_number("d_k", d_k, minimum=1)
            # The prior's variance is sqrt(g_W / (chi d_k)); _draw divides by chi itself.
            share = self.chi**0.5 if init == "prior" else 1.0
            variance = share * (setup.g_W / self.d_k) ** 0.5
            self.W_Q = self._draw(self.d_k, d, variance=variance, small=SMALL**0.5)
            self.W_K = self._draw(self.d_k, d, variance=variance, small=SMALL**0.5)

    def metric(self) -> NDArray[np.float64]:
        """C = E^T E / d, shape (V + L, V + L)."""
        E = self.E.detach().to("cpu", torch.float64).numpy()
        return E.T @ E / self.d_model

    def _weights(self) -> tuple[Tensor, Tensor, Tensor]:
        E, d = self.E, self.d_model
        r, readout_prior = project(self.W_O, E, d / self.setup.g_O)
        if self.parametrization == "W_G":
            keys, prior = project(self.W_G, E, 1 / self.setup.g_W)
            return E.T @ keys / d, r, prior + readout_prior
        precision = (self.d_k / (self.setup.g_W * self.chi)) ** 0.5       # 1 / (chi variance)
        queries, query_prior = project(self.W_Q, E, precision)
        keys, key_prior = project(self.W_K, E, precision)
        return queries.T @ keys / d, r, query_prior + key_prior + readout_prior

    def reduced(self) -> ReducedNetwork:
        """The reduced network with the metric of E and the same T and r, in float64 on the CPU; for "W_G" only.

        Its action is smaller by the prior of what W_G and W_O have outside the span of the embeddings.
        """
        Q = self._orthonormal_rows()
        network = ReducedNetwork(self.setup, self.attention_kind, self.chi, metric=self.metric(), dtype=torch.float64)
        with torch.no_grad():
            network.M.copy_(Q @ self.W_G.to("cpu", torch.float64) @ Q.T)
            network.W.copy_(self.d_model**0.5 * self.W_O.to("cpu", torch.float64) @ Q.T)
        return network

    def lift(self, M: ArrayLike, W: ArrayLike) -> None:
        """Set the weights of smallest norm whose reduced network has these M and W: W_G = Q^T M Q, W_O = W Q / sqrt(d).

        M has shape (V + L, V + L) and W (V, V + L); both have to belong to the metric of E.  For "W_G" only.
        """
        Q = self._orthonormal_rows()
        M, W = (torch.as_tensor(np.asarray(x, dtype=np.float64)) for x in (M, W))
        if M.shape != (len(Q), len(Q)) or W.shape != (self.setup.V, len(Q)):
            raise ValueError(f"M and W must have shapes {(len(Q),) * 2} and {(self.setup.V, len(Q))}, "
                             f"got {tuple(M.shape)} and {tuple(W.shape)}")
        with torch.no_grad():
            self.W_G.copy_(Q.T @ M @ Q)
            self.W_O.copy_(W @ Q / self.d_model**0.5)

    def _orthonormal_rows(self) -> Tensor:
        """Q with E / sqrt(d) = Q^T C^(1/2): the polar factor, (V + L, d); for d < V + L its columns are orthonormal."""
        if self.parametrization != "W_G":
            raise ValueError(f"parametrization must be 'W_G' for this, got {self.parametrization!r}")
        left, _, right = torch.linalg.svd(self.E.detach().to("cpu", torch.float64).T, full_matrices=False)
        return left @ right
