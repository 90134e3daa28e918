# mypy: allow-untyped-defs
"""The network with several heads: one head, rotations, and the second-order effect of an idle head."""

import numpy as np
import pytest

from copyhead import Setup
from copyhead.heads import idle_head
from copyhead.reduced import ReducedAction
from copyhead.task import sequences

pytest.importorskip("torch")
from copyhead.heads_network import HeadsAction

SETUP = Setup(6, 3, 2.0, 0.7, 1.5)
TOKENS = sequences(6, 3, 15, 0)


@pytest.mark.parametrize("kind", ["linear", "softmax"])
def test_one_head_is_the_reduced_action(kind):
    M = np.random.default_rng(0).normal(size=(1, 9, 9))
    value, slope = HeadsAction(SETUP, kind, TOKENS, 1).value_and_gradient(M)
    expected, gradient = ReducedAction(SETUP, kind, TOKENS).value_and_gradient(M[0])
    assert value == pytest.approx(expected, rel=1e-11)
    np.testing.assert_allclose(slope[0], gradient, atol=1e-10)


def test_rotating_the_heads_changes_linear_attention_not_at_all_and_softmax_attention():
    M = np.random.default_rng(1).normal(size=(2, 9, 9))
    angle = 0.7
    turned = np.tensordot([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]], M, axes=1)
    linear, soft = (HeadsAction(SETUP, kind, TOKENS, 2) for kind in ("linear", "softmax"))
    assert linear.value(turned) == pytest.approx(linear.value(M), rel=1e-11)
    assert abs(soft.value(turned) / soft.value(M) - 1) > 1e-4
    assert soft.value(M[::-1]) == pytest.approx(soft.value(M), rel=1e-11)


def test_a_small_second_head_changes_the_action_as_its_strength_says():
    M = 0.3 * np.random.default_rng(2).normal(size=(9, 9))
    s, mode = idle_head(ReducedAction(SETUP, "linear", TOKENS), M)
    network = HeadsAction(SETUP, "linear", TOKENS, 2)
    size = 1e-3
    change = network.value(np.stack([M, size * mode])) - network.value(np.stack([M, 0 * mode]))
    assert change / size**2 == pytest.approx((1 - s**2) / (2 * SETUP.g_W), rel=1e-4)


def test_descent_lowers_the_action_and_order_parameters_belong_to_heads():
    network = HeadsAction(SETUP, "softmax", TOKENS, 2)
    start = 0.1 * np.random.default_rng(3).normal(size=network.shape)
    end = network.descend(start)
    assert network.value(end) < network.value(start)
    assert np.abs(network.value_and_gradient(end)[1]).max() < 1e-2
    np.testing.assert_allclose(network.order_parameters(end[::-1]), network.order_parameters(end)[::-1])
