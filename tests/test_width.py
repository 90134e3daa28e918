"""The theory of embeddings that learn, against direct minimisation, enumerated sequences and the frozen theory."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.bartlett import FactorAction
from copyhead.metric import square_root
from copyhead.patterns import G_star, J, pattern
from copyhead.reduced import planted
from copyhead.width import WidthAction, tricritical_nu

PAPER = Setup(25, 5)
OTHER = Setup(9, 3, 7.0, 1.4, 0.6)


def explicit(setup, attention, nu, P, order, log_scales):
    """The same action written out anew, from the frozen theory with g_O and g_W scaled in each sector."""
    L, V = setup.L, setup.V
    zeta, alpha, gamma = np.exp(log_scales)
    p = P / setup.sigma2
    if attention == "softmax":
        m = np.exp(order[0]) / (L - 1 + np.exp(order[0]))
        T, u2, rho, cost = L * m, L * m**2 + L * (1 - m) ** 2 / (L - 1), 1.0, (L - 1) * order[0] ** 2 / gamma**2
    else:
        c1, c_G = order
        T, u2, rho = c1 + np.sqrt(L) * c_G, c1**2 + 2 * c1 * c_G / np.sqrt(L) + c_G**2, c1 + c_G / np.sqrt(L)
        cost = (L * V / (L + V)) ** 2 * rho**2 / zeta**2 + L * (L - 1) * c_G**2 / gamma**2
    S = cost / (2 * setup.g_W) + p * L / (2 * V) / (1 + setup.g_O * zeta * p * rho**2 * (L / V + 1))
    S += (V - 1) / 2 * (p * L / V - setup.g_O * alpha * p**2 * T**2 / V**2 / (1 + setup.g_O * alpha * p * u2 / V))
    for scale, count in ((zeta, 1), (alpha, V - 1), (gamma, L - 1)):
        S += nu / 2 * count * (scale - 1 - np.log(scale))
    return S


@pytest.mark.parametrize("setup", [PAPER, OTHER], ids=["paper", "other"])
@pytest.mark.parametrize("attention", ["linear", "softmax"])
@pytest.mark.parametrize("nu", [3.0, 40.0])
def test_minimum_is_that_of_the_explicit_action(setup, attention, nu):
    P = 12 * setup.sigma2
    state = WidthAction(setup, attention, nu).minimum(P)
    order = [state.ell] if attention == "softmax" else [state.c1, state.c_G]
    scales = np.log([state.zeta, state.alpha, state.gamma])
    count = len(order)

    def S(x):
        return explicit(setup, attention, nu, P, x[:count], x[count:])

    here = np.concatenate([order, scales])
    assert S(here) == pytest.approx(state.action, rel=1e-10)
    found = minimize(S, here + 0.02, method="Nelder-Mead", options=dict(xatol=1e-8, fatol=1e-13, maxiter=5000, maxfev=5000))
    assert found.fun == pytest.approx(state.action, rel=1e-8)
    assert np.allclose(found.x, here, atol=2e-4)
    rng = np.random.default_rng(0)
    for _ in range(4):                                                      # nothing lower from elsewhere
        size = 2.0 if attention == "softmax" else 0.4
        start = np.concatenate([size * np.abs(rng.standard_normal(count)), rng.random(3)])
        other = minimize(S, start, method="Nelder-Mead", options=dict(maxiter=4000, maxfev=4000))
        assert other.fun > state.action * (1 - 1e-8)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
@pytest.mark.parametrize("P", [0.5, 60.0, 300.0, 500.0])
def test_wide_networks_are_frozen(attention, P):
    state = WidthAction(PAPER, attention, 1e8).minimum(P)
    frozen = (LinearAction if attention == "linear" else SoftmaxAction)(PAPER).minimum(P)
    assert state.action == pytest.approx(frozen.action, rel=1e-6)
    assert state.loss == pytest.approx(frozen.loss, rel=1e-5)
    for name in ("c1", "c_G") if attention == "linear" else ("a_G", "ell"):
        assert getattr(state, name) == pytest.approx(getattr(frozen, name), rel=1e-4)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_loss_is_the_slope_of_the_action(attention):
    """dS/dP = L loss / (2 sigma2) at a minimum over everything else."""
    action, h = WidthAction(PAPER, attention, 20.0), 0.01
    slope = (action.minimum(400 + h).action - action.minimum(400 - h).action) / (2 * h)
    assert action.minimum(400.0).loss == pytest.approx(slope * 2 * 30 / 25, rel=1e-6)


def all_sequences(setup):
    return np.array(list(itertools.product(range(setup.V), repeat=setup.L)))


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_metric_of_three_numbers_is_stationary_among_all_metrics(attention):
    """Every sequence of a small task once: then the population moments are exact, and so is the action's slope in C.

    At fixed kernel T and readout r the slope is that of tr C^-1 T C^-1 T^T / (2 g_W) + tr r C^-1 r^T / (2 g_O) +
    nu/2 (tr C - ln det C); it has to vanish in all (V + L)^2 entries of C.
    """
    setup, nu = Setup(4, 3, 3.0, 1.2, 0.8), 2.5
    tokens = all_sequences(setup)
    P, n = len(tokens), setup.L + setup.V
    states = WidthAction(setup, attention, nu).minima(float(P))
    state = max(states, key=lambda found: found.gamma)
    z = np.concatenate([np.full(3, 1 / 3), np.full(4, 1 / 4)])
    z /= np.linalg.norm(z)
    tokens_apart, positions_apart = np.zeros((n, n)), np.zeros((n, n))
    tokens_apart[:3, :3], positions_apart[3:, 3:] = np.eye(3) - 1 / 3, np.eye(4) - 1 / 4
    rest = np.eye(n) - tokens_apart - positions_apart - np.outer(z, z)
    C = state.zeta * np.outer(z, z) + state.alpha * tokens_apart + state.gamma * positions_apart + rest
    logits = 4 * pattern(state.c1, state.c_G, 4) if attention == "linear" else state.ell * (G_star(4) - J(4) / 4)
    T, inverse, R = planted(logits, 3), np.linalg.inv(C), square_root(C, n)
    M = np.linalg.solve(R, np.linalg.solve(R, T).T).T
    action = FactorAction(setup, attention, tokens)
    entropy = nu / 2 * (np.trace(C) - np.linalg.slogdet(C)[1] - n)
    assert action.slopes(M, R)[0] + entropy == pytest.approx(state.action, rel=1e-9)
    Z = action.features(action.attention(T))
    A, B = action.normal_equations(Z)
    r = (R @ np.linalg.solve(R @ A @ R + setup.sigma2 / setup.g_O * np.eye(n), R @ B)).T
    pull = (T @ inverse @ T.T + T.T @ inverse @ T) / (2 * setup.g_W) + r.T @ r / (2 * setup.g_O)
    slope = nu / 2 * (np.eye(n) - inverse) - inverse @ pull @ inverse
    assert state.gamma > 1.02 and np.abs(slope).max() < 1e-7


def test_onset_of_linear_attention_does_not_move_and_changes_its_order():
    linear, nu = LinearAction(PAPER), tricritical_nu(PAPER)
    below = WidthAction(PAPER, "linear", 0.6 * nu).transition(16, 23, 12)
    assert below.P < linear.critical_P and below.low.c1 == 0 and below.high.c1 > 0.1
    assert WidthAction(PAPER, "linear", 1.5 * nu).transition(16, 23, 12) is None
    for factor in (0.95, 1.05):
        # at the critical P the quartic term decides, and it is negative below nu
        action, e = WidthAction(PAPER, "linear", factor * nu), np.array(linear.landau().direction)
        t = np.array([0.0, 0.01, 0.02])
        S = action.action(t[:, None] * e, linear.critical_P)
        assert np.sign(S[2] - S[0]) == np.sign(factor - 1)
    assert abs(WidthAction(PAPER, "linear", 1.5 * nu).minimum(22.0).c1) == 0
    assert WidthAction(PAPER, "linear", 1.5 * nu).minimum(23.2).c1 > 0.02


def test_tricritical_width_depends_on_length_and_vocabulary_only():
    """nu sqrt(g_O g_W) is a function of (L, V), by the scaling of c; for L >> V it tends to 9 V / 2."""
    assert tricritical_nu(Setup(25, 5, 3.0, 4.0, 0.36)) * 1.2 == pytest.approx(tricritical_nu(PAPER), rel=1e-10)
    for V in (3, 8):
        assert tricritical_nu(Setup(100_000, V)) == pytest.approx(4.5 * V, rel=1e-3)


def test_softmax_transition_moves_down_when_embeddings_learn():
    """P* against the frozen theory, and its slope in 1/nu against first-order perturbation of the frozen states."""
    frozen = SoftmaxAction(PAPER).first_order_transition()
    found = [WidthAction(PAPER, "softmax", nu).transition(240, 290, 8).P for nu in (1e6, 2e4, 300.0)]
    assert found[0] == pytest.approx(frozen.P, abs=2e-3) and found[0] > found[1] > found[2]

    def gain(state):
        w, g, k, n = WidthAction(PAPER, "softmax", 1.0).modes(state.ell, frozen.P)
        return float(((2 * w + g / (1 + k) ** 2) ** 2 / n).sum())                # sum n K^2 / 4

    slope = (gain(frozen.copy) - gain(frozen.uniform)) / (25 / 60 * frozen.loss_jump)
    assert 2e4 * (frozen.P - found[1]) == pytest.approx(slope, rel=0.01)


@pytest.mark.parametrize("arguments", [(PAPER, "softmax", 0.0), (PAPER, "both", 1.0), ("paper", "softmax", 1.0)],
                         ids=["nu", "attention", "setup"])
def test_bad_input_is_named(arguments):
    with pytest.raises(ValueError, match="must be"):
        WidthAction(*arguments)
