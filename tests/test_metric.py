"""The metric of frozen embeddings, against the full weights and against dense kernels."""

import numpy as np
import pytest

from copyhead import Setup, fit_map, task
from copyhead.metric import MetricAction, _repaired, most_probable, random_metric, square_root
from copyhead.reduced import ReducedAction
from copyhead.starts import wrong_sign_tokens

SETUP = Setup(6, 3, 2.0, 1.3, 0.7)
TOKENS = task.sequences(6, 3, 40, seed=1)
ATTENTIONS = ["linear", "softmax"]


@pytest.mark.parametrize("d", [5, 50])  # 5 is less than V + L: a singular metric
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_action_is_that_of_the_dense_kernel_of_the_outputs(attention, d):
    rng = np.random.default_rng(0)
    E, M = rng.standard_normal((d, 9)), rng.standard_normal((9, 9))
    action = MetricAction(SETUP, attention, TOKENS, E.T @ E / d)
    phi = task.features(TOKENS, 3)
    U = phi @ action.kernel(M) @ phi.transpose(0, 2, 1)
    G = U / 6 if attention == "linear" else np.exp(U) / np.exp(U).sum(-1, keepdims=True)
    Z = (G @ phi @ E.T).reshape(-1, d) / np.sqrt(d)                    # what W_O acts on, in d dimensions
    Y = task.one_hot(task.targets(TOKENS), 3).reshape(-1, 3)
    kernel = 1.3 * Z @ Z.T + 2.0 * np.eye(len(Y))
    dense = np.vdot(Y, np.linalg.solve(kernel, Y)) / 2 + np.vdot(M, M) / 1.4
    assert np.isclose(action.value(M), dense, rtol=1e-12)
    mean = 1.3 * Z.T @ np.linalg.solve(kernel, Y)                      # posterior mean of W_O^T sqrt(d)
    assert np.allclose(action.readout(M), E.T @ mean / np.sqrt(d), rtol=1e-9, atol=1e-12)
    assert np.isclose(action.loss(M), np.sum((Y - Z @ mean) ** 2) / len(Y), rtol=1e-10)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_gradient_is_the_slope_of_the_value(attention):
    rng = np.random.default_rng(1)
    action = MetricAction(SETUP, attention, TOKENS, random_metric(3, 6, 20, seed=0))
    M, step = rng.standard_normal((9, 9)), 1e-5
    value, gradient = action.value_and_gradient(M)
    assert value == pytest.approx(action.value(M), rel=1e-13)
    for _ in range(3):
        D = rng.standard_normal((9, 9))
        slope = (action.value(M + step * D) - action.value(M - step * D)) / (2 * step)
        assert np.vdot(gradient, D) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_unit_metric_is_infinite_dimension(attention):
    M = np.random.default_rng(2).standard_normal((9, 9))
    here, there = MetricAction(SETUP, attention, TOKENS, np.eye(9)), ReducedAction(SETUP, attention, TOKENS)
    assert here.value(M) == pytest.approx(there.value(M), rel=1e-13)
    assert np.allclose(here.value_and_gradient(M)[1], there.value_and_gradient(M)[1], rtol=1e-10, atol=1e-12)
    assert here.loss(M) == pytest.approx(there.loss(M), rel=1e-12)


def test_kernel_has_the_distribution_of_the_big_network():
    """Covariance of T = E^T W_G E / d over 20,000 draws of W_G: five standard errors, a false alarm once in 1e5."""
    rng, d, draws = np.random.default_rng(3), 7, 20_000
    E = rng.standard_normal((d, 9))
    C = E.T @ E / d
    T = E.T @ (np.sqrt(0.7) * rng.standard_normal((draws, d, d))) @ E / d
    measured = np.einsum("nij,nkl->ijkl", T[:, :2, 2:4], T[:, :2, 2:4]) / draws
    expected = 0.7 * np.einsum("ik,jl->ijkl", C[:2, :2], C[2:4, 2:4])
    error = np.sqrt(2 / draws) * 0.7 * C[:4, :4].diagonal().max() ** 2
    assert np.abs(measured - expected).max() < 5 * error
    root = square_root(C, 9)
    assert np.allclose(root @ root, C)                                # so R M R has exactly this covariance


