r"""Linear attention in the equivalent-kernel limit, for *every* attention matrix M: the exact average over sequences.

``ReducedAction`` sums over given sequences.  When their number grows at fixed P / sigma2, the two matrices it needs,

    A = sum Psi^T Psi  ->  P E[Psi^T Psi],      B = sum Psi^T Y  ->  P E[Psi^T Y],

become averages over independent uniform tokens, and S(M) = [P L - tr B^T (A + lam)^-1 B] / (2 sigma2) + ||M||^2 / (2 g_W)
a function of P / sigma2 times sigma2-free numbers.  No ansatz enters: M has all its (V + L)^2 entries.

**Why the averages are exact.**  The query at position a with token t has the feature phi = e_t + e_a and reads with
u = M^T phi.  What it collects is Phi^T Phi u / L = sum_b phi_b (phi_b . u) / L, a sum of *independent* terms: the positions
b != a carry independent uniform tokens.  With E_b = E[phi_b phi_b^T], C_a = sum_{b != a} E_b + phi phi^T and any matrix X,

    E[Phi^T Phi X Phi^T Phi | x_a = t] = C_a X C_a + sum_{b != a} (E[phi_b phi_b^T X phi_b phi_b^T] - E_b X E_b),

sums of V terms.  The target x_{a-1} fixes one more token.

**Hessian.**  Outputs are linear in M and in the readout W, so at fixed W the action is quadratic in M: its second derivative
F couples only entries that share a query token or a query position.  Letting W follow subtracts a matrix of rank V (V + L).
So H x and H^-1 x cost one pass over L matrices of size V + L, where a dense H would have (V + L)^4 entries.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from copyhead.setup import Setup
from copyhead.validation import positive_number

Array = NDArray[np.float64]


class PopulationAction:
    """S(M) of linear attention averaged over sequences, at P training sequences; M has shape (V + L, V + L).

    ``P`` is any positive number: it enters through P / sigma2.  Raises ValueError for a bad setup or P.
    """

    def __init__(self, setup: Setup, P: float) -> None:
        if not isinstance(setup, Setup):
            raise ValueError(f"setup must be a copyhead.Setup, got {setup!r}")
        self.setup, self.P = setup, positive_number("P", P)
        L, V = setup.L, setup.V
        self._E = np.zeros((L, V + L, V + L))                          # E_b
        self._E[:, :V, :V] = np.eye(V) / V
        for b in range(L):
            self._E[b, :V, V + b] = self._E[b, V + b, :V] = 1 / V
            self._E[b, V + b, V + b] = 1
        self.phi = np.zeros((L, V, V + L))                             # query (a, t), also key (b, s)
        for s in range(V):
            self.phi[:, s, s] = 1
            self.phi[np.arange(L), s, V + np.arange(L)] = 1
        self._C = (self._E.sum(axis=0) - self._E)[:, None] + self.phi[..., :, None] * self.phi[..., None, :]

    def value(self, M: Array) -> float:
        """The action, with every term; comparable with ``ReducedAction.value`` divided by nothing."""
        B, W, _ = self._readout(M)
        return self._value(M, B, W)

    def value_and_gradient(self, M: Array) -> tuple[float, Array]:
        """S(M) and dS/dM."""
        B, W, u = self._readout(M)
        pull = np.einsum("atij,atj->ati", self._collected(W @ W.T), u) - self._targeted(W)
        return self._value(M, B, W), self._spread(pull) / self.setup.sigma2 + M / self.setup.g_W

    def loss(self, M: Array) -> float:
        """Squared error per token, 1 at zero output."""
        A, B = self.moments(M)
        W = self._solve(A, B)
        return float(1 + (np.vdot(W, A @ W) - 2 * np.vdot(W, B)) / (self.P * self.setup.L))

    def hessian(self, M: Array) -> PopulationHessian:
        """Second derivative of S at M, with the readout following."""
        B, W, u = self._readout(M)
        A, _ = self.moments(M)
        Q = self._collected(W @ W.T) / self.setup.sigma2
        return PopulationHessian(self.setup, Q, self._mixed(W, u), A)

    def moments(self, M: Array) -> tuple[Array, Array]:
        """P E[Psi^T Psi] of shape (V + L, V + L) and P E[Psi^T Y] of shape (V + L, V)."""
        L, V, n = self.setup.L, self.setup.V, self.setup.L + self.setup.V
        u = self._read(M)
        m = np.einsum("atij,atj->ati", self._C, u)                      # mean of what query (a, t) collects, times L
        square = np.einsum("ati,atj->aij", u, u)
        A = np.einsum("ati,atj->ij", m, m) + self._scatter(square.sum(axis=0) - square)
        B = np.zeros((n, V))
        before = np.roll(np.arange(L), 1)                              # the key a - 1, whose token is the target
        left = (m - np.einsum("aij,atj->ati", self._E[before], u)).sum(axis=(0, 1))
        seen = np.einsum("asj,aj->as", self.phi[before], u.sum(axis=1))
        B += left[:, None] + np.einsum("asi,as->is", self.phi[before], seen)
        return self.P / (L**2 * V) * A, self.P / (L * V**2) * B

    # --- averages ------------------------------------------------------------------------------------------------------

    def _read(self, M: Array) -> Array:
        """u = M^T phi of every query, shape (L, V, n)."""
        V = self.setup.V
        return np.asarray(M[None, :V] + M[V:, None])

    def _spread(self, rows: Array) -> Array:
        """sum_at phi_at rows_at^T: the adjoint of ``_read``."""
        return np.concatenate([rows.sum(axis=0), rows.sum(axis=1)])

    def _scatter(self, X: Array) -> Array:
        """sum_b (E[phi_b phi_b^T X_b phi_b phi_b^T] - E_b X_b E_b) for X of shape (L, n, n), one matrix for each key b."""
        q = np.einsum("bsi,bij,bsj->bs", self.phi, X, self.phi, optimize=True) / self.setup.V
        return np.einsum("bsi,bs,bsj->ij", self.phi, q, self.phi, optimize=True) - (self._E @ X @ self._E).sum(axis=0)

    def _collected(self, K: Array) -> Array:
        """P / (L^2 V) E[Phi^T Phi K Phi^T Phi | x_a = t], shape (L, V, n, n)."""
        L, V = self.setup.L, self.setup.V
        q = np.einsum("bsi,ij,bsj->bs", self.phi, K, self.phi, optimize=True) / V
        each = np.einsum("bsi,bs,bsj->bij", self.phi, q, self.phi, optimize=True) - self._E @ K @ self._E
        return self.P / (L**2 * V) * (self._C @ K @ self._C + (each.sum(axis=0) - each)[:, None])

    def _targeted(self, W: Array) -> Array:
        """r_at with tr W^T B = sum_at u_at . r_at, shape (L, V, n)."""
        L, V = self.setup.L, self.setup.V
        before = np.roll(np.arange(L), 1)
        seen = np.einsum("asi,is->as", self.phi[before], W)
        own = np.einsum("asi,as->ai", self.phi[before], seen)
        return self.P / (L * V**2) * ((self._C - self._E[before][:, None]) @ W.sum(axis=1) + own[:, None])

    def _mixed(self, W: Array, v: Array) -> Array:
        """d(A W - B)/dM at fixed W, shape (n V, n^2); its transpose / sigma2 is the mixed derivative of the action."""
        L, V, n = self.setup.L, self.setup.V, self.setup.L + self.setup.V
        T = np.zeros((n, V, n, n))                                     # axes i, o of W; rows k, columns j of M
        flat, before = self.phi.reshape(L * V, n), np.roll(np.arange(L), 1)
        read = flat @ W                                                # phi_bs^T W
        EW = self._E @ W
        unit = np.eye(V)
        turned = np.array([np.r_[:V, V + (np.arange(L) - a) % L] for a in range(L)])       # features seen from a
        # Where rotated queries read alike, to rounding, one of them stands for all.
        alike = all(np.abs(v[a] - v[0][:, turned[a]]).max() <= 1e-12 * np.abs(v).max() for a in range(L))
        for a in range(1 if alike else L):
            for t in range(V):
                C, u = self._C[a, t], v[a, t]
                CW = C @ W
                tau = np.einsum("ij,o->ioj", C, u @ CW) + np.einsum("i,jo->ioj", C @ u, CW)
                seen = 2 / V * (flat @ u)[:, None] * read
                seen[a * V : (a + 1) * V] = 0                           # the sum runs over keys b != a
                others = np.arange(L) != a
                tau += np.einsum("xi,xo,xj->ioj", flat, seen, flat, optimize=True)
                Eu = self._E @ u
                tau -= np.einsum("bij,bo->ioj", self._E[others], np.einsum("j,bjo->bo", u, EW[others]), optimize=True)
                tau -= np.einsum("bi,bjo->ioj", Eu[others], EW[others], optimize=True)
                tau /= L
                key = self.phi[before[a]]
                tau -= np.einsum("ij,o->ioj", C - self._E[before[a]], np.ones(V)) / V
                tau -= np.einsum("si,so,sj->ioj", key, unit, key) / V
                for b in range(L) if alike else [a]:
                    here = tau[turned[b]][:, :, turned[b]] if alike else tau
                    T[:, :, t] += here
                    T[:, :, V + b] += here
        return (self.P / (L * V) * T).reshape(n * V, n * n)

    def _readout(self, M: Array) -> tuple[Array, Array, Array]:
        A, B = self.moments(M)
        return B, self._solve(A, B), self._read(M)

    def _solve(self, A: Array, B: Array) -> Array:
        return cho_solve(cho_factor(A + self.setup.sigma2 / self.setup.g_O * np.eye(len(A))), B)

    def _value(self, M: Array, B: Array, W: Array) -> float:
        data = (self.P * self.setup.L - np.vdot(B, W)) / (2 * self.setup.sigma2)
        return float(data + np.vdot(M, M) / (2 * self.setup.g_W))


class PopulationHessian:
    """Hessian of ``PopulationAction`` at one M: ``apply`` and ``solve`` on arrays (..., n, n), n = V + L."""

    def __init__(self, setup: Setup, Q: Array, T: Array, A: Array) -> None:
        self.setup, self._Q, self._T = setup, Q, T
        self._N = setup.sigma2 * (A + setup.sigma2 / setup.g_O * np.eye(len(A)))       # acts on i of (i, o)

    def apply(self, D: Array) -> Array:
        """H D."""
        V, n = self.setup.V, self.setup.L + self.setup.V
        flat = D.reshape(-1, n, n)
        u = flat[:, None, :V] + flat[:, V:, None]
        pulled = np.einsum("atij,xatj->xati", self._Q, u, optimize=True)
        F = np.concatenate([pulled.sum(axis=1), pulled.sum(axis=2)], axis=1) + flat / self.setup.g_W
        W = (self._T @ flat.reshape(len(flat), -1).T).reshape(n, -1)
        follow = self._T.T @ np.linalg.solve(self._N, W).reshape(n * V, -1)
        return (F - follow.T.reshape(F.shape)).reshape(D.shape)

    def solve(self, D: Array) -> Array:
        """H^-1 D.  numpy.linalg.LinAlgError if H is singular; H need not be positive definite."""
        n = self.setup.L + self.setup.V
        flat = D.reshape(-1, n * n).T
        first = self._solve_F(flat)
        back, small = self._woodbury
        return (first + back @ np.linalg.solve(small, self._T @ first)).T.reshape(D.shape)

    @cached_property
    def _woodbury(self) -> tuple[Array, Array]:
        back = self._solve_F(self._T.T)
        return back, np.kron(self._N, np.eye(self.setup.V)) - self._T @ back

    @cached_property
    def _arrow(self) -> tuple[list[tuple[Array, bool]], Array, tuple[Array, bool]]:
        """F is an arrow: positions decouple once the V query tokens are split off."""
        V, n = self.setup.V, self.setup.L + self.setup.V
        unit = np.eye(n) / self.setup.g_W
        blocks = [cho_factor(unit + Q.sum(axis=0)) for Q in self._Q]
        coupled = np.array([cho_solve(block, np.concatenate(Q, axis=1)) for block, Q in zip(blocks, self._Q, strict=True)])
        tip = np.kron(np.eye(V), unit)
        for t in range(V):
            tip[t * n : (t + 1) * n, t * n : (t + 1) * n] += self._Q[:, t].sum(axis=0)
        for Q, part in zip(self._Q, coupled, strict=True):
            tip -= np.concatenate(Q, axis=0) @ part
        return blocks, coupled, cho_factor(tip)

    def _solve_F(self, flat: Array) -> Array:
        """F^-1 on columns, shape (n^2, k)."""
        V, n = self.setup.V, self.setup.L + self.setup.V
        blocks, coupled, tip = self._arrow
        token, place = flat[: V * n], flat[V * n :].reshape(len(blocks), n, -1)
        solved = np.array([cho_solve(block, part) for block, part in zip(blocks, place, strict=True)])
        for Q, part in zip(self._Q, solved, strict=True):
            token = token - np.concatenate(Q, axis=0) @ part
        token = cho_solve(tip, token)
        solved -= coupled @ token
        return np.concatenate([token, solved.reshape(len(blocks) * n, -1)])
