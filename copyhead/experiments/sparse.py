"""Most probable networks whose target is a sum over several positions, on real random sequences.

``jump``     the P at which two states of a network have equal action, for patterns of one density s / L
``grown``    the P at which a tenth of the way to the pattern is made, for all densities and three scales of the target
``popular``  attention at several P where some keys are asked for more often than others
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from copyhead.fit import Search, descend
from copyhead.patterns import circulant, column_bias, random_regular, random_rows
from copyhead.reduced import ReducedAction, planted
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.sparse import PatternAction, RegularAction, target_scale
from copyhead.sweep import sweep
from copyhead.task import sequences
from copyhead.teacher import sparse_teacher

Array = NDArray[np.float64]
V, TOLERANCE = 5, 1e-2
PROGRESS = 0.1
LOST = 0.02                                              # two states whose shares differ by less are one
CASES = {"25, 1": (25, 1, "circulant"), "50, 2": (50, 2, "circulant"), "50, 2 random": (50, 2, "random"),
         "75, 3": (75, 3, "random")}                     # L, s and how the pattern is drawn
ROWS = (50, 2)                                           # L, s of ``popular``


class SparseNetwork:
    """A network on P sequences that learns the pattern R: its fits, and the attention that R gets in them."""

    def __init__(self, R: Array, P: int, seed: int, scale: float = 1.0) -> None:
        self.R, self.setup = R, Setup(len(R), V)
        tokens = sequences(len(R), V, P, seed)
        targets = sparse_teacher(V, R, scale).targets(tokens)
        self.action = ReducedAction(self.setup, "softmax", tokens, Y=targets)

    def fit(self, start: Array) -> Search:
        """The minimum downhill from weights of shape (V + L, V + L)."""
        return descend(self.action, start, TOLERANCE)

    def planted(self, U: Array) -> Array:
        """Weights with the logits U, shape (L, L)."""
        return planted(U - U.mean(axis=1, keepdims=True), V)

    def attention(self, M: Array) -> Array:
        """Mean attention over the sequences, shape (L, L)."""
        return np.asarray(self.action.attention(M).mean(axis=0))

    def share(self, M: Array) -> float:
        """Attention of a row on its ones of R, averaged over rows."""
        return float(np.vdot(self.attention(M), self.R) / len(self.R))


def jump(case: str, seed: int, attempts: int = 8) -> Mapping[str, Any]:
    """P of equal action on the data set ``seed``, and the shares of attention of both states there.

    Newton steps with the slope L (loss difference) / (2 sigma2), along states followed from one P to the next.  Where the
    copying state is lost, the search goes on at a larger P from the theory's states; all NaN if it never ends.
    """
    L, s, kind = CASES[case]
    R = circulant(L, range(1, s + 1)) if kind == "circulant" else random_regular(L, s, seed)
    theory, P = RegularAction(Setup(L, V), s), 270
    found: list[Array] = []
    for _ in range(attempts):
        network = SparseNetwork(R, P, seed)
        if not found:
            found = [network.planted(state.ell * R) for state in sorted(theory.minima(P), key=lambda state: state.ell)]
        fits = [network.fit(M) for M in found]
        found, shares = [fit.M for fit in fits], [network.share(fit.M) for fit in fits]
        if shares[1] - shares[0] < LOST:
            found, P = [], P + 4
            continue
        losses = [network.action.loss(M) for M in found]
        step = (fits[1].action - fits[0].action) / (L * (losses[0] - losses[1]) / (2 * network.setup.sigma2))
        if abs(step) < 0.7:
            return {"P": P + step, "step": step, "before": shares[0], "after": shares[1]}
        P += int(np.rint(step))
    return dict.fromkeys(("P", "step", "before", "after"), np.nan)


def grown(target: str, s: int, seed: int, L: int = 25) -> Mapping[str, Any]:
    """P at which the most probable attention on a random regular pattern has made ``PROGRESS``; for s without a jump.

    Found on one growing data set between 0.75 and 2 times the theory's P, to 1 % or one sequence, and interpolated; NaN if
    it is not there.
    """
    scale, R = target_scale(target, s), random_regular(L, s, seed)
    theory = RegularAction(Setup(L, V), s, scale)
    start = float(theory.gap(PROGRESS)) * R
    known: dict[int, float] = {}

    def ahead(x: float) -> float:
        """Progress beyond the wanted one at round(exp x) sequences."""
        n = round(np.exp(x))
        if n not in known:
            network = SparseNetwork(R, n, seed, scale)
            share = network.share(network.fit(network.planted(start)).M)
            known[n] = (share - s / L) / (1 - s / L) - PROGRESS
        return known[n]

    low, high = np.log([0.75, 2.0]) + np.log(theory.samples_for(PROGRESS))
    if not ahead(low) < 0 < ahead(high):
        return {"P": np.nan}
    brentq(ahead, low, high, xtol=5e-3)
    below, above = max(n for n in known if known[n] < 0), min(n for n in known if known[n] >= 0)
    return {"P": below + (above - below) * known[below] / (known[below] - known[above])}


def popular(P: int, seed: int) -> Mapping[str, Any]:
    """The lower of the fits from uniform attention and from the theory's best logits, with rows of R drawn by ``seed``."""
    L, s = ROWS
    R = random_rows(L, s, seed)
    network, theory = SparseNetwork(R, P, seed), PatternAction(Setup(L, V), R)
    ends = [theory.minimum(P, start)[0] for start in (np.zeros((L, L)), 3 * R)]
    best = min((network.fit(network.planted(U)) for U in (np.zeros((L, L)), *ends)), key=lambda fit: fit.action)
    return {"share": network.share(best.M), "bias": column_bias(network.attention(best.M), R), "action": best.action}


def full() -> Result:
    """Six data sets for the jump, four for the other two."""
    return _run(scratch("sparse"), cases=list(CASES), seeds=6, densities=(2, 4, 6, 8, 12, 16, 20), others=4,
                P=(100, 150, 200, 220, 235, 250, 265, 280, 320))


def quick() -> Result:
    """Two data sets, the shorter sequences, fewer densities: about half a minute."""
    return _run(None, cases=list(CASES)[:3], seeds=2, densities=(2, 8, 20), others=2, P=(150, 220, 280))


def _run(home: Path | None, *, cases: Sequence[str], seeds: int, densities: Sequence[int], others: int,
         P: Sequence[int]) -> Result:
    parts: dict[str, tuple[Any, dict[str, Any]]] = {
        "jump": (jump, dict(case=cases, seed=range(seeds))),
        "grown": (grown, dict(target=["sum", "unit norm", "mean"], s=densities, seed=range(others))),
        "popular": (popular, dict(P=P, seed=range(others))),
    }
    return join(**{name: sweep(function, axes, folder=home / name if home else None)
                   for name, (function, axes) in parts.items()})
