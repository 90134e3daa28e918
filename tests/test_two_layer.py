# mypy: allow-untyped-defs
"""The two-layer network against the recursion of kernels, differences, and a wide network."""

import numpy as np
import pytest

from copyhead import Setup
from copyhead.bigram import bigrams

pytest.importorskip("torch")
from copyhead.two_layer import TwoLayerAction

SETUP = Setup(5, 6, 1.5, 0.7, 1.3)
KINDS = [(kind, mask) for kind in ("linear", "softmax") for mask in ("ring", "causal")]


def network(kind, mask, P=8):
    return TwoLayerAction(SETUP, kind, *bigrams(5, 6, P, 0, cyclic=mask == "ring"), mask)


@pytest.mark.parametrize(("kind", "mask"), KINDS)
def test_action_equals_that_of_the_recursive_kernel(kind, mask):
    """K from C' = C + g_O G_1 C G_1^T for every pair of sequences, with the attention that the network reports."""
    tokens, targets = bigrams(5, 6, 8, 0, cyclic=mask == "ring")
    action = network(kind, mask)
    weights = np.random.default_rng(0).normal(size=action.weights)
    first, second = action.attention(weights)
    K = np.empty((8, 8))
    for i in range(8):
        for j in range(8):
            C = (tokens[i][:, None] == tokens[j]) + np.eye(6)
            deeper = C + SETUP.g_O * first[i] @ C @ first[j].T
            K[i, j] = SETUP.g_O * second[i] @ deeper @ second[j]
    Y = np.eye(6)[targets]
    expected = (Y * np.linalg.solve(K + SETUP.sigma2 * np.eye(8), Y)).sum() / 2 + weights @ weights / (2 * SETUP.g_W)
    assert action.value(weights) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("kind", "mask"), KINDS)
def test_attention_from_single_features(kind, mask):
    tokens, _ = bigrams(5, 6, 8, 0, cyclic=mask == "ring")
    action = network(kind, mask)
    weights = np.random.default_rng(1).normal(size=action.weights)
    first, second = action.attention(weights)
    M1, M2 = weights[:144].reshape(12, 12), weights[144:].reshape(24, 24)
    phi = np.concatenate([np.eye(6)[tokens[3]], np.eye(6)], axis=1)
    keys = {"ring": [range(5)] * 5 + [range(0)], "causal": [range(a + 1) for a in range(6)]}[mask]
    G1 = np.zeros((6, 6))
    for a in range(6):
        logits = np.array([phi[a] @ M1 @ phi[b] for b in keys[a]])
        if len(logits):
            G1[a, keys[a]] = logits / 5 if kind == "linear" else np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(first[3], G1, atol=1e-12)
    double = np.concatenate([phi, SETUP.g_O**0.5 * G1 @ phi], axis=1)
    seen = 5 if mask == "ring" else 6
    logits = double[-1] @ M2 @ double[:seen].T
    expected = logits / 5 if kind == "linear" else np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(second[3, :seen], expected, atol=1e-11)
    assert not second[:, seen:].any()


@pytest.mark.parametrize(("kind", "mask"), KINDS)
def test_gradient_against_differences(kind, mask):
    action, rng = network(kind, mask), np.random.default_rng(2)
    weights, D = rng.normal(size=(2, action.weights))
    difference = (action.value(weights + 1e-5 * D) - action.value(weights - 1e-5 * D)) / 2e-5
    assert action.value_and_gradient(weights)[1] @ D == pytest.approx(difference, rel=1e-6)


def test_turning_the_sign_of_layer_one_changes_nothing_for_linear_attention():
    action = network("linear", "causal")
    weights = np.random.default_rng(3).normal(size=action.weights)
    sign = np.repeat([1, -1], 12)
    flipped = np.concatenate([-weights[:144], (sign[:, None] * weights[144:].reshape(24, 24) * sign).ravel()])
    assert action.value(flipped) == pytest.approx(action.value(weights), rel=1e-12)


def test_hidden_vectors_of_a_wide_network_have_the_doubled_features():
    """Inner products over d = 20,000 components scatter by about 2/sqrt(d) = 0.014; six of them bound all entries."""
    rng = np.random.default_rng(4)
    tokens, _ = bigrams(5, 6, 1, 0)
    phi = np.concatenate([np.eye(6)[tokens[0]], np.eye(6)], axis=1)
    G1 = rng.dirichlet(np.ones(6), size=6)
    E = rng.normal(size=(12, 20_000))
    brought = np.sqrt(0.7) * rng.normal(size=(12, 20_000))     # W_1 E: Gaussian and independent of E for orthogonal rows
    hidden = phi @ E + G1 @ phi @ brought
    double = np.concatenate([phi, np.sqrt(0.7) * G1 @ phi], axis=1)
    assert np.abs(hidden @ hidden.T / 20_000 - double @ double.T).max() < 6 * 0.014


def test_descent_loss_and_bad_input():
    action = network("softmax", "causal", 40)
    start = 0.01 * np.random.default_rng(5).normal(size=action.weights)
    end = action.descend(start)
    assert action.value(end) < action.value(start) and 0 < action.loss(end) < 1
    assert action.loss(end, action.readout(end)) == pytest.approx(action.loss(end), rel=1e-10)
    assert all(0 < value < 1 for value in action.order_parameters(end))
    tokens, targets = bigrams(5, 6, 4, 0)
    good = dict(attention="linear", tokens=tokens, targets=targets, mask="ring")
    for bad in (dict(attention="cubic"), dict(mask="open"), dict(tokens=tokens[:, :5]), dict(targets=targets + 9)):
        with pytest.raises(ValueError, match=next(iter(bad))):
            TwoLayerAction(SETUP, **good | bad)
