# mypy: allow-untyped-defs
"""The reduced action against routes that share nothing with it: dense kernels, autograd, closed forms."""

import numpy as np
import pytest

from copyhead import Setup
from copyhead.patterns import G_star, J, pattern
from copyhead.reduced import ReducedAction, planted
from copyhead.task import features, one_hot, sequences, targets

KINDS = ["linear", "softmax"]
SMALL = [Setup(5, 3, 2.0, 1.3, 0.7), Setup(3, 6, 0.5, 0.8, 2.0), Setup(6, 2, 4.0), Setup(2, 2, 1.0)]


def dense_action(setup, kind, tokens, M, torch):
    """S from the P L x P L kernel, sequence pair by sequence pair, in torch."""
    L, V = setup.L, setup.V
    Phi = torch.tensor(features(tokens, V))
    Y = torch.tensor(one_hot(targets(tokens), V)).reshape(-1, V)
    U = torch.stack([phi @ M @ phi.T for phi in Phi])
    G = U / L if kind == "linear" else torch.softmax(U, dim=-1)
    same_token = torch.tensor(tokens[:, None, :, None] == tokens[None, :, None, :]).double()       # alpha, beta, a, b
    C = same_token + torch.eye(L, dtype=torch.float64)
    K = torch.cat([torch.cat([setup.g_O * G[i] @ C[i, j] @ G[j].T for j in range(len(tokens))], dim=1)
                   for i in range(len(tokens))])
    noisy = K + setup.sigma2 * torch.eye(len(K), dtype=torch.float64)
    return 0.5 * (Y * torch.linalg.solve(noisy, Y)).sum() + (M**2).sum() / (2 * setup.g_W)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setup", SMALL, ids=str)
def test_value_and_gradient_equal_the_dense_kernel_and_autograd(setup, kind):
    torch = pytest.importorskip("torch")
    n = setup.L + setup.V
    for P, seed in ((1, 0), (4, 1), (9, 2)):
        tokens = sequences(setup.L, setup.V, P, seed)
        M = torch.tensor(np.random.default_rng(seed).normal(size=(n, n)), requires_grad=True)
        expected = dense_action(setup, kind, tokens, M, torch)
        expected.backward()
        action = ReducedAction(setup, kind, tokens)
        value, gradient = action.value_and_gradient(M.detach().numpy())
        assert value == pytest.approx(expected.item(), rel=1e-12)
        assert action.value(M.detach().numpy()) == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(gradient, M.grad.numpy(), rtol=0, atol=1e-11 * M.grad.abs().max().item())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setup", [Setup(25, 5), Setup(7, 20, 3.0, 0.5, 4.0)], ids=str)
