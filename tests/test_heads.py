# mypy: allow-untyped-defs
"""Several heads: the action of one head, symmetries, convexity, and the certificate of an idle head."""

import numpy as np
import pytest

from copyhead import LinearAction, Setup, SoftmaxAction, fit_map
from copyhead.heads import LinearHeads, SoftmaxHeads, idle_head
from copyhead.reduced import ReducedAction
from copyhead.task import sequences

SETUPS = [Setup(25, 5), Setup(100, 2, 1.0), Setup(8, 6, 2.0, 0.5, 3.0)]


@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_one_head_is_the_action_of_one_head(setup):
    heads, linear, soft = LinearHeads(setup), LinearAction(setup), SoftmaxAction(setup)
    for c, P in zip(np.random.default_rng(0).normal(size=(5, 2)), (1, 10, 100, 300, 1000), strict=True):
        assert heads.action(np.outer(c, c), P) == pytest.approx(linear.action(*c, P), rel=1e-12)
        state = soft.minimum(P)
        assert SoftmaxHeads(setup).action([state.ell], P) == pytest.approx(state.action, rel=1e-12)


@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_linear_action_is_convex_in_the_gram_matrix_and_its_gradient_is_right(setup):
    heads, rng = LinearHeads(setup), np.random.default_rng(1)
    for P in (5.0, 50.0, 500.0):
        a, b = (x @ x.T for x in rng.normal(size=(2, 2, 2)))
        middle, ends = heads.action((a + b) / 2, P), (heads.action(a, P) + heads.action(b, P)) / 2
        assert middle <= ends
        h = 1e-5
        for D in (np.diag([1.0, 0]), np.diag([0, 1.0]), np.array([[0, 1.0], [1.0, 0]])):
            difference = (heads.action(a + h * D, P) - heads.action(a - h * D, P)) / (2 * h)
            assert np.vdot(heads.gradient(a, P), D) == pytest.approx(difference, rel=1e-6)


def test_two_linear_heads_reach_the_minimum_from_everywhere():
    heads = LinearHeads(Setup(25, 5))
    for P in (20, 300, 500, 800):
        best, slope = heads.minimum(P), heads.gradient(heads.minimum(P).order, P)
        # KKT of a convex function on the cone: the slope is positive semidefinite and orthogonal to the minimum
        assert np.linalg.eigvalsh(slope)[0] > -1e-6 and abs(np.vdot(slope, best.order)) < 1e-6
        assert heads.minimum(P, 3).action == pytest.approx(best.action, rel=1e-9)


def test_an_idle_head_stays_off_exactly_while_one_head_is_enough():
    setup = Setup(25, 5)
    heads, linear = LinearHeads(setup), LinearAction(setup)
    for P in (15, 100, 400, 430, 500):
        one = linear.minimum(P)
        c = np.array([one.c1, one.c_G])
        s, gain = heads.idle_strength(np.outer(c, c), P), one.action - heads.minimum(P).action
        assert (s > 1 + 1e-6) == (gain > 1e-6) == (P > 420)
    assert heads.idle_strength(np.zeros((2, 2)), linear.critical_P) == pytest.approx(1, rel=1e-9)


def test_transition_of_two_softmax_heads():
    """Equal action at 249.64: independent computation (another code, by scanning the stationary curve)."""
    heads = SoftmaxHeads(Setup(25, 5))

    def excess(P):
        return heads.minimum([0.13, 0.13], P).action - heads.minimum([1.64, -0.15], P).action

    assert excess(249.54) < 0 < excess(249.74)


def test_softmax_hessian_and_the_exchange_of_heads():
    heads = SoftmaxHeads(Setup(25, 5))
    assert heads.action([1.3, -0.2], 250) == pytest.approx(heads.action([-0.2, 1.3], 250), rel=1e-13)
    H = heads.hessian([0.13, 0.13], 250)
    assert H[0, 0] == pytest.approx(H[1, 1], rel=1e-5) and np.allclose(H, H.T)
    x = np.array([1.0, 0.2])
    along = [heads.action(x + t * np.array([1, -1]), 250) for t in (-1e-3, 0, 1e-3)]
    curvature = np.array([1, -1]) @ heads.hessian(x, 250) @ [1, -1]
    assert (along[0] - 2 * along[1] + along[2]) / 1e-6 == pytest.approx(curvature, rel=1e-4)


def test_idle_head_of_zero_attention_is_the_softest_mode_and_softmax_is_refused():
    from copyhead.starts import softest_mode

    setup = Setup(6, 3, 5.0)
    action = ReducedAction(setup, "linear", sequences(6, 3, 20, 0))
    assert idle_head(action, np.zeros((9, 9)))[0] == pytest.approx(softest_mode(action)[0], rel=1e-9)
    fit = fit_map(setup, "linear", 20, 0)
    assert idle_head(action, fit.M)[0] >= 1 - 1e-3            # the fitted head itself is neutral: rotations
    with pytest.raises(ValueError, match="linear attention"):
        idle_head(ReducedAction(setup, "softmax", sequences(6, 3, 20, 0)), fit.M)
