# mypy: allow-untyped-defs
"""The circuit's action against the larger symmetric sector, and its transition."""

import numpy as np
import pytest

from copyhead import Setup
from copyhead.induction import InductionAction

KINDS = ["linear", "softmax"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setup", [Setup(6, 8, 1.0), Setup(5, 8, 2.0, 0.7, 1.4)], ids=str)
def test_minima_are_those_of_all_weights_with_the_symmetry_of_the_vocabulary(setup, kind):
    pytest.importorskip("torch")
    from copyhead.two_layer_theory import TwoLayerTheory

    small, large = InductionAction(setup, kind), TwoLayerTheory(setup, kind, "ring")
    P = 60 * setup.L * setup.sigma2
    strength = 0.6 * setup.L if kind == "linear" else 3.0
    for mine, theirs in ((small.pooled(P / 4), large.minimum(large.small(), P / 4)),
                         (small.with_circuit(P), large.minimum(large.copy_then_match(strength, strength), P))):
        assert mine.action == pytest.approx(theirs.action, rel=1e-6)
        assert mine.loss == pytest.approx(theirs.loss, rel=1e-3)
        assert abs(mine.match) == pytest.approx(abs(theirs.match), rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_transition_has_equal_actions_and_scales_with_the_noise(kind):
    low, high = {"softmax": (150, 250), "linear": (300, 500)}[kind]
    one = InductionAction(Setup(8, 10, 1.0), kind).transition(low, high)
    assert one.pooled.action == pytest.approx(one.circuit.action, rel=1e-6)
    assert one.circuit.copy > 0.3 > one.pooled.copy and one.circuit.loss < one.pooled.loss / 2
    three = InductionAction(Setup(8, 10, 3.0), kind).transition(3 * low, 3 * high)
    assert three.P == pytest.approx(3 * one.P, rel=1e-5)
    with pytest.raises(ValueError, match="enclose"):
        InductionAction(Setup(8, 10, 1.0), kind).transition(low, low + 1)


def test_slope_of_the_minimal_action_is_the_loss():
    """dS/dP = loss / (2 sigma2): one query a sequence."""
    action = InductionAction(Setup(8, 10, 1.0), "softmax")
    state = action.with_circuit(300)
    x, h = state.x, 1e-3
    slope = (action.action(x, 300 + h) - action.action(x, 300 - h)) / (2 * h)
    assert slope == pytest.approx(action.loss(x, 300) / 2, rel=1e-6)


def test_cross_curvature_at_nothing_is_the_closed_form():
    """d2S/du dcopied at zero: -(P/sigma2) c (L-1)/L^3 sqrt(g_O), c = alpha/(alpha (1+g_O) + sigma2/(g_O P))."""
    setup, P, h = Setup(8, 12, 1.3, 0.7, 1.9), 150.0, 1e-3
    action = InductionAction(setup, "softmax")
    S = {(s, t): action.action(action.circuit(s * h, t * h), P) for s in (1, -1) for t in (1, -1)}
    measured = (S[1, 1] - S[1, -1] - S[-1, 1] + S[-1, -1]) / (4 * h**2)
    alpha = (12 - 8) / (8 * 12 * 11)
    c = alpha / (alpha * 1.7 + 1.3 / (0.7 * P))
    assert measured == pytest.approx(-P / 1.3 * c * 7 / 8**3 * 0.7**0.5, rel=1e-5)


def test_bad_arguments():
    with pytest.raises(ValueError, match="V must be"):
        InductionAction(Setup(8, 7), "softmax")
    with pytest.raises(ValueError, match="attention"):
        InductionAction(Setup(8, 9), "cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="shape"):
        InductionAction(Setup(8, 9), "linear").action(np.zeros(3), 10)
