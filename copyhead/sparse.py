r"""Patterns with several ones in a row: the action of softmax attention that has to find them, and what their shape decides.

Target y^a = c sum_b R[a, b] x^b.

``RegularAction``  R has s ones in every row and every column.  Attention has the weight m at each of them and r elsewhere,
m / r = e^ell, and

    S = s (L - s) ell^2 / (2 g_W) + c^2 P (V - 1) / (2 V sigma2) [ L s - (L s m)^2 / (u^2 + lam) ] + mean target's term,
    u^2 = L [s m^2 + (L - s) r^2],   lam = V sigma2 / (g_O P).

Nothing but L, s and c of the pattern enters.  Written with the weight s m of a whole row it is (c s)^2 times the action of
one lag at the length L / s, which need not be a whole number, and with the variance c^2 g_W:

    S(L, s, c; ell, P; g_W) = (c s)^2 S(L / s, 1, 1; ell, P; c^2 g_W) + a constant.

``PatternAction``  R has s ones in every row, its columns are as they come.  Its argument is the whole L x L matrix of
logits, so nothing about the attention is assumed but that it does not depend on the tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction
from copyhead.transition import FirstOrderTransition
from copyhead.validation import positive_number, whole_number

Array = NDArray[np.float64]
TARGETS = {"sum": 0.0, "unit norm": -0.5, "mean": -1.0}            # c = s^power


def target_scale(target: str, s: int) -> float:
    """c of a named target: "sum" 1, "unit norm" 1/sqrt(s) (its centred variance does not depend on s), "mean" 1/s."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}")
    return float(whole_number("s", s, minimum=1) ** TARGETS[target])


@dataclass(frozen=True)
class RegularState:
    """A stationary state: logit gap ``ell``, weight ``m`` of one wanted position, ``share`` s m of the attention on all of
    them, ``progress`` from 0 (uniform attention) to 1 (all on the pattern), ``action``, and ``loss`` per token."""

    ell: float
    m: float
    share: float
    progress: float
    action: float
    loss: float


class RegularAction:
    """Action of one softmax head for a regular pattern, in the equivalent-kernel approximation, chi divided out.

    Parameters
    ----------
    setup : Setup
    s : int in 1..L-1
        Ones in a row and in a column.
    scale : float, positive
        c.
    """

    def __init__(self, setup: Setup, s: int, scale: float = 1.0) -> None:
        if whole_number("s", s, minimum=1) >= setup.L:
            raise ValueError(f"s must be an integer in 1..L - 1 = {setup.L - 1}, got {s}")
        self.setup, self.s, self.scale = setup, int(s), positive_number("scale", scale)
        self.ratio = setup.L / self.s
        self.factor = (self.s * self.scale) ** 2

    @cached_property
    def single(self) -> SoftmaxAction:
        """The action of one lag at the length L / s, to which this one is proportional."""
        setup = replace(self.setup, g_W=self.scale**2 * self.setup.g_W)
        object.__setattr__(setup, "L", self.ratio)                     # the formulas hold for real lengths
        action = SoftmaxAction(setup)
        action.stiffness = self.ratio - 1
        return action

    def weights(self, ell: ArrayLike) -> tuple[Array, Array]:
        """m and r at the logit gap ell; both have the shape of ell."""
        fall = np.exp(-np.asarray(ell, dtype=float))
        m = 1 / (self.s + (self.setup.L - self.s) * fall)
        return m, m * fall

    def progress(self, ell: ArrayLike) -> Array:
        """(s m - s/L) / (1 - s/L), which is 1 - L r."""
        return np.asarray(1 - self.setup.L * self.weights(ell)[1])

    def gap(self, progress: ArrayLike) -> Array:
        """The logit gap at a progress in [0, 1)."""
        r = (1 - np.asarray(progress, dtype=float)) / self.setup.L
        return np.asarray(np.log((1 - (self.setup.L - self.s) * r) / (self.s * r)))

    def action(self, ell: ArrayLike, P: ArrayLike) -> Array:
        """S(ell; P) with every term, by the formula above; broadcasts."""
        setup, P = self.setup, np.asarray(P, dtype=float)
        L, s, V = setup.L, self.s, setup.V
        m, r = self.weights(ell)
        u2 = L * (s * m**2 + (L - s) * r**2)
        gain = (L * s * m) ** 2 / (u2 + V * setup.sigma2 / (setup.g_O * P))
        prior = s * (L - s) * np.asarray(ell, dtype=float) ** 2 / (2 * setup.g_W)
        data = self.scale**2 * (V - 1) * P / (2 * V * setup.sigma2) * (L * s - gain)
        return np.asarray(prior + data + self._mean(P))

    def loss(self, ell: ArrayLike, P: ArrayLike) -> Array:
        """Squared error per token, 2 sigma2 / L times dS/dP.  Zero output has c^2 s (V - 1 + s) / V."""
        setup, P = self.setup, np.asarray(P, dtype=float)
        L, s, V = setup.L, self.s, setup.V
        m, r = self.weights(ell)
        u2 = L * (s * m**2 + (L - s) * r**2)
        readout = L * s * m / (u2 + V * setup.sigma2 / (setup.g_O * P))
        kept = 1 + setup.g_O * P * (L / V + 1) / setup.sigma2
        tokens = (V - 1) / (V * L) * (L * s - 2 * readout * L * s * m + readout**2 * u2)
        return np.asarray(self.scale**2 * (tokens + s**2 / (V * kept**2)))

    def _mean(self, P: Array) -> Array:
        """The part of the targets that is the same for all sequences."""
        setup = self.setup
        shared = setup.sigma2 + setup.g_O * P * (setup.L / setup.V + 1)
        return np.asarray(P * setup.L * self.factor / (2 * setup.V * shared))

    # --- states ----------------------------------------------------------------------------------------------------

    def minima(self, P: float) -> list[RegularState]:
        """All local minima in ell at one P, by action."""
        return [self._state(state.ell, P) for state in self.single.minima(P)]

    def minimum(self, P: float) -> RegularState:
        """The lowest minimum in ell at one P."""
        return self.minima(P)[0]

    def first_order_transition(self) -> FirstOrderTransition | None:
        """The jump, with ``RegularState`` on both sides; None where the change is smooth."""
        found = self.single.first_order_transition()
        if found is None:
            return None
        uniform, copy = (self._state(state.ell, found.P) for state in (found.uniform, found.copy))
        return replace(found, uniform=uniform, copy=copy, barrier=self.factor * found.barrier,
                       loss_jump=uniform.loss - copy.loss)

    def samples_for(self, progress: float) -> float:
        """The smallest P at which the lowest minimum has at least this progress, in (0, 1).

        Where the progress is passed in the jump, that is the P of the jump.
        """
        if not 0 < progress < 1:
            raise ValueError(f"progress must be in (0, 1), got {progress!r}")
        setup, ell = self.single.setup, float(self.gap(progress))
        jump = self.single.first_order_transition()
        if jump and jump.uniform.ell < ell <= jump.copy.ell:
            return jump.P
        log_q = self.single._curve(np.array([np.log(ell)]))[0][0]        # the curve of stationary states
        return float(setup.sigma2 / setup.g_O * np.exp(log_q))

    def _state(self, ell: float | Array, P: float) -> RegularState:
        m, values = self.weights(ell)[0], (self.progress(ell), self.action(ell, P), self.loss(ell, P))
        return RegularState(float(ell), float(m), float(self.s * m), *(float(x) for x in values))


