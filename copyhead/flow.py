"""Gradient flow of many heads and their readouts, on infinitely many fresh draws of the data.

With attention in coordinates x (see ``multi``) and the readout of head h equal to sum_k u_hk A_k, the network moves by

    dx/dt = -Q^-1 dS/dx,      dU/dt = -speed dS/dU,

where Q, the stiffness of the prior, is the length of a step in x measured in attention weights: this is plain gradient flow
on the weights of the network.  ``speed`` is how much faster the readouts learn than the attention.  With
readout="slaved" they are at every moment the best ones for the attention, the limit of infinite speed.

P / sigma2 says how much the data weigh against the prior.  As it goes to infinity the decay disappears and the flow is that
of the population loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from copyhead.multi import MultiAction, heads_on
from copyhead.validation import positive_number, real_array

Array = NDArray[np.float64]
Readout = Literal["explicit", "slaved"]


@dataclass(frozen=True)
class Trajectory:
    """A path of the flow; every array has one row for each time.

    ``time`` (n,); ``x`` coordinates (n, H, ...); ``weights`` attention at the lags (n, H, K); ``readout`` u, (n, H, K);
    ``loss`` squared error per token on fresh sequences, (n,).
    """

    time: Array
    x: Array
    weights: Array
    readout: Array
    loss: Array

    def stages(self) -> list[tuple[int, ...]]:
        """Heads on each lag, in order of appearance, repetitions left out."""
        seen = [heads_on(w) for w in self.weights]
        return [now for now, before in zip(seen, [None, *seen], strict=False) if now != before]


def flow(action: MultiAction, P: float, time: ArrayLike, *, x: ArrayLike, u: ArrayLike | None = None,
         readout: Readout = "explicit", speed: float = 1.0, tolerance: float = 1e-8) -> Trajectory:
    """Follow the gradient from the attention ``x`` and the readouts ``u`` (zero by default) to each of the ``time``.

    Parameters
    ----------
    action : MultiAction
        Its teacher's target must have no mean, so that the value maps are all that a readout has to learn.
    P : float
        Number of sequences.
    time : increasing positive numbers, shape (n,)
    x : shape ``action.shape``
    u : shape (H, K); not used by a slaved readout
    readout : "explicit" or "slaved"
    speed : float
        Of the explicit readout, relative to the attention.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range; RuntimeError where the integrator gives up.
    """
    P, speed, time = positive_number("P", P), positive_number("speed", speed), real_array("time", time, low=0.0)
    if readout not in ("explicit", "slaved"):
        raise ValueError(f"readout must be 'explicit' or 'slaved', got {readout!r}")
    if action.teacher.mean > 1e-12:
        raise ValueError(f"teacher must have no mean target, got one of squared length {action.teacher.mean:.3g}")
    if time.ndim != 1 or np.any(np.diff(time) <= 0):
        raise ValueError("time must be increasing numbers, shape (n,)")
    inverse, n = np.linalg.inv(action.stiffness), int(np.prod(action.shape))
    start = np.asarray(x, dtype=float).reshape(action.shape)
    first = np.zeros((action.heads, action.K)) if u is None else np.asarray(u, dtype=float).reshape(action.heads, action.K)

    def slaved(_: float, flat: Array) -> Array:
        return (-action.gradient(flat, P) @ inverse).ravel()

    def explicit(_: float, flat: Array) -> Array:
        _, dx, du = action.explicit(flat[:n].reshape(action.shape), flat[n:].reshape(first.shape), P)
        return np.concatenate([(-dx @ inverse).ravel(), (-speed * du).ravel()])

    rule, parts = (slaved, [start]) if readout == "slaved" else (explicit, [start, first])
    flat = np.concatenate([part.ravel() for part in parts])
    path = solve_ivp(rule, (0.0, time[-1]), flat, "LSODA", t_eval=time, rtol=tolerance, atol=1e-4 * tolerance)
    if not path.success:
        raise RuntimeError(f"the flow stopped at time {path.t[-1]:.4g}: {path.message}")
    xs = path.y[:n].T.reshape(-1, *action.shape)
    if readout == "explicit":
        us = path.y[n:].T.reshape(-1, *first.shape)
    else:
        us = np.array([action.readout(row, P) for row in xs])
    w = np.array([action.weights(row) for row in xs])
    return Trajectory(time, xs, w[:, :, 1:], us, np.array([_loss(action, *row) for row in zip(w, us, strict=True)]))


def _loss(action: MultiAction, w: Array, u: Array) -> float:
    t, N = action.overlaps(w)
    L, V, W = action.setup.L, action.setup.V, action.teacher.W
    return float((L * np.trace(W) - 2 * np.vdot(u @ W, t) + np.vdot(u @ W @ u.T, N)) / (L * V))
