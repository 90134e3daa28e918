"""The data term against dense linear algebra, enumeration of all sequences, and symmetries."""

import numpy as np
import pytest

from copyhead import LinearAction, Setup
from copyhead.equivalent_kernel import (
    all_sequences,
    dense_data_term,
    equivalent_data_term,
    exact_data_term,
    fourier_vectors,
    optimism,
    population_moments,
    readout_features,
    targets,
)
from copyhead.kernels import prior_action, readout_kernel
from copyhead.patterns import G_star, pattern
from copyhead.reduced import ReducedAction, planted
from copyhead.task import one_hot, sequences

SIZES = [(2, 2), (2, 5), (3, 3), (4, 2), (4, 3), (5, 3)]


def test_all_sequences_are_one_hot_and_all_different():
    X = all_sequences(4, 3)
    assert X.shape == (81, 4, 3)
    assert np.array_equal(X.sum(axis=2), np.ones((81, 4)))
    assert len(np.unique(X.reshape(81, -1), axis=0)) == 81


def test_targets_copy_the_previous_token():
    X = one_hot(sequences(5, 4, 3, seed=0), 4)
    assert np.array_equal(targets(X).reshape(X.shape), G_star(5) @ X)


@pytest.mark.parametrize(("L", "V"), SIZES)
def test_features_generate_the_readout_kernel(L, V):
    X, G = one_hot(sequences(L, V, 7, seed=1), V), np.random.default_rng(0).normal(size=(L, L))
    Psi = readout_features(X, G)
    assert np.allclose(1.3 * Psi @ Psi.T, readout_kernel(X, G, 1.3), atol=1e-12)
    assert np.linalg.matrix_rank(Psi) <= V + L - 1


def test_reduction_equals_dense_solve_and_network():
    setup, tokens = Setup(L=25, V=5, sigma2=30.0, g_O=1.7), sequences(25, 5, 24, seed=3)
    X, G = one_hot(tokens, 5), pattern(0.4, -0.5, 25)
    dense = dense_data_term(readout_kernel(X, G, setup.g_O), targets(X), setup.sigma2)
    M = planted(25 * G, 5)
    network = ReducedAction(setup, "linear", tokens).value(M) - np.vdot(M, M) / (2 * setup.g_W)
    assert np.allclose([exact_data_term(setup, X, G), network], dense, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("L", "V"), SIZES)
def test_population_moments_are_means_over_all_sequences(L, V):
    X, G = all_sequences(L, V), np.random.default_rng(L + V).normal(size=(L, L))
    Psi, (gram, labels) = readout_features(X, G), population_moments(G, V)
    assert np.allclose(Psi.T @ Psi / len(X), gram, atol=1e-12)
    assert np.allclose(Psi.T @ targets(X) / len(X), labels, atol=1e-12)


@pytest.mark.parametrize(("L", "V"), SIZES)
def test_equivalent_data_term_is_a_dense_solve_over_all_sequences(L, V):
    rng, X = np.random.default_rng(10 * L + V), all_sequences(L, V)
    G, P = rng.normal(size=(L, L)), rng.uniform(0.5, 60)
    setup = Setup(L, V, sigma2=rng.uniform(0.3, 3), g_O=rng.uniform(0.3, 3))
    dense = dense_data_term(readout_kernel(X, G, setup.g_O), targets(X), setup.sigma2 * len(X) / P)
    assert np.isclose(equivalent_data_term(setup, G, P), dense, rtol=1e-11)


@pytest.mark.parametrize(("L", "V"), [(2, 2), (3, 4), (10, 20), (25, 5), (60, 2)])
def test_closed_action_is_equivalent_kernel_plus_prior(L, V):
    rng = np.random.default_rng(L)
    setup = Setup(L, V, sigma2=rng.uniform(1, 50), g_O=rng.uniform(0.3, 3), g_W=rng.uniform(0.3, 3))
    for c1, c_G, P in rng.uniform([-1, -1, 1], [1, 1, 500], size=(20, 3)):
        G = pattern(c1, c_G, L)
        expected = equivalent_data_term(setup, G, P) + prior_action(G, V, setup.g_W)
        assert np.isclose(LinearAction(setup).action(c1, c_G, P), expected, rtol=1e-10)


def test_optimism_is_positive_and_averages_to_the_gap():
    # a 4-sigma window on the mean of 400 independent data sets: false alarm 6e-5
    setup, G = Setup(L=5, V=3, sigma2=6.0), pattern(0.5, 0.3, 5)
    data = [one_hot(sequences(5, 3, 20, seed), 3) for seed in range(400)]
    gap = np.array([optimism(setup, X, G) for X in data])
    direct = equivalent_data_term(setup, G, 20) - np.array([exact_data_term(setup, X, G) for X in data])
    difference = gap - direct
    assert gap.min() > 0
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(400)
    assert gap.std() < direct.std() / 3


def test_optimism_vanishes_on_all_sequences():
    assert abs(optimism(Setup(4, 3, sigma2=5.0), all_sequences(4, 3), pattern(0.5, 0.3, 4))) < 1e-12


@pytest.mark.parametrize(("L", "V"), SIZES)
def test_fourier_vectors_are_orthonormal_eigenvectors_over_all_sequences(L, V):
    X, (c1, c_G) = all_sequences(L, V), (0.6, -0.9)
    basis, n = fourier_vectors(X), len(X)
    assert basis.shape == (n * L, 2 * V + L - 2)
    assert np.allclose(basis.conj().T @ basis, np.eye(2 * V + L - 2), atol=1e-12)
    block = basis.conj().T @ readout_kernel(X, pattern(c1, c_G, L)) @ basis / n
    u = np.array([c1 + c_G / np.sqrt(L), np.sqrt((L - 1) / L) * c_G])
    expected = np.zeros_like(block)
    expected[0, 0] = u[0] ** 2 * (L / V + 1)
    for k in range(1, V):
        expected[np.ix_([k, V - 1 + k], [k, V - 1 + k])] = np.outer(u, u) / V
    expected[2 * V - 1 :, 2 * V - 1 :] = c_G**2 / L * np.eye(L - 1)
    assert np.allclose(block, expected, atol=1e-12)


def test_copy_waves_sum_to_zero_in_every_sequence():
    X = one_hot(sequences(6, 4, 3, seed=5), 4)
    waves = fourier_vectors(X)[:, 4:7].reshape(3, 6, 3)
    assert np.allclose(waves.sum(axis=1), 0, atol=1e-14)


@pytest.mark.parametrize(
    "call",
    [
        lambda: all_sequences(0, 3),
        lambda: all_sequences(20, 5),
        lambda: targets(np.ones((4, 3))),
        lambda: readout_features(np.ones((2, 4, 3)), np.eye(3)),
        lambda: population_moments(np.ones((3, 4)), 2),
        lambda: population_moments(np.eye(3), 0),
        lambda: fourier_vectors(np.ones(3)),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises(ValueError, match="must"):
        call()