class PatternAction:
    """Action of one softmax head with constant attention, for any pattern whose rows have the same sum.

    The prior of logits U, with U_c for U minus the mean of each row, is that of the cheapest weights that make them,
    [ |U_c|^2 - |column sums of U_c|^2 / (L + V) ] / (2 g_W).  Logits that are the same in all rows, a bias of the keys, cost
    only V / (L + V) of what their entries would.  The mean target's term is left at its value for keys without bias.

    Parameters
    ----------
    setup : Setup
    R : array of zeros and ones, shape (L, L)
    scale : float, positive
    """

    def __init__(self, setup: Setup, R: ArrayLike, scale: float = 1.0) -> None:
        self.R, L = np.asarray(R, dtype=float), setup.L
        if self.R.shape != (L, L) or not np.isin(self.R, (0, 1)).all():
            raise ValueError(f"R must hold zeros and ones in the shape {(L, L)}, got shape {self.R.shape}")
        rows = self.R.sum(axis=1)
        if np.ptp(rows) or not 0 < rows[0] < L:
            raise ValueError(f"R must have the same number of ones, 1..{L - 1}, in every row, "
                             f"got {rows.min():g}..{rows.max():g}")
        self.setup, self.regular = setup, RegularAction(setup, int(rows[0]), scale)

    def attention(self, U: Array) -> Array:
        """Softmax of every row of the logits U, shape (L, L)."""
        e = np.exp(U - U.max(axis=1, keepdims=True))
        return np.asarray(e / e.sum(axis=1, keepdims=True))

    def action_and_gradient(self, U: ArrayLike, P: float) -> tuple[float, Array]:
        """S(U; P) with every term, and dS/dU of shape (L, L)."""
        setup, c2 = self.setup, self.regular.scale**2
        U = np.asarray(U, dtype=float)
        G = self.attention(U)
        t, ridged = np.vdot(G, self.R), np.vdot(G, G) + setup.V * setup.sigma2 / (setup.g_O * P)
        strength = c2 * P * (setup.V - 1) / (2 * setup.V * setup.sigma2)
        slope = 2 * strength * (t**2 / ridged**2 * G - t / ridged * self.R)
        slope = G * (slope - np.sum(G * slope, axis=1, keepdims=True))
        centred = U - U.mean(axis=1, keepdims=True)
        stiff = centred - centred.sum(axis=0) / (setup.L + setup.V)      # still sums to zero in every row
        S = np.vdot(centred, stiff) / (2 * setup.g_W) + strength * (self.R.sum() - t**2 / ridged)
        return float(S + self.regular._mean(np.asarray(P))), slope + stiff / setup.g_W

    def minimum(self, P: float, start: ArrayLike | None = None) -> tuple[Array, float]:
        """Logits (rows sum to zero) and action of the minimum downhill from ``start``, by default from zero."""
        P, L = positive_number("P", P), self.setup.L
        U = np.zeros((L, L)) if start is None else np.asarray(start, dtype=float)

        def objective(flat: Array) -> tuple[float, Array]:
            S, slope = self.action_and_gradient(flat.reshape(L, L), P)
            return S, slope.ravel()

        found = minimize(objective, U.ravel(), jac=True, method="L-BFGS-B",
                         options=dict(gtol=1e-7, ftol=0.0, maxcor=30, maxiter=3000, maxfun=3000))
        U = found.x.reshape(L, L)
        return np.asarray(U - U.mean(axis=1, keepdims=True)), float(found.fun)
