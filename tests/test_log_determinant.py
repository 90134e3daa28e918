"""Spectrum, log-determinant and thermal loss against numerical spectra over all sequences."""

import numpy as np
import pytest

from copyhead import Setup
from copyhead.equivalent_kernel import all_sequences, readout_features
from copyhead.kernels import readout_kernel
from copyhead.log_determinant import kernel_spectrum, log_determinant, thermal_loss
from copyhead.patterns import pattern


@pytest.mark.parametrize(("L", "V"), [(2, 2), (3, 2), (2, 6), (4, 3), (5, 3), (7, 2)])
def test_spectrum_and_determinant_over_all_sequences(L, V):
    rng, X = np.random.default_rng(L * V), all_sequences(L, V)
    for c1, c_G, P in rng.uniform([-1, -1, 1], [1, 1, 60], size=(3, 3)):
        setup = Setup(L, V, sigma2=rng.uniform(0.3, 4), g_O=rng.uniform(0.3, 4))
        K = readout_kernel(X, pattern(c1, c_G, L), setup.g_O * P / len(X))
        values, multiplicity = kernel_spectrum(setup, c1, c_G, P)
        assert multiplicity.sum() == V + L - 1
        full = np.concatenate([np.repeat(values, multiplicity), np.zeros(len(K) - V - L + 1)])
        assert np.allclose(np.sort(full), np.linalg.eigvalsh(K), rtol=1e-9, atol=1e-9)
        dense = V / 2 * np.linalg.slogdet(np.eye(len(K)) + K / setup.sigma2)[1]
        assert np.isclose(log_determinant(setup, c1, c_G, P), dense, rtol=1e-10)
        modes = np.trace(np.linalg.solve(K + setup.sigma2 * np.eye(len(K)), K))
        assert np.isclose(thermal_loss(setup, c1, c_G, P, 7.0), V * setup.sigma2 * modes / (7 * P * L), rtol=1e-10)


def test_thermal_loss_is_the_extra_error_of_sampled_readouts():
    # 4-sigma window on the mean of 2000 draws: false alarm 6e-5
    rng, setup, X, chi = np.random.default_rng(0), Setup(L=4, V=3, sigma2=15.0, g_O=1.4), all_sequences(4, 3), 6.0
    Psi = readout_features(X, pattern(0.4, 0.8, 4))
    precision = chi * (Psi.T @ Psi / setup.sigma2 + np.eye(7) / setup.g_O)
    W = np.linalg.solve(np.linalg.cholesky(precision).T, rng.normal(size=(2000, 7, 3)))
    extra = np.sum((Psi @ W) ** 2, axis=(1, 2)) / (len(X) * 4)
    assert abs(extra.mean() - thermal_loss(setup, 0.4, 0.8, len(X), chi)) < 4 * extra.std() / np.sqrt(2000)


def test_log_determinant_vanishes_without_attention_and_ignores_its_sign():
    setup = Setup(25, 5)
    assert log_determinant(setup, 0.0, 0.0, 300.0) == 0.0
    assert log_determinant(setup, -0.3, -0.2, 300.0) == log_determinant(setup, 0.3, 0.2, 300.0) > 0


def test_scaling_symmetries():
    base = log_determinant(Setup(25, 5, sigma2=30.0), 0.3, 0.2, 300.0)
    assert np.isclose(log_determinant(Setup(25, 5, sigma2=3.0), 0.3, 0.2, 30.0), base, rtol=1e-13)  # P / sigma2
    assert np.isclose(log_determinant(Setup(25, 5, g_O=0.25), 0.6, 0.4, 300.0), base, rtol=1e-13)  # lambda = 2


def test_arguments_broadcast_and_scalars_give_floats():
    setup = Setup(6, 3)
    table = log_determinant(setup, np.linspace(0, 1, 4)[:, None], 0.2, np.array([1.0, 10.0]))
    assert table.shape == (4, 2)
    assert isinstance(log_determinant(setup, 0.1, 0.2, 3), float) and isinstance(thermal_loss(setup, 0.1, 0.2, 3, 2), float)
    assert np.isclose(table[2, 1], log_determinant(setup, 2 / 3, 0.2, 10.0))
    assert kernel_spectrum(setup, np.zeros(5), 0.2, 1.0)[0].shape == (5, 3)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("P", lambda: log_determinant(Setup(6, 3), 0.1, 0.1, 0.0)),
        ("P", lambda: kernel_spectrum(Setup(6, 3), 0.1, 0.1, np.array([1.0, np.nan]))),
        ("c1", lambda: log_determinant(Setup(6, 3), np.inf, 0.1, 1.0)),
        ("c_G", lambda: log_determinant(Setup(6, 3), 0.1, "x", 1.0)),
        ("chi", lambda: thermal_loss(Setup(6, 3), 0.1, 0.1, 1.0, 0.0)),
    ],
)
def test_bad_input_is_refused(name, call):
    with pytest.raises(ValueError, match=rf"^{name} must"):
        call()
