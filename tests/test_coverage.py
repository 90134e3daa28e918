"""The coverage experiment: four parts of the attention, and the noise in them, against exact values."""

from __future__ import annotations

import numpy as np
import pytest

from copyhead.experiments import coverage
from copyhead.patterns import coverage as mixed
from copyhead.patterns import pattern


@pytest.fixture(scope="module")
def matrices() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(7, 6, 6)) + pattern(0.4, 1.1, 6)


def test_parts_are_an_orthogonal_split(matrices: np.ndarray) -> None:
    """Against a least-squares projection that knows neither the formula nor the order of projecting and averaging."""
    basis = np.stack([pattern(1, 0, 6).ravel(), pattern(0, 1, 6).ravel()], axis=1)
    onto = basis @ np.linalg.pinv(basis)
    flat = matrices.reshape(7, 36)
    mean, own = flat.mean(axis=0), flat - flat.mean(axis=0)
    expected = [np.sum((onto @ mean) ** 2), np.sum((own @ onto) ** 2) / 7,
                np.sum((mean - onto @ mean) ** 2), np.sum((own - own @ onto) ** 2) / 7]
    found = coverage.parts(matrices)
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-13)
    assert np.isclose(coverage.coverage_mixed(found), mixed(matrices), rtol=1e-12)
    assert coverage.coverage_mixed(found) < min(coverage.coverage_s(found), coverage.coverage_m(found))


def test_matrices_in_the_span_are_covered(matrices: np.ndarray) -> None:
    inside = np.array([pattern(c, 2 - c, 6) for c in (0.2, 0.7, 1.5)])
    found = coverage.parts(inside)
    assert np.isclose(coverage.coverage_s(found), 1) and np.isclose(coverage.coverage_m(found), 1)
    assert coverage.coverage_mixed(found) < 1                      # they differ from one another


def test_snapshots_of_the_prior_have_the_floor_of_four_over_chi() -> None:
    """With two sequences data hardly matter: the squared size is 4 g_W / chi, whatever L and V; false alarm 1e-4."""
    found = coverage.drawn(0, 400, (("linear", 2, 30.0),))
    total, error = np.sum(found["parts"]), np.sum(found["error"])
    assert abs(total - 4 / 30) < 3.9 * error + 0.03 * 4 / 30 and error < 0.004
    assert found["coverage_s"] < 0.1 and np.sum(found["average"]) < 0.1 * total


def test_harmonic_noise_of_a_state_without_data() -> None:
    """chi times the noise is 4 g_W for linear attention where two sequences are all that resists."""
    found = coverage.harmonic(0, 60, (("linear", 2),))
    assert abs(found["noise"].sum() / 4 - 1) < 0.05 and found["noise"][:2].sum() < 0.04 * found["noise"].sum()
    assert np.allclose(found["map"], 0, atol=1e-4) and 0.3 < found["least_curvature"] < 1.01
