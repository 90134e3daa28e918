r"""The whole network at finite embedding dimension d, embeddings included, at a cost that does not grow with d.

The network sees its embeddings E, a Gaussian matrix of shape (d, V + L), through two small matrices only,

    T = E^T W_G E / d     the kernel of the logits,         r = W_O E     the effective readout.

Split E / sqrt(d) = Q R with orthonormal columns of Q, and R of k = min(d, V + L) rows, upper trapezoidal, positive on its
diagonal.  With M = Q^T W_G Q and W = sqrt(d) Q^T W_O^T,

    T = R^T M R,     r^T = R^T W.

M and W are Gaussian with independent entries of variance g_W and g_O whatever Q is, and Q drops out of everything the data
see.  What is left of E is R, and Bartlett's theorem is its law: the entries of sqrt(d) R are independent, standard normal
above the diagonal, and the i-th diagonal one is chi-distributed with d - i + 1 degrees of freedom.  R^T R = C = E^T E / d.

So frozen embeddings are one draw of R, and trained ones are R in the posterior beside M and W:

    -ln p(M, R | data) = chi S(M, R) + V/2 ln det(1 + R A R^T / lam) - ln(density of R),        lam = sigma2 / g_O,

W being integrated out as in ``posterior.py``.  No d x d matrix is left, and d is a parameter: a real number would do.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from copyhead.patterns import global_sign, order_parameters
from copyhead.reduced import Attention, ReducedAction
from copyhead.setup import Setup
from copyhead.validation import positive_number, whole_number

Matrix = NDArray[np.float64]


class Bartlett:
    """Coordinates x of the factor R in which its density is smooth, of width about one, and known.

    Above the diagonal x is sqrt(d) R itself.  On the diagonal sqrt(d) R_ii = sqrt(f) exp(x / sqrt(2 f)) with
    f = d - i + 1: then minus the logarithm of the density of x has its minimum at 0 and curvature 1 there, at any d.

    Parameters
    ----------
    n : int, at least 1
        Number of embedding vectors, V + L.
    d : int, at least 1
        Embedding dimension.

    Attributes
    ----------
    shape : (min(n, d), n), the shape of R
    size : int, number of coordinates: first the diagonal, then the rows above it
    """

    def __init__(self, n: int, d: int) -> None:
        n, self.d = whole_number("n", n, minimum=1), whole_number("d", d, minimum=1)
        rows = min(n, self.d)
        self.shape = (rows, n)
        self.degrees = self.d - np.arange(rows, dtype=np.float64)
        self._above = np.triu_indices(rows, 1, n)
        self.size = rows + len(self._above[0])

    def factor(self, x: Matrix) -> Matrix:
        """R of shape ``shape``."""
        R = np.zeros(self.shape)
        k = len(self.degrees)
        R[np.arange(k), np.arange(k)] = np.sqrt(self.degrees / self.d) * np.exp(x[:k] / np.sqrt(2 * self.degrees))
        R[self._above] = x[k:] / math.sqrt(self.d)
        return R

    def potential(self, x: Matrix) -> tuple[float, Matrix]:
        """Minus the logarithm of the density of x over that at 0, and its gradient."""
        k = len(self.degrees)
        grown = np.expm1(2 * x[:k] / np.sqrt(2 * self.degrees))
        value = (self.degrees * grown / 2 - np.sqrt(self.degrees / 2) * x[:k]).sum() + x[k:] @ x[k:] / 2
        return float(value), np.concatenate([np.sqrt(self.degrees / 2) * grown, x[k:]])

    def pull_back(self, R: Matrix, slope: Matrix) -> Matrix:
        """The gradient by x of a function with gradient ``slope`` by R, at the R of x."""
        return np.concatenate([np.diagonal(slope) * np.diagonal(R) / np.sqrt(2 * self.degrees),
                               slope[self._above] / math.sqrt(self.d)])

    def coordinates(self, R: Matrix) -> Matrix:
        """The inverse of ``factor``."""
        return np.concatenate([np.log(np.diagonal(R) / np.sqrt(self.degrees / self.d)) * np.sqrt(2 * self.degrees),
                               R[self._above] * math.sqrt(self.d)])

    def draw(self, generator: np.random.Generator) -> Matrix:
        """Coordinates of one random R."""
        k = len(self.degrees)
        diagonal = np.log(generator.chisquare(self.degrees) / self.degrees) * np.sqrt(self.degrees / 2)
        return np.concatenate([diagonal, generator.standard_normal(self.size - k)])


class FactorAction(ReducedAction):
    """Action S(M, R) of the network whose embeddings have the factor R, with both gradients; S(M, 1) is ``ReducedAction``.

    M has shape (k, k) and R (k, V + L).  Kernel and readout are T = R^T M R and r^T = R^T W.
    """

    def slopes(self, M: Matrix, R: Matrix, log_det: float = 0.0) -> tuple[float, Matrix, Matrix]:
        """S + log_det * ln det(1 + R A R^T / lam), and its gradients by M and by R."""
        T = R.T @ M @ R
        Z = self._forward(T)
        A, B = self._moments(Z)
        lam = self.setup.sigma2 / self.setup.g_O
        inner = R @ A @ R.T / lam + np.eye(len(R))
        try:
            factor = cho_factor(inner)
        except (np.linalg.LinAlgError, ValueError):      # overflow: no density there
            return math.inf, np.zeros_like(M), np.zeros_like(R)
        W = cho_solve(factor, R @ B) / lam
        readout = R.T @ W
        value = self._action(T, B, readout) + float(np.vdot(M, M) - np.vdot(T, T)) / (2 * self.setup.g_W)
        D = self._attention_slope(Z, readout)
        dR = W @ (A @ readout - B).T / self.setup.sigma2
        if log_det:
            inverse = cho_solve(factor, R) / lam
            value += 2 * log_det * float(np.log(np.diag(factor[0])).sum())
            dR += 2 * log_det * inverse @ A
            noise = (2 * log_det * R.T @ inverse).astype(Z.dtype)                # d ln det / dZ^T
            self._add_noise(D, Z, noise)
        dT = self._gradient(T, Z, D) - T / self.setup.g_W
        dR += M @ R @ dT.T + M.T @ R @ dT
        return value, R @ dT @ R.T + M / self.setup.g_W, dR

    def observables(self, M: Matrix, R: Matrix) -> dict[str, float]:
        """Order parameters, loss per token with the posterior-mean readout, and the mean diagonal entry of C, "length".

        Linear: c1 and c_G with the sign for which T = c1 + sqrt(L) c_G >= 0; softmax: a_G.
        """
        Z = self._forward(R.T @ M @ R)
        A, B = self._moments(Z)
        lam = self.setup.sigma2 / self.setup.g_O
        readout = R.T @ np.linalg.solve(R @ A @ R.T + lam * np.eye(len(R)), R @ B)
        c1, c_G = (float(c) for c in order_parameters(Z[self.setup.V :].mean(axis=1).T))
        values = {"loss": self._loss(Z, readout), "length": float(np.vdot(R, R) / R.shape[1])}
        if self.attention_kind == "softmax":
            return {"a_G": c_G, **values}
        sign = float(global_sign(c1, c_G, self.setup.L))
        return {"c1": sign * c1, "c_G": sign * c_G, **values}


class FrozenPosterior(FactorAction):
    """The posterior of the network whose embeddings do not learn: U(M) and dU/dM, a target for ``sampling``.

    Parameters
    ----------
    setup, attention, tokens, dtype
        As for ``ReducedAction``.
    chi : float, positive
    R : shape (k, V + L)
        Factor of the embeddings, from ``Bartlett`` or any R with R^T R = C.  M has shape (k, k).

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    def __init__(self, setup: Setup, attention: Attention, tokens: NDArray[np.intp], chi: float, R: Matrix,
                 dtype: DTypeLike = np.float64) -> None:
        super().__init__(setup, attention, tokens, dtype)
        self.chi, self.R = positive_number("chi", chi), np.asarray(R, dtype=np.float64)
        if self.R.ndim != 2 or self.R.shape[1] != setup.V + setup.L or not np.isfinite(self.R).all():
            raise ValueError(f"R must be finite and have V + L = {setup.V + setup.L} columns, got shape {self.R.shape}")

    def __call__(self, M: Matrix) -> tuple[float, Matrix]:
        value, dM, _ = self.slopes(M, self.R, self.setup.V / (2 * self.chi))
        return self.chi * value, self.chi * dM

    def observe(self, M: Matrix) -> dict[str, float]:
        """``observables`` at M."""
        return self.observables(M, self.R)


