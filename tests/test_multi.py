"""Many heads and many lags: against the single-lag theories, brute force over sequences, and finite data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.multi import MultiAction, heads_on
from copyhead.reduced import Attention, planted
from copyhead.task import features, one_hot, sequences
from copyhead.teacher import Teacher, copy_teacher, orthogonal_values

PAPER = Setup(25, 5)
ODD = Setup(13, 7, sigma2=11.0, g_O=1.7, g_W=0.6)
THREE = Teacher(25, np.array([1.0, 0.75, 0.5])[:, None, None] * orthogonal_values(5, 3))


def random_values(K: int, V: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).standard_normal((K, V, V))


# --- the teacher ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("V", "K"), [(5, 3), (5, 4), (2, 1), (9, 8)])
def test_orthogonal_values(V: int, K: int) -> None:
    A = orthogonal_values(V, K)
    centring = np.eye(V) - 1 / V
    np.testing.assert_allclose(A @ np.ones(V), 0, atol=1e-12)
    for first in A:
        np.testing.assert_allclose(first.T @ first, centring, atol=1e-12)
    np.testing.assert_allclose(A[0], centring, atol=1e-12)
    np.testing.assert_allclose(Teacher(12, A).W, (V - 1) * np.eye(K), atol=1e-12)


def test_targets_and_patterns() -> None:
    teacher = Teacher(7, random_values(3, 4), lags=(2, 0, 5))
    tokens = sequences(7, 4, 6, seed=1)
    X = one_hot(tokens, 4)
    expected = sum(R @ X @ A.T for R, A in zip(teacher.patterns(), teacher.values, strict=True))
    np.testing.assert_allclose(teacher.targets(tokens), expected, atol=1e-12)
    np.testing.assert_array_equal(copy_teacher(7, 4).targets(tokens), np.roll(X, 1, axis=1))


def test_mean_and_overlaps_are_those_of_random_targets() -> None:
    """Covariance of the targets over all tokens: its mean's length and the trace of W, enumerated at V = 3, L = 4."""
    teacher = Teacher(4, random_values(2, 3))
    tokens = np.array(np.meshgrid(*[range(3)] * 4)).reshape(4, -1).T
    y = teacher.targets(tokens)
    mean = y.mean(axis=0)
    np.testing.assert_allclose(np.sum(mean**2, axis=1), teacher.mean, rtol=1e-12)
    np.testing.assert_allclose(np.mean(np.sum((y - mean) ** 2, axis=2), axis=0), np.trace(teacher.W) / 3, rtol=1e-12)


@pytest.mark.parametrize("bad", [dict(lags=(1,)), dict(lags=(1, 1)), dict(lags=(1, 7))], ids=["few", "twice", "far"])
def test_teacher_refuses_lags(bad: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="lags must be 2 different integers in 0..6"):
        Teacher(7, random_values(2, 3), **bad)


# --- one lag --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setup", [PAPER, ODD], ids=["paper", "odd"])
def test_one_softmax_head_on_one_lag(setup: Setup) -> None:
    model, exact = MultiAction(setup, copy_teacher(setup.L, setup.V)), SoftmaxAction(setup)
    root = np.sqrt(setup.L)
    for ell, P in ((-0.4, 20.0), (0.3, 100.0), (1.7, 276.0), (3.0, 900.0)):
        a = root * np.expm1(ell) / (np.exp(ell) + setup.L - 1)
        assert model.action([[ell]], P) == pytest.approx(exact.action(a, P), rel=1e-13)
        assert model.loss([[ell]], P) == pytest.approx(exact.loss(a, P), rel=1e-12)


@pytest.mark.parametrize("setup", [PAPER, ODD], ids=["paper", "odd"])
def test_one_linear_head_on_one_lag(setup: Setup) -> None:
    model, exact = MultiAction(setup, copy_teacher(setup.L, setup.V), attention="linear"), LinearAction(setup)
    for c1, c_G, P in ((0.3, 0.1, 100.0), (-0.2, 0.4, 500.0), (0.1, -0.3, 40.0)):
        x = [[c1, c_G / np.sqrt(setup.L)]]
        assert model.action(x, P) == pytest.approx(exact.action(c1, c_G, P), rel=1e-13)
        assert model.loss(x, P) == pytest.approx(exact.loss(c1, c_G, P), rel=1e-12)


def test_the_jump_of_the_book() -> None:
    """Equal action of two states followed by two descents, against the curve of all stationary states."""
    model = MultiAction(PAPER, copy_teacher(25, 5))
    expected = SoftmaxAction(PAPER).first_order_transition()
    assert expected is not None
    P = model.equal_action(model.assigned([None]), model.assigned([0], 1.7), 268.0, 290.0)
    assert P == pytest.approx(expected.P, abs=1e-4)
    assert model.equal_action(model.assigned([None]), model.assigned([0]), 100.0, 200.0) is None


