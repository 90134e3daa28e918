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


def spread(weights, L, V):
    """Weights of the network from those of the symmetric sector."""
    n = L + 2
    shared = np.zeros((n, V + L + 1))
    shared[0, :V], shared[1:, V:] = V**-0.5, np.eye(L + 1)
    centred = np.zeros((V + L + 1, V + L + 1))
    centred[:V, :V] = np.eye(V) - 1 / V
    M1 = shared.T @ weights[: n * n].reshape(n, n) @ shared + weights[n * n] * centred
    M2 = weights[n * n + 1 : -4].reshape(2 * n, 2 * n)
    M2 = np.kron(np.eye(2), shared).T @ M2 @ np.kron(np.eye(2), shared)
    return np.concatenate([M1.ravel(), (M2 + np.kron(weights[-4:].reshape(2, 2), centred)).ravel()])


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
    full = spread(weights, L, V)
    state = theory.state(weights, P)
    assert state.action == pytest.approx(network.value(full), rel=1e-10)
    assert state.loss == pytest.approx(network.loss(full), rel=1e-9)
    np.testing.assert_allclose([state.copy, state.match], network.order_parameters(full), rtol=1e-9)


@pytest.mark.parametrize("kind", ["linear", "softmax"])
def test_a_symmetric_minimum_is_stationary_for_the_network(kind):
    """Symmetric criticality: the gradient over all weights vanishes with that over the symmetric ones."""
    setup = Setup(3, 4, 1.0)
    tokens, targets = everything(3, 4, "causal")
    theory = TwoLayerTheory(setup, kind, "causal")
    state = theory.minimum(theory.circuit(3.0, 3.0), 200.0, 1e-8)
    network = TwoLayerAction(replace(setup, sigma2=len(tokens) / 200.0), kind, tokens, targets, "causal")
    assert np.abs(network.value_and_gradient(spread(state.weights, 3, 4))[1]).max() < 1e-6
