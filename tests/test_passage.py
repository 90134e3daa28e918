"""First passages in one dimension, against closed forms and a direct simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from copyhead.barrier import Profile, kramers
from copyhead.passage import MARGINAL_MEAN, Passage, fold_mean, fold_variation


def test_drift_and_diffusion_on_a_line() -> None:
    """F = -v x, D = 1 from far away: an inverse Gaussian, mean d/v, variance 2 d/v^3."""
    v, d = 2.0, 5.0
    x = np.linspace(-6, d, 4000)
    walk = Passage(Profile(x, -v * x), 1.0, 0.0, d)
    assert walk.mean == pytest.approx(d / v, rel=2e-3)
    assert walk.variation == pytest.approx(np.sqrt(2 * d / v**3) / (d / v), rel=2e-3)


def test_a_steep_slope_is_as_exact_as_a_gentle_one() -> None:
    """Twenty grid points, a thousand kT: the clock, and its weak-noise spread."""
    x = np.linspace(-0.5, 1, 31)
    walk = Passage(Profile(x, -1000 * x), 0.001, 0.0, 1.0)
    assert walk.mean == pytest.approx(1.0, rel=0.01) and walk.variation == pytest.approx(np.sqrt(2 / 1000), rel=0.01)


def test_mean_is_the_double_integral_with_a_diffusion_that_varies() -> None:
    x = np.linspace(-2.2, 2.2, 3000)
    F, D = 3 * (x**2 - 1) ** 2 - 0.5 * x, 1 + 0.5 * np.sin(x)
    walk = Passage(Profile(x, F), D, -1.0, 1.0)

    def inner(y: float) -> float:
        return quad(lambda z: np.exp(-3 * (z**2 - 1) ** 2 + 0.5 * z), -2.2, y)[0]

    exact = quad(lambda y: np.exp(3 * (y**2 - 1) ** 2 - 0.5 * y) / (1 + 0.5 * np.sin(y)) * inner(y), -1, 1)[0]
    assert walk.mean == pytest.approx(exact, rel=3e-3)


def test_a_high_barrier_makes_it_exponential_with_kramers_time() -> None:
    height = 9.0
    x = np.linspace(-2, 2, 3000)
    walk = Passage(Profile(x, height * (x**2 - 1) ** 2), 1.0, -1.0, 1.0)
    assert walk.variation == pytest.approx(1, abs=0.01)
    assert walk.mean == pytest.approx(kramers(8 * height, -4 * height, height), rel=0.1)
    t = np.linspace(0, 2 * walk.mean, 50)
    assert np.allclose(walk.survival(t), np.exp(-t / walk.mean), atol=0.01)


def test_survival_has_the_moments_and_agrees_with_simulated_passages() -> None:
    x = np.linspace(-3, 3, 600)
    walk = Passage(Profile(x, x**2 / 2), 1.0, 0.0, 1.5)
    t = np.linspace(0, 25 * walk.mean, 5000)
    S = walk.survival(t, steps=2000)
    assert np.trapezoid(S, t) == pytest.approx(walk.mean, rel=1e-3)
    assert 2 * np.trapezoid(t * S, t) == pytest.approx(walk.mean**2 * (1 + walk.variation**2), rel=2e-3)
    rng, dt = np.random.default_rng(0), 2e-3
    place, when = np.zeros(1000), np.full(1000, np.inf)
    for step in range(1, 10000):
        place = place - dt * place + np.sqrt(2 * dt) * rng.standard_normal(1000)
        when[np.isinf(when) & (place >= 1.5 - 0.5826 * np.sqrt(2 * dt))] = step * dt     # passages between the steps
    assert np.isfinite(when).mean() > 0.9
    for quantile in (0.25, 0.5, 0.75):                           # five standard errors: 6e-7 each
        share = np.mean(when > np.interp(-quantile, -S, t))
        assert abs(share - quantile) < 5 * np.sqrt(quantile * (1 - quantile) / 1000)


def test_fold_mean_limits_and_the_double_integral() -> None:
    assert fold_mean(0.0) == pytest.approx(MARGINAL_MEAN, rel=1e-12)
    assert fold_mean(50.0) == pytest.approx(np.pi / np.sqrt(50), rel=1e-4)
    assert fold_mean(-9.0) == pytest.approx(np.pi / 3 * np.exp(4 / 3 * 27), rel=0.02)
    x = np.linspace(-9, 9, 4000)
    for z in (-1.5, 0.0, 2.0):
        tails = 2 * quad(lambda y, z=z: 1 / (z + y**2), 9, np.inf)[0]
        assert Passage(Profile(x, -z * x - x**3 / 3), 1.0, -9, 9).mean + tails == pytest.approx(fold_mean(z), rel=2e-3)
    both = np.asarray(fold_mean([-1.5, 2.0]))
    assert both.shape == (2,) and both[1] == fold_mean(2.0)


def test_fold_variation_from_random_to_regular() -> None:
    assert fold_variation(-6.0) == pytest.approx(1, abs=2e-3)
    assert fold_variation(0.0) == pytest.approx(3**-0.5, rel=1e-3)                 # Sigeti and Horsthemke
    assert fold_variation(15.0) == pytest.approx(np.sqrt(3 / (4 * np.pi)) * 15**-0.75, rel=5e-3)


def test_bad_arguments_are_refused() -> None:
    line = Profile(np.linspace(0, 1, 10), np.zeros(10))
    with pytest.raises(ValueError, match="start < end"):
        Passage(line, 1.0, 0.5, 2.0)
    with pytest.raises(ValueError, match="D must be"):
        Passage(line, -1.0, 0.0, 1.0)
