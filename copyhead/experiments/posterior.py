"""The posterior at finite chi, sampled: Hamiltonian Monte Carlo in M with the readout integrated out.

Six sweeps, joined:

``table``     the points at which order parameters are quoted; two chains from opposite starts
``branches``  softmax inside its metastable window, two chains that both start in one state
``chi``       three points at growing chi: how far the sampled means are from the MAP
``hopping``   softmax at L = 18 and 20, where the barrier is low enough to be crossed
``mixing``, ``paper``   Langevin dynamics in all weights of a network of finite width, with steps that mix and the paper's

Every cell carries the diagnostics of its chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.fit import fit_map
from copyhead.patterns import order_parameters
from copyhead.posterior import ReducedPosterior
from copyhead.reduced import Attention
from copyhead.results import Result, join, scratch
from copyhead.sampling import sample
from copyhead.setup import Setup
from copyhead.susceptibility import numerical_hessian
from copyhead.sweep import cell_seed, sweep
from copyhead.task import sequences

SETUP = Setup(25, 5)
CHI = 30.0
# attention, P, moves for tuning and draws per chain.
TABLE: tuple[tuple[Attention, int, int, int], ...] = (
    ("linear", 60, 150, 500), ("linear", 100, 150, 500), ("linear", 300, 150, 500), ("linear", 400, 200, 500),
    ("linear", 500, 200, 700), ("linear", 600, 200, 500), ("linear", 800, 200, 500),
    ("softmax", 200, 150, 500), ("softmax", 325, 150, 500), ("softmax", 400, 150, 500), ("softmax", 800, 150, 500))
BRANCHES = (290, 300, 305, 320)                                  # P of ``branches``
HOPPING = ((18, 255), (20, 268))                                 # L and P of ``hopping``
GROWING: tuple[tuple[Attention, int], ...] = (("linear", 60), ("linear", 500), ("softmax", 400))
CHIS = (30.0, 100.0, 300.0, 1000.0)
# Softmax at the P / sigma2 of P = 400.  Steps of W_G and W_O in units of the prior variances: "mixing" is stable for the
# stiffest directions of both; "paper" is 5e-10 at chi = 30 and d = 10,000 for variances g_W and g_O / d.
LANGEVIN = Setup(25, 5, sigma2=10.0), 133
STEPS = {"mixing": (0.015, 0.004), "paper": (5e-10 * CHI, 5e-10 * CHI * 10_000)}
KEPT = 200                                                       # draws of each chain that are stored for pictures


def sampled(attention: Attention, P: int, starts: tuple[str, str], tune: int, draws: int, *, chi: float = CHI, L: int = 25,
            seed: int = 0, keep: int = KEPT, scaled: bool = False) -> dict[str, Any]:
    """Two chains on the data set ``seed``, begun at the MAP states of the named starts ("zero": at M = 0).

    Trajectories are a quarter of a period of the prior long, so that directions which only feel the prior forget
    everything, their energy included, and no direction takes part in a resonance.  If ``scaled``, every direction moves in
    units of its width at the MAP, and a quarter of a period is one for all of them; before that, 100 moves without scale
    lead away from the start (from M = 0, moves made for another state can end where the sign of a token is wrong).

    For each observable x: mean_x, sd_x, error_x (Monte Carlo standard error), rhat_x, ess_x, and kept_x, shape
    (2, keep), evenly thinned; besides, acceptance and step of both chains, gradients, and whether they mixed.
    """
    setup = Setup(L, 5)
    posterior = ReducedPosterior(setup, attention, sequences(L, 5, P, seed), chi, np.float32)
    begin = [_start(setup, attention, P, seed, name) for name in starts]
    number = cell_seed(attention=attention, P=P, starts="+".join(starts), chi=chi, L=L, seed=seed)
    quarter, scale = np.pi / 2 * np.sqrt(setup.g_W / chi), None
    if scaled:
        begin = list(sample(posterior, begin, observe=posterior.observe, tune=99, draws=1, seed=number + 1, length=quarter,
                            progress=False).last)
        quarter, scale = np.pi / 2, _widths(setup, attention, P, chi, seed)
    samples = sample(posterior, begin, observe=posterior.observe, tune=tune, draws=draws, seed=number, length=quarter,
                     scale=scale, progress=False)
    kept = np.linspace(0, draws - 1, min(draws, keep)).astype(int)
    values: dict[str, Any] = {"mixed": samples.mixed, "gradients": samples.gradients, "acceptance": samples.acceptance,
                              "step": samples.step}
    order = ("c1", "c_G") if attention == "linear" else ("a_G", "a_G")
    for name, source in zip(("c1", "c_G", "loss", "coverage", "potential"), (*order, "loss", "coverage", "potential"),
                            strict=True):
        values |= samples.summary(source, name)
        values[f"kept_{name}"] = samples.draws[source][:, kept].astype(np.float32)
    return values


def _widths(setup: Setup, attention: Attention, P: int, chi: float, seed: int) -> NDArray[np.float64]:
    """Root of the covariance of the posterior as a Gaussian around the MAP; no direction wider than twice the prior."""
    posterior = ReducedPosterior(setup, attention, sequences(setup.L, setup.V, P, seed), chi)
    M = fit_map(setup, attention, P, seed).M
    values, vectors = np.linalg.eigh(numerical_hessian(lambda M: posterior(M)[1], M))
    return vectors / np.sqrt(np.maximum(values, chi / setup.g_W / 4))


def _start(setup: Setup, attention: Attention, P: int, seed: int, name: str) -> NDArray[np.float64]:
    if name == "zero":
        return np.zeros((setup.V + setup.L, setup.V + setup.L))
    return fit_map(setup, attention, P, seed, start=name, fast=True).M


def table_point(point: int, share: float = 1.0) -> Mapping[str, Any]:
    """Row ``point`` of ``TABLE``, from opposite starts: M = 0 (for softmax the uniform state) and the copy state.

    ``share`` of its draws are made.
    """
    attention, P, tune, whole = TABLE[point]
    draws = round(share * whole)
    return {"attention": attention, "P": P, **sampled(attention, P, ("zero", "copy"), tune, draws, scaled=True)}


def branch(P: int, start: str, draws: int) -> Mapping[str, Any]:
    """Softmax at P, both chains begun at M = 0 or both in the copy state: how long does a state last?

    (A start in the uniform MAP would do up to P = 287 only; beyond, that state is no minimum and the fit ends in the other.)
    """
    return sampled("softmax", P, (start, start), 100, draws)


def growing_chi(point: int, chi: float, draws: int) -> Mapping[str, Any]:
    """Row ``point`` of ``GROWING`` at chi, with the MAP of the same data set."""
    attention, P = GROWING[point]
    fit = fit_map(SETUP, attention, P, 0)
    found = sampled(attention, P, ("copy", "copy"), min(150, draws), draws, chi=chi)
    map_c1, map_c_G = (fit.a_G, fit.a_G) if attention == "softmax" else (fit.c1, fit.c_G)   # type: ignore[union-attr]
    return {"attention": attention, "P": P, "map_c1": map_c1, "map_c_G": map_c_G, **found}


def hopping(point: int, draws: int) -> Mapping[str, Any]:
    """Row ``point`` of ``HOPPING`` from opposite starts; every draw of a_G is stored."""
    L, P = HOPPING[point]
    found = sampled("softmax", P, ("zero", "copy"), 150, draws, L=L, keep=draws)
    own = {name: value for name, value in found.items() if name.endswith("_c_G")}
    return {"L": L, "P": P, "mixed": found["mixed"], **own}


def langevin(stage: str, d_model: int, steps: int) -> Mapping[str, Any]:
    """Two Langevin chains in all weights of a network; a_G and the loss of the sampled weights, thermal part included.

    "mixing" starts from weights near zero and from a draw of the prior and forgets the first quarter; "paper" starts
    at the network's MAP and forgets nothing.  kept_x has shape (2, KEPT); map_x belongs to the same embeddings and data.
    """
    import torch

    from copyhead.metric import MetricAction, most_probable
    from copyhead.networks import CopyNetwork
    from copyhead.sgld import sgld

    torch.set_num_threads(1)
    setup, P = LANGEVIN
    tokens = sequences(25, 5, P, 0)
    networks = [CopyNetwork(setup, "softmax", d_model, CHI, init=init, seed=0) for init in ("small", "prior")]   # type: ignore[arg-type]
    action = MetricAction(setup, "softmax", tokens, networks[0].metric())
    M = most_probable(action)
    if stage == "paper":
        for network in networks:
            network.lift(M, np.linalg.solve(action.root, action.readout(M)).T)
    attention, readout = STEPS[stage]
    eta = {"W_G": attention * setup.g_W / CHI, "W_O": readout * setup.g_O / (CHI * d_model)}
    burn_in = steps // 4 if stage == "mixing" else 0
    samples = sgld(networks, tokens, eta=eta, steps=steps, burn_in=burn_in, record_every=(steps - burn_in) // KEPT, seed=1,
                   progress=False)
    a_G = order_parameters(action.attention(action.kernel(M)).mean(axis=0))[1]
    values: dict[str, Any] = {"mixed": samples.mixed, "map_a_G": float(a_G), "map_loss": action.loss(M)}
    for name in ("a_G", "loss"):
        values |= samples.summary(name)
        values[f"kept_{name}"] = samples.draws[name][:, :KEPT].astype(np.float32)
    return values


def experiment(*, points: tuple[int, ...], branches: tuple[int, ...], chis: tuple[float, ...], draws: int,
               d_model: int, steps: tuple[int, int], keep: bool, share: float = 1.0) -> Result:
    """The six sweeps; ``steps`` of the stages "mixing" and "paper"."""
    def folder(name: str) -> Any:
        return scratch("posterior") / name if keep else None

    parts = {
        "table": sweep(partial(table_point, share=share), {"point": points}, folder=folder("table")),
        "branches": sweep(partial(branch, draws=draws), {"P": branches, "start": ("zero", "copy")},
                          folder=folder("branches")),
        "chi": sweep(partial(growing_chi, draws=draws), {"point": range(len(GROWING)), "chi": chis}, folder=folder("chi")),
        "hopping": sweep(partial(hopping, draws=6 * draws), {"point": range(len(HOPPING))}, folder=folder("hopping")),
    }
    for stage, count in zip(STEPS, steps, strict=True):
        parts[stage] = sweep(partial(langevin, d_model=d_model, steps=count), {"stage": (stage,)}, folder=folder(stage))
    return join(**parts)


def quick() -> Result:
    """One point of each attention, one P in the window, two chi, short chains: a minute and a half."""
    return experiment(points=(0, 8), branches=(300,), chis=(30.0, 300.0), draws=50, d_model=32,
                      steps=(400, 400), keep=False, share=0.2)


def full() -> Result:
    """All points: some twenty CPU minutes."""
    return experiment(points=tuple(range(len(TABLE))), branches=BRANCHES, chis=CHIS, draws=400, d_model=256,
                      steps=(10_000, 13_000), keep=True)
