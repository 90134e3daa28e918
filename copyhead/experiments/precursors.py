"""Can a transition be seen coming?  Fluctuations before the two transitions, and what decides when softmax jumps.

Sweeps, joined; one growing data set (seed 0) unless said:

``mode``      linear attention around its second-order point: Landau coefficients and the delay of each data set
``onset``     the same sampled, at growing chi
``before``    softmax in its uniform state while P grows; and at L = 14, where nothing will jump
``response``  the Hessians of both softmax states at the minimum of the action: susceptibility, softest mode, width
``umbrella``  free energy of a_G at chi = 30 at one P, and by reweighting at its neighbours: L = 25 and L = 18
``hopping``   free chains at L = 18
``loop``      softmax at L = 25 and chi = 30, taken up and down in P
``flow``      gradient flow from uniform attention on many small data sets, some of which will copy and some will not
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.coexistence import equal_action
from copyhead.diagnostics import Samples
from copyhead.fit import fit_map
from copyhead.patterns import pattern
from copyhead.posterior import ReducedPosterior
from copyhead.reduced import ReducedAction, planted
from copyhead.results import Result, join, scratch
from copyhead.sampling import sample
from copyhead.setup import Setup
from copyhead.soft_mode import soft_mode
from copyhead.susceptibility import Fluctuations, numerical_hessian
from copyhead.sweep import cell_seed, sweep
from copyhead.task import sequences
from copyhead.umbrella import SpringPosterior, windows

Array = NDArray[np.float64]
SETUP, CHI = Setup(25, 5), 30.0
# L: P of the umbrella run, its neighbours, the first and the last centre, number of windows, spring
UMBRELLA = {25: (298, (286, 292, 304, 310), 0.03, 0.97, 14, 1000.0), 18: (256, (248, 252, 260, 264), 0.08, 0.84, 10, 600.0)}
LOOP = tuple(range(282, 319, 3))
PER_POINT = 40                                     # trajectories of the loop at each P
SMALL, FLOW_STEP, FLOW_EVERY = 100, 0.05, 10       # sequences, step and record of ``flow``


def summary(samples: Samples, *names: str) -> dict[str, Any]:
    """mean_x, sd_x, error_x, rhat_x, ess_x, and the error of the variance of each named observable x."""
    found: dict[str, Any] = {}
    for x in names:
        spread = (samples.draws[x] - samples.mean(x)) ** 2
        squares = Samples({x: spread, "potential": spread}, samples.last, samples.method, samples.step, samples.acceptance,
                          samples.divergences, samples.gradients)
        found |= samples.summary(x)
        found[f"error_variance_{x}"] = squares.standard_error(x)
    return found


def mode(P: int, seed: int) -> Mapping[str, Any]:
    """Landau coefficients, delay ("kappa" is its zeta) and stiffness of the soft mode; the five softest modes across it."""
    found = soft_mode(ReducedAction(SETUP, "linear", sequences(25, 5, P, seed)))
    return {"r": found.r, "u": found.u, "kappa": found.zeta, "c1": found.c1, "background": found.background,
            "stiffness": found.stiffness[:5]}


def onset(P: int, chi: float, draws: int) -> Mapping[str, Any]:
    """c1 and its square at one P and chi, from zero and from pooling."""
    posterior = ReducedPosterior(SETUP, "linear", sequences(25, 5, P, 0), chi, np.float32)

    def observe(M: Array) -> dict[str, float]:
        c1 = posterior.observe(M)["c1"]
        return {"c1": c1, "square": c1**2}

    starts = [np.zeros((30, 30)), planted(25 * pattern(0.2, 0.0, 25), 5)]
    number = cell_seed(part="onset", P=P, chi=chi)
    samples = sample(posterior, starts, observe=observe, draws=draws, tune=120, seed=number, progress=False)
    return summary(samples, "c1", "square")


def before(L: int, share: float, draws: int) -> Mapping[str, Any]:
    """Softmax sampled from M = 0 at ``share`` of 300 (L = 25) or of 240 (L = 14); draws of a_G and of the loss are kept."""
    P = round(share * {25: 300, 14: 240}[L])
    posterior = SpringPosterior(Setup(L, 5), sequences(L, 5, P, 0), CHI, 1e-12, dtype=np.float32)

    def observe(M: Array) -> dict[str, float]:
        Z = posterior._forward(M)
        return {"a_G": posterior._a_G(Z), "loss": posterior._loss(Z)}

    samples = sample(posterior, [np.zeros((L + 5, L + 5))] * 2, observe=observe, draws=draws, tune=80,
                     seed=cell_seed(part="before", P=P, L=L), progress=False)
    kept = {f"kept_{x}": samples.draws[x].astype(np.float32) for x in ("a_G", "loss")}
    return {"P": P, **summary(samples, "a_G", "loss"), **kept}


def response(P: int, state: str) -> Mapping[str, Any]:
    """One softmax state at the minimum of the action: NaN where the start leads to the other one."""
    fit = fit_map(SETUP, "softmax", P, 0, start=state)
    names = ("a_G", "loss", "action", "half_log_determinant", "S_1", "softest", "susceptibility")
    if (fit.a_G > 0.35) != (state == "copy"):
        return dict.fromkeys(names, np.nan)
    posterior = SpringPosterior(SETUP, sequences(25, 5, P, 0), 1.0, 1.0, fit.a_G - 1.0)
    well = Fluctuations(numerical_hessian(lambda M: posterior.value_and_gradient(M)[1], fit.M))
    unbiased = ReducedPosterior(SETUP, "softmax", posterior.tokens, 1.0)
    slope = posterior(fit.M)[1] - unbiased(fit.M)[1]            # of spring/2 (a_G - centre)^2 at distance one
    S_1 = unbiased.potential(fit.M) - fit.action
    return dict(zip(names, (fit.a_G, fit.loss, fit.action, well.half_log_determinant, S_1, well.softest,
                            well.susceptibility(slope)), strict=True))


def umbrella(L: int, draws: int, count: int | None = None) -> Mapping[str, Any]:
    """Windows at one P: mean a_G with its error, R-hat and ESS, the draws, and ``shift``, U at the neighbouring P minus U.

    Shapes: (windows,), kept (windows, chains, draws), shift (others, windows, chains, draws).  ``map_P`` is the P of equal
    action of the same data set (L = 25).
    """
    P, others, first, last, number, spring = UMBRELLA[L]
    setup, tokens = Setup(L, 5), sequences(L, 5, max(P, *others), 0)
    posterior = SpringPosterior(setup, tokens[:P], CHI, spring, dtype=np.float32)
    neighbours = {p: ReducedPosterior(setup, "softmax", tokens[:p], CHI, np.float32) for p in (P, *others)}

    def observe(M: Array) -> dict[str, float]:
        U = {p: neighbour.potential(M) for p, neighbour in neighbours.items()}
        return {f"U{p}": U[p] - U[P] for p in others} | {"loss": neighbours[P].loss(M)}

    low, high = (fit_map(setup, "softmax", P, 0, start=name, fast=True).M for name in ("uniform", "copy"))
    centres = np.linspace(first, last, count or number)
    found = windows(posterior, centres, (low, high), draws=draws, tune=50, seed=cell_seed(part="umbrella", L=L),
                    observe=observe)
    shifts = np.array([[run.draws[f"U{p}"] for run in found] for p in others])              # (P, window, chain, draw)
    return {"P": P, "others": np.array(others), "spring": spring, "centre": centres,
            "map_P": equal_action(setup, 0, 269).P if L == 25 else np.nan,
            "mean": np.array([run.mean("a_G") for run in found]), "loss": np.array([run.mean("loss") for run in found]),
            "error": np.array([run.standard_error("a_G") for run in found]),
            "rhat": np.array([run.rhat["a_G"] for run in found]), "ess": np.array([run.ess["a_G"] for run in found]),
            "kept": np.array([run.draws["a_G"] for run in found], np.float32), "shift": shifts.astype(np.float32)}


def hopping(P: int, chain: int, draws: int) -> Mapping[str, Any]:
    """One free chain at L = 18, begun in the uniform (even ``chain``) or the copy state; all its a_G."""
    setup = Setup(18, 5)
    posterior = SpringPosterior(setup, sequences(18, 5, P, 0), CHI, 1e-12, dtype=np.float32)
    start = np.zeros((23, 23)) if chain % 2 == 0 else fit_map(setup, "softmax", P, 0, start="copy", fast=True).M
    samples = sample(posterior, [start], observe=_only_a_G(posterior), draws=draws, tune=80,
                     seed=cell_seed(part="hopping", chain=chain, P=P), progress=False)
    return {"a_G": samples.draws["a_G"][0].astype(np.float32), "step": samples.step[0]}


def loop(way: str, per_point: int, values: tuple[int, ...]) -> Mapping[str, Any]:
    """a_G of every trajectory while P goes through ``values``, up from the uniform or down from the copy state."""
    values = values if way == "up" else values[::-1]
    M = np.zeros((30, 30)) if way == "up" else fit_map(SETUP, "softmax", values[0], 0, start="copy", fast=True).M
    record, step = np.empty((len(values), per_point), np.float32), None
    for i, P in enumerate(values):
        posterior = SpringPosterior(SETUP, sequences(25, 5, P, 0), CHI, 1e-12, dtype=np.float32)
        run = sample(posterior, [M], observe=_only_a_G(posterior), draws=per_point, step=step,
                     tune=0 if step else 80, seed=cell_seed(part="loop", P=P, way=way), progress=False)
        M, step, record[i] = run.last[0], float(run.step[0]) if step is None else step, run.draws["a_G"][0]
    return {"P": np.array(values), "a_G": record, "step": step}


def _only_a_G(posterior: SpringPosterior) -> Callable[[Array], Mapping[str, float]]:
    return lambda M: {"a_G": posterior.a_G(M)}


def flow(scaled: float, seed: int, steps: int) -> Mapping[str, Any]:
    """Gradient descent on S(M) from M = 0 with ``SMALL`` sequences at P / sigma2 = ``scaled``: a_G and loss on the way."""
    posterior = SpringPosterior(Setup(25, 5, SMALL / scaled), sequences(25, 5, SMALL, seed), 1.0, 1.0, dtype=np.float32)
    M, record = np.zeros((30, 30)), []
    for step in range(steps + 1):
        if step % FLOW_EVERY == 0:
            Z = posterior._forward(M)
            record.append((posterior._a_G(Z), posterior._loss(Z)))
        M = M - FLOW_STEP * posterior.value_and_gradient(M)[1]
    a_G, loss = np.array(record, np.float32).T
    return {"a_G": a_G, "loss": loss}


def experiment(*, P: tuple[int, ...], onset_P: tuple[int, ...], chis: tuple[float, ...], shares: tuple[float, ...],
               hessians: tuple[int, ...], lengths: tuple[int, ...], draws: int, windows: int | None, chains: int,
               seeds: int, keep: bool) -> Result:
    """All sweeps; ``draws`` of the shortest chains, the others are multiples of it."""
    parts: dict[str, tuple[Any, dict[str, Any]]] = {
        "mode": (mode, {"P": P, "seed": range(4)}),
        "onset": (partial(onset, draws=3 * draws), {"chi": chis, "P": onset_P}),
        "before": (partial(before, draws=3 * draws // 2), {"L": (25, 14), "share": shares}),
        "response": (response, {"state": ("uniform", "copy"), "P": hessians}),
        **{f"umbrella{L}": (partial(umbrella, draws=draws, count=windows), {"L": (L,)}) for L in lengths},
        "hopping": (partial(hopping, draws=8 * draws), {"P": (UMBRELLA[18][0],), "chain": range(chains)}),
        "loop": (partial(loop, per_point=PER_POINT, values=LOOP) if keep else partial(loop, per_point=4, values=LOOP[::6]),
                 {"way": ("up", "down")}),
        "flow": (partial(flow, steps=2000 if keep else 400), {"scaled": (9.4,), "seed": range(seeds)}),
    }
    return join(**{name: sweep(function, axes, folder=scratch("precursors") / name if keep else None)
                   for name, (function, axes) in parts.items()})


def quick() -> Result:
    """A few points of everything: under a minute."""
    return experiment(P=(15, 21), onset_P=(15, 30), chis=(30.0, 300.0), shares=(0.5, 0.8), hessians=(262,), lengths=(18,),
                      draws=12, windows=5, chains=2, seeds=4, keep=False)


def full() -> Result:
    """All points: a quarter of an hour of CPU time."""
    return experiment(P=(10, 15, 18, 19, 20, 21, 22, 23, 24), onset_P=(10, 15, 18, 20, 22, 24, 26, 30, 36, 44),
                      chis=(30.0, 100.0, 300.0, 1000.0), shares=(0.4, 0.6, 0.75, 0.85, 0.92, 0.96, 1.0),
                      hessians=(150, 200, 240, 262, 268, 274, 280, 284), lengths=(25, 18), draws=120, windows=None, chains=4,
                      seeds=48, keep=True)
