# mypy: allow-untyped-defs
"""The cells of the order-parameter experiment: what they hold, and what must be so whatever the numbers are."""

import numpy as np
import pytest

from copyhead import LinearAction, Setup, SoftmaxAction, fit_map
from copyhead.experiments import order_parameters as experiment
from copyhead.reduced import ReducedAction
from copyhead.task import features, sequences


def test_patterns_are_what_they_are_called():
    """Logits of sequences: one, the predecessor, the same token less its mean, the diagonal."""
    L, V = 6, 3
    tokens = sequences(L, V, 5, 0)
    Phi = features(tokens, V)
    everyone, predecessor, same, diagonal = (Phi @ M @ Phi.transpose(0, 2, 1) for M in experiment.invariant_patterns(L, V))
    assert np.allclose(everyone, 1) and np.allclose(diagonal, np.eye(L))
    assert np.allclose(predecessor, np.roll(np.eye(L), -1, axis=1))
    assert np.allclose(same, (tokens[:, :, None] == tokens[:, None, :]) - 1 / V)
    renamed = np.array([2, 0, 1])[tokens]                                        # renaming tokens changes no logit
    Phi = features(renamed, V)
    for before, M in zip((everyone, predecessor, same, diagonal), experiment.invariant_patterns(L, V), strict=True):
        assert np.allclose(Phi @ M @ Phi.transpose(0, 2, 1), before)


@pytest.mark.parametrize("kind", experiment.BOTH)
def test_more_patterns_cannot_do_worse_and_four_do_most_of_it(kind):
    cell = experiment.finite_length(kind, 16, 12, 0)
    assert cell["action"] < cell["four_action"] < cell["two_action"]
    # The two-pattern fit is the theory on this data set: 192 sequences move it by a few per cent.
    p = experiment.scaled_P(kind, 16)
    model = (LinearAction if kind == "linear" else SoftmaxAction)(Setup(16, 5, 1.0)).minimum(p)
    expected = model.c1 if kind == "linear" else model.a_G
    name = "c1" if kind == "linear" else "c_G"
    assert cell[f"two_{name}"] == pytest.approx(expected, rel=0.04)
    assert abs(cell[f"four_{name}"] - cell[name]) < 0.03 * abs(cell[name])


def test_restricted_minimum_is_stationary_in_its_span():
    setup = Setup(16, 5, 10.0)
    action = ReducedAction(setup, "linear", sequences(16, 5, 150, 0))
    basis = experiment.invariant_patterns(16, 5)
    best = experiment.restricted(action, basis, fit_map(setup, "linear", 150).M)
    rng = np.random.default_rng(0)
    near = np.tensordot(rng.normal(size=(5, 4)) * 0.02, basis, axes=1) + fit_map(setup, "linear", 150).M
    for M in near:                                            # from other places the same
        again = experiment.restricted(action, basis, M)
        assert again["action"] == pytest.approx(best["action"], abs=1e-3)
        assert again["c1"] == pytest.approx(best["c1"], abs=2e-3)


def test_more_data_with_more_noise_is_the_same_theory():
    one, two = experiment.coexisting_scaled(1, 2)["P"], experiment.coexisting_scaled(2, 2)["P"]
    assert one == pytest.approx(experiment.coexisting(2)["P"], abs=0.05)
    transition = SoftmaxAction(experiment.SETUP).first_order_transition()
    assert one < transition.P and two < transition.P and abs(one - two) < 8


def test_scaled_lengths_are_beyond_the_threshold():
    assert experiment.scaled_P("linear", 25) * 30 == pytest.approx(2 * LinearAction(Setup(25, 5)).copy_P)
    assert experiment.scaled_P("softmax", 25) * 30 == pytest.approx(
        1.3 * SoftmaxAction(Setup(25, 5)).first_order_transition().P)
    with pytest.raises(ValueError, match="^L must be large enough for a softmax transition, got 10"):
        experiment.scaled_P("softmax", 10)


def test_loop_and_fits_have_the_shapes_of_a_sweep():
    cell = experiment.loop(0, (262, 275))
    assert {name: np.shape(value) for name, value in cell.items()} == {"P": (2,), "up": (2,), "down": (2,)}
    assert cell["up"][0] < 0.4 < cell["down"][1]
    fit = fit_map(experiment.SETUP, "softmax", 60, 3, fast=True)
    assert experiment.fitted("softmax", 60, 3)["c_G"] == pytest.approx(fit.a_G, abs=1e-12)
