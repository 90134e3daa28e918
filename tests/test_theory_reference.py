"""Both actions against numbers computed elsewhere with 40 digits (tests/data/theory_reference.json)."""

import json
from pathlib import Path

import numpy as np
import pytest

from copyhead import LinearAction, Setup, SoftmaxAction

REFERENCE = json.loads((Path(__file__).parent / "data" / "theory_reference.json").read_text())
SETS = {f"L{s['L']}-V{s['V']}": s for s in REFERENCE["sets"]}
PRIORS = ("paper", "exact")


@pytest.fixture(params=SETS)
def case(request):
    return SETS[request.param]


def setup_of(case):
    return Setup(case["L"], case["V"], case["s2"], case["gO"], case["gW"])


def close(value, expected, rel):
    assert value == pytest.approx(expected, rel=rel, abs=0 if expected else 1e-300)


def test_linear_action_gradient_loss(case):
    linear = LinearAction(setup_of(case))
    for point in case["linear_action_points"]["points"]:
        at = (point["c1"], point["cG"], point["P"])
        close(linear.action(*at), point["S"], 1e-12)
        close(linear.loss(*at), point["loss_per_token"], 1e-12)
        for value, key in zip(linear.gradient(*at), ("dS_dc1", "dS_dcG"), strict=True):
            close(value, point[key], 1e-12)


@pytest.mark.parametrize("prior", PRIORS)
def test_softmax_action_gradient_loss(case, prior):
    softmax = SoftmaxAction(setup_of(case), prior=prior)
    root = np.sqrt(case["L"])
    for point in case["softmax_action_points"]["points"]:
        a = point["aG"]
        close(softmax.action(a, point["P"]), point[f"S_{prior}_prior"], 1e-12)
        close(softmax.loss(a, point["P"]), point["loss_per_token"], 1e-12)
        if prior == "paper":  # the file's derivative is in the logit gap: divide by d ell/d a_G
            per_gap = softmax.gradient(a, point["P"]) * (1 + (case["L"] - 1) / root * a) * (1 - a / root) / root
            close(per_gap, point["dS_dell_paper"], 1e-12)


def test_linear_thresholds_and_landau_coefficients(case):
    linear, expected = LinearAction(setup_of(case)), case["linear_transition"]
    close(linear.critical_P, expected["Pc"], 1e-12)
    close(linear.pooling_P, expected["Pc_eq16"], 1e-12)
    close(linear.copy_P, expected["Pcg_eq17"], 1e-12)
    landau = linear.landau()
    close(landau.r_prime, expected["drdP"], 1e-11)
    close(landau.u, expected["u"], 1e-11)
    close(landau.amplitude, expected["amp"], 1e-11)
    close(landau.direction[0], expected["e_c1"], 1e-11)
    close(landau.direction[1], expected["e_cG"], 1e-9)


def test_linear_minima(case):
    linear = LinearAction(setup_of(case))
    for row in case["grid"]["rows"]:
        states = linear.minima(row["P"])
        assert len(states) == len(row["linear"])
        for state, expected in zip(states, row["linear"], strict=True):
            assert state.c1 == pytest.approx(expected["c1"], abs=1e-8)
            assert state.c_G == pytest.approx(expected["cG"], abs=1e-8)
            close(state.action, expected["S"], 1e-12)
            close(state.loss, expected["loss_per_token"], 1e-10)
        assert linear.minimum(row["P"]) == states[0]


@pytest.mark.parametrize("prior", PRIORS)
def test_softmax_minima(case, prior):
    softmax = SoftmaxAction(setup_of(case), prior=prior)
    for row in case["grid"]["rows"]:
        states, expected_states = softmax.minima(row["P"]), row[f"softmax_{prior}_prior"]
        assert len(states) == len(expected_states)
        for state, expected in zip(states, expected_states, strict=True):
            close(state.ell, expected["ell"], 1e-8)
            close(state.a_G, expected["aG"], 1e-8)
            close(state.m, expected["m"], 1e-8)
            close(state.action, expected["S"], 1e-12)
            close(state.loss, expected["loss_per_token"], 1e-8)
        assert softmax.minimum(row["P"]) == states[0]