def test_gradient_against_central_differences(setup, kind):
    rng = np.random.default_rng(0)
    n = setup.L + setup.V
    action = ReducedAction(setup, kind, sequences(setup.L, setup.V, 30, 0))
    M = rng.normal(size=(n, n))
    gradient = action.value_and_gradient(M)[1]
    for _ in range(5):
        D, h = rng.normal(size=(n, n)), 1e-4

        def at(t, D=D):
            return action.value(M + t * D)

        # Richardson: error h^4, here far below rounding (1e-16 * S / h).
        slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        assert np.vdot(gradient, D) == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_is_accurate_to_a_millionth(kind):
    setup, rng = Setup(25, 5), np.random.default_rng(0)
    tokens = sequences(25, 5, 300, 0)
    M = planted(25 * pattern(0.4, 0.2, 25), 5) + 0.05 * rng.normal(size=(30, 30))
    value, gradient = ReducedAction(setup, kind, tokens).value_and_gradient(M)
    value32, gradient32 = ReducedAction(setup, kind, tokens, np.float32).value_and_gradient(M)
    assert value32 == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(gradient32, gradient, rtol=0, atol=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize("kind", KINDS)
def test_large_logits_do_not_overflow(kind):
    action = ReducedAction(Setup(6, 3), kind, sequences(6, 3, 10, 0))
    value, gradient = action.value_and_gradient(planted(2000 * G_star(6), 3))
    assert np.isfinite(value) and np.isfinite(gradient).all()


def test_zero_attention_predicts_nothing():
    setup = Setup(8, 4, 5.0)
    action = ReducedAction(setup, "linear", sequences(8, 4, 20, 0))
    value, gradient = action.value_and_gradient(np.zeros((12, 12)))
    assert value == pytest.approx(20 * 8 / (2 * 5.0), rel=1e-14) and not gradient.any()
    assert action.loss(np.zeros((12, 12))) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_loss_is_the_derivative_of_the_action_in_the_noise(kind):
    # S depends on sigma2 explicitly only: loss = -2 sigma2^2 (dS/dsigma2) / (P L) at fixed M.
    L, V, P, sigma2, h = 9, 4, 30, 3.0, 1e-4
    tokens = sequences(L, V, P, 0)
    M = np.random.default_rng(3).normal(size=(L + V, L + V))
    plus, minus = (ReducedAction(Setup(L, V, sigma2 + d), kind, tokens).value(M) for d in (h, -h))
    loss = ReducedAction(Setup(L, V, sigma2), kind, tokens).loss(M)
    assert loss == pytest.approx(-2 * sigma2**2 * (plus - minus) / (2 * h) / (P * L), rel=1e-7)


@pytest.mark.parametrize("L, V", [(5, 3), (4, 7)])
def test_planted_matrix_is_the_cheapest_with_its_logits(L, V):
    logits = np.random.default_rng(0).normal(size=(L, L))
    M = planted(logits, V)
    Phi = features(sequences(L, V, 60, 0), V)
    np.testing.assert_allclose(Phi @ M @ Phi.transpose(0, 2, 1), np.broadcast_to(logits, (60, L, L)), atol=1e-12)
    # The prior action of a constant G: ||M||^2 = L^2 tr(B G B G^T) with B = I - J / (L + V).
    B = np.eye(L) - J(L) / (L + V)
    assert np.vdot(M, M) == pytest.approx(np.trace(B @ logits @ B @ logits.T), rel=1e-12)
    # Least squares over enough sequences: the cheapest of all M with these logits.
    rows = np.stack([np.kron(a, b) for phi in Phi for a in phi for b in phi])
    cheapest = np.linalg.lstsq(rows, np.tile(logits.ravel(), 60), rcond=None)[0]
    np.testing.assert_allclose(cheapest.reshape(L + V, L + V), M, atol=1e-10)


def population_action(setup, P, c1, c_G):
    """Data part of the theory's action for attention in span{J, G*}: the k = 0 mode and the V - 1 token modes."""
    L, V, s2, g = setup.L, setup.V, setup.sigma2, setup.g_O
    rho, T, u2 = c1 + c_G / np.sqrt(L), c1 + np.sqrt(L) * c_G, c1**2 + 2 * c1 * c_G / np.sqrt(L) + c_G**2
    pooled = P * L / V / (2 * (g * P * rho**2 * (L / V + 1) + s2))
    return pooled + (V - 1) / 2 * (P * L / (V * s2) - g * P**2 * T**2 / (V**2 * s2 * (s2 + g * P * u2 / V)))


@pytest.mark.parametrize("kind, c1, c_G", [("linear", 0.5, 0.1), ("linear", 0.2, 0.5), ("softmax", None, 0.1),
                                           ("softmax", None, 0.9)])
def test_average_over_data_sets_approaches_the_population_theory(kind, c1, c_G):
    """Relative deviation of the mean at most 1/P (plus five standard errors: false alarm below 1e-5).

    The deviation of one data set falls like P^(-1/2), that of the mean like 1/P; P / sigma2 is held at 10.
    """
    L, V, n = 6, 3, 1000
    if kind == "linear":
        M = planted(L * pattern(c1, c_G, L), V)
    else:
        c1 = 1 - c_G / np.sqrt(L)
        M = planted(np.log((1 + (L - 1) / np.sqrt(L) * c_G) / (1 - c_G / np.sqrt(L))) * (G_star(L) - J(L) / L), V)
    for P in (20, 80):
        setup = Setup(L, V, P / 10, g_O=1.5)
        tokens = sequences(L, V, n * P, seed=P).reshape(n, P, L)
        prior = np.vdot(M, M) / (2 * setup.g_W)
        values = np.array([ReducedAction(setup, kind, t).value(M) - prior for t in tokens])
        theory = population_action(setup, P, c1, c_G)
        error = 5 * values.std() / np.sqrt(n) / theory
        assert error < 1 / P                                      # the statistical error leaves the bound a meaning
        assert abs(values.mean() / theory - 1) < 1 / P + error
        assert values.mean() < theory * (1 + error)               # finite data lower the action on average


@pytest.mark.parametrize("arguments, message", [
    (("cubic", sequences(5, 3, 4, 0)), "attention must be 'linear' or 'softmax', got 'cubic'"),
    (("linear", sequences(6, 3, 4, 0)), "tokens must have shape"),
    (("linear", sequences(5, 4, 40, 0)), "tokens must be integers in 0..2"),
    (("linear", np.zeros((2, 5))), "tokens must be integers")])
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ReducedAction(Setup(5, 3), *arguments)
