"""The complete closure against sums over all sequences, theorems on sizes no table lists, and numbers computed elsewhere."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.complete import complete_weights, same_token_logits
from copyhead.equivalent_kernel import all_sequences
from copyhead.fit import descend
from copyhead.patterns import order_parameters
from copyhead.reduced import ReducedAction
from copyhead.starts import softest_mode
from copyhead.task import sequences

REFERENCE = json.loads((Path(__file__).parent / "data" / "complete_reference.json").read_text())
SIZES = [(2, 2), (2, 5), (3, 2), (3, 4), (4, 2), (4, 3), (5, 2), (5, 3), (7, 2)]
KINDS = {"linear": LinearAction, "softmax": SoftmaxAction}


def every_sequence(L, V):
    return all_sequences(L, V).argmax(axis=2)


def case(kind, L, V, factor):
    """(action on all sequences, theory, P) with P = V**L a multiple of a typical scale."""
    P = V**L
    unit = LinearAction(Setup(L, V, 1.0, 0.7, 1.6)).critical_P
    setup = Setup(L, V, P / (factor * unit), 0.7, 1.6)
    return ReducedAction(setup, kind, every_sequence(L, V)), KINDS[kind](setup, closure="complete"), P


@pytest.mark.parametrize("L,V", SIZES)
def test_linear_action_is_that_of_all_sequences(L, V):
    action, theory, P = case("linear", L, V, 3.0)
    rng = np.random.default_rng(0)
    for _ in range(4):
        c1, c_G, tau, kappa = rng.normal(size=4)
        a = c1 - (kappa + (1 - 1 / V) * tau) / (L - 1)
        M = complete_weights(a, c1 + np.sqrt(L) * c_G - a, tau, kappa, L, V)
        assert np.allclose(order_parameters(action.attention(M).mean(axis=0)), (c1, c_G))
        if L == 2:                                 # kappa only shifts all logits there, and its weights cost for nothing
            M = complete_weights(a + kappa, c1 + np.sqrt(L) * c_G - a - kappa, tau, 0.0, L, V)
        assert theory.action(c1, c_G, P, tau, kappa) == pytest.approx(action.value(M), rel=1e-12)
        assert theory.loss(c1, c_G, P, tau, kappa) == pytest.approx(action.loss(M), rel=1e-11)


@pytest.mark.parametrize("L,V", SIZES)
def test_softmax_action_is_that_of_all_sequences(L, V):
    action, theory, P = case("softmax", L, V, 5.0)
    rng = np.random.default_rng(1)
    for _ in range(4):
        ell, tau, kappa = rng.normal(size=3)
        kappa = kappa if L > 2 else 0.0
        M = complete_weights(-(ell + kappa) / L, ell, tau, kappa, L, V)
        a_G = order_parameters(action.attention(M).mean(axis=0))[1]
        assert theory.action(a_G, P, tau, kappa) == pytest.approx(action.value(M), rel=1e-12)
        assert theory.loss(a_G, P, tau, kappa) == pytest.approx(action.loss(M), rel=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("L,V", [(2, 3), (4, 3), (25, 5), (60, 9)])
def test_derivatives(kind, L, V):
    theory = KINDS[kind](Setup(L, V, 2.0, 0.5, 1.5), closure="complete")
    n = 4 if kind == "linear" else 3
    at, P = np.array([0.4, 0.3, -0.2, 0.1])[-n:], 60.0

    def call(method, x):
        first = 2 if kind == "linear" else 1
        return getattr(theory, method)(*x[:first], P, *x[first:])

    h = 1e-5 * np.eye(n)
    slope = [(call("action", at + e) - call("action", at - e)) / 2e-5 for e in h]
    bend = [(call("gradient", at + e) - call("gradient", at - e)) / 2e-5 for e in h]
    scale = np.abs(bend).max()
    assert call("gradient", at) == pytest.approx(np.array(slope), rel=1e-6, abs=1e-6 * np.abs(slope).max())
    assert call("hessian", at) == pytest.approx(np.array(bend), rel=1e-6, abs=1e-7 * scale)
    if kind == "softmax":
        assert call("curvature", at) == pytest.approx(bend[0][0], rel=1e-6)


def test_without_tau_and_kappa_it_is_the_theory_of_the_paper():
    setup = Setup(12, 7, 3.0, 0.8, 1.3)
    linear, softmax = LinearAction(setup, closure="complete"), SoftmaxAction(setup, closure="complete")
    c1, P = np.linspace(-1, 1, 5)[:, None], np.array([1.0, 40.0, 900.0])
    assert linear.action(c1, 0.4, P) == pytest.approx(LinearAction(setup).action(c1, 0.4, P), rel=1e-13)
    assert linear.loss(c1, 0.4, P) == pytest.approx(LinearAction(setup).loss(c1, 0.4, P), rel=1e-13)
    assert linear.gradient(c1, 0.4, P)[..., :2] == pytest.approx(LinearAction(setup).gradient(c1, 0.4, P), rel=1e-10)
    a_G = np.array([-0.2, 0.0, 1.2, 3.0])[:, None]
    assert softmax.action(a_G, P) == pytest.approx(SoftmaxAction(setup).action(a_G, P), rel=1e-13)
    assert softmax.gradient(a_G, P)[..., 0] == pytest.approx(SoftmaxAction(setup).gradient(a_G, P), rel=1e-9)
    drive = linear.gradient(c1, 0.4, P)                   # kappa is not driven while tau is zero, tau is
    assert np.abs(drive[..., 3]).max() < 1e-12 * np.abs(drive).max() < np.abs(drive[..., 2]).max()
    assert np.abs(softmax.gradient(a_G, P)[..., 2]).max() < 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("L,V", [(2, 4), (3, 5), (4, 3), (5, 3), (6, 2)])
def test_closure_theorem(kind, L, V):
    """A stationary state of the four is stationary in every entry of M; that of the paper's closure is not."""
    action, theory, P = case(kind, L, V, 2.5)
    state = theory.minimum(P)
    M = theory.weights(state)
    value, gradient = action.value_and_gradient(M)
    assert value == pytest.approx(state.action, rel=1e-12)
    assert np.abs(gradient).max() < 1e-9 * (1 + np.abs(M).max() / action.setup.g_W)
    paper = KINDS[kind](action.setup).minimum(P)
    plain = type(state)(**{**vars(paper), "tau": 0.0, "kappa": 0.0})
    assert np.abs(action.value_and_gradient(theory.weights(plain))[1]).max() > 1e-4


