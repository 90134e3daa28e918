"""Waiting times: estimators against their known distributions.

Simulations use fixed seeds; where a rate is asserted its false-alarm rate (five standard errors, 6e-7 two-sided) is stated.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaincc
from scipy.stats import kstest

from copyhead import events

RUNS = 1000


def delayed(rng: np.random.Generator, n: int, shift: float = 3.0, tau: float = 2.0) -> np.ndarray:
    return shift + rng.exponential(tau, n)


def within(share: float | np.floating, target: float, runs: int = RUNS) -> bool:
    """|share - target| below five standard errors."""
    return abs(float(share) - target) < 5 * np.sqrt(target * (1 - target) / runs)


def test_first_passage_interpolates_and_censors() -> None:
    series = np.array([[0, 1, 3, 0], [0, 0.5, 1, 1.5], [2, 2, 2, 2]])
    assert np.array_equal(events.first_passage([0, 1, 2, 4], series, 2.0), [1.5, np.inf, 0.0])
    with pytest.raises(ValueError, match="series"):
        events.first_passage([0, 1], series, 2.0)


def test_exponential_counts_the_exposure_of_censored_runs() -> None:
    fit = events.fit_exponential([1.0, 3.0, np.inf, np.inf], horizon=[9, 9, 4, 2])
    assert fit.tau == pytest.approx(10 / 2) and (fit.n, fit.events) == (4, 2)


def test_exponential_is_unbiased_under_censoring_where_ignoring_it_is_not() -> None:
    rng = np.random.default_rng(0)
    waits = rng.exponential(2.0, (RUNS, 200))
    seen = np.where(waits < 2.0, waits, np.inf)
    taus = np.array([events.fit_exponential(t, 2.0).tau for t in seen])
    assert abs(taus.mean() - 2) < 0.05                            # order 1/n bias and five standard errors together
    assert abs(np.where(np.isfinite(seen), waits, np.nan)[np.isfinite(seen)].mean() - 2) > 1


def test_shifted_fit_has_no_bias_and_the_likelihood_has() -> None:
    rng = np.random.default_rng(1)
    n, shift, tau = 14, 3.0, 2.0
    fits = [events.fit_shifted_exponential(delayed(rng, n)) for _ in range(RUNS)]
    mean = {name: np.mean([getattr(fit, name) for fit in fits]) for name in ("shift", "tau", "mle_shift", "mle_tau")}
    error = {"shift": tau / n * np.sqrt(n / (n - 1)), "tau": tau / np.sqrt(n - 1)}        # exact standard deviations
    for name, truth in (("shift", shift), ("tau", tau)):
        assert abs(mean[name] - truth) < 5 * error[name] / np.sqrt(RUNS)
    assert mean["mle_shift"] - shift == pytest.approx(tau / n, abs=5 * tau / n / np.sqrt(RUNS))
    assert mean["mle_tau"] / tau == pytest.approx(1 - 1 / n, abs=5 / np.sqrt(n * RUNS))


def test_intervals_cover_as_often_as_they_say() -> None:
    rng = np.random.default_rng(2)
    fits = [events.fit_shifted_exponential(delayed(rng, 14), level=0.9) for _ in range(RUNS)]
    assert within(np.mean([f.shift_interval[0] <= 3 <= f.shift_interval[1] for f in fits]), 0.9)
    assert within(np.mean([f.tau_interval[0] <= 2 <= f.tau_interval[1] for f in fits]), 0.9)


def test_intervals_under_censoring_at_a_fixed_horizon() -> None:
    """Not exact there: coverage within four per cent of 95 at 30 % censored."""
    rng = np.random.default_rng(3)
    horizon = 3 + 2 * np.log(1 / 0.3)
    runs = [delayed(rng, 30) for _ in range(RUNS)]
    fits = [events.fit_shifted_exponential(np.where(t < horizon, t, np.inf), horizon) for t in runs]
    for name, truth in (("shift_interval", 3.0), ("tau_interval", 2.0)):
        share = np.mean([getattr(f, name)[0] <= truth <= getattr(f, name)[1] for f in fits])
        assert abs(share - 0.95) < 0.04


def test_runs_that_ended_before_the_first_event_do_not_count() -> None:
    t = [np.inf, 5.0, 6.0, 9.0]
    assert events.fit_shifted_exponential(t, [1, 10, 10, 10]).tau == events.fit_shifted_exponential(t[1:], 10).tau


def test_score_is_the_slope_of_the_gamma_likelihood() -> None:
    """Against a finite difference in the shape, with censored runs, at the exponential's best tau."""
    t, c = np.array([0.3, 1.1, 2.0, np.inf, np.inf]), np.array([3.0, 3.0, 3.0, 2.5, 1.5])
    tau = np.minimum(t, c).sum() / 3

    def log_likelihood(k: float) -> float:
        from scipy.special import gammaln

        x, end = t[:3] / tau, c[3:] / tau
        return float(((k - 1) * np.log(x) - x - gammaln(k)).sum() + np.log(gammaincc(k, end)).sum())

    slope = (log_likelihood(1 + 1e-5) - log_likelihood(1 - 1e-5)) / 2e-5
    assert events.shape_score(t, c) * np.sqrt(5) == pytest.approx(slope, rel=1e-6)


