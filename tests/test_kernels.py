"""The brute-force kernels against independent constructions; the prior theorem against the brute force."""

import numpy as np
import pytest

from copyhead import kernels
from copyhead.equivalent_kernel import all_sequences, readout_features
from copyhead.patterns import G_star, J, pattern
from copyhead.task import features, one_hot, sequences

SIZES = [(2, 2), (2, 3), (3, 2), (3, 3), (4, 2)]


def random_data(L, V, P, seed=0):
    return one_hot(sequences(L, V, P, seed), V)


def test_embedding_kernel_counts_shared_tokens_and_positions():
    tokens = sequences(4, 3, 5, seed=1)
    C = kernels.embedding_kernel(one_hot(tokens, 3), g_emb=0.7, g_p=1.9)
    for p, a, q, b in np.ndindex(C.shape):
        assert C[p, a, q, b] == pytest.approx(0.7 * (tokens[p, a] == tokens[q, b]) + 1.9 * (a == b))


def test_attention_covariance_is_that_of_a_gaussian_matrix_between_features():
    # An independent route: G_alpha = Phi_alpha M Phi_alpha^T / L with iid entries of variance g_W.
    L, V, g_W = 3, 2, 0.6
    tokens = sequences(L, V, 4, seed=2)
    maps = np.concatenate([np.kron(f, f) for f in features(tokens, V)]) / L
    covariance = kernels.attention_covariance(one_hot(tokens, V), g_W)
    np.testing.assert_allclose(covariance, g_W * maps @ maps.T, atol=1e-14)


def test_readout_kernel_is_the_gram_matrix_of_the_readout_features():
    X = random_data(4, 3, 6)
    G = np.random.default_rng(0).normal(size=(4, 4))
    Psi = readout_features(X, G)
    np.testing.assert_allclose(kernels.readout_kernel(X, G, g_O=0.3), 0.3 * Psi @ Psi.T, atol=1e-13)
    per_sequence = np.repeat(G[None], 6, axis=0)
    np.testing.assert_array_equal(kernels.readout_kernel(X, per_sequence), kernels.readout_kernel(X, G))


@pytest.mark.parametrize("L, V", SIZES)
def test_theorem_pseudoinverse_over_all_sequences(L, V):
    sigma = kernels.pseudoinverse_prior_matrix(all_sequences(L, V))
    B = kernels.prior_block(L, V)
    assert np.abs(sigma - np.kron(B, B)).max() < 1e-12


@pytest.mark.parametrize("g_emb, g_p", [(0.7, 1.9), (3.0, 0.4), (1 / 2, 1.0)])
def test_theorem_with_general_embedding_variances(g_emb, g_p):
    L, V = 3, 2
    sigma = kernels.pseudoinverse_prior_matrix(all_sequences(L, V), g_emb, g_p)
    G = np.random.default_rng(3).normal(size=(L, L))
    expected = L**2 / (2 * 0.8) * G.ravel() @ sigma @ G.ravel()
    assert kernels.prior_action(G, V, 0.8, g_emb, g_p) == pytest.approx(expected, rel=1e-11)


def test_random_data_of_full_rank_already_give_the_closed_form():
    L, V = 4, 3
    X = random_data(L, V, 12, seed=4)
    assert kernels.data_rank(X) == (V + L - 1) ** 2
    B = kernels.prior_block(L, V)
    assert np.abs(kernels.pseudoinverse_prior_matrix(X) - np.kron(B, B)).max() < 1e-11


def test_prior_grows_with_the_data_and_never_exceeds_the_closed_form():
    L, V = 4, 3
    X = random_data(L, V, 12, seed=4)
    B = kernels.prior_block(L, V)
    previous = np.zeros((L * L, L * L))
    for P in (1, 2, 3, 5):
        sigma = kernels.pseudoinverse_prior_matrix(X[:P])
        for smaller, larger in ((previous, sigma), (sigma, np.kron(B, B))):
            assert np.linalg.eigvalsh(larger - smaller).min() > -1e-10
        previous = sigma


@pytest.mark.parametrize("L, V, P", [(3, 2, 1), (3, 3, 2), (4, 3, 2), (5, 4, 3), (5, 2, 8)])
def test_data_rank_is_the_rank_of_the_covariance(L, V, P):
    X = random_data(L, V, P, seed=5)
    covariance = kernels.attention_covariance(X)
    assert kernels.data_rank(X) == np.linalg.matrix_rank(covariance, tol=1e-10, hermitian=True)


@pytest.mark.parametrize("L, V, P", [(25, 5, 3), (25, 3, 3), (25, 10, 6)])
def test_few_random_sequences_suffice_at_the_sizes_of_interest(L, V, P):
    # Deterministic (fixed seed): some draws need one sequence more.
    assert kernels.data_rank(random_data(L, V, P, seed=0)) == (V + L - 1) ** 2


def test_one_sequence_has_rank_L_squared():
    assert kernels.data_rank(random_data(6, 4, 1, seed=6)) == 36


@pytest.mark.parametrize("L, V", [(3, 2), (25, 5), (7, 30)])
def test_prior_on_the_two_patterns_is_equation_12(L, V):
    rng = np.random.default_rng(7)
    for c1, c_G in rng.normal(size=(5, 2)):
        bracket = V**2 * c1**2 + 2 * V**2 / np.sqrt(L) * c1 * c_G + ((L + V) ** 2 - L - 2 * V) * c_G**2
        expected = L**2 / (2 * 1.7 * (L + V) ** 2) * bracket
        assert kernels.prior_action(pattern(c1, c_G, L), V, 1.7) == pytest.approx(expected, rel=1e-12)


def test_prior_is_invariant_under_relabelling_of_positions():
    L, V = 6, 4
    rng = np.random.default_rng(8)
    G, keys = rng.normal(size=(L, L)), np.eye(L)[rng.permutation(L)]
    queries = G_star(L) @ keys @ G_star(L).T
    moved = queries @ G @ keys.T
    assert kernels.prior_action(moved, V) == pytest.approx(kernels.prior_action(G, V), rel=1e-12)


def test_prior_block_inverts_the_mean_embedding_kernel():
    L, V = 5, 3
    C = kernels.embedding_kernel(all_sequences(L, V))
    np.testing.assert_allclose(C.mean(axis=(0, 2)), np.eye(L) + J(L) / V, atol=1e-14)
    np.testing.assert_allclose(kernels.prior_block(L, V) @ C.mean(axis=(0, 2)), np.eye(L), atol=1e-14)


def test_bad_shapes_are_named():
    with pytest.raises(ValueError, match="X must be one-hot"):
        kernels.embedding_kernel(np.eye(3))
    with pytest.raises(ValueError, match="G must be a square matrix"):
        kernels.prior_action(np.ones((2, 3)), 2)