def test_measured_logits_are_those_of_the_state_and_blind_to_weights_that_no_logit_shows():
    rng = np.random.default_rng(6)
    M = complete_weights(0.3, 1.1, -0.4, 0.7, 6, 4)
    assert same_token_logits(M, 4) == pytest.approx((-0.4, 0.7))
    n = np.r_[np.ones(4), -np.ones(6)]
    assert same_token_logits(M + np.outer(n, rng.normal(size=10)) + np.outer(rng.normal(size=10), n), 4) == pytest.approx(
        (-0.4, 0.7))
    assert same_token_logits(complete_weights(0.3, 1.1, -0.4, 0.0, 2, 3), 3) == pytest.approx((-0.4, 0.0))
    with pytest.raises(ValueError, match="M must have shape"):
        same_token_logits(np.zeros((4, 5)), 3)


@pytest.mark.parametrize("L,V", [(2, 4), (3, 5), (5, 3), (6, 2)])
def test_second_order_point_is_that_of_all_weights(L, V):
    action, theory, P = case("linear", L, V, 1.7)
    assert softest_mode(action)[0] == pytest.approx(P / theory.critical_P, rel=1e-12)


@pytest.mark.parametrize("L,V", [(4, 3), (9, 4)])
def test_ray_theorem_on_random_data(L, V):
    """S is convex in t^2 along t M, for random data and random M."""
    action = ReducedAction(Setup(L, V, 0.5), "linear", sequences(L, V, 15, seed=3))
    rng = np.random.default_rng(2)
    x = np.linspace(0, 4, 41)
    for _ in range(10):
        M = rng.normal(size=(V + L, V + L))
        values = [action.value(np.sqrt(t) * M) for t in x]
        assert np.diff(values, 2).min() > -1e-10 * np.abs(values).max()


@pytest.mark.parametrize("kind", KINDS)
def test_no_random_start_finds_a_lower_action(kind):
    """Descents over all M from random starts on all sequences, 20 for each size: none ends below the theory's minimum."""
    rng = np.random.default_rng(4)
    for L, V in [(4, 2), (5, 2), (4, 3)]:
        action, theory, P = case(kind, L, V, 3.0)
        best = theory.minimum(P).action
        starts = [rng.normal(scale=scale, size=(V + L, V + L)) for scale in np.geomspace(0.1, 3, 20)]
        found = np.array([descend(action, M, 1e-6).action for M in starts])
        assert found.min() > best - 1e-9 * abs(best)
        assert found.min() == pytest.approx(best, rel=1e-9)


def test_minima_by_the_scan_are_those_of_the_branch():
    rng = np.random.default_rng(5)
    for _ in range(12):
        L, V = (int(n) for n in np.exp(rng.uniform(np.log(2), np.log([300, 60]))))
        theory = LinearAction(Setup(L, V, *np.exp(rng.normal(size=3))), closure="complete")
        for factor in (0.9, 1 + 1e-6, 1.1, 3.0, 30.0, 1e4):
            P = factor * theory.critical_P
            states, best = theory.minima(P), theory.minimum(P)
            assert states[0].action == pytest.approx(best.action, rel=1e-11)
            assert states[0].c1 == pytest.approx(best.c1, rel=1e-5)
            for state in states:
                at = (state.c1, state.c_G, P, state.tau, state.kappa)
                stiff = theory.hessian(*at)
                assert np.abs(theory.gradient(*at)).max() < 1e-7 * np.abs(stiff).max()
                assert np.linalg.eigvalsh(stiff)[0 if L > 2 else 1] > -1e-9 * np.abs(stiff).max()


