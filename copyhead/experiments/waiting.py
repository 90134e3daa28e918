"""When does a network begin to copy?  The same network, timed with and without noise.

Langevin dynamics of the attention weights M, the readout integrated out, in units of time in which the prior alone decays
as e^-t, at temperature 1 / chi:

    dM = -grad U / chi dt + sqrt(2 / chi) dB,      M(0) drawn from the prior.

The step uses the mean of two successive noises, which leaves no bias in a harmonic well (Leimkuhler and Matthews, 2013).
Sweeps, joined; L = 20, one data set (seed 0) unless said:

``wait``      many noises at several P and chi = 30, until m passes the last threshold or the horizon
``step``      one of these P with half the step
``heat``      many noises at one P and growing chi
``rest``      the uniform state alone: how a_G settles after the start
``umbrella``  free energy of a_G at one P and, by reweighting, at its neighbours
``seeds``     no noise: Adam and gradient descent from random starts, one data set for each seed
``batch``     gradient descent whose only noise is the choice of a minibatch; the readout still fits all data
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from copyhead.barrier import Profile
from copyhead.events import first_passage
from copyhead.fit import fit_map
from copyhead.posterior import ReducedPosterior
from copyhead.reduced import Floats, ReducedAction
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.sweep import cell_seed, sweep
from copyhead.task import sequences
from copyhead.umbrella import SpringPosterior, free_energy, windows

Array = NDArray[np.float64]
L, CHI, STEP = 20, 30.0, 0.1
SETUP, SIZE = Setup(L, 5), (25, 25)
THRESHOLDS = (0.10, 0.12, 0.14, 0.16)              # of m; 1 / L = 0.05 is uniform attention
BINS = np.linspace(-0.05, 0.6, 14)                 # of a_G, for its diffusion constant
KEPT = 24                                          # times at which a_G is stored, one unit apart
UMBRELLA_P, OTHERS = 270, (262, 266, 274, 278, 284)


def copy_weight(a_G: Any) -> Any:
    """m of a_G."""
    return (1 + (L - 1) / np.sqrt(L) * a_G) / L


def order_parameter(m: Any) -> Any:
    """a_G of m."""
    return (L * m - 1) * np.sqrt(L) / (L - 1)


class Watched(SpringPosterior):
    """A posterior that notes a_G at each call, and knows its squared slope; the spring is off but for that."""

    def __init__(self, P: int, chi: float) -> None:
        super().__init__(SETUP, sequences(L, 5, P, 0), chi, 1e-12, dtype=np.float32)

    def _bias(self, Z: Floats, D: Floats | None) -> float:
        self.seen = self._a_G(Z)
        return super()._bias(Z, D)

    def slope_squared(self, M: Array, gradient: Array) -> float:
        """|d a_G / dM|^2 from the force of a strong spring at distance one."""
        kept, strong = (self.spring, self.centre), 1000.0
        self.spring, self.centre = strong, self.seen - 1.0
        slope = (self(M)[1] - gradient) / strong
        self.spring, self.centre = kept
        return float(np.vdot(slope, slope))


def langevin(P: int, chi: float, replica: int, horizon: float, step: float = STEP) -> Mapping[str, Any]:
    """One run: passage times at the thresholds (inf if censored), a_G once per unit of time, D of a_G by bins of a_G."""
    posterior = Watched(P, chi)
    rng = np.random.default_rng(cell_seed(part="langevin", P=P, chi=chi, replica=replica))
    M, noise = rng.standard_normal(SIZE) / np.sqrt(chi), rng.standard_normal(SIZE)
    steps, goal = round(horizon / step), order_parameter(THRESHOLDS[-1])
    path, sums, counts = [], np.zeros(len(BINS) + 1), np.zeros(len(BINS) + 1)
    for k in range(steps + 1):
        gradient = posterior(M)[1]
        path.append(posterior.seen)
        if k % round(2 / step) == 0:
            place = np.digitize(path[-1], BINS)
            sums[place] += posterior.slope_squared(M, gradient) / chi
            counts[place] += 1
        if path[-1] >= goal:
            break
        after = rng.standard_normal(SIZE)
        M = M - step / chi * gradient + np.sqrt(2 * step / chi) * (noise + after) / 2
        noise = after
    a = np.array(path)
    every = a[::round(1 / step)][:KEPT]
    return {"times": passages(step * np.arange(len(a)), a), "D_sum": sums, "D_count": counts,
            "a_G": np.append(every, np.full(KEPT - len(every), np.nan)).astype(np.float32), "horizon": horizon}


def passages(time: Any, a_G: Array) -> Array:
    """First passage of m at each threshold."""
    return np.array([first_passage(time, copy_weight(a_G), m) for m in THRESHOLDS])


def umbrella(P: int, draws: int, count: int) -> Mapping[str, Any]:
    """Windows at one P: mean a_G, its error and R-hat, and the tilt, -ln <exp(-(U' - U))>, to each of ``OTHERS``."""
    tokens = sequences(L, 5, max(P, *OTHERS), 0)
    posterior = SpringPosterior(SETUP, tokens[:P], CHI, 700.0, dtype=np.float32)
    others = {p: ReducedPosterior(SETUP, "softmax", tokens[:p], CHI, np.float32) for p in (P, *OTHERS)}

    def observe(M: Array) -> dict[str, float]:
        U = {p: other.potential(M) for p, other in others.items()}
        return {f"U{p}": U[p] - U[P] for p in OTHERS}

    low, high = np.zeros(SIZE), fit_map(SETUP, "softmax", P, 0, start="copy", fast=True).M
    centres = np.linspace(0.0, 0.66, count)
    found = windows(posterior, centres, (low, high), draws=draws, tune=50, seed=cell_seed(part="umbrella"), observe=observe)
    shift = np.array([[run.draws[f"U{p}"].ravel() for run in found] for p in OTHERS])
    return {"centre": centres, "mean": np.array([run.mean("a_G") for run in found]),
            "error": np.array([run.standard_error("a_G") for run in found]),
            "rhat": np.array([run.rhat["a_G"] for run in found]), "ess": np.array([run.ess["a_G"] for run in found]),
            "tilt": shift.mean(axis=-1) - shift.var(axis=-1) / 2, "spring": posterior.spring}


def profiles(run: Mapping[str, Array], rng: np.random.Generator | None = None) -> Callable[[float], Profile]:
    """F(a_G) at any P near ``UMBRELLA_P`` from what ``umbrella`` returns: forces integrated, tilt a parabola in P.

    With ``rng`` the forces are moved within their errors.
    """
    far = np.array(OTHERS, dtype=float) - UMBRELLA_P
    tilt = np.linalg.lstsq(np.stack([far, far**2], axis=1), run["tilt"], rcond=None)[0]
    mean = run["mean"] if rng is None else run["mean"] + run["error"] * rng.standard_normal(len(run["mean"]))
    grid = np.linspace(run["mean"][0], run["mean"][-1], 600)
    base = free_energy(run["mean"], run["spring"] * (run["centre"] - mean), grid)

    def at(P: float) -> Profile:
        d = P - UMBRELLA_P
        F = base + CubicSpline(run["mean"], d * tilt[0] + d**2 * tilt[1])(grid)
        return Profile(grid, F - F.min())

    return at


def without_noise(P: int, seed: int, method: str) -> Mapping[str, Any]:
    """Passage times of Adam (in steps of 0.01) or of gradient descent (in units of time); the seed draws data and start."""
    action = Recorded(SETUP, "softmax", sequences(L, 5, P, seed), np.float32)
    M = 0.03 * np.random.default_rng(cell_seed(part="seeds", seed=seed)).standard_normal(SIZE)
    first, second, path = np.zeros(SIZE), np.zeros(SIZE), []
    for k in range(1, 1501):
        gradient = action.value_and_gradient(M)[1]
        path.append(action.seen)
        if path[-1] >= order_parameter(THRESHOLDS[-1]):
            break
        if method == "adam":
            first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
            M = M - 0.01 * first / (1 - 0.9**k) / (np.sqrt(second / (1 - 0.999**k)) + 1e-8)
        else:
            M = M - STEP * gradient
    return {"times": passages((1.0 if method == "adam" else STEP) * np.arange(len(path)), np.array(path))}


class Recorded(ReducedAction):
    """An action that notes a_G of the mean attention at each gradient."""

    def _attention_slope(self, Z: Floats, W: Array) -> Floats:
        queries = np.arange(L)
        self.seen = float(order_parameter(Z[self.setup.V :][queries - 1, :, queries].mean(dtype=np.float64)))
        return super()._attention_slope(Z, W)


def batched(B: int, replica: int, P: int) -> Mapping[str, Any]:
    """Gradient descent on the loss of B random sequences of P, times P / B, with the readout that fits all P; step 0.1."""
    tokens = sequences(L, 5, P, 0)
    whole = ReducedAction(SETUP, "softmax", tokens, np.float32)
    rng = np.random.default_rng(cell_seed(part="batch", B=B, replica=replica))
    M, path = np.zeros(SIZE), []
    for _ in range(1201):
        Z = whole._forward(M)
        queries = np.arange(L)
        path.append(order_parameter(Z[SETUP.V :][queries - 1, :, queries].mean(dtype=np.float64)))
        if path[-1] >= order_parameter(THRESHOLDS[-1]):
            break
        W = whole._solve(*whole._moments(Z))
        part = ReducedAction(SETUP, "softmax", tokens[rng.choice(P, B, replace=False)], np.float32)
        M = M - STEP * (P / B * (part.gradient(M, W) - M) + M)                   # g_W = 1: the prior's own slope is M
    return {"times": passages(STEP * np.arange(len(path)), np.array(path))}


def experiment(*, P: Sequence[int], replicas: int, horizon: float, step_P: Sequence[int], chis: Sequence[float],
               heat_P: int, draws: int, count: int, seeds_P: Sequence[int], seeds: int, batches: Sequence[int],
               keep: bool) -> Result:
    """All sweeps."""
    many = range(replicas)
    parts: dict[str, tuple[Any, dict[str, Any]]] = {
        "wait": (partial(langevin, chi=CHI, horizon=horizon), {"P": P, "replica": many}),
        "step": (partial(langevin, chi=CHI, horizon=horizon, step=STEP / 2), {"P": step_P, "replica": many}),
        "heat": (partial(langevin, P=heat_P, horizon=horizon), {"chi": chis, "replica": many}),
        "rest": (partial(langevin, chi=CHI, horizon=KEPT), {"P": (256,), "replica": many}),
        "umbrella": (partial(umbrella, draws=draws, count=count), {"P": (UMBRELLA_P,)}),
        "seeds": (without_noise, {"method": ("adam", "descent"), "P": seeds_P, "seed": range(seeds)}),
        "batch": (partial(batched, P=heat_P), {"B": batches, "replica": many}),
    }
    found = {name: sweep(function, axes, folder=scratch("waiting") / name if keep else None)
             for name, (function, axes) in parts.items()}
    for name in ("wait", "step", "heat", "rest"):               # of D is stored what all noises give together
        arrays = found[name].arrays
        total = {key: np.asarray(arrays[key]).sum(axis=1) for key in ("D_sum", "D_count")}
        found[name] = Result({**arrays, **total}, found[name].provenance)
    return join(**found)


def quick() -> Result:
    """A few noises at two P, everything else as small as it can be: half a minute."""
    return experiment(P=(278, 284), replicas=5, horizon=40.0, step_P=(284,), chis=(30.0, 300.0), heat_P=300, draws=10,
                      count=6, seeds_P=(300,), seeds=2, batches=(64,), keep=False)


def full() -> Result:
    """Sixty noises at four P: some ten minutes of CPU time."""
    return experiment(P=(270, 274, 278, 284), replicas=60, horizon=120.0, step_P=(284,),
                      chis=(14.0, 20.0, 30.0, 60.0, 150.0, 1000.0), heat_P=300, draws=60, count=12,
                      seeds_P=(262, 270, 285, 310, 350), seeds=16, batches=(3, 6, 12, 48), keep=True)
