"""All four order parameters of fitted networks, on data sets large enough to tell the complete theory from the paper's.

Two sweeps, joined:

``fits``   fits of all 900 weights at the paper's P / sigma2, with ``times`` the paper's sequences and noise variance
``onset``  the P at which zero linear attention becomes unstable, measured on P sequences
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.complete import same_token_logits
from copyhead.complete_linear import CompleteLinearAction
from copyhead.fit import fit_map
from copyhead.patterns import G_star, coverage, order_parameters
from copyhead.population import PopulationAction
from copyhead.preconditioned import ChunkedAction, descend_preconditioned
from copyhead.reduced import Attention, Floats, ReducedAction
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.starts import softest_mode
from copyhead.sweep import sweep
from copyhead.task import sequences

SETUP = Setup(25, 5)
BOTH: tuple[Attention, Attention] = ("linear", "softmax")
GRID = (60, 120, 210, 300, 400, 500, 600, 800)                 # the paper's P; the softmax transition lies between


def fitted(attention: Attention, P: int, times: int, seed: int) -> Mapping[str, Any]:
    """One fit at the paper's P / sigma2 to ``times`` P sequences: all order parameters, action, loss, coverage.

    The shares are averages over the first 1,000 sequences.

    two: the share of the attention that two patterns account for, ``patterns.coverage``.  four: 1 - mean |G - G_4|^2 /
    mean |G|^2, where G_4 is the attention of the symmetric part of M.
    """
    setup = Setup(SETUP.L, SETUP.V, times * SETUP.sigma2)
    fit = fit_map(setup, attention, times * P, seed, fast=True)
    M, value, mean = fit.M, fit.action, fit.attention
    if attention == "linear":
        M, value, mean = _tightened(setup, times * P, seed, M)
    tau, kappa = same_token_logits(M, setup.V)
    action = ReducedAction(setup, attention, sequences(setup.L, setup.V, times * P, seed)[:1000])
    G, symmetric = action.attention(M), action.attention(symmetric_part(M, setup.V))
    c1, c_G = order_parameters(mean)
    return {"c1": float(c1), "c_G": float(c_G), "tau": tau, "kappa": kappa, "action": value, "loss": fit.loss,
            "two": coverage(G), "four": float(1 - np.sum((G - symmetric) ** 2) / np.sum(G**2))}


def _tightened(setup: Setup, P: int, seed: int, M: Floats) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
    """M, action and mean attention at the end of the descent that a fast fit breaks off: kappa is soft, and 0.006 short."""
    theory = CompleteLinearAction(setup)
    hessian = PopulationAction(setup, P).hessian(theory.weights(theory.minimum(float(P))))
    action = ChunkedAction(setup, sequences(setup.L, setup.V, P, seed))
    end = descend_preconditioned(action, np.asarray(M), hessian, tolerance=1e-6)
    return end.M, end.action, action.attention(end.M)


def symmetric_part(M: Floats, V: int) -> NDArray[np.float64]:
    """Mean of M over renamings of tokens, rotations of positions, and the offsets that exchangeability makes alike."""
    L = len(M) - V
    mean = np.empty(M.shape)
    off = (M[:V, :V].sum() - np.trace(M[:V, :V])) / (V * (V - 1))
    mean[:V, :V] = off + (np.trace(M[:V, :V]) / V - off) * np.eye(V)
    mean[:V, V:], mean[V:, :V] = M[:V, V:].mean(), M[V:, :V].mean()
    for kind in (np.eye(L), G_star(L), 1 - np.eye(L) - G_star(L)):
        mean[V:, V:][kind == 1] = (kind * M[V:, V:]).sum() / kind.sum()
    return mean


def onset(P: int, seed: int) -> Mapping[str, Any]:
    """critical_P as P sequences see it: the P at which as many copies of them would make zero attention unstable."""
    action = ReducedAction(SETUP, "linear", sequences(SETUP.L, SETUP.V, P, seed))
    return {"P_c": P / softest_mode(action)[0]}


def full() -> Result:
    """Six data sets, 4 and 16 times the paper's size."""
    return _run(scratch("same_token"), GRID, (4, 16), range(6), (1000, 2000, 4000, 8000, 16000))


def quick() -> Result:
    """Two data sets, 1 and 4 times the paper's size: half a minute."""
    return _run(None, GRID[::2], (1, 4), range(2), (1000, 2000))


def _run(home: Path | None, grid: Sequence[int], times: Sequence[int], seeds: Sequence[int], sizes: Sequence[int]) -> Result:
    parts: dict[str, tuple[Any, dict[str, Any]]] = {
        "fits": (fitted, dict(attention=BOTH, P=grid, times=times, seed=seeds)),
        "onset": (onset, dict(P=sizes, seed=seeds)),
    }
    return join(**{name: sweep(function, axes, folder=home / name if home else None)
                   for name, (function, axes) in parts.items()})
