"""Patterns with several ones in a row: against the general action, the single lag, real data, and each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from copyhead import Setup, SoftmaxAction
from copyhead.experiments import sparse as experiment
from copyhead.multi import MultiAction
from copyhead.patterns import circulant, column_bias, random_regular, random_rows
from copyhead.reduced import ReducedAction, planted
from copyhead.sparse import PatternAction, RegularAction, target_scale
from copyhead.task import one_hot, sequences
from copyhead.teacher import Teacher, copy_teacher, orthogonal_values, sparse_teacher
from copyhead.teacher_network import TeacherAction

PAPER = Setup(25, 5)
ODD = Setup(13, 7, sigma2=11.0, g_O=1.7, g_W=0.6)
CASES = [(PAPER, 1, 1.0), (PAPER, 4, 0.5), (ODD, 3, 0.7), (ODD, 12, 1.3)]
IDS = ["copy", "unit norm", "odd", "dense"]


@pytest.mark.parametrize(("setup", "s", "scale"), CASES, ids=IDS)
def test_closed_form_is_the_general_action(setup: Setup, s: int, scale: float) -> None:
    R = random_regular(setup.L, s, seed=2)
    formula = RegularAction(setup, s, scale)
    general, full = MultiAction(setup, sparse_teacher(setup.V, R, scale)), PatternAction(setup, R, scale)
    for ell, P in ((-0.4, 20.0), (0.3, 100.0), (1.7, 276.0), (3.0, 900.0)):
        assert general.action([[ell]], P) == pytest.approx(formula.action(ell, P), rel=1e-13)
        assert full.action_and_gradient(ell * R, P)[0] == pytest.approx(formula.action(ell, P), rel=1e-13)
        assert general.loss([[ell]], P) == pytest.approx(formula.loss(ell, P), rel=1e-12)
        np.testing.assert_allclose(general.weights([[ell]])[0, ::-1], formula.weights(ell), rtol=1e-13)


@pytest.mark.parametrize(("setup", "s", "scale"), CASES[1:], ids=IDS[1:])
def test_the_law(setup: Setup, s: int, scale: float) -> None:
    """Differences of the action against the single lag's at the length L / s, which is written out here for real lengths."""
    length, g_W = setup.L / s, scale**2 * setup.g_W

    def one(ell: float, P: float) -> float:
        m = np.exp(ell) / (length - 1 + np.exp(ell))
        u2 = length * (m**2 + (1 - m) ** 2 / (length - 1))
        gain = (length * m) ** 2 / (u2 + setup.V * setup.sigma2 / (setup.g_O * P))
        return (length - 1) * ell**2 / (2 * g_W) + (setup.V - 1) * P / (2 * setup.V * setup.sigma2) * (length - gain)

    formula = RegularAction(setup, s, scale)
    for P in (30.0, 300.0):
        difference = formula.action(1.4, P) - formula.action(-0.2, P)
        assert difference == pytest.approx((s * scale) ** 2 * (one(1.4, P) - one(-0.2, P)), rel=1e-11)


def test_one_density_has_one_transition() -> None:
    """P* and spinodals of the book at every L with L / s = 25; the barrier grows as s^2."""
    book = SoftmaxAction(PAPER).first_order_transition()
    assert book is not None
    for s in (1, 2, 3, 4):
        jump = RegularAction(Setup(25 * s, 5), s).first_order_transition()
        assert jump is not None
        assert (jump.P, jump.lower_spinodal, jump.upper_spinodal) == pytest.approx(
            (book.P, book.lower_spinodal, book.upper_spinodal), rel=1e-9)
        assert jump.barrier == pytest.approx(s**2 * book.barrier, rel=1e-6)
        assert jump.uniform.action == pytest.approx(jump.copy.action, rel=1e-9)
        assert jump.copy.share == pytest.approx(book.copy.m, rel=1e-9)


def test_several_heads_obey_the_law() -> None:
    two = MultiAction(Setup(36, 5), sparse_teacher(5, circulant(36, [1, 2, 3])), heads=2)
    one = MultiAction(Setup(12, 5), copy_teacher(12, 5), heads=2)
    x, y = np.array([[1.2], [-0.1]]), np.array([[2.2], [0.4]])
    assert two.action(x, 200.0) - two.action(y, 200.0) == pytest.approx(9 * (one.action(x, 200.0) - one.action(y, 200.0)))


def test_patterns_and_lags_of_one_value_map_agree() -> None:
    """A pattern of two lags with one logit is two lags with the same logit; W has rank one there."""
    lags = MultiAction(PAPER, Teacher(25, np.array([np.eye(5)] * 2)), heads=2)
    pattern = MultiAction(PAPER, sparse_teacher(5, circulant(25, [1, 2])), heads=2)
    x = np.array([[1.1], [-0.3]])
    assert pattern.action(x, 250.0) == pytest.approx(lags.action(np.repeat(x, 2, axis=1), 250.0), rel=1e-12)
    assert np.sum(pattern.gradient(x, 250.0)) == pytest.approx(np.sum(lags.gradient(np.repeat(x, 2, axis=1), 250.0)))


