"""One Markov chain: its moves, the tuning of its step, and its state on disk.  See ``sampling`` for the conventions."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.progress import bar
from copyhead.provenance import plain
from copyhead.results import write_atomically

Array = NDArray[np.float64]
Target = Callable[[Array], tuple[float, Array]]

TARGET = {"hmc": 0.8, "mala": 0.574, "ula": 0.95}
DIVERGED = 1000.0        # energy error of a trajectory that has left the region where leapfrog is stable
LONGEST = 1000           # leapfrog steps of a trajectory of given length, while its step is still being tuned
SAVE_EVERY_S = 2.0


class DualAveraging:
    """Step size whose mean acceptance probability approaches ``goal``; ``smooth`` is the average to use afterwards."""

    def __init__(self, step: float, goal: float) -> None:
        self.goal, self.count = goal, 0
        self.log_step = self.log_smooth = np.log(step)
        self.centre, self.error = np.log(10 * step), 0.0

    def update(self, probability: float) -> None:
        gamma, offset, decay = 0.05, 10.0, 0.75
        self.count += 1
        weight = 1 / (self.count + offset)
        self.error += weight * (self.goal - probability - self.error)
        self.log_step = self.centre - np.sqrt(self.count) / gamma * self.error
        self.log_smooth += self.count**-decay * (self.log_step - self.log_smooth)

    @property
    def step(self) -> float:
        return float(np.exp(self.log_step))

    @property
    def smooth(self) -> float:
        return float(np.exp(self.log_smooth))


class Chain:
    """State of one chain; ``run`` brings it to the end, from wherever it is."""

    def __init__(self, target: Target, observe: Callable[[Array], Mapping[str, float]], x: Array,
                 seed: np.random.SeedSequence, settings: dict[str, Any], number: int, folder: Path | None,
                 scale: Array | None = None) -> None:
        self.target, self.observe, self.settings, self.number, self.scale = target, observe, settings, number, scale
        self.x, self.start = x.copy(), x
        self.generator = np.random.default_rng(seed)
        self.moves = self.accepted = self.divergences = self.gradients = 0
        self.tuner: DualAveraging | None = None
        self.step = 0.0
        self.record: dict[str, Array] = {}
        self.file = None if folder is None else folder / f"chain-{number}.npz"

    def run(self, progress: bool = True) -> Chain:
        """Continue to the last draw and return the chain."""
        settings = self.settings
        tune, thin = settings["tune"], settings["thin"]
        total = tune + settings["draws"] * thin
        if not self._load():
            self.U, self.gradient = self._evaluate(self.x)
            self.step = settings["step"] or self._first_step()
            self.tuner = None if settings["step"] else DualAveraging(self.step, TARGET[settings["method"]])
        saved = time.monotonic()
        with bar(total, done=self.moves, show=progress, name=f"chain {self.number}") as shown:
            while self.moves < total:
                tuning = self.moves < tune
                probability, accepted = self._move()
                if tuning and self.tuner:
                    self.tuner.update(probability)
                    self.step = self.tuner.step if self.moves + 1 < tune else self.tuner.smooth
                self.accepted += accepted and not tuning
                self.moves += 1
                shown.update()
                done = self.moves - tune
                if done > 0 and done % thin == 0:
                    self._note(done // thin - 1)
                if self.file and time.monotonic() - saved > SAVE_EVERY_S:
                    self._save()
                    saved = time.monotonic()
        if self.file:
            self._save()
        return self

    def _move(self) -> tuple[float, bool]:
        """One move; the acceptance probability, and whether the chain moved (ULA always does)."""
        hmc = self.settings["method"] == "hmc"
        leapfrogs = self._leapfrogs() if hmc else 1
        eps = self.step * (self.generator.uniform(0.8, 1.2) if hmc else 1.0)
        momentum = self.generator.standard_normal(self.x.shape)
        energy = self.U + np.vdot(momentum, momentum) / 2
        x, gradient = self.x, self.gradient
        for _ in range(leapfrogs):
            half = momentum - eps / 2 * self._scaled(gradient, transposed=True)
            x = x + eps * self._scaled(half)
            U, gradient = self._evaluate(x)
            if not np.isfinite(U):
                break
            momentum = half - eps / 2 * self._scaled(gradient, transposed=True)
        change = U + np.vdot(momentum, momentum) / 2 - energy
        self.divergences += not change <= DIVERGED
        probability = float(np.exp(min(0.0, -float(change))))
        uniform = self.generator.random()                 # drawn by every method, so that all use the stream alike
        accepted = self.settings["method"] == "ula" or uniform < probability
        if accepted:
            self.x, self.U, self.gradient = x, U, gradient
        return probability, accepted

    def _scaled(self, v: Array, transposed: bool = False) -> Array:
        """scale v, or scale^T v: the chain moves in z with x = scale z, where dU/dz = scale^T dU/dx."""
        if self.scale is None:
            return v
        return ((self.scale.T if transposed else self.scale) @ v.ravel()).reshape(v.shape)

    def _leapfrogs(self) -> int:
        if self.settings["length"] is None:
            return int(self.settings["leapfrogs"])
        return min(max(round(self.settings["length"] / self.step), 1), LONGEST)

    def _first_step(self) -> float:
        """Powers of two from the largest step that a Gaussian of the local slope suggests, down to a sane acceptance."""
        step = 1.0
        state = self.generator.bit_generator.state
        for _ in range(60):
            self.step = step
            x, U, gradient, divergences = self.x, self.U, self.gradient, self.divergences
            probability, _ = self._move()
            self.x, self.U, self.gradient, self.divergences = x, U, gradient, divergences
            self.generator.bit_generator.state = state
            if probability > 0.5:
                return step
            step /= 2
        raise FloatingPointError(f"chain {self.number}: no step size down to {step:.1e} is accepted at the start; "
                                 "is the gradient that of U?")

    def _evaluate(self, x: Array) -> tuple[float, Array]:
        U, gradient = self.target(x)
        self.gradients += 1
        if np.isfinite(U) and np.isfinite(gradient).all():
            return float(U), np.asarray(gradient, dtype=np.float64)
        if self.gradients == 1:
            raise FloatingPointError(f"chain {self.number}: U = {U} or its gradient is not finite at the start")
        if self.settings["method"] == "ula":             # the others reject the proposal
            raise FloatingPointError(f"chain {self.number}, move {self.moves}: U = {U} or its gradient is not finite; "
                                     f"ULA with step {self.step:.3g} is unstable here, take a smaller one")
        return np.inf, np.zeros_like(x)

    def _note(self, index: int) -> None:
        values = {"potential": self.U, **self.observe(self.x)}
        if not self.record:
            self.record = {name: np.full(self.settings["draws"], np.nan) for name in values}
        for name, value in values.items():
            self.record[name][index] = value

    # What the chain depends on besides target and observe, which the folder's owner has to keep the same.
    def _key(self) -> str:
        start = hashlib.sha256(np.ascontiguousarray(self.start).tobytes()).hexdigest()
        scale = None if self.scale is None else hashlib.sha256(np.ascontiguousarray(self.scale).tobytes()).hexdigest()
        return json.dumps({**self.settings, "number": self.number, "start": start, "scale": scale}, sort_keys=True)

    def _save(self) -> None:
        assert self.file is not None
        numbers = ("moves", "accepted", "divergences", "gradients", "step", "U")
        state = {name: getattr(self, name) for name in numbers}
        state["tuner"] = None if self.tuner is None else vars(self.tuner)
        state["generator"] = self.generator.bit_generator.state
        arrays: dict[str, Any] = {f"record_{name}": values for name, values in self.record.items()}
        stream = io.BytesIO()
        np.savez(stream, key=np.array(self._key()), state=np.array(json.dumps(plain(state))), x=self.x,
                 gradient=self.gradient, **arrays)
        write_atomically(self.file, stream.getvalue())

    def _load(self) -> bool:
        if self.file is None or not self.file.exists():
            return False
        try:
            with np.load(self.file, allow_pickle=False) as stored:
                contents = dict(stored)
                state = json.loads(str(contents["state"]))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ValueError(f"folder holds a damaged chain, {self.file} ({error}); delete it to start anew") from None
        if str(contents["key"]) != self._key():
            raise ValueError(f"folder must be empty or hold the chains of this call, but {self.file} is of another one")
        generator, tuner = state.pop("generator"), state.pop("tuner")
        for name, value in state.items():
            setattr(self, name, value)
        self.generator.bit_generator.state = generator
        if tuner is not None:
            self.tuner = DualAveraging(1.0, 0.5)
            vars(self.tuner).update(tuner)
        self.x, self.gradient = contents["x"], contents["gradient"]
        prefix = "record_"
        self.record = {name[len(prefix):]: array for name, array in contents.items() if name.startswith(prefix)}
        return True
