"""Umbrella sampling: the spring's gradient, the integral of forces, and the free energy against a histogram."""

from __future__ import annotations

import numpy as np
import pytest

from copyhead import Setup
from copyhead.posterior import ReducedPosterior
from copyhead.sampling import sample
from copyhead.task import sequences
from copyhead.umbrella import SpringPosterior, free_energy, windows

SMALL = Setup(6, 3, 8.0)
TOKENS = sequences(6, 3, 24, 0)
CENTRES = np.linspace(-1.2, 0.9, 8)


def test_gradient_of_the_spring() -> None:
    posterior = SpringPosterior(SMALL, TOKENS, 20.0, 500.0, 0.7)
    rng = np.random.default_rng(0)
    M, direction = rng.normal(size=(2, 9, 9)) * 0.4
    slope = (posterior(M + 1e-5 * direction)[0] - posterior(M - 1e-5 * direction)[0]) / 2e-5
    assert np.vdot(posterior(M)[1], direction) == pytest.approx(slope, rel=1e-6)
    assert posterior.a_G(M) == pytest.approx(posterior.observe(M)["a_G"], abs=1e-12)
    free = ReducedPosterior(SMALL, "softmax", TOKENS, 20.0)
    assert posterior(M)[0] - free(M)[0] == pytest.approx(250 * (posterior.a_G(M) - 0.7) ** 2, rel=1e-9)
    assert posterior.potential(M) == pytest.approx(posterior(M)[0], rel=1e-12)
    assert free.potential(M) == pytest.approx(free(M)[0], rel=1e-12)


def test_free_energy_integrates_forces() -> None:
    means = np.sort(np.random.default_rng(1).uniform(-1, 1, 12))
    grid = np.linspace(means[0], means[-1], 50)
    replicas = np.array([means**3 - means, 2 * means])
    found = free_energy(means, replicas, grid)
    exact = np.array([grid**4 / 4 - grid**2 / 2, grid**2])
    assert np.allclose(found, exact - exact[:, :1], atol=1e-9)           # a cubic spline is exact for cubics
    with pytest.raises(ValueError, match="grid must lie in"):
        free_energy(means, means, np.array([-2.0, 0.0]))
    with pytest.raises(ValueError, match="means must increase"):
        free_energy(means[::-1], means, grid)


@pytest.mark.slow
def test_umbrella_agrees_with_a_free_chain() -> None:
    """F from windows against -ln of the histogram of a free run, in kT, where the run has counts."""
    chi = 8.0
    posterior = SpringPosterior(SMALL, TOKENS, chi, 60.0)
    runs = windows(posterior, CENTRES, (np.zeros((9, 9)), np.zeros((9, 9))), draws=200, seed=3)
    assert max(run.rhat["a_G"] for run in runs) < 1.06
    means = np.array([run.mean("a_G") for run in runs])
    forces = 60.0 * (CENTRES - means)
    free = ReducedPosterior(SMALL, "softmax", TOKENS, chi)
    draws = sample(free, [np.zeros((9, 9))] * 2, observe=lambda M: {"a_G": posterior.a_G(M)}, draws=2000, tune=150, seed=4,
                   progress=False).draws["a_G"].ravel()
    edges = np.quantile(draws, np.linspace(0.02, 0.98, 9))
    counts, _ = np.histogram(draws, edges)
    grid = np.linspace(edges[0], edges[-1], 801)
    density = np.exp(-free_energy(means, forces, grid))
    total = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    share = np.diff(np.interp(edges, grid, total)) / total[-1]
    assert np.allclose(np.log(share), np.log(counts / counts.sum()), atol=0.25)


def test_windows_have_independent_chains() -> None:
    posterior = SpringPosterior(SMALL, TOKENS, 8.0, 60.0)
    (run,) = windows(posterior, [0.3], (np.zeros((9, 9)), np.zeros((9, 9))), draws=20, seed=0)
    assert run.draws["a_G"].shape == (2, 20) and not np.allclose(*run.draws["a_G"])


def test_bad_springs_are_refused() -> None:
    with pytest.raises(ValueError, match="spring must be a finite number > 0"):
        SpringPosterior(SMALL, TOKENS, 8.0, -1.0)
