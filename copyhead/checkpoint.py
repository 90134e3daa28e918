"""One file from which a run that was killed goes on as if nothing had happened.

The file is written beside its final name and moved there in one step, so that it is whole at every moment: either the
previous checkpoint or the new one.  It holds tensors, numbers and text only, and is read without running code from it.
"""

from __future__ import annotations

import errno
import hashlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from copyhead.results import not_written, whole_file

if TYPE_CHECKING:
    from copyhead.training import Run

WRITING_SHARE = 0.05           # of the time may go into writing checkpoints


def write(path: Path, state: dict[str, Any]) -> None:
    """Replace the file ``path`` by ``state`` (tensors, numbers, text, and lists and dicts of these), atomically.

    The state is on the disk before it takes the name ``path``: a power cut leaves the old file or the new one.

    Raises
    ------
    OSError
        When the disk is full or the folder cannot be written; it names the file, and what was there before still is.
    """
    try:
        with whole_file(path) as file:
            torch.save(state, file)
    except RuntimeError as error:  # what torch makes of a write that stops short
        raise not_written(OSError(errno.ENOSPC, "the disk is full, or a limit of file size is reached"), path) from error


def read(path: Path, device: torch.device) -> dict[str, Any] | None:
    """What ``write`` put there, or None where there is no such file.

    Raises
    ------
    ValueError
        If the file is not a checkpoint; it is left as it is.
    """
    if not path.exists():
        return None
    try:
        state = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:
        raise ValueError(f"checkpoint must be a file that a run wrote; {path} cannot be read: {error}") from error
    if not isinstance(state, dict) or not {"rule", "step", "records"} <= set(state):
        raise ValueError(f"checkpoint must be a file that a run wrote; {path} holds something else")
    return state


def fingerprint(tensors: Iterable[torch.Tensor]) -> str:
    """A hash of shapes, types and values: equal for equal tensors, on whatever device they are."""
    digest = hashlib.sha256()
    for tensor in tensors:
        array = tensor.detach().cpu().contiguous().numpy()
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


class Saver:
    """Restores a run from its checkpoint, if there is one, and writes the next ones."""

    def __init__(self, path: Path, every: float, run: Run, rule: dict[str, Any]) -> None:
        self.path, self.every, self.run = path, every, run
        self.device = next(run.network.parameters()).device
        self.rule = rule | {
            "tokens": fingerprint(run.data),
            "held_out": fingerprint(run.held_out or ()),
            "network": f"{run.network.setup} {run.network.attention_kind}",
            "initial weights": fingerprint(run.network.state_dict().values()),
        }
        state = read(path, self.device)
        if state is not None:
            self._restore(state)
        self.last, self.cost = time.perf_counter(), 0.0

    def _restore(self, state: dict[str, Any]) -> None:
        for name, mine in self.rule.items():
            if state["rule"].get(name) != mine:
                raise ValueError(f"checkpoint must belong to this run: {self.path} was written with another {name} "
                                 f"({state['rule'].get(name)!r} instead of {mine!r})")
        run = self.run
        run.network.load_state_dict(state["network"])
        run.method.load_state_dict(state["method"])
        torch.set_rng_state(state["random"].cpu())
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(state["random_cuda"].cpu(), self.device)
        run.now = state["step"]
        # A run that ended between two records, and is now prolonged, forgets the one at its end.
        run.records = [r for r in state["records"].tolist() if r[0] % self.rule["record_every"] == 0]
        run.began -= state["seconds"]

    def save(self, force: bool) -> None:
        """Write if it is time, or by force."""
        began = time.perf_counter()
        if not force and began - self.last < max(self.every, self.cost / WRITING_SHARE):
            return
        run = self.run
        cuda = self.device.type == "cuda"
        write(self.path, {
            "rule": self.rule, "step": run.now, "seconds": began - run.began,
            "records": torch.tensor(run.records, dtype=torch.float64),
            "network": run.network.state_dict(), "method": run.method.state_dict(), "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state(self.device) if cuda else None,
        })
        self.last = time.perf_counter()
        self.cost = self.last - began
