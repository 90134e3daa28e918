"""The one-loop formula against symbolic derivatives, its limits, and values computed by an independent study."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from copyhead import LinearAction, Setup
from copyhead.one_loop import noise, one_loop_minimum, stiffness

LINEAR = LinearAction(Setup(L=25, V=5, sigma2=30.0))


def test_stiffness_is_the_derivative_of_the_data_term() -> None:
    V, g_O, P, L, s2, T, u2 = sp.symbols("V g_O P L s2 T u2", positive=True)
    data = (V - 1) / 2 * (P * L / (V * s2) - g_O * P**2 * T**2 / (V**2 * s2 * (s2 + g_O * P * u2 / V)))
    exact = sp.lambdify((V, g_O, P, L, s2, T, u2), sp.diff(data, u2))
    for numbers in ((5, 1.0, 400.0, 25, 30.0, 1.3, 0.4), (3, 0.7, 90.0, 12, 11.0, 0.2, 1.1)):
        setup = Setup(L=numbers[3], V=numbers[0], sigma2=numbers[4], g_O=numbers[1])
        found = stiffness(LinearAction(setup), numbers[6], numbers[5], numbers[2])
        assert found == pytest.approx(exact(*numbers), rel=1e-12)


def test_noise_without_data_is_the_prior_norm_of_the_attention() -> None:
    """E ||G||^2 of G = Phi M Phi^T / L for one sequence, by summing the variance of each entry."""
    setup = Setup(L=7, V=3, sigma2=2.0, g_W=0.8)
    draws = np.random.default_rng(0).normal(scale=np.sqrt(0.8 / 30.0), size=(4000, 10, 10))
    tokens = np.array([0, 1, 2, 0, 1, 2, 0])
    Phi = np.concatenate([np.eye(3)[tokens], np.eye(7)], axis=1)
    norms = np.square(Phi @ draws @ Phi.T / 7).sum(axis=(1, 2))
    expected = noise(LinearAction(setup), 0.0, 30.0)
    assert expected == pytest.approx(4 * 0.8 / 30.0)
    # Tokens repeat in a sequence, which correlates entries of G but leaves the mean of each square.
    assert abs(norms.mean() - expected) < 3.9 * norms.std() / np.sqrt(4000)           # false alarm 1e-4


@pytest.mark.parametrize("P, chi, c1, c_G", [
    (300, 30, 0.510, 0.056), (400, 30, 0.504, 0.1155), (500, 30, 0.366, 0.244), (600, 30, 0.2517, 0.3581),
    (700, 30, 0.2004, 0.4203), (800, 30, 0.170, 0.461), (500, 100, 0.310, 0.283)])
def test_minimum_equals_that_of_an_independent_study(P: int, chi: float, c1: float, c_G: float) -> None:
    """Values of a separate implementation with other code, given to three or four digits."""
    state = one_loop_minimum(LINEAR, P, chi)
    assert (state.c1, state.c_G) == pytest.approx((c1, c_G), abs=6e-4)


def test_large_chi_gives_the_tree_level_with_a_correction_of_order_one_over_chi() -> None:
    tree = LINEAR.minimum(500)
    shift = [one_loop_minimum(LINEAR, 500, chi).c1 - tree.c1 for chi in (3000, 6000)]
    assert 0 < shift[1] < shift[0] < 0.003
    assert shift[0] / shift[1] == pytest.approx(2, rel=0.05)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="chi must be"):
        one_loop_minimum(LINEAR, 500, 0)
    with pytest.raises(ValueError, match="P must be"):
        one_loop_minimum(LINEAR, -1, 30)