def test_p_values_are_uniform_under_the_shifted_exponential() -> None:
    rng = np.random.default_rng(4)
    p = [events.shape_test(delayed(rng, 20), draws=400, seed=i)[1] for i in range(300)]
    assert kstest(p, "uniform").pvalue > 1e-4                                             # the false-alarm rate


def test_p_values_under_censoring_keep_their_level() -> None:
    rng = np.random.default_rng(5)
    runs = [delayed(rng, 30) for _ in range(300)]
    p = [events.shape_test(np.where(t < 6, t, np.inf), 6.0, draws=400, seed=i)[1] for i, t in enumerate(runs)]
    assert np.mean(np.array(p) < 0.1) < 0.1 + 5 * np.sqrt(0.09 / 300)


def test_power_grows_with_runs_and_shape_and_is_the_level_at_one() -> None:
    assert within(events.shape_power(14, 1.0, draws=4000, seed=1), 0.05, 2000)            # two simulations of 4000
    few, many = events.shape_power(14, 2.0), events.shape_power(60, 2.0)
    assert few < many and events.shape_power(60, 4.0) > many
    rng = np.random.default_rng(6)
    direct = [events.shape_test(rng.gamma(2.0, 1.0, 60), draws=400, seed=i)[1] < 0.05 for i in range(300)]
    assert within(np.mean(direct), many, 200)


def test_variation_and_its_error() -> None:
    rng = np.random.default_rng(7)
    found = np.array([events.variation(rng.exponential(1.0, 60), draws=200) for _ in range(400)])
    assert abs(found[:, 0].mean() - 1) < 0.04                     # bias of order 1/n
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.15)
    with pytest.raises(ValueError, match="horizon"):
        events.variation([1.0, 2.0, np.inf])


def test_survival_without_and_with_censoring() -> None:
    when, value, error = events.survival([1.0, 2.0, 4.0, np.inf], 5.0)
    assert np.allclose(when, [1, 2, 4]) and np.allclose(value, [0.75, 0.5, 0.25])
    assert np.allclose(error, np.sqrt(value * (1 - value) / 4))   # Greenwood's formula is the binomial's here
    _, late, _ = events.survival([1.0, np.inf, 3.0], [9, 2, 9])
    assert np.allclose(late, [2 / 3, 0.0])                        # two thirds are left, the one at risk at 3 has its event
    assert events.spread([2.0, 6.0]) == 3.0 and events.spread([2.0, np.inf]) == np.inf


@pytest.mark.parametrize(("times", "horizon"), [([1.0, np.inf], np.inf), ([-1.0, 2.0], 3.0), ([1.0, 4.0], 3.0),
                                                ([np.nan, 1.0], 3.0), ([[1.0]], 3.0), ([np.inf, np.inf], 3.0)])
def test_bad_times_are_refused(times: list[float], horizon: float) -> None:
    with pytest.raises(ValueError, match="times|horizon"):
        events.fit_shifted_exponential(times, horizon)
