"""Langevin sampling of all weights, against the exactly known prior and against HMC with the readout integrated out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from copyhead import Setup
from copyhead.networks import CopyNetwork, ReducedNetwork
from copyhead.posterior import ReducedPosterior
from copyhead.sampling import sample
from copyhead.sgld import sgld
from copyhead.task import sequences

SETUP = Setup(L=4, V=2, sigma2=3.0)


def networks(setup: Setup, attention: str, chi: float, count: int = 2) -> list[ReducedNetwork]:
    return [ReducedNetwork(setup, attention, chi, init="prior", seed=i, dtype=torch.float64)  # type: ignore[arg-type]
            for i in range(count)]


def test_without_data_every_weight_has_the_prior_width_and_the_bias_of_the_step() -> None:
    """At sigma2 -> infinity the posterior is the prior, and the recursion is linear: variance v / (1 - eta / (2 v))."""
    setup, chi = Setup(L=4, V=2, sigma2=1e12, g_W=0.5), 10.0
    v, eta = 0.5 / chi, 0.03
    started = networks(setup, "softmax", chi, count=8)
    squares = []
    tokens = sequences(4, 2, 3, 0)
    for seed in range(30):
        samples = sgld(started, tokens, eta={"M": eta, "W": 0.01}, steps=40, record_every=40, seed=seed, progress=False)
        n = 6 * 2
        squares.append(np.square(samples.last[:, n:]).ravel())                 # W comes first, 12 entries; then M
    values = np.concatenate(squares[1:])
    exact = v / (1 - eta / (2 * v))
    # correlation after 40 steps is (1 - eta/v)^40 < 1e-15: independent squares of Gaussians, relative sd sqrt(2)
    error = exact * np.sqrt(2 / len(values))
    assert abs(values.mean() - exact) < 3.9 * error                            # false alarm 1e-4
    assert exact - v > 6 * error                                               # the prior's own width would not pass


@pytest.mark.slow
def test_agrees_with_hmc_on_the_reduced_posterior() -> None:
    chi, tokens = 8.0, sequences(4, 2, 12, 1)
    langevin = sgld(networks(SETUP, "softmax", chi, 4), tokens, eta=2e-3, steps=20_000, burn_in=1000, record_every=20,
                    seed=2, progress=False)
    posterior = ReducedPosterior(SETUP, "softmax", tokens, chi)
    hmc = sample(posterior, [np.zeros((6, 6)), np.full((6, 6), 0.3)], observe=posterior.observe, draws=4000, tune=300,
                 leapfrogs=8, seed=1, progress=False)
    assert langevin.mixed and hmc.mixed, (langevin.verdict, hmc.verdict)
    error = np.hypot(langevin.standard_error("a_G"), hmc.standard_error("a_G"))
    bias = 0.02 * hmc.sd("a_G")                                                # of the order of the step
    assert abs(langevin.mean("a_G") - hmc.mean("a_G")) < 3.9 * error + bias
    assert error < 0.06 * hmc.sd("a_G")


def test_same_seed_same_chain_and_linear_sign() -> None:
    first, second = (sgld(networks(SETUP, "linear", 5.0), sequences(4, 2, 8, 0), eta=1e-3, steps=50, seed=3, progress=False)
                     for _ in range(2))
    assert (first.draws["c1"] == second.draws["c1"]).all() and first.draws["c1"].shape == (2, 5)
    assert (first.draws["c1"] + 2 * first.draws["c_G"] >= 0).all()
    assert (first.draws["c1"][0] != first.draws["c1"][1]).all()


def test_bad_input() -> None:
    tokens = sequences(4, 2, 8, 0)
    good = networks(SETUP, "linear", 5.0)
    with pytest.raises(ValueError, match="frozen embeddings"):
        sgld([CopyNetwork(SETUP, "linear", 8, train_embeddings=True)], tokens, eta=1e-3, steps=50)
    with pytest.raises(ValueError, match="equal chi"):
        sgld([good[0], networks(SETUP, "linear", 6.0)[0]], tokens, eta=1e-3, steps=50)
    with pytest.raises(ValueError, match="equal chi"):
        sgld([], tokens, eta=1e-3, steps=50)
    with pytest.raises(ValueError, match="eta must be a number, or have the keys"):
        sgld(good, tokens, eta={"M": 1.0}, steps=50)
    with pytest.raises(ValueError, match="eta must be a finite number > 0"):
        sgld(good, tokens, eta=-1.0, steps=50)
    with pytest.raises(ValueError, match="burn_in must leave"):
        sgld(good, tokens, eta=1e-3, steps=50, burn_in=45)
    with pytest.raises(FloatingPointError, match="smaller eta"):
        sgld(good, tokens, eta=100.0, steps=500, progress=False)
