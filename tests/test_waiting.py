"""The pieces of the experiment on waiting times, each against an independent route."""

from __future__ import annotations

import numpy as np
import pytest

from copyhead.experiments import waiting
from copyhead.patterns import order_parameters
from copyhead.reduced import ReducedAction, planted
from copyhead.task import sequences
from copyhead.umbrella import SpringPosterior

RNG = np.random.default_rng(0)


def weights() -> np.ndarray:
    return planted(RNG.standard_normal((waiting.L, waiting.L)), 5) + 0.3 * RNG.standard_normal(waiting.SIZE)


def test_both_recorders_see_the_order_parameter_of_the_mean_attention() -> None:
    M = weights()
    posterior = waiting.Watched(30, 30.0)
    action = waiting.Recorded(waiting.SETUP, "softmax", sequences(waiting.L, 5, 30, 0), np.float64)
    posterior(M), action.value_and_gradient(M)
    expected = order_parameters(ReducedAction.attention(action, M).mean(axis=0))[1]
    assert action.seen == pytest.approx(expected, rel=1e-10) and posterior.seen == pytest.approx(expected, rel=1e-4)
    assert waiting.order_parameter(waiting.copy_weight(expected)) == pytest.approx(expected)


def test_watching_does_not_change_the_force() -> None:
    M = weights()
    plain = SpringPosterior(waiting.SETUP, sequences(waiting.L, 5, 30, 0), 30.0, 1e-12)
    assert np.allclose(waiting.Watched(30, 30.0)(M)[1], plain(M)[1], rtol=1e-3, atol=1e-3)


def test_squared_slope_against_differences() -> None:
    posterior = waiting.Watched(12, 30.0)
    exact = SpringPosterior(waiting.SETUP, sequences(waiting.L, 5, 12, 0), 30.0, 1e-12)
    M, total = weights(), 0.0
    for index in np.ndindex(*waiting.SIZE):
        step = np.zeros(waiting.SIZE)
        step[index] = 1e-5
        total += ((exact.a_G(M + step) - exact.a_G(M - step)) / 2e-5) ** 2
    gradient = posterior(M)[1]
    assert posterior.slope_squared(M, gradient) == pytest.approx(total, rel=1e-2)
    assert posterior.spring == 1e-12 and np.allclose(posterior(M)[1], gradient)


def test_profiles_integrate_a_known_force_and_move_with_P() -> None:
    """Springs on F(a) = 40 (a - 0.3)^2 whose tilt is (P' - P) a^2."""
    centre, spring = np.linspace(0, 0.6, 12), 700.0
    mean = (spring * centre + 80 * 0.3) / (spring + 80)
    far = np.array(waiting.OTHERS, float)[:, None] - waiting.UMBRELLA_P
    run = {"centre": centre, "mean": mean, "spring": np.array(spring), "error": np.zeros(12), "tilt": far * mean**2}
    for P in (waiting.UMBRELLA_P, 276.0):
        found = waiting.profiles(run)(P)
        F = 40 * (found.x - 0.3) ** 2 + (P - waiting.UMBRELLA_P) * found.x**2
        assert np.allclose(found.F, F - F.min(), atol=2e-3)
    shaken = waiting.profiles({**run, "error": np.full(12, 0.01)}, np.random.default_rng(0))(waiting.UMBRELLA_P)
    assert not np.allclose(shaken.F, waiting.profiles(run)(waiting.UMBRELLA_P).F, atol=0.1)


def test_runs_repeat_and_differ_by_their_noise() -> None:
    first, again, other = (waiting.langevin(40, 300.0, replica, 2.0) for replica in (0, 0, 1))
    assert np.array_equal(first["a_G"], again["a_G"], equal_nan=True) and not np.allclose(first["a_G"][:3], other["a_G"][:3])
    assert np.all(np.isinf(first["times"])) and first["D_count"].sum() == 2


def test_without_noise_a_run_is_a_function_of_its_seed_and_more_data_are_faster() -> None:
    slow, fast = (waiting.without_noise(P, 0, "descent")["times"] for P in (285, 350))
    assert np.all(fast < slow) and np.all(np.diff(slow) > 0)
    assert np.array_equal(slow, waiting.without_noise(285, 0, "descent")["times"])


def test_the_whole_batch_is_plain_descent_and_a_small_one_is_not() -> None:
    """A batch of all P sequences has no noise: every order gives the same times."""
    whole = [waiting.batched(300, replica, 300)["times"] for replica in (0, 1)]
    small = [waiting.batched(6, replica, 300)["times"] for replica in (0, 1)]
    assert np.allclose(whole[0], whole[1], rtol=1e-3) and not np.allclose(small[0], small[1], rtol=1e-3)
