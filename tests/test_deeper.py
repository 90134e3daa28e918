# mypy: allow-untyped-defs
"""The experiment on depth: its cells against theory, and the stored file against its own code."""

import numpy as np
import pytest

pytest.importorskip("torch")
from copyhead.experiments import deeper
from copyhead.results import recall


def test_stored_cells_are_what_the_code_gives():
    stored = recall("deeper", mode="stored", quick=deeper.quick, full=deeper.full)
    i = stored["ring_softmax_p"].tolist().index(200)
    again = deeper.ring(200, 1, "softmax", 2.0)
    np.testing.assert_allclose(again["action"], stored["ring_softmax_action"][i, 1], rtol=1e-4)
    np.testing.assert_allclose(np.array(again["order"])[:, 0], stored["ring_softmax_order"][i, 1, :, 0], atol=5e-3)


def test_a_second_head_gains_only_beyond_the_point_where_it_is_needed():
    """Theory puts that point at P = 416 and the gain at 500 at 0.98."""
    few, many = deeper.idle(300, 0), deeper.idle(500, 0)
    assert few["strength"] == pytest.approx(1, abs=2e-3) and abs(few["action"] - few["action_two"]) < 1e-2
    assert many["strength"] > 1.3 and 0.5 < many["action"] - many["action_two"] < 1.5


def test_small_causal_weights_find_the_copy_head_with_many_data_only():
    for p, formed in ((100, False), (300, True)):
        copy, match, found = deeper.causal(p, 0, "softmax", 2.0)["order"][0]
        assert (copy > 0.6) == (match > 0.3) == formed and found < 0.2


def test_training_ends_where_the_fit_does():
    run, fit = deeper.training(300, 0, 2.0, 150), deeper.causal(300, 0, "softmax", 2.0)
    assert run["action"][-1] == pytest.approx(fit["action"][0], rel=5e-3)
