"""The infinitely wide network with several heads on the copy task, readouts integrated out; in PyTorch.

Each head has weights M_h and a readout of its own.  With Psi = [Psi_1 | Psi_2 | ...] side by side the derivation of
``reduced.py`` goes through as it stands: the system to solve has H (V + L) rows.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from copyhead.patterns import order_parameters
from copyhead.reduced import Attention, check_attention
from copyhead.ridge import Floats, RidgeAction
from copyhead.setup import Setup
from copyhead.task import features, one_hot, targets
from copyhead.validation import whole_number


class HeadsAction(RidgeAction):
    """Action S(M_1, ..., M_H) on given sequences; weights have shape (H, V + L, V + L) everywhere.

    Parameters
    ----------
    setup : Setup
    attention : "linear" or "softmax"
    tokens : integers in 0..V-1, shape (P, L)
    heads : int, at least 1
    """

    def __init__(self, setup: Setup, attention: Attention, tokens: NDArray[np.intp], heads: int = 2) -> None:
        check_attention(attention)
        self.setup, self.attention_kind, self.heads = setup, attention, whole_number("heads", heads, minimum=1)
        n = setup.V + setup.L
        self.shape = (self.heads, n, n)
        self._Phi = torch.as_tensor(features(tokens, setup.V))
        self._Y = torch.as_tensor(one_hot(targets(tokens), setup.V)).reshape(-1, setup.V)

    def order_parameters(self, M: Floats) -> Floats:
        """(c1, c_G) of the mean attention of every head, shape (H, 2); for softmax (a_1, a_G)."""
        with torch.no_grad():
            mean = [self._attention(x).mean(dim=0).numpy() for x in torch.as_tensor(np.array(M))]
        return np.array([order_parameters(G) for G in mean])

    def descend(self, M: Floats, tolerance: float = 1e-3, evaluations: int = 2000) -> Floats:
        """The minimum that L-BFGS finds from M."""

        def objective(flat: Floats) -> tuple[float, Floats]:
            S, slope = self.value_and_gradient(flat.reshape(self.shape))
            return S, slope.ravel()

        options = dict(maxcor=30, ftol=1e-12, gtol=tolerance, maxiter=evaluations, maxfun=evaluations)
        return np.asarray(minimize(objective, M.ravel(), jac=True, method="L-BFGS-B", options=options).x).reshape(self.shape)

    def _attention(self, M: Tensor) -> Tensor:
        U = (self._Phi @ M) @ self._Phi.mT
        return U / self.setup.L if self.attention_kind == "linear" else torch.softmax(U, dim=-1)

    def _features(self, M: Tensor) -> Tensor:
        seen = [self._attention(x) @ self._Phi for x in M]
        return torch.cat(seen, dim=-1).reshape(len(self._Y), -1)
