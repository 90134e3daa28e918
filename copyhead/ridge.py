"""Networks whose readout is integrated out, in PyTorch: the action of any weights that give features to a linear readout.

With the features Z of all outputs, one row each, and the targets Y the readout is a ridge regression, and

    S = [||Y||^2 - tr Y^T Z (Z^T Z + sigma2 / g_O)^-1 Z^T Y] / (2 sigma2) + ||weights||^2 / (2 g_W).

``reduced.py`` has this for one head by hand; here automatic differentiation finds the gradient.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from copyhead.setup import Setup

Floats = NDArray[np.float64]


class RidgeAction:
    """S and its gradient; a subclass sets ``setup``, ``_Y`` of shape (outputs, V) with one-hot rows, and ``_features``."""

    setup: Setup
    _Y: Tensor

    def _features(self, weights: Tensor) -> Tensor:
        """Z, one row for each of ``_Y``."""
        raise NotImplementedError

    def value_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """S and dS / dweights, the latter of the shape of the weights."""
        x = torch.as_tensor(np.array(weights, dtype=np.float64)).requires_grad_()
        Z = self._features(x)
        fit = (self._Y * (Z @ self._solve(Z))).sum()
        S = (len(Z) - fit) / (2 * self.setup.sigma2) + x.square().sum() / (2 * self.setup.g_W)
        S.backward()
        assert x.grad is not None
        return float(S.detach()), x.grad.numpy()

    def value(self, weights: Floats) -> float:
        """S alone."""
        return self.value_and_gradient(weights)[0]

    def readout(self, weights: Floats) -> Floats:
        """Posterior mean of the readout, one row for each feature, V columns."""
        with torch.no_grad():
            return self._solve(self._features(torch.as_tensor(np.array(weights)))).numpy()

    def loss(self, weights: Floats, readout: Floats | None = None) -> float:
        """Squared error per output; 1 for zero output.  Pass a training set's ``readout`` for a test loss."""
        with torch.no_grad():
            Z = self._features(torch.as_tensor(np.array(weights)))
            W = self._solve(Z) if readout is None else torch.as_tensor(readout)
            return float(((self._Y - Z @ W) ** 2).sum() / len(Z))

    def _solve(self, Z: Tensor) -> Tensor:
        ridge = self.setup.sigma2 / self.setup.g_O * torch.eye(Z.shape[1], dtype=Z.dtype)
        return torch.cholesky_solve(Z.T @ self._Y, torch.linalg.cholesky(Z.T @ Z + ridge))