class WidthPosterior(FactorAction):
    """The posterior of the network at dimension d with embeddings that learn: U(z) and dU/dz, a target for ``sampling``.

    z is one vector: the k^2 entries of M in units of their prior width sqrt(g_W / chi), row by row, and behind them the
    coordinates of R (``Bartlett``), k = min(d, V + L).  The prior of every entry has a width of about one.

    Parameters
    ----------
    setup, attention, tokens, dtype
        As for ``ReducedAction``.
    chi : float, positive
    d : int, at least 1

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    def __init__(self, setup: Setup, attention: Attention, tokens: NDArray[np.intp], chi: float, d: int,
                 dtype: DTypeLike = np.float64) -> None:
        super().__init__(setup, attention, tokens, dtype)
        self.chi, self.bartlett = positive_number("chi", chi), Bartlett(setup.V + setup.L, d)
        self.rows = self.bartlett.shape[0]
        self.width = math.sqrt(setup.g_W / self.chi)

    def split(self, z: Matrix) -> tuple[Matrix, Matrix]:
        """M of shape (k, k) and R of shape (k, V + L)."""
        count = self.rows**2
        return self.width * z[:count].reshape(self.rows, self.rows), self.bartlett.factor(z[count:])

    def join(self, M: Matrix, R: Matrix) -> Matrix:
        """The z of M and R."""
        return np.concatenate([M.ravel() / self.width, self.bartlett.coordinates(R)])

    def draw(self, generator: np.random.Generator) -> Matrix:
        """A z from the prior."""
        return np.concatenate([generator.standard_normal(self.rows**2), self.bartlett.draw(generator)])

    def __call__(self, z: Matrix) -> tuple[float, Matrix]:
        M, R = self.split(z)
        value, dM, dR = self.slopes(M, R, self.setup.V / (2 * self.chi))
        prior, slope = self.bartlett.potential(z[M.size :])
        slope = slope + self.chi * self.bartlett.pull_back(R, dR)
        return self.chi * value + prior, np.concatenate([self.chi * self.width * dM.ravel(), slope])

    def observe(self, z: Matrix) -> dict[str, float]:
        """``observables`` at z."""
        return self.observables(*self.split(z))


def fit_factor(action: FactorAction, nu: float, M: Matrix, R: Matrix | None = None, *, entropy: bool = True,
               tolerance: float = 1e-3) -> tuple[float, Matrix, Matrix]:
    """Minimise S(M, R) + nu/2 [tr C - ln det C - (V + L)] over M and C = R^T R, by L-BFGS from M and R (default 1).

    This is what the posterior concentrates on where chi and d are large together with nu = d / chi fixed.  Without
    ``entropy`` the logarithm and the constant are left out: the weight-space MAP, which embeddings with weight decay
    reach.  Gradients, in units of the prior widths, end below ``tolerance``.

    Returns the minimum, M and R, both of shape (V + L, V + L).
    """
    nu, n = positive_number("nu", nu), len(M)
    width = math.sqrt(action.setup.g_W)
    diagonal = np.diag_indices(n)

    def unpack(z: Matrix) -> tuple[Matrix, Matrix]:
        M, X = z.reshape(2, n, n)
        R = np.triu(X) if entropy else X
        if entropy:
            R[diagonal] = np.exp(X[diagonal])
        return width * M, R

    def objective(z: Matrix) -> tuple[float, Matrix]:
        M, R = unpack(z)
        value, dM, dR = action.slopes(M, R)
        dR += nu * R
        value += nu / 2 * float(np.vdot(R, R))
        if entropy:
            value -= nu * float(np.log(R[diagonal]).sum() + n / 2)
            dR = np.triu(dR)
            dR[diagonal] = dR[diagonal] * R[diagonal] - nu
        return value, np.concatenate([width * dM.ravel(), dR.ravel()])

    R = np.eye(n) if R is None else R
    X = np.array(R)
    if entropy:
        X[diagonal] = np.log(R[diagonal])
    result = minimize(objective, np.concatenate([M.ravel() / width, X.ravel()]), jac=True, method="L-BFGS-B",
                      options=dict(maxcor=50, ftol=0.0, gtol=tolerance, maxiter=5000, maxfun=5000))
    return float(result.fun), *unpack(result.x)