def test_linear_numbers():
    theory = LinearAction(Setup(25, 5, 30.0), closure="complete")
    assert theory.critical_P == pytest.approx(REFERENCE["critical_P_25_5_30"], abs=5e-7)
    for row in REFERENCE["linear_25_5"]:
        state = theory.minimum(30 * row["p"])
        for name in ("c1", "c_G", "tau", "kappa", "loss"):
            assert getattr(state, name) == pytest.approx(row[name], abs=6e-7), name
    landau, P = theory.landau(), theory.critical_P * (1 + 1e-7)
    assert theory.minimum(P).c1 == pytest.approx(landau.amplitude * landau.direction[0] * np.sqrt(1e-7 * theory.critical_P),
                                                 rel=1e-6)


def test_linear_jump():
    expected = REFERENCE["linear_jump_100_2"]
    jump = LinearAction(Setup(100, 2, 1.0), closure="complete").first_order_transition()
    assert (jump.lower_spinodal, jump.P, jump.upper_spinodal) == pytest.approx(
        (expected["lower"], expected["p"], expected["upper"]), abs=1e-6)
    for state, name in ((jump.uniform, "pooled"), (jump.copy, "copy")):
        for field, value in expected[name].items():
            assert getattr(state, field) == pytest.approx(value, abs=6e-7)
    below, above = (LinearAction(Setup(L, 2), closure="complete").first_order_transition() for L in (60, 61))
    assert below is None and above is not None and 60 < REFERENCE["linear_endpoint_V2"] < 61


def test_softmax_numbers():
    expected = REFERENCE["softmax_25_5_30"]
    jump = SoftmaxAction(Setup(25, 5, 30.0), closure="complete").first_order_transition()
    assert (jump.lower_spinodal, jump.P, jump.upper_spinodal) == pytest.approx(
        (expected["lower"], expected["P"], expected["upper"]), abs=6e-6)
    for state in ("uniform", "copy"):
        assert getattr(jump, state).ell == pytest.approx(expected[state]["ell"], abs=6e-6)
        assert getattr(jump, state).tau == pytest.approx(expected[state]["tau"], abs=6e-5)
    lengths = [L for L in range(14, 19) if SoftmaxAction(Setup(L, 5), closure="complete").first_order_transition()]
    assert lengths[0] == expected["smallest_L"]


@pytest.mark.parametrize("kind", KINDS)
def test_scaling_arrays_and_copies(kind):
    setup = Setup(20, 4, 2.0, 0.5, 3.0)
    theory = KINDS[kind](setup, closure="complete")
    other = KINDS[kind](Setup(20, 4, 14.0, 0.5, 3.0), closure="complete")
    assert other.minimum(700.0).tau == pytest.approx(theory.minimum(100.0).tau, rel=1e-8)
    P = np.array([[5.0, 30.0], [60.0, 400.0]])
    states = theory.minimum(P)
    assert states.tau.shape == P.shape and states.tau[1, 0] == pytest.approx(theory.minimum(60.0).tau, rel=1e-9)
    assert pickle.loads(pickle.dumps(theory)).closure == "complete" and "closure='complete'" in repr(theory)
    assert isinstance(theory, KINDS[kind]) and KINDS[kind](setup).closure == "paper"
    slope = (theory.minimum(60.0 * (1 + 1e-5)).action - theory.minimum(60.0 * (1 - 1e-5)).action) / 1.2e-3
    assert slope == pytest.approx(20 * states.loss[1, 0] / 4, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input(kind):
    with pytest.raises(ValueError, match="closure must be 'paper' or 'complete', got 'full'"):
        KINDS[kind](Setup(5, 2), closure="full")
    theory = KINDS[kind](Setup(5, 2), closure="complete")
    with pytest.raises(ValueError, match="P must be"):
        theory.minimum(-1.0)
    with pytest.raises(ValueError, match="P must be"):
        theory.minima(1e12)
    with pytest.raises(ValueError, match="tau must be"):
        theory.action(0.1, 0.2, 3.0, tau=np.nan) if kind == "linear" else theory.action(0.1, 3.0, tau=np.nan)
    if kind == "softmax":
        with pytest.raises(ValueError, match="prior must be 'exact'"):
            SoftmaxAction(Setup(5, 2), prior="paper", closure="complete")