def test_value_maps_of_half_the_size_need_more_data() -> None:
    """A copy of strength w has the action of strength 1 with targets w times as large: W enters as (V - 1) w^2."""
    w = 0.6
    weak = MultiAction(PAPER, Teacher(25, w * orthogonal_values(5, 1)))
    one = MultiAction(PAPER, Teacher(25, orthogonal_values(5, 1)))
    soft = MultiAction(replace(PAPER, g_W=w**2), Teacher(25, orthogonal_values(5, 1)))
    for ell, P in ((0.4, 200.0), (2.0, 500.0)):
        assert weak.action([[ell]], P) == pytest.approx(w**2 * soft.action([[ell]], P), rel=1e-12)
        assert weak.action([[ell]], P) > w**2 * one.action([[ell]], P)


# --- many ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("setup", [PAPER, ODD], ids=["paper", "odd"])
def test_gradient_and_hessian(attention: Attention, setup: Setup) -> None:
    model = MultiAction(setup, Teacher(setup.L, random_values(3, setup.V)), heads=2, attention=attention)
    x = 0.3 * np.random.default_rng(0).standard_normal(model.shape)
    h = 1e-5
    steps = [d.reshape(x.shape) for d in h * np.eye(x.size)]
    measured = [(model.action(x + d, 200.0) - model.action(x - d, 200.0)) / (2 * h) for d in steps]
    gradient = model.gradient(x, 200.0).ravel()
    np.testing.assert_allclose(measured, gradient, atol=1e-6 * np.abs(gradient).max())
    second = [(model.action(x + d, 200.0) - 2 * model.action(x, 200.0) + model.action(x - d, 200.0)) / h**2
              for d in (d * 30 for d in steps)]
    hessian = model.hessian(x, 200.0)
    np.testing.assert_allclose(np.array(second) / 900, np.diag(hessian), atol=1e-3 * np.abs(hessian).max())


def test_readout_minimises_the_explicit_action() -> None:
    model = MultiAction(ODD, Teacher(13, random_values(3, 7)), heads=2)
    rng = np.random.default_rng(3)
    x = rng.standard_normal(model.shape)
    u = model.readout(x, 150.0)
    S, dx, du = model.explicit(x, u, 150.0)
    assert np.abs(du).max() < 1e-10 and S == pytest.approx(model.action(x, 150.0))
    np.testing.assert_allclose(dx, model.gradient(x, 150.0))
    for _ in range(5):
        assert model.explicit(x, u + 0.1 * rng.standard_normal(u.shape), 150.0)[0] > S


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_loss_is_the_slope_of_the_action_in_P(attention: Attention) -> None:
    model = MultiAction(PAPER, Teacher(25, random_values(2, 5)), heads=2, attention=attention)
    x = 0.2 * np.random.default_rng(1).standard_normal(model.shape)
    slope = (model.action(x, 300.01) - model.action(x, 299.99)) / 0.02
    assert model.loss(x, 300.0) == pytest.approx(2 * PAPER.sigma2 / PAPER.L * slope, rel=1e-5)


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_finite_data_approach_the_action(attention: Attention) -> None:
    """Constant attention on real sequences, readouts solved exactly: the share of the targets that is left unexplained.

    Four data sets of 6400 sequences; deviations of order 1/P and noise of 0.2 % (measured over seeds) stay below 0.7 %.
    """
    V, L, H, P = 4, 8, 2, 6400
    teacher, setup = Teacher(L, random_values(3, V, seed=5)), Setup(L, V, sigma2=P / 20)
    model = MultiAction(setup, teacher, heads=H, attention=attention)
    x = np.random.default_rng(0).standard_normal(model.shape) * (1.0 if attention == "softmax" else 0.4)
    rest = np.ones((L, L)) - teacher.patterns().sum(axis=0)
    G = np.einsum("hk,kab->hab", model.weights(x), [rest, *teacher.patterns()])
    theory = model.action(x, P) - np.vdot(x @ model.stiffness, x) / (2 * setup.g_W)
    found = []
    for seed in range(4):
        tokens = sequences(L, V, P, seed)
        Phi, Y = features(tokens, V), teacher.targets(tokens).reshape(-1, V)
        Z = np.concatenate([g @ Phi for g in G], axis=2).reshape(P * L, -1)
        B = Z.T @ Y
        fit = np.vdot(B, np.linalg.solve(Z.T @ Z + setup.sigma2 / setup.g_O * np.eye(Z.shape[1]), B))
        found.append(1 - fit / np.vdot(Y, Y))
    whole = P * L / (2 * setup.sigma2) * (np.trace(teacher.W) / V + teacher.mean)
    assert np.mean(found) == pytest.approx(theory / whole, rel=0.007)


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_prior_is_that_of_the_cheapest_weights(attention: Attention) -> None:
    """||M||^2 / 2 g_W of the least M with these logits, found by planting and projecting."""
    setup = Setup(9, 4, g_W=0.7)
    teacher = Teacher(9, random_values(2, 4))
    model = MultiAction(setup, teacher, attention=attention)
    x = np.random.default_rng(2).standard_normal(model.shape)
    R = teacher.patterns()
    if attention == "linear":
        costs = np.sum(planted(9 * (x[0, 0] * np.ones((9, 9)) / 9 + np.tensordot(x[0, 1:], R, 1)), 4) ** 2)
    else:
        shifts = np.linspace(-3, 3, 6001)
        logits = np.tensordot(x[0], R, 1)
        ends = [np.sum(planted(logits + s, 4) ** 2) for s in (-1.0, 0.0, 1.0)]        # a parabola in the shift
        costs = np.polyval(np.polyfit([-1, 0, 1], ends, 2), shifts).min()
    assert np.vdot(x @ model.stiffness, x) / (2 * setup.g_W) == pytest.approx(costs / (2 * setup.g_W), rel=1e-5)


