"""The posterior of the attention weights at finite chi, with the readout integrated out: a target for ``sampling``.

With actual variances g / chi and sigma2 / chi the posterior of M and W together is Gaussian in W.  Integrating W out
leaves exactly

    U(M) = -ln p(M | data) = chi S(M) + V/2 ln det(1 + A(M) / lam) + const,    lam = sigma2 / g_O,

S and A = Psi^T Psi as in ``reduced.py``.  The determinant has one factor for each of the V outputs and no chi: it is
what tells the posterior's mode in M from the MAP of M and W together, a correction of relative order 1 / chi.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from copyhead.patterns import coverage, global_sign, order_parameters
from copyhead.reduced import Attention, Floats, ReducedAction
from copyhead.setup import Setup
from copyhead.validation import positive_number

Array = NDArray[np.float64]


class ReducedPosterior(ReducedAction):
    """U(M) and its gradient, called as ``posterior(M)``; everything else is that of ``ReducedAction``.

    Parameters
    ----------
    setup, attention, tokens, dtype
        As for ``ReducedAction``.  float32 passes give U to about 1e-6 of its value, which an acceptance probability at
        U of some thousands can notice: the default is float64.
    chi : float, positive

    Raises
    ------
    ValueError
        As ``ReducedAction``; and unless chi is positive.
    """

    def __init__(self, setup: Setup, attention: Attention, tokens: NDArray[np.intp], chi: float,
                 dtype: DTypeLike = np.float64) -> None:
        super().__init__(setup, attention, tokens, dtype)
        self.chi = positive_number("chi", chi)

    def __call__(self, M: Floats) -> tuple[float, NDArray[np.float64]]:
        """U(M) without its constant, and dU/dM of shape (V + L, V + L)."""
        Z = self._forward(M)
        A, B = self._moments(Z)
        solved = self._factor(A)
        if solved is None:
            return math.inf, np.zeros(M.shape)
        factor, S1 = solved
        W = cho_solve(factor, B)
        # d ln det(A + lam) / dPsi^T = 2 (A + lam)^-1 Psi^T
        noise = (cho_solve(factor, np.eye(len(A))) * (self.setup.V / self.chi)).astype(Z.dtype)
        D = self._attention_slope(Z, W)
        self._add_noise(D, Z, noise)
        bias = self._bias(Z, D)
        return self.chi * self._action(M, B, W) + S1 + bias, self.chi * self._gradient(M, Z, D)

    def potential(self, M: Floats) -> float:
        """U(M) without its constant and without the gradient, at a third of the cost."""
        Z = self._forward(M)
        A, B = self._moments(Z)
        solved = self._factor(A)
        if solved is None:
            return math.inf
        return self.chi * self._action(M, B, cho_solve(solved[0], B)) + solved[1] + self._bias(Z, None)

    def _factor(self, A: Array) -> tuple[tuple[Array, bool], float] | None:
        """Cholesky factor of A + lam, and S_1; None where M is so large that A has lost lam or overflowed."""
        lam = self.setup.sigma2 / self.setup.g_O
        try:
            factor = cho_factor(A + lam * np.eye(len(A)))
        except (np.linalg.LinAlgError, ValueError):
            return None
        log_det = 2 * np.log(np.diag(factor[0])).sum() - len(A) * math.log(lam)
        return factor, self.setup.V / 2 * float(log_det)

    def _bias(self, Z: Floats, D: Floats | None) -> float:
        """What a subclass adds to U as a function of the attention; it adds the slope in G^T, over chi, to D if given."""
        return 0.0

    def observe(self, M: Floats) -> dict[str, float]:
        """Order parameters of the mean attention and the share of the attention in span{J, G*}.

        Linear: c1 and c_G with the sign for which T = c1 + sqrt(L) c_G >= 0; softmax: a_G.  "coverage" as in
        ``patterns.coverage``; "loss" per token with the posterior-mean readout, without the readout's thermal part.
        """
        Z = self._forward(M)
        G = Z[self.setup.V :].transpose(1, 2, 0)
        c1, c_G = order_parameters(G.mean(axis=0))
        values = {"coverage": coverage(G), "loss": self._loss(Z)}
        if self.attention_kind == "softmax":
            return {"a_G": float(c_G), **values}
        sign = global_sign(c1, c_G, self.setup.L)
        return {"c1": float(sign * c1), "c_G": float(sign * c_G), **values}
