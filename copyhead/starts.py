"""Where a fit begins: one start in each basin, with the scale taken from the data.

Softmax attention has a uniform state and, at larger P, a copy state; linear attention has the pooled state (attention
to all positions) and the copy state, which at some (L, V) coexist too.  Each start is a matrix M of smallest norm
whose attention lies in span{J, G*}; nothing here uses a predicted value of an order parameter.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from copyhead.patterns import G_star, J, pattern
from copyhead.reduced import ReducedAction, planted

Matrix = NDArray[np.float64]


def uniform_start(action: ReducedAction) -> Matrix:
    """M = 0 for softmax (uniform attention); for linear the best multiple of J."""
    L, V = action.setup.L, action.setup.V
    if action.attention_kind == "softmax":
        return np.zeros((V + L, V + L))
    return ray_minimum(action, planted(J(L), V))


def copy_start(action: ReducedAction) -> Matrix:
    """An M that copies: the best multiple of c1 = c_G for linear; for softmax the logit gap of ``copy_gap``."""
    L, V = action.setup.L, action.setup.V
    if action.attention_kind == "softmax":
        return copying(action, copy_gap(action))
    return ray_minimum(action, planted(L * pattern(1.0, 1.0, L), V))


def copying(action: ReducedAction, gap: float) -> Matrix:
    """The M of smallest norm whose logits exceed all others by ``gap`` at the position to copy."""
    L = action.setup.L
    return planted(gap * (G_star(L) - J(L) / L), action.setup.V)


def copy_gap(action: ReducedAction, points: int = 64) -> float:
    """Logit gap ell of the copy state among attention matrices in span{J, G*}, for these data; softmax attention.

    A start at a fixed large gap is unsafe: the prior pulls so hard that the first steps of a search can jump over the
    copy basin.  So the action is scanned along ell first.  Its last local minimum behind an inflection is the copy
    state.  Where the scan has only the inflection, the copy state may still exist for attention outside the span, close
    by, and the inflection is returned.  Without one (small L) there is a single state, and its gap is returned.
    """
    return state_gaps(action, points)[-1]


def state_gaps(action: ReducedAction, points: int = 64) -> list[float]:
    """Logit gaps from which a search covers every state that the scan of ``copy_gap`` shows, in increasing order.

    They are ``[copy_gap]``, and before it 0.0 if the scan rises anywhere between zero and there: only then can a search
    from uniform attention end somewhere else.
    """
    ell, S = _scan(action, points)
    slope = np.diff(S)
    inflections = [i for i in range(1, points - 2) if slope[i - 1] > slope[i] <= slope[i + 1]]
    if not inflections:
        return [float(ell[np.argmin(S)])]
    copy = next(i for i in range(inflections[-1], points - 1) if slope[i] > 0)      # the inflection or a minimum
    return ([0.0] if (slope[:copy] > 0).any() else []) + [float(ell[copy])]


def _scan(action: ReducedAction, points: int) -> tuple[Matrix, Matrix]:
    """Logit gaps from zero to where the prior alone exceeds S(0), and the action there; both of shape (points,)."""
    setup = action.setup
    L, n, P = setup.L, setup.L + setup.V, len(action.tokens)
    patterns = (np.broadcast_to(G.astype(action.dtype), (P, L, L)) for G in (J(L) / L, G_star(L)))
    bases = np.concatenate([action.features(G) for G in patterns], axis=1)
    A, B = action.normal_equations(bases)
    ridge = setup.sigma2 / setup.g_O * np.eye(n)

    def scanned(ell: Matrix) -> Matrix:
        copied = (np.exp(ell) - 1) / (L - 1 + np.exp(ell))                      # weight of G* in the attention
        w = np.stack([1 - copied, copied], axis=1)
        a = np.einsum("si,sj,iajb->sab", w, w, A.reshape(2, n, 2, n), optimize=True) + ridge
        b = np.tensordot(w, B.reshape(2, n, -1), axes=1)
        fit = (b * np.linalg.solve(a, b)).sum(axis=(1, 2))
        return (P * L - fit) / (2 * setup.sigma2) + (L - 1) * ell**2 / (2 * setup.g_W)

    ell = np.linspace(0, np.sqrt(2 * setup.g_W * scanned(np.zeros(1))[0] / (L - 1)), points)
    return ell, scanned(ell)


def ray_minimum(action: ReducedAction, M: Matrix) -> Matrix:
    """The multiple t M, t >= 0, of smallest action; linear attention only.

    Along the ray the attention is t G, so A = t^2 A_1 and B = t B_1.  With A_1 = sum_i a_i v_i v_i^T, b_i = |v_i^T B_1|
    and x = t^2,

        S = const - sum_i x b_i^2 / (x a_i + lam) / (2 sigma2) + x ||M||^2 / (2 g_W),

    and each term is convex in x.  There is one minimum, and it is x = 0 when the slope there is not negative.
    """
    setup = action.setup
    A, B = action.normal_equations(action.features(action.attention(M)))
    a, v = np.linalg.eigh(A)
    a, b2 = np.maximum(a, 0.0), ((v.T @ B) ** 2).sum(axis=1)
    lam, cost = setup.sigma2 / setup.g_O, np.vdot(M, M) / setup.g_W

    def slope(x: float) -> float:                                          # 2 dS/dx
        return float(cost - (b2 * lam / (x * a + lam) ** 2).sum() / setup.sigma2)

    if slope(0.0) >= 0:
        return np.zeros_like(M)
    upper = 1.0
    while slope(upper) < 0:
        upper *= 4
    return np.sqrt(brentq(slope, 0.0, upper, xtol=1e-300)) * M


def softest_mode(action: ReducedAction) -> tuple[float, Matrix]:
    """Whether zero linear attention is stable on these data: (s, M) with zero stable if and only if s <= 1.

    To second order in M the action is S(0) + ||M||^2 / (2 g_W) - g_O ||B(M)||^2 / (2 sigma2^2), where B = Psi^T Y is
    linear in M.  So s = sqrt(g_O g_W) / sigma2 times the largest singular value of M -> B(M), and M is its singular
    vector.  Because S is convex in t^2 on every ray t M, stability of zero makes it the *global* minimum.
    """
    setup, tokens = action.setup, action.tokens
    n, V = setup.L + setup.V, setup.V
    Phi = action.features(np.broadcast_to(np.eye(setup.L), (len(tokens), setup.L, setup.L))).reshape(len(tokens), -1, n)
    Phi = Phi.astype(np.float64, copy=False)
    F = (Phi.transpose(0, 2, 1) @ Phi).reshape(len(tokens), -1)                       # Phi^T Phi, symmetric
    H = (np.roll(Phi[..., :V], 1, axis=1).transpose(0, 2, 1) @ Phi).reshape(len(tokens), -1)   # Y^T Phi
    # B(M) = sum_alpha F M^T H^T / L, as a matrix from the entries (k, j) of M to the entries (v, i) of B.
    T = (F.T @ H / setup.L).reshape(n, n, V, n).transpose(3, 1, 2, 0).reshape(n * n, V * n)
    values, vectors = np.linalg.eigh(T.T @ T)
    largest = np.sqrt(max(values[-1], 0.0))
    scale = np.sqrt(setup.g_O * setup.g_W) / setup.sigma2
    return float(scale * largest), cast(Matrix, (T @ vectors[:, -1]).reshape(n, n))


def wrong_sign_tokens(M: Matrix, V: int) -> NDArray[np.intp]:
    """Key tokens whose column of M has the opposite sign to the position keys; linear attention.

    Reversing the column of M that belongs to key token t, together with row t of the readout, leaves the output of the
    token keys unchanged; only the position keys (a share V / (L + V) of the pooled amplitude) notice.  The action then
    has up to 2^(V-1) local minima that differ in these signs, and the lowest has them all equal.  The sign of a key is
    read from its mean attention over queries.
    """
    n = len(M)
    query = np.concatenate([np.full(V, 1 / V), np.full(n - V, 1 / (n - V))])        # the mean of a row of Phi
    column = query @ M
    return np.flatnonzero(column[:V] * column[V:].mean() < 0)
