"""How much of the attention the two patterns describe: at the MAP, in draws of the posterior, and on average over draws.

Three sweeps, joined:

``maps``      the minima of the action, several data sets
``draws``     snapshots and time averages of the posterior, at chi = 30 over P and at two points for growing chi
``harmonic``  what a Gaussian posterior around the MAP would show, from the full Hessian in M, at the same two points

Everything is recorded as the four parts of ``parts``, from which every definition of coverage follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular

from copyhead.fit import fit_map
from copyhead.patterns import order_parameters
from copyhead.posterior import ReducedPosterior
from copyhead.reduced import Attention, ReducedAction
from copyhead.results import Result, join, scratch
from copyhead.sampling import sample
from copyhead.setup import Setup
from copyhead.susceptibility import numerical_hessian
from copyhead.sweep import cell_seed, sweep
from copyhead.task import sequences

SETUP = Setup(25, 5)
PARTS = ("shared_in", "own_in", "shared_out", "own_out")
GRID = (20, 60, 100, 200, 250, 275, 300, 350, 400, 450, 500, 600, 700, 800)          # P of ``maps``
# Softmax is left out where both of its states survive, P around 300.
HARMONIC: tuple[tuple[Attention, int], ...] = (("linear", 500), ("softmax", 400))
OVER_P: dict[Attention, tuple[int, ...]] = {"linear": (20, 60, 100, 200, 300, 400, 500, 600, 800),
                                            "softmax": (20, 100, 200, 400, 600, 800)}
DRAWS = (*((attention, P, 30.0) for attention, places in OVER_P.items() for P in places),
         *((attention, P, chi) for chi in (100.0, 300.0, 1000.0) for attention, P in HARMONIC))


def parts(G: ArrayLike) -> NDArray[np.float64]:
    """The squared size of attention matrices, shape (P, L, L), as a sum of four.

    Entries: what all sequences share inside span{J, G*}, what each has of its own inside, and the same two outside:
    |Pi Gbar|^2, mean |Pi (G - Gbar)|^2, |Gbar - Pi Gbar|^2, mean |(G - Gbar) - Pi (G - Gbar)|^2, for the projection Pi
    and the mean Gbar over sequences.  They add up to mean |G|^2.  Shape (4,), in the order of ``PARTS``.
    """
    G = np.asarray(G, dtype=np.float64)
    mean = G.mean(axis=0)
    total, shared = np.einsum("pab,pab->", G, G) / len(G), np.sum(mean**2)
    shared_in, both_in = _inside(mean), _inside(G).mean()
    return np.array([shared_in, both_in - shared_in, shared - shared_in, total - shared - (both_in - shared_in)])


def _inside(G: NDArray[np.float64]) -> Any:
    """Squared size of the projection on span{J, G*}, of every matrix."""
    c1, c_G = order_parameters(G)
    return c1**2 + 2 * c1 * c_G / np.sqrt(G.shape[-1]) + c_G**2


def coverage_s(parts: NDArray[np.float64]) -> Any:
    """sum_alpha |Pi G_alpha|^2 / sum_alpha |G_alpha|^2 from arrays of shape (..., 4)."""
    return (parts[..., 0] + parts[..., 1]) / parts.sum(axis=-1)


def coverage_m(parts: NDArray[np.float64]) -> Any:
    """|Pi Gbar|^2 / |Gbar|^2 from arrays of shape (..., 4)."""
    return parts[..., 0] / (parts[..., 0] + parts[..., 2])


def coverage_mixed(parts: NDArray[np.float64]) -> Any:
    """|Pi Gbar|^2 / mean |G_alpha|^2, ``patterns.coverage``, from arrays of shape (..., 4)."""
    return parts[..., 0] / parts.sum(axis=-1)


def fitted(attention: Attention, P: int, seed: int) -> Mapping[str, Any]:
    """The four parts at the MAP."""
    fit = fit_map(SETUP, attention, P, seed, fast=True)
    return {"parts": parts(ReducedAction(SETUP, attention, sequences(25, 5, P, seed), np.float32).attention(fit.M))}


def drawn(point: int, draws: int, points: tuple[tuple[Attention, int, float], ...] = DRAWS) -> Mapping[str, Any]:
    """Row ``point`` of ``points``: two chains, one from the MAP, one from the MAP with the noise of the prior added.

    The first starts with too little noise, the second with too much.  parts: their posterior means, shape (4,), with
    error, rhat and ess of each; average: the four parts of the attention averaged over all draws of both chains (linear
    attention with the sign for which the copy weight is positive); map: those of the MAP; coverage_s, coverage_m: mean
    over snapshots, with error_, rhat_, ess_ of coverage_s.
    """
    attention, P, chi = points[point]
    tokens = sequences(25, 5, P, 0)
    target = ReducedPosterior(SETUP, attention, tokens, chi, np.float32)
    M = fit_map(SETUP, attention, P, 0, fast=True).M
    number = cell_seed(attention=attention, P=P, chi=chi)
    noise = np.random.default_rng(number).normal(scale=np.sqrt(SETUP.g_W / chi), size=M.shape)
    total, count = np.zeros((P, 25, 25)), 0

    def observe(M: NDArray[np.float64]) -> dict[str, float]:
        nonlocal count
        G = target.attention(M)
        found = parts(G)
        c1, c_G = order_parameters(G.mean(axis=0))
        total[...] += -G if c1 + 5 * c_G < 0 else G
        count += 1
        return {**dict(zip(PARTS, found, strict=True)), "coverage_s": float(coverage_s(found)),
                "coverage_m": float(coverage_m(found))}

    samples = sample(target, [M, M + noise], observe=observe, tune=150, draws=draws, seed=number,
                     length=np.pi / 2 * np.sqrt(SETUP.g_W / chi), progress=False)
    values: dict[str, Any] = {
        "attention": attention, "P": P, "chi": chi, "mixed": samples.mixed, "map": parts(target.attention(M)),
        "average": parts(total / count), "parts": [samples.mean(name) for name in PARTS],
        "error": [samples.standard_error(name) for name in PARTS], "rhat": [samples.rhat[name] for name in PARTS],
        "ess": [samples.ess[name] for name in PARTS]}
    for name in ("coverage_s", "coverage_m"):
        values |= {name: samples.mean(name), f"error_{name}": samples.standard_error(name),
                   f"rhat_{name}": samples.rhat[name], f"ess_{name}": samples.ess[name]}
    return values


def harmonic(point: int, draws: int, points: tuple[tuple[Attention, int], ...] = HARMONIC) -> Mapping[str, Any]:
    """chi times the four parts of the attention's fluctuation, and those of the MAP, for a Gaussian posterior in M.

    Its precision is chi times the Hessian of the action at the MAP, by differences of the gradient; the Gaussian
    is drawn from, and the attention linearised, so that chi drops out.
    """
    attention, P = points[point]
    action = ReducedAction(SETUP, attention, sequences(25, 5, P, 0))
    M = fit_map(SETUP, attention, P, 0).M
    size, h = M.size, 1e-4
    hessian = numerical_hessian(lambda M: action.value_and_gradient(M)[1], M)
    root = cholesky(hessian)
    rng, found = np.random.default_rng(0), []
    for _ in range(draws):
        change = solve_triangular(root, rng.standard_normal(size)).reshape(M.shape) * h
        found.append(parts((action.attention(M + change) - action.attention(M - change)) / (2 * h)))
    return {"noise": np.mean(found, axis=0), "map": parts(action.attention(M)), "least_curvature": np.diag(root).min() ** 2}


def experiment(*, P: tuple[int, ...], seeds: int, points: tuple[int, ...], draws: int, pairs: tuple[int, ...],
               keep: bool) -> Result:
    """The three sweeps; ``points`` are rows of ``DRAWS``, ``pairs`` rows of ``HARMONIC``."""
    def folder(name: str) -> Any:
        return scratch("coverage") / name if keep else None

    return join(
        maps=sweep(fitted, {"attention": ("linear", "softmax"), "P": P, "seed": range(seeds)}, folder=folder("maps")),
        draws=sweep(partial(drawn, draws=draws), {"point": points}, folder=folder("draws")),
        harmonic=sweep(partial(harmonic, draws=200), {"point": pairs}, folder=folder("harmonic")))


def quick() -> Result:
    """A few P, one data set, two points of each attention: under a minute."""
    return experiment(P=(20, 100, 400, 800), seeds=1, points=(1, 6, 10, 12), draws=40, pairs=(1,), keep=False)


def full() -> Result:
    """All points: some fifteen CPU minutes."""
    return experiment(P=GRID, seeds=5, points=tuple(range(len(DRAWS))), draws=400, pairs=(0, 1), keep=True)
