"""The Bartlett factor and the posterior of a whole network, against Gaussian embeddings and dense kernels."""

import numpy as np
import pytest
from scipy import stats

from copyhead import Setup, task
from copyhead.bartlett import Bartlett, FactorAction, FrozenPosterior, WidthPosterior, fit_factor
from copyhead.posterior import ReducedPosterior
from copyhead.sampling import sample
from copyhead.starts import copying

SETUP, CHI = Setup(5, 3, 2.0, 1.3, 0.7), 7.0
TOKENS = task.sequences(5, 3, 30, seed=1)
N = 8
ATTENTIONS = ["linear", "softmax"]
DIMENSIONS = [3, 8, 50]                         # fewer than the embedding vectors, as many, more


@pytest.mark.parametrize("d", DIMENSIONS)
def test_factor_has_the_law_of_the_factor_of_gaussian_embeddings(d):
    """Entries by Kolmogorov-Smirnov at 1e-5 each, some 90 of them: a false alarm once in a thousand."""
    rng, bartlett, draws = np.random.default_rng(0), Bartlett(N, d), 3000
    made = np.array([bartlett.factor(bartlett.draw(rng)) for _ in range(draws)])
    there = np.linalg.qr(rng.standard_normal((draws, d, N)), mode="r") / np.sqrt(d)
    there *= np.sign(np.diagonal(there, axis1=1, axis2=2))[..., None]
    assert made.shape == there.shape == (draws, min(d, N), N)
    for i, j in zip(*np.triu_indices(min(d, N), 0, N), strict=True):
        assert stats.ks_2samp(made[:, i, j], there[:, i, j]).pvalue > 1e-5, (i, j)
    assert np.allclose(made[:, np.tril_indices(min(d, N), -1, N)[0], np.tril_indices(min(d, N), -1, N)[1]], 0)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_coordinates_and_their_density(d):
    """The density of x is that of R, from chi and normal distributions, times the Jacobian of R in x."""
    bartlett = Bartlett(N, d)
    rows = min(d, N)

    def log_density(x):
        U = np.sqrt(d) * bartlett.factor(x)
        diagonal, above = np.diagonal(U), U[np.triu_indices(rows, 1, N)]
        f = d - np.arange(rows)
        jacobian = np.log(diagonal / np.sqrt(2 * f)).sum()
        return stats.chi.logpdf(diagonal, f).sum() + stats.norm.logpdf(above).sum() + jacobian

    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, bartlett.size))
    assert bartlett.size == rows * (rows + 1) // 2 + rows * (N - rows)
    assert np.allclose(bartlett.coordinates(bartlett.factor(x)), x)
    assert bartlett.potential(x)[0] - bartlett.potential(y)[0] == pytest.approx(log_density(y) - log_density(x), rel=1e-9)
    value, slope = bartlett.potential(x)
    D, h = rng.standard_normal(bartlett.size), 1e-5
    measured = (bartlett.potential(x + h * D)[0] - bartlett.potential(x - h * D)[0]) / (2 * h)
    assert slope @ D == pytest.approx(measured, rel=1e-6)
    assert bartlett.potential(np.zeros(bartlett.size)) == (0.0, pytest.approx(np.zeros(bartlett.size)))


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_reduction_of_every_network(attention, d):
    """Action and log-determinant at W_G and E, of d rows, equal those of M = Q^T W_G Q and R, where Q R = E / sqrt(d)."""
    rng = np.random.default_rng(2)
    E, W_G = rng.standard_normal((d, N)), rng.standard_normal((d, d))
    phi = task.features(TOKENS, 3)
    h = phi @ E.T
    U = h @ W_G @ h.transpose(0, 2, 1) / d
    G = U / 5 if attention == "linear" else np.exp(U) / np.exp(U).sum(-1, keepdims=True)
    Z = (G @ h).reshape(-1, d) / np.sqrt(d)
    Y = task.one_hot(task.targets(TOKENS), 3).reshape(-1, 3)
    K = 1.3 * Z @ Z.T + 2.0 * np.eye(len(Y))
    posterior = WidthPosterior(SETUP, attention, TOKENS, CHI, d)
    Q, R = np.linalg.qr(E / np.sqrt(d))
    signs = np.sign(np.diagonal(R))
    Q, R = Q * signs, R * signs[:, None]
    M = Q.T @ W_G @ Q
    dense = CHI * (np.vdot(Y, np.linalg.solve(K, Y)) / 2 + np.vdot(M, M) / 1.4)
    dense += 3 / 2 * (np.linalg.slogdet(K)[1] - len(Y) * np.log(2.0))
    z = posterior.join(M, R)
    assert posterior(z)[0] == pytest.approx(dense + posterior.bartlett.potential(z[M.size :])[0], rel=1e-10)
    frozen = FrozenPosterior(SETUP, attention, TOKENS, CHI, R)
    assert frozen(M)[0] == pytest.approx(dense, rel=1e-10)
    whole = FrozenPosterior(SETUP, attention, TOKENS, CHI, E / np.sqrt(d))       # no factorisation: all d x d weights
    extra = CHI * (np.vdot(W_G, W_G) - np.vdot(M, M)) / 1.4
    assert whole(W_G)[0] == pytest.approx(dense + extra, rel=1e-10)
    mean = 1.3 * Z.T @ np.linalg.solve(K, Y)
    assert posterior.observe(z)["loss"] == pytest.approx(np.sum((Y - Z @ mean) ** 2) / len(Y), rel=1e-9)
    assert posterior.observe(z)["length"] == pytest.approx(np.sum(E**2) / (N * d), rel=1e-12)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_gradients(attention, d):
    posterior = WidthPosterior(SETUP, attention, TOKENS, CHI, d)
    rng, step = np.random.default_rng(3), 1e-5
    z = posterior.draw(rng)
    M, R = posterior.split(z)
    frozen = FrozenPosterior(SETUP, attention, TOKENS, CHI, R)
    for target, at in ((posterior, z), (frozen, M)):
        D = rng.standard_normal(at.shape)
        slope = (target(at + step * D)[0] - target(at - step * D)[0]) / (2 * step)
        assert np.vdot(target(at)[1], D) == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_unit_factor_is_infinite_dimension(attention):
    M = np.random.default_rng(4).standard_normal((N, N))
    here = FrozenPosterior(SETUP, attention, TOKENS, CHI, np.eye(N))(M)
    there = ReducedPosterior(SETUP, attention, TOKENS, CHI)(M)
    assert here[0] == pytest.approx(there[0], rel=1e-12)
    assert np.allclose(here[1], there[1], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("entropy", [True, False])
def test_fit_is_a_minimum_over_attention_and_metric(entropy):
    action = FactorAction(SETUP, "softmax", TOKENS)
    value, M, R = fit_factor(action, 5.0, copying(action, 2.0), entropy=entropy, tolerance=1e-6)
    rng = np.random.default_rng(5)

    def total(M, R):
        S = action.slopes(M, R)[0] + 2.5 * np.vdot(R, R)
        return S - 2.5 * (np.linalg.slogdet(R.T @ R)[1] + N) if entropy else S

    assert total(M, R) == pytest.approx(value, rel=1e-10)
    for _ in range(20):                         # in any direction, also of R that is not triangular
        dM, dR = 1e-2 * rng.standard_normal((2, N, N))
        assert total(M + dM, R + dR) > value - 1e-9


def test_prior_chain_keeps_the_metric_of_gaussian_embeddings():
    """With hardly any data the chain samples the prior: mean and variance of ln det C within five standard errors."""
    idle = Setup(5, 3, 1e6)
    posterior = WidthPosterior(idle, "softmax", TOKENS[:1], 1.0, 12)

    def observe(z):
        return {"log_det": 2 * np.log(np.diagonal(posterior.split(z)[1])).sum()}

    rng = np.random.default_rng(6)
    samples = sample(posterior, [posterior.draw(rng) for _ in range(2)], observe=observe, draws=400, tune=100,
                     leapfrogs=5, seed=0, progress=False)
    direct = np.linalg.slogdet(np.einsum("sdi,sdj->sij", *[rng.standard_normal((20_000, 12, N))] * 2) / 12)[1]
    assert abs(samples.mean("log_det") - direct.mean()) < 5 * samples.standard_error("log_det")
    assert samples.sd("log_det") == pytest.approx(direct.std(), rel=0.25)


@pytest.mark.parametrize(
    ("call", "named"),
    [(lambda: Bartlett(0, 5), "n must"), (lambda: Bartlett(5, 0), "d must"),
     (lambda: WidthPosterior(SETUP, "softmax", TOKENS, -1.0, 5), "chi must"),
     (lambda: FrozenPosterior(SETUP, "softmax", TOKENS, 1.0, np.eye(3)), "R must"),
     (lambda: fit_factor(FactorAction(SETUP, "softmax", TOKENS), 0.0, np.eye(N)), "nu must")],
    ids=["n", "d", "chi", "R", "nu"])
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