def test_gradients_of_patterns() -> None:
    values = orthogonal_values(7, 2)
    teacher = Teacher(13, values, patterns=np.array([circulant(13, [1, 4]), circulant(13, [0, 2, 5])]))
    for attention in ("softmax", "linear"):
        model = MultiAction(ODD, teacher, heads=2, attention=attention)                      # type: ignore[arg-type]
        x = 0.3 * np.random.default_rng(0).standard_normal(model.shape)
        steps = [d.reshape(x.shape) for d in 1e-5 * np.eye(x.size)]
        measured = [(model.action(x + d, 90.0) - model.action(x - d, 90.0)) / 2e-5 for d in steps]
        np.testing.assert_allclose(measured, model.gradient(x, 90.0).ravel(), rtol=1e-5, atol=1e-5)
    action = PatternAction(ODD, random_rows(13, 3, seed=1), 0.8)
    U = np.random.default_rng(1).standard_normal((13, 13))
    slope = action.action_and_gradient(U, 90.0)[1]
    for a, b in ((0, 0), (3, 7), (12, 4)):
        step = np.zeros((13, 13))
        step[a, b] = 1e-5
        rise = action.action_and_gradient(U + step, 90.0)[0] - action.action_and_gradient(U - step, 90.0)[0]
        assert slope[a, b] == pytest.approx(rise / 2e-5, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(("setup", "s", "scale"), CASES, ids=IDS)
def test_the_family_is_closed(setup: Setup, s: int, scale: float) -> None:
    """What is stationary in ell is stationary among all constant attention."""
    R = random_regular(setup.L, s, seed=3)
    full = PatternAction(setup, R, scale)
    for P in (20.0, 276.0, 2000.0):
        for state in RegularAction(setup, s, scale).minima(P):
            assert np.abs(full.action_and_gradient(state.ell * R, P)[1]).max() < 1e-8 * (1 + state.action)


def test_prior_of_a_pattern_is_that_of_the_cheapest_weights() -> None:
    """Planted weights with the mean of every row removed; no data to speak of."""
    action = PatternAction(ODD, random_rows(13, 3, seed=1))
    U = np.random.default_rng(2).standard_normal((13, 13))
    expected = np.sum(planted(U - U.mean(axis=1, keepdims=True), 7) ** 2) / (2 * ODD.g_W)
    assert action.action_and_gradient(U, 1e-9)[0] == pytest.approx(expected, rel=1e-8)


def test_linear_response_of_popular_keys() -> None:
    R = random_rows(50, 2, seed=0)
    U = PatternAction(Setup(50, 5), R).minimum(1.0)[0]
    response = R - 2 / 50 + (R.sum(axis=0) - 2) / 5
    assert np.corrcoef(U.ravel(), response.ravel())[0, 1] > 0.9999
    regular = random_regular(50, 2, seed=0)
    U = PatternAction(Setup(50, 5), regular).minimum(1.0)[0]
    np.testing.assert_allclose(U.sum(axis=0), 0, atol=1e-6)


def test_finite_data_approach_the_formula() -> None:
    """Action of real sequences at planted logits; 6400 of them, four data sets: within 0.5 % (0.1 % seen)."""
    setup, found = Setup(12, 4, sigma2=320.0), []
    for seed in range(4):
        R, tokens = random_regular(12, 3, seed), sequences(12, 4, 6400, seed)
        action = ReducedAction(setup, "softmax", tokens, Y=sparse_teacher(4, R, 0.8).targets(tokens))
        found.append(action.value(planted(1.5 * (R - 0.25), 4)))
    assert np.mean(found) == pytest.approx(float(RegularAction(setup, 3, 0.8).action(1.5, 6400)), rel=5e-3)


def test_both_engines_agree_on_any_targets() -> None:
    """The reduced action in NumPy and the one in PyTorch, which differ by the constant size of the targets."""
    teacher = sparse_teacher(4, random_regular(8, 3, seed=0), 0.6)
    setup, tokens = Setup(8, 4, sigma2=5.0), sequences(8, 4, 20, seed=0)
    Y = teacher.targets(tokens)
    mine, other = ReducedAction(setup, "softmax", tokens, Y=Y), TeacherAction(setup, "softmax", tokens, teacher, 1)
    M = np.random.default_rng(0).standard_normal((2, 12, 12))
    difference = [mine.value(x) - other.value(x[None]) for x in M]
    assert difference[0] == pytest.approx(difference[1]) == pytest.approx((np.sum(Y**2) - 160) / 10)
    np.testing.assert_allclose(mine.value_and_gradient(M[0])[1], other.value_and_gradient(M[:1])[1][0], atol=1e-9)
    assert mine.loss(M[0]) == pytest.approx(other.loss(M[:1]))
    with pytest.raises(ValueError, match=r"Y must have shape \(20, 8, 4\)"):
        ReducedAction(setup, "softmax", tokens, Y=Y[:3])


def test_loss_is_the_slope_of_the_action() -> None:
    action = RegularAction(ODD, 3, 0.7)
    slope = (action.action(1.2, 80.01) - action.action(1.2, 79.99)) / 0.02
    assert action.loss(1.2, 80.0) == pytest.approx(2 * ODD.sigma2 / ODD.L * slope, rel=1e-7)
    tokens = sequences(13, 7, 3000, seed=0)
    size = np.mean(np.sum(sparse_teacher(7, random_regular(13, 3), 0.7).targets(tokens) ** 2, axis=2))
    assert 0.7**2 * 3 * (7 - 1 + 3) / 7 == pytest.approx(size, rel=0.01)                       # zero output


@pytest.mark.parametrize("target", ["sum", "unit norm", "mean"])
def test_samples_for_a_progress(target: str) -> None:
    """Just below that P the lowest minimum is not there yet, just above it is."""
    for L, s in ((25, 1), (25, 4), (100, 3), (100, 8)):
        action = RegularAction(Setup(L, 5), s, target_scale(target, s))
        P = action.samples_for(0.1)
        assert action.minimum(0.9999 * P).progress < 0.1 <= action.minimum(1.0001 * P).progress
        assert action.progress(action.gap(0.3)) == pytest.approx(0.3)


def test_random_rows_leave_uniform_attention_early() -> None:
    R = random_rows(50, 2, seed=0)
    action, even = PatternAction(Setup(50, 5), R), RegularAction(Setup(50, 5), 2)
    G = action.attention(action.minimum(262.0)[0])
    assert np.vdot(G, R) / 50 > 0.1 > even.minimum(262.0).share
    assert column_bias(G, R) > 5 * column_bias(action.attention(action.minimum(200.0)[0]), R) > 0


def test_fits_of_networks() -> None:
    """One data set: the network of a small experiment has the theory's share of attention, and its uniform state."""
    R = random_regular(30, 2, seed=0)
    network, theory = experiment.SparseNetwork(R, 400, 0), RegularAction(Setup(30, 5), 2)
    state = theory.minimum(400)
    found = network.fit(network.planted(state.ell * R))
    assert network.share(found.M) == pytest.approx(state.share, abs=0.02)
    assert found.action == pytest.approx(state.action, rel=0.03)
    assert network.attention(found.M).sum() == pytest.approx(30)


def test_parity_has_no_additive_signal() -> None:
    """Exact, over all sequences of ten signs: the mean of parity times any token."""
    tokens = np.array(np.meshgrid(*[[0, 1]] * 10)).reshape(10, -1).T
    parity = (tokens[:, :3].sum(axis=1) % 2) * 2 - 1
    np.testing.assert_allclose(np.einsum("p,pav->av", parity, one_hot(tokens, 2)), 0, atol=1e-12)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"s must be an integer in 1..L - 1 = 24, got 25"):
        RegularAction(PAPER, 25)
    with pytest.raises(ValueError, match="scale must be a finite number > 0, got 0"):
        RegularAction(PAPER, 2, 0)
    with pytest.raises(ValueError, match="target must be one of sum, unit norm, mean, got 'max'"):
        target_scale("max", 2)
    with pytest.raises(ValueError, match="progress must be in"):
        RegularAction(PAPER, 2).samples_for(1.0)
    with pytest.raises(ValueError, match="R must hold zeros and ones"):
        PatternAction(PAPER, 0.5 * np.eye(25))
    with pytest.raises(ValueError, match="R must have the same number of ones"):
        PatternAction(PAPER, np.tril(np.ones((25, 25))))
    with pytest.raises(ValueError, match="disjoint patterns with as many ones in every column"):
        MultiAction(PAPER, sparse_teacher(5, random_rows(25, 2, seed=0)))
    with pytest.raises(ValueError, match="disjoint patterns"):
        overlapping = np.array([circulant(25, [1, 2]), circulant(25, [2, 3])])
        MultiAction(PAPER, Teacher(25, orthogonal_values(5, 2), patterns=overlapping))
    with pytest.raises(ValueError, match="same number >= 1 of ones in every row, got 1..3"):
        sparse_teacher(5, np.tril(np.ones((3, 3))))
    with pytest.raises(ValueError, match="lags must be None where patterns are given"):
        Teacher(4, np.eye(5)[None], lags=(1,), patterns=np.eye(4)[None])
    with pytest.raises(ValueError, match="patterns must hold zeros and ones in the shape"):
        Teacher(4, np.eye(5)[None], patterns=np.eye(5)[None])


@pytest.mark.slow
def test_networks_of_one_density_jump_together() -> None:
    """Three data sets of L = 25, s = 1 and of L = 50, s = 2: within 3 % of the theory (1 to 2.5 % seen)."""
    book = RegularAction(replace(PAPER), 1).first_order_transition()
    assert book is not None
    for case in ("25, 1", "50, 2 random"):
        found = [experiment.jump(case, seed)["P"] for seed in range(3)]
        assert np.mean(found) == pytest.approx(book.P, rel=0.03)
