# mypy: allow-untyped-defs
"""The experiment on same-token attention: its projection, one cell against the theory, and the ends of its descents."""

import numpy as np
import pytest

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.complete import complete_weights, same_token_logits
from copyhead.experiments import same_token as experiment
from copyhead.reduced import ReducedAction
from copyhead.task import sequences


def test_symmetric_part_is_a_projection_on_the_four_patterns():
    rng = np.random.default_rng(0)
    M, four = rng.normal(size=(11, 11)), complete_weights(0.4, 1.3, -0.2, 0.6, 7, 4)
    part = experiment.symmetric_part(M, 4)
    assert np.allclose(experiment.symmetric_part(part, 4), part) and np.allclose(experiment.symmetric_part(four, 4), four)
    assert np.vdot(M - part, part) == pytest.approx(0, abs=1e-10)
    assert same_token_logits(part, 4) == pytest.approx(same_token_logits(M, 4))
    order = np.r_[rng.permutation(4), 4 + np.roll(np.arange(7), 3)]
    assert np.allclose(part[np.ix_(order, order)], part)


@pytest.mark.parametrize("kind", experiment.BOTH)
def test_a_fit_has_the_order_parameters_of_the_complete_theory(kind):
    """One data set of 2,000 sequences; tolerances are five times the spread over data sets seen at this size."""
    cell = experiment.fitted(kind, 500, 4, 0)
    theory = (LinearAction if kind == "linear" else SoftmaxAction)(Setup(25, 5), closure="complete").minimum(500.0)
    assert cell["tau"] == pytest.approx(theory.tau, abs=0.02) and cell["kappa"] == pytest.approx(theory.kappa, abs=0.004)
    assert cell["c_G"] == pytest.approx(theory.c_G if kind == "linear" else theory.a_G, rel=0.01)
    assert cell["loss"] == pytest.approx(theory.loss, rel=0.01)
    assert cell["two"] < cell["four"] < 1


def test_linear_descents_have_ended():
    """kappa is soft: where a fast fit stops it is still off by ten standard errors."""
    setup = Setup(25, 5, 120.0)
    M, value, mean = experiment._tightened(setup, 2400, 0, complete_weights(0.0, 2.0, 0.0, 0.0, 25, 5))
    action = ReducedAction(setup, "linear", sequences(25, 5, 2400, 0))
    at, slope = action.value_and_gradient(M)
    assert at == pytest.approx(value, rel=1e-12) and np.abs(slope).max() < 2e-3
    assert np.allclose(mean, action.attention(M).mean(axis=0))


def test_onset_of_data_is_near_that_of_the_theory():
    found = experiment.onset(4000, 1)["P_c"]
    complete = LinearAction(Setup(25, 5), closure="complete").critical_P
    assert found == pytest.approx(complete, abs=0.03)
