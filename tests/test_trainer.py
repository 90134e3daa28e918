"""The slider that trains: runs along P, the static figure, and the live widget driven without a browser."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.experiments import trainer as experiment
from copyhead.results import Result
from copyhead.trainer import static_figure, training_figure
from copyhead.trainer_panels import Panels
from copyhead.trainer_widget import Trainer

SETUP = Setup(L=25, V=5)


# --- runs -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> Any:
    """A trained softmax network at P = 60, and its run."""
    return experiment.train_at(SETUP, "softmax", 60)


def test_a_run_ends_when_the_action_stands_still(small: Any) -> None:
    run, _ = small
    assert run.stopped == "asked" and run.step[-1] < experiment.STEPS
    assert abs(run.action[-1] - run.action[-1 - experiment.STILL]) <= experiment.QUIET * run.action[-1]


def test_a_warm_start_goes_on_from_the_given_network_and_leaves_it_alone(small: Any) -> None:
    run, network = small
    before = [p.detach().clone() for p in network.parameters()]
    warm, other = experiment.train_at(SETUP, "softmax", 60, start=network)
    assert all((p == q).all() for p, q in zip(network.parameters(), before, strict=True))
    assert other is not network
    cold = run.action[0] - run.action[-1]
    assert 0 < warm.action[0] - run.action[-1] < 0.05 * cold                # the kick costs little ...
    assert warm.action[-1] == pytest.approx(run.action[-1], rel=1e-4)       # ... and training takes it back


def test_a_warm_start_of_the_full_network_keeps_its_embedding() -> None:
    _, network = experiment.train_at(SETUP, "softmax", 20, d_model=40, steps=20)
    _, warm = experiment.train_at(SETUP, "softmax", 30, d_model=40, steps=20, start=network, seed=5)
    assert (warm.E == network.E).all()


def test_on_record_can_stop_a_run() -> None:
    run, _ = experiment.train_at(SETUP, "linear", 20, on_record=lambda step, values: step < 30)
    assert (run.stopped, run.step[-1]) == ("asked", 30)


def test_sweeps_in_both_directions_show_hysteresis() -> None:
    # Theory at 275: both states exist (spinodals at 265.5 and 297); a network is on the branch that it comes from.
    values = (250, 275, 300)
    up, down = (experiment.branch("softmax", start, values=values) for start in ("up", "down"))
    low, high = sorted(float(state.a_G) for state in SoftmaxAction(SETUP).minima(275))
    middle = (low + high) / 2
    assert up["c_G"][1] < middle < down["c_G"][1]
    np.testing.assert_allclose(up["c_G"][[0, 2]], down["c_G"][[0, 2]], atol=2e-3)
    assert up["action"][1] > down["action"][1]             # both are minima; at these data the copy state is lower
    assert np.isfinite(up["curve"][:, 0]).all() and up["curve"].shape == (3, 81)


@pytest.mark.slow
@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_the_longest_run_takes_twenty_seconds_of_a_processor_at_most(attention: Any) -> None:
    before = time.process_time()
    run, _ = experiment.train_at(SETUP, attention, max(experiment.GRID))
    assert run.step[-1] < experiment.STEPS and time.process_time() - before <= 20


@pytest.mark.gpu
def test_cold_and_warm_runs_on_a_gpu_end_like_those_on_a_cpu() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    ends = []
    for device in ("cpu", "cuda"):
        _, network = experiment.train_at(SETUP, "softmax", 260, device=device)
        run, _ = experiment.train_at(SETUP, "softmax", 300, start=network, device=device)
        ends.append(run.c_G[-1])
    assert ends[1] == pytest.approx(ends[0], abs=2e-3)     # single precision, and both stop within QUIET of the end


def test_the_grid_holds_the_papers() -> None:
    assert set(experiment.PAPER_P) <= set(experiment.GRID)
    assert list(experiment.GRID) == sorted(set(experiment.GRID))


# --- the panels -----------------------------------------------------------------------------------------------------


def test_branches_end_at_the_spinodals_and_change_rank_at_the_transition() -> None:
    panels = Panels(SETUP, experiment.GRID)
    t = SoftmaxAction(SETUP).first_order_transition()
    assert t is not None
    ends = {(round(a[0]), stable): (P[0], P[-1]) for P, a, stable in panels.branches}
    assert len(panels.branches) == 4 and len(ends) == 4
    stable_low, unstable_low = ends[0, True], ends[round(float(t.uniform.a_G)), False]
    assert stable_low[1] == pytest.approx(t.P, rel=1e-6)
    assert unstable_low == pytest.approx((t.P, t.upper_spinodal), rel=1e-6)
    others = [pair for pair in ends.values() if pair not in (stable_low, unstable_low)]
    assert sorted(others)[0] == pytest.approx((t.lower_spinodal, t.P), rel=1e-6)


# --- without a kernel ---------------------------------------------------------------------------------------------------


def runs_on_theory(values: tuple[int, ...]) -> Result:
    """Stored runs that lie on the theory, with loss curves that differ from run to run."""
    linear, softmax = LinearAction(SETUP).minimum(np.array(values)), SoftmaxAction(SETUP).minimum(np.array(values))
    shape = (2, len(experiment.STARTS), len(values))
    records = experiment.STEPS // experiment.RECORD_EVERY + 1
    curve = np.full((*shape, records), np.nan, dtype=np.float32)
    rng = np.random.default_rng(0)
    for index in np.ndindex(shape):
        curve[index][: rng.integers(20, records)] = 1
        curve[index] *= np.exp(-np.arange(records) * rng.uniform(0.01, 0.1))
    c1, c_G = np.empty(shape), np.empty(shape)
    c1[0], c_G[0] = linear.c1, linear.c_G
    c1[1], c_G[1] = 1 - softmax.a_G / 5, softmax.a_G
    arrays = {"attention": ["linear", "softmax"], "start": list(experiment.STARTS), "P": np.array(values), "c1": c1,
              "c_G": c_G, "action": c1, "curve": curve, "d_model": np.inf}
    return Result(arrays, {})


def test_the_static_figure_says_what_theory_and_networks_do() -> None:
    slider = static_figure(runs_on_theory(few := (20, 100, 270, 500)))
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', slider.html)
    data = json.loads(text)
    assert data["labels"] == [str(P) for P in few] and data["start"] == 2
    for P, alt in zip(few, data["alts"], strict=True):
        state = LinearAction(SETUP).minimum(P)
        assert alt.startswith(f"P = {P}.") and alt.count(f"c1 = {state.c1:.3f}, c_G = {state.c_G:.3f}") == 4
        assert alt.count(f"a_G = {SoftmaxAction(SETUP).minimum(P).a_G:.3f}") >= 4


def test_without_a_kernel_the_stored_runs_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYHEAD_STATIC", "1")
    monkeypatch.delenv("COPYHEAD_MODE", raising=False)
    html = training_figure().html
    assert html.count('type="range"') == 1 and len(html.encode()) <= 300_000
    assert ", d = " not in html
    wide = training_figure(d_model=1024).html          # whatever was asked for, the panels name what they show
    assert wide.count('type="range"') == 1 and f"softmax, d = {experiment.WIDTH}" in wide
    assert len(wide.encode()) <= 300_000


@pytest.mark.parametrize(("change", "message"), [
    ({"values": []}, "values must be a non-empty increasing sequence"),
    ({"values": [20, 20]}, "values must be a non-empty increasing sequence"),
    ({"values": [0, 20]}, "values must be an integer >= 1"),
    ({"d_model": 0}, "d_model must be an integer >= 1"),
    ({"seed": -1}, "seed must be an integer >= 0"),
], ids=["empty", "equal", "zero", "d_model", "seed"])
def test_wrong_arguments_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        training_figure(**change)


# --- the widget -----------------------------------------------------------------------------------------------------


@pytest.fixture
def trainer() -> Any:
    widget = Trainer((20, 30, 40), seed=0)
    yield widget
    widget.halt()
    widget.thread.join(60) if widget.thread.is_alive() else None


def finish(trainer: Trainer) -> None:
    trainer.thread.join(120)
    assert not trainer.thread.is_alive()


class Slow:
    """A stand-in for ``train_at`` that records for as long as nobody asks it to stop."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.begun = threading.Event()

    def __call__(self, setup: Setup, attention: str, P: int, *, on_record: Any, **options: Any) -> Any:
        self.calls.append({"attention": attention, "P": P, **options})
        values: Mapping[str, float] = {"loss": 0.5, "action": 1.0, "c1": 0.1, "c_G": 0.2}
        for step in range(10**6):
            self.begun.set()
            if on_record(step, values) is False:
                break
            time.sleep(0.01)
        arrays = {name: np.array([value]) for name, value in {**values, "step": step}.items()}
        return type("Run", (), arrays)(), "network"


