# mypy: allow-untyped-defs
import numpy as np
import pytest

from copyhead.patterns import G_star, J, coverage, order_parameters, pattern


@pytest.mark.parametrize("L", [2, 3, 8, 25])
def test_projection_is_the_least_squares_fit(L):
    G = np.random.default_rng(L).normal(size=(L, L))
    basis = np.stack([J(L).ravel() / L, G_star(L).ravel() / np.sqrt(L)], axis=1)
    expected = np.linalg.lstsq(basis, G.ravel(), rcond=None)[0]
    np.testing.assert_allclose(order_parameters(G), expected, atol=1e-12)


@pytest.mark.parametrize("L", [2, 5, 25])
def test_pattern_and_projection_are_inverse(L):
    np.testing.assert_allclose(order_parameters(pattern(0.3, -0.7, L)), (0.3, -0.7), atol=1e-13)


def test_the_copy_pattern_attends_to_the_predecessor():
    G = G_star(4)
    assert np.array_equal(G, [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])


def test_a_row_stochastic_matrix_has_c1_fixed_by_a_G():
    L = 9
    A = np.random.default_rng(0).dirichlet(np.ones(L), size=(6, L))
    c1, a_G = order_parameters(A)
    assert c1.shape == a_G.shape == (6,)
    np.testing.assert_allclose(c1, 1 - a_G / np.sqrt(L), atol=1e-13)
    m = A[:, np.arange(L), np.arange(L) - 1].mean(axis=1)                 # copy weight
    np.testing.assert_allclose(m, (1 + (L - 1) / np.sqrt(L) * a_G) / L, atol=1e-13)


def test_coverage_is_one_inside_the_span_and_falls_outside():
    L = 7
    assert coverage(pattern(0.4, 0.2, L)) == pytest.approx(1, abs=1e-12)
    assert coverage(np.zeros((3, L, L))) == 1
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(4, L, L))
    values = [coverage(pattern(0.4, 0.2, L) + scale * noise) for scale in (0, 0.01, 0.1, 1)]
    assert all(0 <= b < a <= 1 + 1e-12 for a, b in zip(values, values[1:], strict=False))
    # Equal to the explicit projection of the mean over the mean squared norm.
    G = pattern(0.4, 0.2, L) + 0.1 * noise
    basis = np.linalg.qr(np.stack([J(L).ravel(), G_star(L).ravel()], axis=1))[0]
    explicit = np.sum((basis.T @ G.mean(axis=0).ravel()) ** 2) / np.mean(np.sum(G**2, axis=(1, 2)))
    assert coverage(G) == pytest.approx(explicit, rel=1e-12)


def test_variation_between_sequences_is_uncovered_even_inside_the_span():
    L = 5
    assert coverage(np.stack([pattern(1, 0, L), pattern(-1, 0, L)])) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("bad", [np.ones(4), np.ones((3, 4)), np.ones((1, 1)), 2.0])
def test_a_matrix_that_is_not_square_is_refused(bad):
    for function in (order_parameters, coverage):
        with pytest.raises(ValueError, match="^G must have shape"):
            function(bad)
    with pytest.raises(ValueError, match="^L must be"):
        G_star(1)
