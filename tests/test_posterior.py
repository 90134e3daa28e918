"""The posterior of M against dense Gaussian integrals and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from copyhead import Setup
from copyhead.posterior import ReducedPosterior
from copyhead.reduced import ReducedAction
from copyhead.task import features, one_hot, sequences, targets

SETUP = Setup(L=5, V=3, sigma2=4.0, g_O=0.8, g_W=1.3)
TOKENS = sequences(5, 3, 6, 0)
CHI = 7.0


def dense(attention: str, M: np.ndarray) -> float:
    """-ln of the Gaussian likelihood with the P L x P L kernel of the actual variances, and of the prior; no constants."""
    Phi = features(TOKENS, 3)
    U = Phi @ M @ Phi.transpose(0, 2, 1)
    G = U / 5 if attention == "linear" else np.exp(U) / np.exp(U).sum(axis=-1, keepdims=True)
    Psi = (G @ Phi).reshape(30, 8)
    covariance = (SETUP.g_O * Psi @ Psi.T + SETUP.sigma2 * np.eye(30)) / CHI
    Y = one_hot(targets(TOKENS), 3).reshape(30, 3)
    data = np.vdot(Y, np.linalg.solve(covariance, Y)) / 2 + 3 / 2 * np.linalg.slogdet(covariance)[1]
    return float(data + CHI * np.vdot(M, M) / (2 * SETUP.g_W))


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_equals_the_dense_gaussian_up_to_a_constant(attention: str) -> None:
    posterior = ReducedPosterior(SETUP, attention, TOKENS, CHI)  # type: ignore[arg-type]
    weights = np.random.default_rng(1).normal(size=(6, 8, 8))
    differences = [posterior(M)[0] - dense(attention, M) for M in weights]
    assert np.ptp(differences) < 1e-9 * abs(posterior(weights[0])[0])


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_gradient_is_that_of_the_potential(attention: str) -> None:
    posterior = ReducedPosterior(SETUP, attention, TOKENS, CHI)  # type: ignore[arg-type]
    M, h = np.random.default_rng(2).normal(size=(8, 8)), 1e-5
    gradient = posterior(M)[1]
    for direction in np.random.default_rng(3).normal(size=(5, 8, 8)):
        change = (posterior(M + h * direction)[0] - posterior(M - h * direction)[0]) / (2 * h)
        assert change == pytest.approx(np.vdot(gradient, direction), rel=1e-7)


def test_large_chi_leaves_the_action() -> None:
    M = np.random.default_rng(4).normal(size=(8, 8))
    potential, slope = ReducedPosterior(SETUP, "softmax", TOKENS, 1e9)(M)
    value, gradient = ReducedAction(SETUP, "softmax", TOKENS).value_and_gradient(M)
    assert potential / 1e9 == pytest.approx(value, rel=1e-7)
    assert np.allclose(slope / 1e9, gradient, rtol=0, atol=1e-7)


def test_observes_order_parameters_with_the_sign_fixed() -> None:
    M = np.random.default_rng(5).normal(size=(8, 8))
    linear = ReducedPosterior(SETUP, "linear", TOKENS, CHI)
    plus, minus = linear.observe(M), linear.observe(-M)
    assert plus == pytest.approx(minus) and plus["c1"] + np.sqrt(5) * plus["c_G"] > 0
    assert set(ReducedPosterior(SETUP, "softmax", TOKENS, CHI).observe(M)) == {"a_G", "coverage", "loss"}


def test_bad_chi() -> None:
    with pytest.raises(ValueError, match="chi must be a finite number > 0, got 0"):
        ReducedPosterior(SETUP, "linear", TOKENS, 0)
