# mypy: allow-untyped-defs
import numpy as np
import pytest

from copyhead.patterns import (
    G_star,
    J,
    circulant,
    column_bias,
    coverage,
    order_parameters,
    overlaps,
    pattern,
    project,
    random_regular,
    random_rows,
)


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


@pytest.mark.parametrize(("L", "s"), [(7, 1), (12, 3), (25, 20)])
def test_random_regular_patterns(L, s):
    R = random_regular(L, s, seed=4)
    assert np.isin(R, (0, 1)).all() and np.all(R.sum(axis=0) == s) and np.all(R.sum(axis=1) == s)
    assert np.array_equal(R, random_regular(L, s, seed=4)) and not np.array_equal(R, random_regular(L, s, seed=5))


def test_random_regular_patterns_have_random_overlaps():
    """Two patterns share s^2 ones on average (each entry is one with probability s / L): 200 pairs, 5 standard errors."""
    R = np.array([random_regular(12, 3, seed) for seed in range(400)])
    shared = np.einsum("nab,nab->n", R[:200], R[200:])
    assert abs(shared.mean() - 9) < 5 * shared.std() / np.sqrt(200)


def test_random_rows_are_irregular_as_chance_has_it():
    """Column sums of independent rows are binomial, variance s (1 - s / L): 300 patterns, 5 standard errors."""
    columns = np.array([random_rows(20, 3, seed).sum(axis=0) for seed in range(300)])
    variance = np.mean((columns - 3) ** 2, axis=1)
    assert abs(variance.mean() - 3 * (1 - 3 / 20)) < 5 * variance.std() / np.sqrt(300)
    assert np.all(random_rows(20, 3, 0).sum(axis=1) == 3)


def test_circulants():
    assert np.array_equal(circulant(6, [1]), G_star(6))
    X = np.random.default_rng(0).standard_normal((6, 2))
    np.testing.assert_allclose(circulant(6, [0, 2]) @ X, X + np.roll(X, 2, axis=0))


def test_projection_on_any_patterns():
    L = 9
    rng = np.random.default_rng(0)
    basis = np.stack([J(L) / L, G_star(L) / np.sqrt(L)])
    G = rng.standard_normal((4, L, L))
    np.testing.assert_allclose(project(G, basis), np.stack(order_parameters(G), axis=-1), atol=1e-13)
    more = np.concatenate([basis, [circulant(L, [3, 4]), random_rows(L, 2, 0)]])
    coefficients = rng.standard_normal((3, 4))
    np.testing.assert_allclose(project(np.tensordot(coefficients, more, 1), more), coefficients, atol=1e-12)
    np.testing.assert_allclose(project(np.tensordot(coefficients[0], more, 1), more), coefficients[0], atol=1e-12)
    np.testing.assert_allclose(np.diag(overlaps(more, more)), [1, 1, 2 * L, 2 * L])


def test_column_bias():
    R = random_rows(12, 3, seed=1)
    assert column_bias(J(12) / 12, R) == pytest.approx(0, abs=1e-13)
    assert column_bias(R / 3, R) == pytest.approx(1 / 3)
    wanted = R.sum(axis=0) - 3
    G = np.stack([J(12) / 12 + 0.05 * wanted / 12, J(12) / 12])
    np.testing.assert_allclose(column_bias(G, R), [0.05, 0], atol=1e-13)


def test_refused_patterns():
    with pytest.raises(ValueError, match="R must have columns with different sums"):
        column_bias(J(4), G_star(4))
    with pytest.raises(ValueError, match="basis must be linearly independent, got 2 matrices of rank 1"):
        project(J(4), np.stack([J(4), 2 * J(4)]))
    with pytest.raises(ValueError, match=r"lags must be different integers in 0..5"):
        circulant(6, [1, 1])
    with pytest.raises(ValueError, match=r"s must be an integer in 1..L - 1 = 5, got 6"):
        random_regular(6, 6)
