"""Susceptibilities: theory's closed forms, response to a field, and numerical Hessians.

Expected numbers are those of an independent computation with closed forms and high precision.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from copyhead import LinearAction, Setup, SoftmaxAction, fit_map
from copyhead.patterns import order_parameters
from copyhead.reduced import ReducedAction
from copyhead.susceptibility import Fluctuations, numerical_hessian, susceptibility
from copyhead.task import sequences

SETUP = Setup(25, 5)


@pytest.mark.parametrize(("share", "expected"), [(0.3, 0.0634), (0.5, 0.0769), (0.9, 0.303), (0.99, 2.89), (0.999, 28.8)])
def test_linear_susceptibility_diverges_at_the_critical_point(share: float, expected: float) -> None:
    model = LinearAction(SETUP)
    assert susceptibility(model, share * model.critical_P)[0, 0] == pytest.approx(expected, rel=5e-3)


def test_linear_amplitudes_above_and_below_differ_by_two() -> None:
    model, small = LinearAction(SETUP), 1e-4
    above, below = (susceptibility(model, model.critical_P + sign * small)[0, 0] for sign in (1, -1))
    assert below / above == pytest.approx(2, rel=1e-3)
    assert below == pytest.approx(1 / (1.526 * small), rel=1e-3)


@pytest.mark.parametrize(("P", "expected"), [(200, 0.00321), (250, 0.00532), (276.2263, 0.00922), (290, 0.0184),
                                             (295, 0.0383), (296.5, 0.0813), (297.01, 0.70)])
def test_softmax_susceptibility_of_the_uniform_state(P: float, expected: float) -> None:
    model = SoftmaxAction(SETUP, prior="paper")
    uniform = min(model.minima(P), key=lambda state: state.a_G)
    assert susceptibility(model, P, uniform) == pytest.approx(expected, rel=1e-2)


def test_susceptibility_is_the_response_to_a_field() -> None:
    model, P, h = SoftmaxAction(SETUP), 250.0, 1e-4
    low, high = (brentq(lambda a, s=sign: model.gradient(a, P) - s * h, 0.0, 0.15, xtol=1e-14) for sign in (-1, 1))
    assert (high - low) / (2 * h) == pytest.approx(susceptibility(model, P), rel=1e-4)


def test_susceptibility_refuses_what_is_no_minimum() -> None:
    model = LinearAction(SETUP)
    with pytest.raises(ValueError, match="state must be a minimum"):
        susceptibility(model, 2 * model.critical_P, model.minimum(0.5 * model.critical_P))
    soft = SoftmaxAction(SETUP)
    between = replace(soft.minimum(276.0), a_G=0.4)
    with pytest.raises(ValueError, match="state must be a minimum"):
        susceptibility(soft, 276.0, between)


def test_numerical_hessian_of_a_quartic() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    A = A @ A.T
    x = rng.normal(size=(2, 3))
    exact = A + np.diag(3 * x.ravel() ** 2)
    found = numerical_hessian(lambda y: (A @ y.ravel() + y.ravel() ** 3).reshape(y.shape), x)
    assert np.allclose(found, exact, atol=1e-4)
    well, slope = Fluctuations(exact), rng.normal(size=6)
    assert well.susceptibility(slope) == pytest.approx(slope @ np.linalg.solve(exact, slope))
    assert well.half_log_determinant == pytest.approx(np.linalg.slogdet(exact)[1] / 2)
    assert well.softest == pytest.approx(np.linalg.eigvalsh(exact)[0])
    with pytest.raises(ValueError, match="positive definite"):
        Fluctuations(exact - 100 * np.eye(6))


def test_response_of_a_fitted_network() -> None:
    """chi Var(a_G) from the Hessian is how far a field moves the fit's a_G."""
    small = Setup(6, 3, 8.0)
    tokens = sequences(6, 3, 40, 0)
    action, fit = ReducedAction(small, "softmax", tokens), fit_map(small, "softmax", 40, 0, start="uniform")

    def a_G(M: np.ndarray) -> float:
        return float(order_parameters(action.attention(M).mean(axis=0))[1])

    units = np.eye(81).reshape(81, 9, 9)
    slope = np.array([(a_G(fit.M + 1e-5 * e) - a_G(fit.M - 1e-5 * e)) / 2e-5 for e in units])
    well = Fluctuations(numerical_hessian(lambda M: action.value_and_gradient(M)[1], fit.M))
    h = 1e-3
    moved = [minimize(lambda x, s=sign: action.value(x.reshape(9, 9)) - s * h * a_G(x.reshape(9, 9)), fit.M.ravel(),
                      jac=lambda x, s=sign: action.value_and_gradient(x.reshape(9, 9))[1].ravel() - s * h * slope,
                      method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 0}).x.reshape(9, 9) for sign in (1, -1)]
    assert (a_G(moved[0]) - a_G(moved[1])) / (2 * h) == pytest.approx(well.susceptibility(slope), rel=1e-3)