def test_identical_heads_are_one_head() -> None:
    """H heads that do the same are one head with H times the readout variance and 1/H of the attention variance."""
    many = MultiAction(PAPER, THREE, heads=3)
    one = MultiAction(replace(PAPER, g_O=3.0, g_W=1 / 3), THREE)
    x = np.array([[1.1, 0.4, -0.2]])
    assert many.action(np.repeat(x, 3, axis=0), 400.0) == pytest.approx(one.action(x, 400.0), rel=1e-13)


def test_heads_can_be_permuted_and_linear_ones_rotated() -> None:
    rng = np.random.default_rng(4)
    soft, linear = (MultiAction(PAPER, THREE, heads=3, attention=kind) for kind in ("softmax", "linear"))
    x, c = rng.standard_normal(soft.shape), 0.2 * rng.standard_normal(linear.shape)
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    assert soft.action(x[[2, 0, 1]], 400.0) == pytest.approx(soft.action(x, 400.0), rel=1e-13)
    assert linear.action(rotation @ c, 400.0) == pytest.approx(linear.action(c, 400.0), rel=1e-12)
    assert abs(soft.action(rotation @ x, 400.0) - soft.action(x, 400.0)) > 1.0


def test_minima_put_one_head_on_a_lag() -> None:
    model = MultiAction(PAPER, THREE, heads=3)
    for P, expected in ((200.0, (0, 0, 0)), (600.0, (1, 1, 0)), (2000.0, (1, 1, 1))):
        states = model.minima(P)
        assert states[0].heads_on == expected
        for state in states:
            assert np.abs(model.gradient(state.x, P)).max() < 1e-4
            assert np.linalg.eigvalsh(model.hessian(state.x, P)).min() > 0


def test_symmetric_state_is_a_saddle() -> None:
    """All heads on the first lag: stationary among all, by symmetry, with a falling direction that parts the heads."""
    model = MultiAction(PAPER, THREE, heads=3)
    state = model.descend(model.assigned([0, 0, 0]), 800.0, symmetric=True)
    assert state.heads_on == (3, 0, 0) and np.abs(model.gradient(state.x, 800.0)).max() < 1e-4
    values, vectors = np.linalg.eigh(model.hessian(state.x, 800.0))
    assert values[0] < 0 and np.isclose(values[0], values[1], rtol=1e-4)          # H - 1 ways to part three heads
    np.testing.assert_allclose(vectors[:, 0].reshape(3, 3).sum(axis=0), 0, atol=1e-5)


def test_heads_on() -> None:
    assert heads_on([[0.05, 0.04], [0.3, 0.2], [0.1, 0.6]]) == (1, 1)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"teacher must have \(L, V\) = \(25, 5\), got \(7, 5\)"):
        MultiAction(PAPER, copy_teacher(7, 5))
    with pytest.raises(ValueError, match="heads must be an integer >= 1, got 0"):
        MultiAction(PAPER, THREE, heads=0)
    with pytest.raises(ValueError, match="fewer lags than L = 3, got 3"):
        MultiAction(Setup(3, 5), Teacher(3, orthogonal_values(5, 3), lags=(0, 1, 2)))
    with pytest.raises(ValueError, match="attention must be 'softmax' here"):
        MultiAction(PAPER, THREE, attention="linear").minima(100.0)
    with pytest.raises(ValueError, match=r"K must be an integer in 1..V - 1 = 4, got 5"):
        orthogonal_values(5, 5)
