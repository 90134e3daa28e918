"""The reduced action of many problems at once, in torch: what ``ensemble.py`` minimises on a GPU.

The formulas are those of ``reduced.py``.  Here the query positions come first and the features last, which is what a GPU's
softmax and batched products prefer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from copyhead.reduced import Attention
from copyhead.setup import Setup
from copyhead.task import targets


class BatchedAction:
    """S(M) of several problems at once: ``ReducedAction`` with a leading axis of problems.

    Sequences beyond a problem's own are padding: their tokens and targets are zero rows, and a mask keeps their
    attention out of the readout's normal equations, so that they contribute to nothing.
    """

    def __init__(self, setup: Setup, attention: Attention, tokens: Sequence[NDArray[np.intp]], device: torch.device,
                 dtype: torch.dtype) -> None:
        self.setup, self.attention_kind = setup, attention
        self.P = torch.tensor([len(t) for t in tokens], device=device)
        shape = (len(tokens), max(map(len, tokens)), setup.L, setup.V)
        self.X, self.Y = (torch.zeros(shape, dtype=dtype, device=device) for _ in range(2))
        one = torch.eye(setup.V, dtype=dtype, device=device)
        for i, t in enumerate(tokens):
            self.X[i, : len(t)] = one[torch.as_tensor(t, device=device)]
            self.Y[i, : len(t)] = one[torch.as_tensor(targets(t), device=device)]
        used = torch.arange(shape[1], device=device) < self.P[:, None]
        self.mask = used.to(dtype)[:, :, None, None]

    def keep(self, index: Tensor) -> None:
        """Go on with these problems only."""
        self.P, most = self.P[index], int(self.P[index].max())
        self.X, self.Y, self.mask = (x[index, :most] for x in (self.X, self.Y, self.mask))

    def attention(self, M: Tensor) -> Tensor:
        """Attention of every sequence of every problem, zero in the padding; shape (problems, P, L, L)."""
        V, L = self.setup.V, self.setup.L
        query = self._phi(M)
        U = query[..., :V] @ self.X.mT
        U += query[..., V:]
        return U.mul_(self.mask / L) if self.attention_kind == "linear" else torch.softmax(U, dim=-1).mul_(self.mask)

    def readout(self, Z: Tensor) -> tuple[Tensor, Tensor]:
        """W = (A + lam)^-1 B and tr B^T W of every problem, both in double precision."""
        rows = Z.flatten(1, 2)
        A, B = (rows.mT @ rows).double(), (rows.mT @ self.Y.flatten(1, 2)).double()
        A.diagonal(dim1=1, dim2=2).add_(self.setup.sigma2 / self.setup.g_O)
        W = torch.cholesky_solve(B, torch.linalg.cholesky(A))
        return W, (B * W).sum(dim=(1, 2))

    def value_and_gradient(self, M: Tensor) -> tuple[Tensor, Tensor]:
        """S (problems,) in double precision and dS/dM (problems, V + L, V + L), from M in double precision."""
        s = self.setup
        G = self.attention(M.to(self.X.dtype))
        Z = torch.cat([G @ self.X, G], dim=-1)
        W, explained = self.readout(Z)
        value = (self.P * s.L - explained) / (2 * s.sigma2) + M.square().sum(dim=(1, 2)) / (2 * s.g_W)
        w = W.to(Z.dtype)
        error = (Z @ w[:, None]).sub_(self.Y).div_(s.sigma2)
        dU = error @ self._phi(w).mT                                                # dS/dG = error (Phi W)^T
        if self.attention_kind == "linear":
            dU /= s.L
        else:
            dU = (dU - (dU * G).sum(dim=-1, keepdim=True)).mul_(G)
        D = torch.cat([dU @ self.X, dU], dim=-1)
        top = self.X.flatten(1, 2).mT @ D.flatten(1, 2)
        return value, torch.cat([top, D.sum(dim=1)], dim=1).double() + M / s.g_W

    def _phi(self, M: Tensor) -> Tensor:
        """Phi M for every sequence: (problems, P, L, columns of M)."""
        V = self.setup.V
        return self.X @ M[:, None, :V] + M[:, None, V:]
