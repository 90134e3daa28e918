"""The parts of the experiment on Adam: early stopping in hindsight, sign sectors and their repair, escape times."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from copyhead import Setup, fit_map
from copyhead.experiments import adam
from copyhead.networks import ReducedNetwork
from copyhead.reduced import ReducedAction
from copyhead.task import HELD_OUT, sequences
from copyhead.training import train


def at_the_map(setup: Setup, P: int) -> tuple[ReducedNetwork, np.ndarray, float]:
    """A network with the weights of the MAP, its data and its action."""
    tokens = sequences(setup.L, setup.V, P, seed=0)
    best = fit_map(setup, "linear", P, seed=0)
    network = ReducedNetwork(setup, "linear", dtype=torch.float64)
    network.M.data = torch.tensor(best.M)
    network.W.data = torch.tensor(ReducedAction(setup, "linear", tokens).readout(best.M).T)
    return network, tokens, best.action


def test_patience_in_hindsight_is_that_of_training() -> None:
    setup = Setup(L=6, V=3, sigma2=2.0)
    tokens, fresh = sequences(6, 3, 12, seed=0), sequences(6, 3, 50, seed=0, stream=HELD_OUT)
    whole, short = (train(ReducedNetwork(setup, "softmax"), tokens, steps=400, lr=0.05, record_every=5, held_out=fresh,
                          progress=False, patience=patience) for patience in (None, 40))
    where = adam.stopped(whole.step, whole.test_loss, 40)
    assert short.stopped == "patience" and where is not None and whole.step[where] == short.step[-1]
    assert adam.stopped(np.arange(5), -np.arange(5.0), 2) is None


@pytest.mark.parametrize("which", [[1], [0, 2], [0, 1, 3]], ids=str)
def test_reversed_tokens_are_found(which: list[int]) -> None:
    network, tokens, _ = at_the_map(Setup(L=25, V=5, sigma2=10.0), 100)
    assert len(adam.wrong_tokens(network, tokens)) == 0
    adam.reverse_tokens(network, which)
    found = adam.wrong_tokens(network, tokens).tolist()
    assert found in (which, sorted(set(range(5)) - set(which)))                   # up to the global sign
    adam.reverse_tokens(network, which)
    assert len(adam.wrong_tokens(network, tokens)) == 0


def test_reversal_costs_only_what_goes_from_position_keys_to_tokens() -> None:
    network, tokens, action = at_the_map(Setup(L=25, V=5, sigma2=10.0), 100)
    with torch.no_grad():
        assert float(network.action(tokens)) == pytest.approx(action, rel=1e-9)
        adam.reverse_tokens(network, [2])
        assert float(network.action(tokens)) > action + 0.5
        for weight in (network.M, network.W):                                     # no position keys, no position values
            weight[:, 5:] = 0
        without = float(network.action(tokens))
        adam.reverse_tokens(network, [2])
        assert float(network.action(tokens)) == pytest.approx(without, rel=1e-12)


def test_time_of_the_flow_does_not_depend_on_the_step() -> None:
    coarse, fine = (adam.flow(400, 0, step=step)["time"] for step in (0.1, 0.02))
    assert coarse == pytest.approx(fine, rel=0.02) and 2 < fine < 5
    assert np.isnan(adam.flow(200, 0, longest=3.0)["time"])                       # no escape below the spinodal