def test_nothing_trains_before_a_button_is_pressed(trainer: Trainer) -> None:
    assert not trainer.thread.is_alive() and trainer.points == {"linear": [], "softmax": []}
    assert trainer.stop.disabled and not trainer.train.disabled
    assert "Press Train" in trainer.status.value
    assert 'role="img"' in trainer.picture.value and "Networks trained last: none yet" in trainer.picture.value


def test_train_leaves_a_point_near_the_theory(trainer: Trainer) -> None:
    trainer.attention.value, trainer.slider.value = "linear", 40
    trainer.train.click()
    assert trainer.train.disabled and trainer.slider.disabled and not trainer.stop.disabled
    finish(trainer)
    assert not trainer.train.disabled and trainer.stop.disabled
    (point,) = trainer.points["linear"]
    assert (point.P, point.start) == (40, "cold")
    assert point.c1 == pytest.approx(LinearAction(SETUP).minimum(40).c1, rel=0.04)
    assert f"cold start: c1 = {point.c1:.3f}" in trainer.status.value
    assert f"Theory: c1 = {LinearAction(SETUP).minimum(40).c1:.3f}" in trainer.status.value
    assert f"P = 40 cold c1 = {point.c1:.3f}" in trainer.picture.value


def test_warm_sweeps_start_from_the_last_network_and_move_the_slider(trainer: Trainer) -> None:
    trainer.slider.value, trainer.start.value = 30, "warm"
    trainer.up.click()
    finish(trainer)
    assert trainer.slider.value == 40
    trainer.down.click()
    finish(trainer)
    assert trainer.slider.value == 20
    found = [(p.P, p.start) for p in trainer.points["softmax"]]
    # The first has nothing to start from; the third starts at the P where the second ended.
    assert found == [(30, "cold"), (40, "up"), (40, "up"), (30, "down"), (20, "down")]
    trainer.clear.click()
    assert trainer.points["softmax"] == [] and trainer.trained == {}


