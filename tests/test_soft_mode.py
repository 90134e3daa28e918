"""The soft mode of linear attention: Landau coefficients, and the delay against a direct average over the noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from copyhead import LinearAction, Setup
from copyhead.patterns import order_parameters
from copyhead.posterior import ReducedPosterior
from copyhead.reduced import ReducedAction
from copyhead.soft_mode import soft_mode
from copyhead.starts import softest_mode
from copyhead.susceptibility import numerical_hessian
from copyhead.task import sequences

SMALL = Setup(6, 3, 6.0)


def test_mass_is_that_of_the_fit_of_zero() -> None:
    action = ReducedAction(SMALL, "linear", sequences(6, 3, 10, 0))
    strength, M = softest_mode(action)
    mode = soft_mode(action)
    assert mode.r == pytest.approx(1 - strength**2, abs=1e-4)
    direction = M / np.linalg.norm(M)
    assert mode.c1 == pytest.approx(abs(float(order_parameters(action.attention(direction).mean(axis=0))[0])), abs=1e-4)
    t = 0.1
    quartic = 4 * (action.value(t * direction) - action.value(0 * M) - mode.r * t**2 / 2) / t**4
    assert mode.u == pytest.approx(quartic, rel=0.05)


def test_delay_is_the_average_curvature_under_noise() -> None:
    """zeta / chi is what Gaussian noise across the mode adds to the curvature of U / chi along it; error 2 % (4 sigma)."""
    tokens, chi, setup = sequences(6, 3, 8, 1), 1e4, Setup(6, 3, 15.0)
    action = ReducedAction(setup, "linear", tokens)
    posterior, mode = ReducedPosterior(setup, "linear", tokens, chi), soft_mode(action)
    values, vectors = np.linalg.eigh(numerical_hessian(lambda M: action.value_and_gradient(M)[1], np.zeros((9, 9))))
    e, rng, h = vectors[:, 0].reshape(9, 9), np.random.default_rng(0), 1e-2
    assert values[0] > 0.05
    curvature = []
    for _ in range(4000):
        noise = (vectors[:, 1:] @ (rng.standard_normal(80) / np.sqrt(chi * values[1:]))).reshape(9, 9)
        for sign in (1, -1):
            slope = posterior(sign * noise + h * e)[1] - posterior(sign * noise - h * e)[1]
            curvature.append(np.vdot(slope, e) / (2 * h * chi))
    error = chi * np.std(curvature) / np.sqrt(len(curvature))
    assert chi * (np.mean(curvature) - values[0] - 3 * mode.u * h**2 / 3) == pytest.approx(mode.zeta, abs=4 * error + 0.03)
    assert error < 0.02 * mode.zeta
    A, _ = action.normal_equations(action.features(action.attention(e)))
    assert mode.shares.sum() + 3 / 15 * np.trace(A) == pytest.approx(mode.zeta, rel=1e-6)


def test_mean_square_against_quadrature() -> None:
    mode = soft_mode(ReducedAction(SMALL, "linear", sequences(6, 3, 12, 0)))
    for chi, r in ((10.0, 0.3), (300.0, -0.1), (1000.0, 0.0)):
        mass = r + 2.0 / chi

        def weight(t: float, chi: float = chi, mass: float = mass) -> float:
            return float(np.exp(-chi * (mass * t**2 / 2 + mode.u * t**4 / 4) - chi * min(mass, 0) ** 2 / (4 * mode.u)))

        top = 3 * (np.sqrt(abs(mass) / mode.u) + (chi * mode.u) ** -0.25)
        square = quad(lambda t: t**2 * weight(t), 0, top, limit=400)[0] / quad(weight, 0, top, limit=400)[0]
        expected = mode.c1**2 * square + mode.background / chi
        assert mode.mean_square(chi, r=r, zeta=2.0) == pytest.approx(expected, rel=1e-4)


def test_many_data_sets_have_the_slope_of_theory() -> None:
    """dr/dP, in units of c1, averaged over data sets, is the theory's r' to a few per cent (seeds fixed)."""
    setup = Setup(8, 3, 20.0)
    theory, masses = LinearAction(setup), {}
    for P in (round(0.8 * theory.critical_P), round(1.1 * theory.critical_P)):
        modes = [soft_mode(ReducedAction(setup, "linear", sequences(8, 3, P, seed))) for seed in range(12)]
        masses[P] = np.mean([mode.r / mode.c1**2 for mode in modes])
    (low, first), (high, second) = sorted(masses.items())
    assert (second - first) / (high - low) == pytest.approx(theory.landau().r_prime, rel=0.15)


def test_softmax_has_no_zero_to_leave() -> None:
    with pytest.raises(ValueError, match="linear attention"):
        soft_mode(ReducedAction(SMALL, "softmax", sequences(6, 3, 5, 0)))
