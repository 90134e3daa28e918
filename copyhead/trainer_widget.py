"""The live widget of the trainer: controls, a thread that trains, and two panels that follow it."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from copyhead.experiments import trainer as experiment
from copyhead.figures import render, style
from copyhead.inline import panels_html, stylesheet
from copyhead.reduced import Attention
from copyhead.setup import Setup
from copyhead.trainer_panels import WORDS, Panels, Point, reading

PAUSE = 0.3                    # seconds between two drawings while a network trains, and at least ...
SHARE = 6                      # ... so many times what one drawing takes


class Trainer:
    """The live widget; ``box`` is what a cell shows.

    A run trains in a thread of its own, so that the kernel stays free to hear the Stop button.  Meanwhile every other
    control is locked: the thread alone touches the state below.
    """

    running: Trainer | None = None     # one network trains at a time in one kernel

    def __init__(self, values: Sequence[int], *, d_model: int | None = None, seed: int = 0) -> None:
        import ipywidgets as widgets

        self.values, self.d_model, self.seed = list(values), d_model, seed
        self.panels = Panels(Setup(L=25, V=5), self.values, math.inf if d_model is None else d_model)
        self.points: dict[str, list[Point]] = {"linear": [], "softmax": []}
        self.trained: dict[str, tuple[int, Any]] = {}                    # P and network of the last run
        self.curves: dict[str, list[tuple[str, list[int], list[float]]]] = {"linear": [], "softmax": []}
        self.cold_starts = 0
        self.job: tuple[Attention, int] | None = None                    # what trains now
        self.stop_asked, self.thread = threading.Event(), threading.Thread()

        wide = {"description_width": "initial"}
        self.slider = widgets.SelectionSlider(
            options=[(str(P), P) for P in self.values], value=min(self.values, key=lambda P: abs(P - 270)),
            description="P", style=wide, continuous_update=False, layout=widgets.Layout(width="100%", max_width="44em"))
        self.attention = widgets.ToggleButtons(options=["linear", "softmax"], value="softmax", description="attention",
                                               style={**wide, "button_width": "6em"})
        self.start = widgets.ToggleButtons(options=["cold", "warm"], description="start",
                                           style={**wide, "button_width": "6em"})
        self.train, self.up, self.down, self.stop, self.clear = (
            widgets.Button(description=text, tooltip=tip, layout=widgets.Layout(width="auto"))
            for text, tip in (("Train", "train at this P"), ("Sweep up", "train here and at every larger P in turn"),
                              ("Sweep down", "train here and at every smaller P in turn"), ("Stop", "end the run"),
                              ("Clear", "forget all points and weights")))
        self.train.button_style, self.stop.disabled = "primary", True
        self.status, self.picture = widgets.HTML(), widgets.HTML()
        wrap = widgets.Layout(flex_flow="row wrap")
        self.box = widgets.VBox([
            self.slider, widgets.HBox([self.attention, self.start], layout=wrap),
            widgets.HBox([self.train, self.up, self.down, self.stop, self.clear], layout=wrap),
            self.status, self.picture])

        self.train.on_click(lambda _: self.begin(0))
        self.up.on_click(lambda _: self.begin(1))
        self.down.on_click(lambda _: self.begin(-1))
        self.stop.on_click(lambda _: self.halt())
        self.clear.on_click(lambda _: self._safely(self.forget))
        for control in (self.slider, self.attention):
            control.observe(lambda _: self._safely(self.moved), names="value")
        self._say("Press Train.")
        self._safely(self.draw)

    # --- buttons -------------------------------------------------------------------------------------------------------

    def begin(self, direction: int) -> None:
        """Train at the slider's P, and for direction 1 or -1 at every further P that way."""
        if self.thread.is_alive():
            return
        if Trainer.running is not None and Trainer.running is not self:
            Trainer.running.halt()
        Trainer.running = self
        self.stop_asked.clear()
        self._lock(True)
        self.job = self.attention.value, self.slider.value
        self.thread = threading.Thread(target=self._work, args=(direction, *self.job), daemon=True)
        self.thread.start()

    def halt(self) -> None:
        """Ask the run to end at its next record."""
        self.stop_asked.set()

    def moved(self) -> None:
        """Draw the newly chosen P and attention; a choice that arrives late, while a network trains, is taken back."""
        if self.job is None:
            self.draw()
        else:
            self.attention.value, self.slider.value = self.job

    def forget(self) -> None:
        """Remove points, curves and trained weights."""
        for kind in self.points:
            self.points[kind], self.curves[kind] = [], []
        self.trained.clear()
        self._say("Press Train.")
        self.draw()

    # --- the run ---------------------------------------------------------------------------------------------------------

    def _work(self, direction: int, attention: Attention, P: int) -> None:
        try:
            index = self.values.index(P)
            while True:
                self._run(attention, self.values[index])
                index += direction
                if direction == 0 or self.stop_asked.is_set() or not 0 <= index < len(self.values):
                    break
                self.job = attention, self.values[index]
                self.slider.value = self.values[index]
        except Exception as error:                       # a thread's errors reach nobody: show them here
            self._fail(error)
        finally:
            self.job = None
            self._lock(False)

    def _run(self, attention: Attention, P: int) -> None:
        self._say(f"P = {P}: loading PyTorch ..." if "torch" not in sys.modules else f"P = {P}: starting ...")
        start, network, device = self._beginning(attention, P)
        steps: list[int] = []
        losses: list[float] = []
        self.curves[attention] = [(start, steps, losses)]
        drawn, cost, began = 0.0, 0.0, time.perf_counter()

        def on_record(step: int, values: Mapping[str, float]) -> bool:
            nonlocal drawn, cost
            steps.append(step)
            losses.append(values["loss"])
            if (now := time.perf_counter()) - drawn > max(PAUSE, SHARE * cost):
                point = Point(P, start, values["c1"], values["c_G"])
                self._say(f"P = {P}, {WORDS[start]}, step {step} on {device}: {reading(attention, point)}")
                self.draw(point)
                drawn = time.perf_counter()
                cost = drawn - now
            return not self.stop_asked.is_set()

        run, network = experiment.train_at(
            self.panels.setup, attention, P, start=network, d_model=self.d_model, seed=self.cold_starts,
            data_seed=self.seed, device=device, on_record=on_record)
        point = Point(P, start, float(run.c1[-1]), float(run.c_G[-1]))
        self.trained[attention] = (P, network)
        if self.stop_asked.is_set():
            end = "stopped by you"
        else:
            self.points[attention].append(point)
            end = "the action stands still" if run.step[-1] < experiment.STEPS else "all steps made"
        self._say(f"P = {P}, {WORDS[start]}: {reading(attention, point)}, loss {run.loss[-1]:.3f}. "
                  f"Theory: {self.panels.theory(attention, P)}. "
                  f"{run.step[-1]} steps ({end}) in {time.perf_counter() - began:.1f} s on {device}.")
        self.draw(point)

    def _beginning(self, attention: Attention, P: int) -> tuple[str, Any, str]:
        """Name of the start, network to go on from, device."""
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        if self.start.value == "warm" and attention in self.trained:
            before, network = self.trained[attention]
            return "down" if P < before else "up", network, device
        self.cold_starts += 1
        return "cold", None, device

    # --- what is shown -------------------------------------------------------------------------------------------------

    def draw(self, *current: Point) -> None:
        """Draw both panels for the present attention and P."""
        kind, P = self.job or (self.attention.value, self.slider.value)
        points = self.points[kind]
        with style():
            drawings = render([self.panels.loss(kind, P, self.curves[kind]), self.panels.order(kind, P, points, current)])
        seen = ", ".join(f"P = {p.P} {p.start} {reading(kind, p)}" for p in points[-5:]) or "none yet"
        alt = (f"Two panels for {kind} attention at P = {P}: loss against training step, and order parameters against P "
               f"(theory {self.panels.theory(kind, P)}). Networks trained last: {seen}.")
        inner = panels_html([drawings], alt)
        self.picture.value = f'<div class="copyhead-figure">{stylesheet()}{inner}</div>'

    def _say(self, text: str) -> None:
        self.status.value = f'<div role="status" style="min-height:3em">{escape(text)}</div>'

    def _fail(self, error: Exception) -> None:
        text = escape(f"{type(error).__name__}: {error}")
        self.status.value = f'<div role="alert" style="min-height:3em"><b>This did not work.</b> {text}</div>'

    def _safely(self, action: Callable[[], None]) -> None:
        """Call ``action``; what it raises would only reach a log, so show it."""
        try:
            action()
        except Exception as error:
            self._fail(error)

    def _lock(self, running: bool) -> None:
        for control in (self.slider, self.attention, self.start, self.train, self.up, self.down, self.clear):
            control.disabled = running
        self.stop.disabled = not running