def test_stop_is_heard_while_a_network_trains(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(experiment, "train_at", slow)
    trainer.up.click()
    assert slow.begun.wait(20)
    assert trainer.thread.is_alive()
    trainer.stop.click()
    finish(trainer)
    assert len(slow.calls) == 1                                   # a stopped sweep does not go on to the next P
    assert trainer.points["softmax"] == []                        # a stopped run is no point
    assert "stopped by you" in trainer.status.value and not trainer.train.disabled


def test_a_choice_that_arrives_while_a_network_trains_is_taken_back(trainer: Trainer, monkeypatch: Any) -> None:
    slow = Slow()
    monkeypatch.setattr(experiment, "train_at", slow)
    trainer.slider.value = 40
    trainer.train.click()
    trainer.train.click()                                         # and a second click starts nothing
    assert slow.begun.wait(20)
    trainer.slider.value, trainer.attention.value = 20, "linear"
    assert (trainer.slider.value, trainer.attention.value) == (40, "softmax")
    trainer.stop.click()
    finish(trainer)
    assert len(slow.calls) == 1
    trainer.slider.value = 20
    assert trainer.slider.value == 20


def test_a_second_widget_stops_the_first(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(experiment, "train_at", slow)
    trainer.train.click()
    assert slow.begun.wait(20)
    other = Trainer((20, 30))
    other.train.click()
    finish(trainer)
    other.stop.click()
    finish(other)
    assert "stopped by you" in trainer.status.value


def test_each_cold_start_draws_new_weights_for_the_same_data(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(experiment, "train_at", slow)
    for _ in range(2):
        slow.begun.clear()
        trainer.train.click()
        assert slow.begun.wait(20)
        trainer.stop.click()
        finish(trainer)
    first, second = slow.calls
    assert first["seed"] != second["seed"] and first["data_seed"] == second["data_seed"] == 0


def test_errors_of_a_run_are_shown(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise FloatingPointError("the action is <nan> at step 3")

    monkeypatch.setattr(experiment, "train_at", fail)
    trainer.train.click()
    finish(trainer)
    assert 'role="alert"' in trainer.status.value
    assert "FloatingPointError: the action is &lt;nan&gt; at step 3" in trainer.status.value
    assert not trainer.train.disabled and trainer.stop.disabled   # the reader can go on


def test_errors_of_drawing_are_shown(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("no font")

    monkeypatch.setattr(Panels, "loss", fail)
    trainer.slider.value = 30
    assert "RuntimeError: no font" in trainer.status.value


LIVE = (
    """
import os
os.environ.pop("COPYHEAD_STATIC", None)
import sys, time
from copyhead.trainer import training_figure
from copyhead.trainer_widget import Trainer
box = training_figure(values=(20, 30))
box""",
    """
print("torch" in sys.modules, Trainer.running)
buttons = {button.description: button for button in box.children[2].children}
buttons["Train"].click()
print(buttons["Stop"].disabled)""",
    """
deadline = time.monotonic() + 120
while not buttons["Stop"].disabled and time.monotonic() < deadline:
    time.sleep(0.1)
print(box.children[3].value)""",
)


def test_in_a_kernel_the_cell_shows_a_widget_and_trains_on_demand_only() -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in LIVE]
    NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=180, kernel_name="python3").execute()
    (output,) = cells[0].outputs
    assert "application/vnd.jupyter.widget-view+json" in output.data
    assert cells[1].outputs[0].text == "False None\nFalse\n"      # nothing was loaded or run; then Stop is ready
    (end,) = cells[2].outputs                                     # the thread printed nothing into the cells
    assert "P = 30, cold start: a_G = 0.00" in end.text