def test_random_metric_has_unit_mean_and_wishart_fluctuations():
    """Entries over 4,000 draws at d = 40: variance 1/d off the diagonal and 2/d on it, to five standard errors."""
    C = np.array([random_metric(2, 2, 40, seed) for seed in range(4000)])
    assert np.array_equal(random_metric(2, 2, 40, 7), C[7]) and not np.array_equal(C[6], C[7])
    assert np.abs(C.mean(axis=0) - np.eye(4)).max() < 5 * np.sqrt(2 / 40 / 4000)
    expected = (1 + np.eye(4)) / 40
    assert np.abs(C.var(axis=0) / expected - 1).max() < 5 * np.sqrt(2.6 / 4000)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"d must be an integer >= 1, got 0"):
        random_metric(3, 6, 0, 0)
    with pytest.raises(ValueError, match=r"C must be a symmetric matrix of shape .* = \(9, 9\), got shape \(8, 8\)"):
        MetricAction(SETUP, "linear", TOKENS, np.eye(8))
    with pytest.raises(ValueError, match=r"C must be positive semidefinite, got the eigenvalue -1"):
        MetricAction(SETUP, "linear", TOKENS, np.diag([1.0] * 8 + [-1.0]))


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_most_probable_is_stationary_and_no_worse_than_the_fit_at_infinite_dimension(attention):
    setup = Setup(8, 3, 2.0)
    tokens = task.sequences(8, 3, 60, seed=0)
    C = random_metric(3, 8, 300, seed=1)
    action = MetricAction(setup, attention, tokens, C)
    M = most_probable(action, tolerance=1e-5)
    assert np.abs(action.value_and_gradient(M)[1]).max() < 1e-5
    rng = np.random.default_rng(0)
    assert all(action.value(M + 0.01 * rng.standard_normal(M.shape)) > action.value(M) for _ in range(5))
    unit = MetricAction(setup, attention, tokens, np.eye(11))
    fit = fit_map(setup, attention, 60, seed=0)
    assert unit.value(most_probable(unit, tolerance=1e-5)) == pytest.approx(fit.action, rel=1e-7)
    # From a neighbouring minimum the same one is found.
    assert action.value(most_probable(action, fit.M, 1e-5)) == pytest.approx(action.value(M), rel=1e-7)


def test_wrong_signs_of_tokens_are_repaired_at_finite_dimension():
    """A search from small random weights ends above the minimum, with signs that differ; turning them leads down to it."""
    C = random_metric(5, 25, 1024, seed=0)
    action = MetricAction(Setup(25, 5), "linear", task.sequences(25, 5, 300, seed=0), C, np.float32)
    lowest = action.value(most_probable(action))
    stuck = most_probable(action, 0.01 * np.random.default_rng(0).standard_normal((30, 30)))
    assert len(wrong_sign_tokens(action.kernel(stuck), 5)) == 2 and action.value(stuck) > lowest + 1
    repaired = most_probable(action, _repaired(action, stuck))
    assert action.value(repaired) == pytest.approx(lowest, abs=0.01)


def test_slope_of_the_lowest_action_in_the_metric():
    """dS = -tr(dC K) / 2, K = (M M^T + M^T M) / g_W + W W^T / g_O, at C = 1: stationarity leaves the explicit part."""
    setup = Setup(8, 3, 2.0, 1.3, 0.7)
    tokens = task.sequences(8, 3, 60, seed=0)
    unit = MetricAction(setup, "softmax", tokens, np.eye(11))
    M = most_probable(unit, tolerance=1e-7)
    W = unit.readout(M)
    K = (M @ M.T + M.T @ M) / 0.7 + W @ W.T / 1.3
    half, step = np.random.default_rng(0).standard_normal((11, 11)), 1e-3
    H = half + half.T
    sides = [MetricAction(setup, "softmax", tokens, np.eye(11) + sign * step * H) for sign in (1, -1)]
    values = [side.value(most_probable(side, M, 1e-7)) for side in sides]
    assert (values[0] - values[1]) / (2 * step) == pytest.approx(-np.vdot(H, K) / 2, rel=1e-4)
