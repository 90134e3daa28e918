"""Slow checks of the sampler on the network's own posterior: calibration on simulated data, and an established NUTS."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from copyhead import Setup
from copyhead.posterior import ReducedPosterior
from copyhead.sampling import sample
from copyhead.task import features, sequences

pytestmark = pytest.mark.slow


def test_simulation_based_calibration() -> None:
    """Draw weights from the prior and targets from the network, sample the posterior: ranks of the truth are uniform.

    Talts et al. 2018.  100 thinned draws give ranks 0..100, put into 10 bins by a uniform tie break; the chi-square test
    has a false-alarm rate of 1e-3 for each of the three quantities.
    """
    setup, chi, draws, replicas = Setup(L=3, V=2, sigma2=1.0), 2.0, 99, 300
    generator = np.random.default_rng(17)
    tokens = sequences(3, 2, 4, 0)
    posterior = ReducedPosterior(setup, "softmax", tokens, chi)
    Phi = features(tokens, 2)
    quantities = {"entry": lambda M: M[0, 0], "norm": lambda M: float(np.vdot(M, M)), "copy": lambda M: M[2, 4] - M[2, 3]}
    ranks: dict[str, list[float]] = {name: [] for name in quantities}
    for replica in range(replicas):
        M = generator.normal(scale=chi**-0.5, size=(5, 5))
        W = generator.normal(scale=chi**-0.5, size=(5, 2))
        G = posterior.attention(M)
        Y = (G @ Phi).reshape(12, 5) @ W + generator.normal(scale=chi**-0.5, size=(12, 2))
        posterior._Y = Y                        # the trace of Y Y^T, taken to be that of one-hot rows, is a constant in M
        start = generator.normal(scale=chi**-0.5, size=(5, 5))
        samples = sample(posterior, [start], observe=lambda m: {name: f(m) for name, f in quantities.items()}, draws=draws,
                         tune=100, thin=4, leapfrogs=5, seed=replica, progress=False)
        for name, f in quantities.items():
            below = int((samples.draws[name][0] < f(M)).sum())
            ranks[name].append((below + generator.random()) / (draws + 1))
    for name, values in ranks.items():
        counts = np.histogram(values, bins=10, range=(0, 1))[0]
        assert stats.chisquare(counts).pvalue > 1e-3, (name, counts)


@pytest.mark.parametrize("attention, P", [("linear", 40), ("softmax", 60)])
def test_agrees_with_an_established_nuts(attention: str, P: int) -> None:
    """numpyro's NUTS on the potential written once more, in JAX with automatic gradients and the dense readout kernel."""
    jax = pytest.importorskip("jax", reason="pip install -r requirements-check.txt")
    numpyro = pytest.importorskip("numpyro")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    setup, chi = Setup(L=6, V=3, sigma2=4.0), 10.0
    tokens = sequences(6, 3, P, 2)
    Phi = jnp.asarray(features(tokens, 3))
    Y = jnp.asarray(np.roll(np.eye(3)[tokens], 1, axis=1).reshape(-1, 3))

    def attend(M: object) -> object:
        U = Phi @ M @ Phi.transpose(0, 2, 1)
        return U / 6 if attention == "linear" else jax.nn.softmax(U, axis=-1)

    def potential(position: dict) -> object:
        M = position["M"]
        Psi = (attend(M) @ Phi).reshape(-1, 9)
        inner = jnp.eye(9) + Psi.T @ Psi / setup.sigma2
        back = Psi.T @ Y / setup.sigma2
        data = (jnp.vdot(Y, Y) / setup.sigma2 - jnp.vdot(back, jnp.linalg.solve(inner, back))) / 2
        return chi * (data + jnp.vdot(M, M) / 2) + 3 / 2 * jnp.linalg.slogdet(inner)[1]

    kernel = numpyro.infer.NUTS(potential_fn=potential)
    mcmc = numpyro.infer.MCMC(kernel, num_warmup=400, num_samples=1500, num_chains=2, chain_method="sequential",
                              progress_bar=False)
    mcmc.run(jax.random.PRNGKey(1), init_params={"M": jnp.zeros((2, 9, 9)).at[1].set(0.2)})
    weights = np.asarray(mcmc.get_samples(group_by_chain=True)["M"])
    posterior = ReducedPosterior(setup, attention, tokens, chi)  # type: ignore[arg-type]
    ours = sample(posterior, [np.zeros((9, 9)), np.full((9, 9), 0.2)], observe=posterior.observe, draws=3000, tune=300,
                  leapfrogs=8, seed=4, progress=False)
    assert ours.mixed, ours.verdict
    import arviz

    for name in ("c1", "c_G") if attention == "linear" else ("a_G",):
        theirs = np.array([[posterior.observe(M)[name] for M in chain] for chain in weights])
        assert arviz.rhat(theirs) < 1.01 and arviz.ess(theirs) > 300
        error = np.hypot(ours.standard_error(name), theirs.std() / np.sqrt(arviz.ess(theirs, method="mean")))
        assert abs(ours.mean(name) - theirs.mean()) < 3 * error
        assert error < 0.1 * theirs.std()
