# mypy: allow-untyped-defs
"""The population action against the network on every possible sequence."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from copyhead import Setup

pytest.importorskip("torch")
from copyhead.two_layer import TwoLayerAction
from copyhead.two_layer_theory import TwoLayerTheory


def everything(L, V, mask):
    """All sequences with different context tokens, and every query."""
    rows, targets = [], []
    for context in itertools.permutations(range(V), L):
        for asked in range(L if mask == "ring" else L - 1):
            rows.append([*context, context[asked]])
            targets.append(context[(asked + 1) % L])
    return np.array(rows), np.array(targets)


@pytest.mark.parametrize("kind", ["linear", "softmax"])
@pytest.mark.parametrize("mask", ["ring", "causal"])
@pytest.mark.parametrize(("L", "V"), [(3, 3), (3, 4), (4, 5)], ids=str)
def test_action_and_loss_over_all_sequences(kind, mask, L, V):
    setup = Setup(L, V, 1.2, 0.8, 1.7)
    tokens, targets = everything(L, V, mask)
    theory = TwoLayerTheory(setup, kind, mask)
    weights = np.random.default_rng(0).normal(size=theory.size)
    weights /= 2
    P = 30.0                       # the network's P sequences at this P / sigma2
    network = TwoLayerAction(replace(setup, sigma2=setup.sigma2 * len(tokens) / P), kind, tokens, targets, mask)
    full = theory.spread(weights)
    state = theory.state(weights, P)
    assert state.action == pytest.approx(network.value(full), rel=1e-10)
    assert state.loss == pytest.approx(network.loss(full), rel=1e-9)
    np.testing.assert_allclose([state.copy, state.match, state.found], network.order_parameters(full), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("kind", ["linear", "softmax"])
def test_a_symmetric_minimum_is_stationary_for_the_network(kind):
    """Symmetric criticality: the gradient over all weights vanishes with that over the symmetric ones."""
    setup = Setup(3, 4, 1.0)
    tokens, targets = everything(3, 4, "causal")
    theory = TwoLayerTheory(setup, kind, "causal")
    state = theory.minimum(theory.copy_then_match(3.0, 3.0), 200.0, 1e-8)
    network = TwoLayerAction(replace(setup, sigma2=len(tokens) / 200.0), kind, tokens, targets, "causal")
    assert np.abs(network.value_and_gradient(theory.spread(state.weights))[1]).max() < 1e-6
