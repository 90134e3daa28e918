# mypy: allow-untyped-defs
"""Coexistence of the two softmax states on real data: equal action, hysteresis, and refusal where there is one state."""

import json
from pathlib import Path

import numpy as np
import pytest

from copyhead import Setup, SoftmaxAction, fit_map
from copyhead.coexistence import equal_action, follow

PAPER = Setup(25, 5)
WINDOW = json.loads((Path(__file__).parent / "data" / "feasibility_map.json").read_text())["softmax_fit_window"]


@pytest.fixture(scope="module")
def points():
    return [equal_action(PAPER, seed) for seed in range(6)]


def test_actions_are_equal_there(points):
    """Fits from scratch, in double precision, at the whole numbers on both sides: the difference changes sign."""
    for seed in (0, 3):
        below = int(points[seed].P)
        gaps = [fit_map(PAPER, "softmax", P, seed, start="copy").action
                - fit_map(PAPER, "softmax", P, seed, start="uniform").action for P in (below, below + 1)]
        assert gaps[0] > -4e-3 and gaps[1] < 4e-3 and gaps[0] > gaps[1]     # accuracy of two fast fits
        assert points[seed].P == pytest.approx(below + gaps[0] / (gaps[0] - gaps[1]), abs=0.05)
        assert points[seed].uniform.P == points[seed].copy.P == below


def test_it_agrees_with_the_study(points):
    """Means of six data sets here and ten there, which scatter by about 2: 4 standard errors of the difference."""
    found = np.array([point.P for point in points])
    assert abs(found.mean() - WINDOW["equal_action_P"]) < 4 * found.std(ddof=1) * np.sqrt(1 / 6 + 1 / 10)
    assert 0.5 < found.std(ddof=1) < 5


@pytest.mark.parametrize("guess", [268, 284])
def test_it_does_not_depend_on_the_guess(points, guess):
    assert equal_action(PAPER, 3, guess).P == pytest.approx(points[3].P, abs=0.05)


def test_other_sizes_have_their_transition_near_that_of_the_theory():
    # Finite data and same-token attention shift it by 2-5 % at these sizes.
    setup = Setup(60, 5, 6.0)
    theory = SoftmaxAction(setup).first_order_transition()
    point = equal_action(setup, 0, round(theory.P))
    assert 0.93 < point.P / theory.P < 1.01
    assert point.uniform.a_G < 0.4 * point.copy.a_G


def test_a_guess_outside_the_window_is_refused():
    for guess in (200, 400):
        with pytest.raises(ValueError, match=f"^guess must be a P at which two states exist, got {guess}: both starts"):
            equal_action(PAPER, 0, guess)
    with pytest.raises(ValueError, match="^guess must be an integer >= 1, got 0"):
        equal_action(PAPER, 0, 0)


def test_hysteresis(points):
    """On one data set each branch is followed past the transition, and is lost within the study's range of the ends."""
    values = np.arange(254, 296, 3)
    up, down = follow(PAPER, values, 0), follow(PAPER, values[::-1], 0)[::-1]
    assert (up <= down + 5e-3).all()                              # the copy state is never left of the uniform one
    both = values[(up < 0.4) & (down > 0.4)]
    assert both[0] < points[0].P < both[-1]
    assert both[0] - 3 == pytest.approx(WINDOW["copy_branch_lost"], abs=6)
    assert both[-1] + 3 == pytest.approx(WINDOW["uniform_branch_lost"], abs=6)
    assert up[[0, -1]] == pytest.approx(down[[0, -1]], abs=5e-3)


def test_following_a_branch_ends_where_a_single_fit_does():
    values = [300, 320, 350]
    single = [fit_map(PAPER, "softmax", P, 1, fast=True).a_G for P in values]
    assert follow(PAPER, values, 1) == pytest.approx(single, abs=2e-3)
