"""The explorer's theory in JavaScript against the Python it ports, and the HTML that carries it."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from javascript import evaluate
from scipy.optimize import minimize_scalar

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.explorer import VALUES, digits, explorer

FIELDS = {"linear": ("c1", "c_G", "action", "loss"), "softmax": ("a_G", "m", "ell", "action", "loss")}
NUMBERS = ("P", "lower_spinodal", "upper_spinodal", "loss_jump")


class Case(NamedTuple):
    """One set of parameters: what Python has, and what JavaScript gave for the numbers of samples and shares."""

    linear: LinearAction
    softmax: SoftmaxAction
    point: dict[str, Any]
    found: dict[str, Any]


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


@pytest.fixture(scope="module")
def cases(request: pytest.FixtureRequest) -> list[Case]:
    """Random parameters, and P over ten decades of P/sigma2 and close to every transition of each set."""
    rng = np.random.default_rng(20240611)
    # the paper's, a first-order linear one, the smallest, the largest; then random ones
    sizes = [(25, 5), (100, 2), (2, 2), (400, 100), (16, 5), (15, 5)]
    sizes += [(round(log_uniform(rng, 2, 400)), round(log_uniform(rng, 2, 100))) for _ in range(34)]
    sizes += [(round(log_uniform(rng, 60, 400)), 2) for _ in range(6)]  # where linear attention jumps
    points, actions = [], []
    for L, V in sizes:
        setup = Setup(L, V, log_uniform(rng, 1e-3, 1e3))
        linear, softmax = LinearAction(setup), SoftmaxAction(setup)
        marks = [linear.critical_P]
        for jump in (linear.first_order_transition(), softmax.first_order_transition()):
            marks += [] if jump is None else [jump.P, jump.lower_spinodal, jump.upper_spinodal]
        P = [setup.sigma2 * log_uniform(rng, 1e-4, 1e6) for _ in range(6)]
        P += [mark * (1 + sign * log_uniform(rng, 1e-4, 0.1)) for mark in marks for sign in (-1, 1)]
        share = [0.0, *rng.uniform(0, 0.99, 3)]
        points.append({"L": L, "V": V, "sigma2": setup.sigma2, "P": P, "share": share})
        actions.append((linear, softmax))
    found = evaluate(points, request)
    return [Case(*pair, point, numbers) for pair, point, numbers in zip(actions, points, found, strict=True)]


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=0)


def same_state(found: dict[str, float], state: Any, name: str) -> None:
    for field in FIELDS[name]:
        assert found[field] == near(getattr(state, field)), (name, field)


def test_there_are_enough_points_on_both_sides_of_every_kind_of_transition(cases: list[Case]) -> None:
    assert sum(len(case.point["P"]) for case in cases) >= 500
    for jumps in ([case.linear.first_order_transition() for case in cases], [case.softmax._transition for case in cases]):
        assert 5 <= sum(jump is not None for jump in jumps) <= len(cases) - 5


def test_thresholds_of_linear_attention(cases: list[Case]) -> None:
    for case in cases:
        for name in ("critical_P", "pooling_P", "copy_P"):
            assert case.found["linear"][name] == near(getattr(case.linear, name))


@pytest.mark.parametrize("name", ["linear", "softmax"])
def test_first_order_transitions(cases: list[Case], name: str) -> None:
    for case in cases:
        expected, found = getattr(case, name).first_order_transition(), case.found[name]["transition"]
        assert (found is None) == (expected is None), case.point
        if expected is None:
            continue
        for field in NUMBERS:
            assert found[field] == near(getattr(expected, field)), field
        same_state(found["uniform"], expected.uniform, name)
        same_state(found["copy"], expected.copy, name)
        # a difference of actions: it has their rounding, which can be large beside a small barrier
        assert found["barrier"] == pytest.approx(expected.barrier, rel=1e-9, abs=1e-14 * expected.copy.action)


@pytest.mark.parametrize("name", ["linear", "softmax"])
def test_global_minima(cases: list[Case], name: str) -> None:
    for case in cases:
        expected = getattr(case, name).minimum(np.array(case.point["P"]))
        for field in FIELDS[name]:
            found = [state[field] for state in case.found[name]["minimum"]]
            np.testing.assert_allclose(found, getattr(expected, field), rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", ["linear", "softmax"])
def test_all_minima(cases: list[Case], name: str) -> None:
    for case in cases[:24]:
        for P, found in zip(case.point["P"], case.found[name]["minima"], strict=True):
            expected = [s for s in getattr(case, name).minima(P) if name == "softmax" or s.c1 >= 0]
            assert len(found) == len(expected)
            for one, state in zip(found, expected, strict=True):
                same_state(one, state, name)


@pytest.mark.parametrize("name", ["linear", "softmax"])
def test_curves_consist_of_stationary_states(cases: list[Case], name: str) -> None:
    seen = 0
    for case in cases:
        action, L = getattr(case, name), case.point["L"]
        for state in (state for states in case.found[name]["curve"] for state in states):
            at = [state[field] for field in FIELDS[name][: 2 if name == "linear" else 1]]
            assert state["action"] == near(action.action(*at, state["P"]))
            assert state["share"] == near(
                state["a_G"] / math.sqrt(L) if name == "softmax" else 1 / (1 + math.sqrt(L) * at[0] / at[1])
            )
            step = 1e-4 * np.array(at)  # the slope, as a change of the action over a small step in scale
            slope = np.atleast_1d(action.gradient(*at, state["P"])) * step
            assert np.abs(slope).max() < 1e-10 * state["action"]
            seen += 1
    assert seen > 500


def test_profiles(cases: list[Case]) -> None:
    """Softmax: the action itself.  Linear: the lowest action on a ray, against a search that knows no closed form."""
    for case in cases[:12]:
        L, root = case.point["L"], math.sqrt(case.point["L"])
        for i, P in enumerate(case.point["P"][:8]):
            for j, share in enumerate(case.point["share"]):
                assert case.found["softmax"]["profile"][i][j] == near(case.softmax.action(share * root, P))

                def ray(t: float, share: float = share, P: float = P, linear: LinearAction = case.linear) -> Any:
                    return linear.action((1 - share) * math.exp(t), share * math.exp(t) * math.sqrt(linear.setup.L), P)

                lowest = minimize_scalar(ray, bounds=(-20, 8), method="bounded", options={"xatol": 1e-10}).fun
                assert case.found["linear"]["profile"][i][j] == pytest.approx(min(lowest, ray(-50)), rel=1e-9), (L, P, share)


# --- the HTML ---------------------------------------------------------------------------------------------------------


def test_sliders_have_round_values_in_order_and_the_paper_is_among_them() -> None:
    for values in VALUES.values():
        assert values == sorted(set(values))
        ratios = np.divide(values[1:], values[:-1])
        assert ratios[20:].max() < 1.2
    assert (VALUES["L"][0], VALUES["L"][-1], VALUES["V"][0], VALUES["V"][-1]) == (2, 400, 2, 100)
    assert {265, 275, 276, 297} <= set(VALUES["P"]) and 25 in VALUES["L"] and 5 in VALUES["V"] and 30 in VALUES["sigma2"]


def test_every_slider_has_a_label_an_output_and_its_place() -> None:
    html = explorer(L=100, V=2, sigma2=1.5, P=24.6).html
    inputs = re.findall(r'<input type="range" id="([^"]+)" name="(\w+)"[^>]* value="(\d+)"', html)
    assert [name for _, name, _ in inputs] == ["P", "L", "V", "sigma2"]
    for identifier, name, position in inputs:
        assert f'<label for="{identifier}">' in html
        shown = {"P": 25, "L": 100, "V": 2, "sigma2": 1.5}[name]
        assert VALUES[name][int(position)] == shown
        assert f'<output for="{identifier}">{shown}</output>' in html


def test_two_explorers_share_no_id_and_fetch_nothing() -> None:
    html = explorer().html + explorer().html
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) == 8
    code = re.sub(r"(?m)^\s*//.*$", "", html)
    assert not re.search(r"https?:|\bfetch\b|\bimport\b|XMLHttpRequest|src=|href=|url\(", code)
    assert len(html.encode()) < 100_000
    data = re.findall(r'<script type="application/json">(.*?)</script>', html)
    assert json.loads(data[0]) == VALUES


def test_the_static_table_holds_the_theory() -> None:
    html = explorer().html
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)][1:]
    assert len(rows) >= 3
    kinds = set()
    for L, V, sigma2, on, linear_turn, softmax_turn in rows:
        setup = Setup(int(L), int(V), float(sigma2))
        linear, softmax = LinearAction(setup), SoftmaxAction(setup)
        assert on == f"{digits(linear.critical_P)} (second order)"
        jump = linear.first_order_transition()
        assert linear_turn == (f"{digits(jump.P)} (first order)" if jump else f"around {digits(linear.copy_P)} (crossover)")
        jump = softmax.first_order_transition()
        assert softmax_turn == (f"{digits(jump.P)} (first order)" if jump else "no jump (crossover)")
        kinds |= {linear_turn.split()[-1], softmax_turn.split()[0]}
    assert {"order)", "(crossover)", "no"} <= kinds


def test_digits() -> None:
    assert [digits(x) for x in (275.9697, 0.011171, 12345.6, 30.0, 1e-6)] == ["276", "0.01117", "12350", "30", "0.000001"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"L": 1}, "L must be an integer >= 2, got 1"),
        ({"L": 401}, "L must be between 2 and 400 in the explorer, got 401"),
        ({"V": 2.5}, "V must be an integer >= 2, got 2.5"),
        ({"V": 200}, "V must be between 2 and 100"),
        ({"sigma2": 0.0}, "sigma2 must be a finite number > 0, got 0.0"),
        ({"sigma2": 1e4}, "sigma2 must be between 1 and 300"),
        ({"P": -1}, "P must be a finite number > 0, got -1"),
        ({"P": 1e6}, "P must be between 1 and 100000"),
    ],
)
def test_bad_arguments_name_themselves(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        explorer(**change)
