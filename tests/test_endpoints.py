# mypy: allow-untyped-defs
"""Ends of first-order lines: against independent values, against both closures at whole lengths, against enumeration."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.endpoints import (
    critical_endpoint,
    linear_action,
    linear_endpoint,
    softmax_action,
    softmax_endpoint,
)
from copyhead.patterns import G_star
from copyhead.reduced import ReducedAction

REFERENCE = json.loads((Path(__file__).parent / "data" / "theory_reference.json").read_text())["critical_endpoints"]


def test_an_endpoint_of_landaus_theory_is_found_exactly():
    """S = (L - 3) x^2/2 + x^4/4 - (P - 2) x + 0.3 y^2 + x y / 10: with y relaxed the cusp lies at known x, y, P, L."""
    end = critical_endpoint(lambda x, P, L: (L - 3) * x[0] ** 2 / 2 + x[0] ** 4 / 4 - (P - 2) * x[0] + 0.3 * x[1] ** 2
                            + x[0] * x[1] / 10 + (x[0] - 0.5) ** 4, np.array([0.45, -0.05]), 2.3, 2.9)
    # eliminating y: y = -x/6, coefficient of x^2/2 becomes L - 3 - 1/60; cubic term 6 x + 24 (x - 0.5) = 0
    x = 12 / 30
    L = 3 + 1 / 60 - 3 * x**2 - 12 * (x - 0.5) ** 2
    P = 2 + (L - 3 - 1 / 60) * x + x**3 + 4 * (x - 0.5) ** 3
    assert [*end.x, end.L, end.P] == pytest.approx([x, -x / 6, L, P], rel=1e-6)


@pytest.mark.parametrize("end", REFERENCE["linear"], ids=lambda end: f"V{end['V']}")
def test_linear_endpoints_in_the_papers_closure(end):
    found = linear_endpoint(end["V"])
    assert [found.L, found.P] == pytest.approx([end["Lc"], end["P_over_s2"]], rel=1e-7)
    assert found.x == pytest.approx([end["c1"], np.sqrt(end["Lc"]) * end["cG"]], rel=1e-6)


@pytest.mark.parametrize("end", REFERENCE["softmax_exact_prior"], ids=lambda end: f"V{end['V']}")
def test_softmax_endpoints_in_the_papers_closure(end):
    found = softmax_endpoint(end["V"])
    assert [found.L, found.P] == pytest.approx([end["Lc"], end["q_c"]], rel=1e-8)
    assert found.x == pytest.approx([end["ell_c"]], rel=1e-6)


@pytest.mark.parametrize("V", [2, 5])
@pytest.mark.parametrize("closure", ["paper", "complete"])
def test_whole_lengths_on_both_sides_of_the_softmax_endpoint(V, closure):
    L = softmax_endpoint(V, closure).L
    found = [SoftmaxAction(Setup(n, V, 1.0), closure=closure).first_order_transition() for n in (int(L), int(L) + 1)]
    assert found[0] is None and found[1] is not None


@pytest.mark.parametrize("V", [2, 3, 4])
@pytest.mark.parametrize("closure", ["paper", "complete"])
def test_whole_lengths_on_both_sides_of_the_linear_endpoint(V, closure):
    L = linear_endpoint(V, closure).L
    found = [LinearAction(Setup(n, V, 1.0), closure=closure).first_order_transition() for n in (int(L), int(L) + 1)]
    assert found[0] is None and found[1] is not None


def test_the_prior_moves_the_softmax_endpoint_only():
    reference, other = linear_endpoint(2, "complete"), linear_endpoint(2, "complete", g_O=4.0, g_W=0.09)
    assert other.L == pytest.approx(reference.L, rel=1e-7) and other.P == pytest.approx(reference.P / 0.6, rel=1e-7)
    assert softmax_endpoint(3, g_W=2.0).L == pytest.approx(softmax_endpoint(5).L, rel=1e-7)      # (V - 1) g_W / g_O
    # stiff and soft prior: the two bounds of the chapter on the softmax endpoint
    assert softmax_endpoint(5, g_W=1e-5).L == pytest.approx(1 + np.exp(np.sqrt(3)) * (np.sqrt(3) + 1) / (np.sqrt(3) - 1),
                                                            rel=1e-4)
    m = (15 - np.sqrt(33)) / 24
    assert softmax_endpoint(100, g_W=1e7).L == pytest.approx(1 + np.exp(1 / (2 - 3 * m)) * (1 - m) / m, rel=2e-4)


@pytest.mark.parametrize("L, V", [(7, 2), (6, 4), (25, 5)])
def test_actions_at_whole_lengths_are_those_of_the_action_classes(L, V):
    setup, rng = Setup(L, V, 1.0, 1.3, 0.7), np.random.default_rng(0)
    model = LinearAction(setup, closure="complete")
    for a, g, tau, kappa in rng.normal(0, 0.3, (5, 4)):
        c1 = a + (kappa + (1 - 1 / V) * tau) / (L - 1)
        value = model.action(c1, (a + g - c1) / np.sqrt(L), 9.0, tau, kappa)
        assert linear_action(np.array([a, g, tau, kappa]), 9.0, L, V, 1.3, 0.7) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("L, V", [(4, 3), (6, 2), (5, 3)])
def test_the_softmax_average_is_that_over_all_sequences(L, V):
    """The data part of the action from every one of the V^L sequences, through the reduced network."""
    tokens = np.array(list(itertools.product(range(V), repeat=L)))
    P, rng = 3.0, np.random.default_rng(L)
    setup = Setup(L, V, len(tokens) / P, 1.3, 0.7)
    for ell, tau, kappa in rng.normal(0, 1, (4, 3)):
        M = np.zeros((V + L, V + L))
        M[:V, :V], M[V:, V:] = tau * np.eye(V), ell * G_star(L) + kappa * np.eye(L)
        enumerated = ReducedAction(setup, "softmax", tokens).value(M) - np.vdot(M, M) / 1.4
        prior = ((V - 1) * tau**2 + L * (ell**2 + kappa**2) - (ell + kappa) ** 2) / 1.4
        assert softmax_action(np.array([ell, tau, kappa]), P, L, V, 1.3, 0.7) - prior == pytest.approx(enumerated, rel=1e-12)


def test_bad_arguments_are_named():
    for function in (linear_endpoint, softmax_endpoint):
        with pytest.raises(ValueError, match="closure must be 'paper' or 'complete', got 'all'"):
            function(5, "all")
        with pytest.raises(ValueError, match="V must be a number from 2 to 100, got 1.5"):
            function(1.5)
    with pytest.raises(RuntimeError, match="no endpoint found"):
        critical_endpoint(lambda x, P, L: L * x[0] ** 2 + P * x[0], np.array([1.0]), 1.0, 1.0)