@pytest.mark.parametrize("prior", PRIORS)
def test_softmax_transition(case, prior):
    transition = SoftmaxAction(setup_of(case), prior=prior).first_order_transition()
    expected = case["softmax_transition"][f"{prior}_prior"]
    if not expected["first_order"]:
        assert transition is None
        return
    close(transition.P, expected["Pstar"], 1e-9)
    close(transition.lower_spinodal, expected["P_spinodal_lower"], 1e-9)
    close(transition.upper_spinodal, expected["P_spinodal_upper"], 1e-9)
    close(transition.barrier, expected["barrier"], 1e-9)
    close(transition.loss_jump, expected["loss_uniform"] - expected["loss_copy"], 1e-9)
    close(transition.uniform.a_G, expected["aG_uniform"], 1e-9)
    close(transition.copy.a_G, expected["aG_copy"], 1e-9)
    close(transition.copy.m, expected["m_copy"], 1e-9)
    close(transition.uniform.action, expected["S_at_Pstar"], 1e-12)
    latent = case["L"] / (2 * case["s2"]) * transition.loss_jump
    close(latent, expected["dSdP_uniform"] - expected["dSdP_copy"], 1e-9)


@pytest.mark.parametrize("prior", PRIORS)
def test_softmax_line_ends_at_the_critical_endpoint(prior):
    for end in REFERENCE["critical_endpoints"][f"softmax_{prior}_prior"]:
        below, above = int(np.floor(end["Lc"])), int(np.ceil(end["Lc"]))
        assert SoftmaxAction(Setup(below, end["V"]), prior=prior).first_order_transition() is None
        transition = SoftmaxAction(Setup(above, end["V"]), prior=prior).first_order_transition()
        assert transition is not None and transition.lower_spinodal < transition.P < transition.upper_spinodal


def test_linear_jump_starts_at_its_critical_endpoint():
    for end in REFERENCE["critical_endpoints"]["linear"]:
        below, above = int(np.floor(end["Lc"])), int(np.ceil(end["Lc"]))
        assert LinearAction(Setup(below, end["V"])).first_order_transition() is None
        transition = LinearAction(Setup(above, end["V"], sigma2=1.0)).first_order_transition()
        assert transition is not None
        assert transition.P == pytest.approx(end["P_over_s2"], rel=0.02)  # L differs by less than one from Lc
        assert transition.uniform.c1 > end["c1"] > transition.copy.c1


@pytest.mark.parametrize("V,L,first_order", [(5, 16, True), (5, 15, False), (2, 22, True), (1000, 6, False), (2, 23, True)])
def test_softmax_bounds_on_the_order(V, L, first_order):
    """First order at every L >= 23 and at no L <= 6, whatever V; at V = 5 from L = 16."""
    for ratio in (1e-2, 1.0, 1e2) if L in (6, 23) else (1.0,):
        found = SoftmaxAction(Setup(L, V, g_O=ratio)).first_order_transition() is not None
        assert found == first_order


@pytest.mark.parametrize(
    ("L", "V", "lower", "P", "upper", "pooled", "copy"),
    [
        (100, 2, 24.388, 24.556, 24.994, (0.5455, 0.0256), (0.2200, 0.0900)),
        (400, 2, 45.78, 46.48, 51.38, (0.629, 0.0048), (0.104, 0.0625)),
    ],
)
def test_linear_jump_values(L, V, lower, P, upper, pooled, copy):
    """Published to the digits given, from an independent minimisation."""
    t = LinearAction(Setup(L, V, sigma2=1.0)).first_order_transition()
    assert (t.lower_spinodal, t.P, t.upper_spinodal) == pytest.approx((lower, P, upper), rel=2e-4)
    assert (t.uniform.c1, t.uniform.c_G) == pytest.approx(pooled, abs=6e-4)
    assert (t.copy.c1, t.copy.c_G) == pytest.approx(copy, abs=6e-4)
    assert t.barrier > 0 and t.loss_jump > 0


@pytest.mark.parametrize("V", [2, 5])
@pytest.mark.parametrize("L", [10**5, 10**6])
def test_linear_jump_at_great_length(L, V):
    """L -> infinity: coexistence at V sqrt(L/(V-1)) sigma2, upper spinodal sqrt(V/(V-1)) times as high.

    The first correction to the coexistence is of relative order L^(-1/3), about 3 % at the smallest L here.
    """
    transition = LinearAction(Setup(L, V, sigma2=1.0)).first_order_transition()
    limit = V * np.sqrt(L / (V - 1))
    assert transition.P == pytest.approx(limit * (1 + 1.5 * ((V - 1) * L) ** (-1 / 3)), rel=0.01)
    assert transition.upper_spinodal == pytest.approx(np.sqrt(V / (V - 1)) * limit, rel=0.03)
