"""Many seeds of a small network trained side by side, and when each of them can do its task.

A seed draws its initial weights and its batches from generators of its own, so that it takes the same way, up to rounding,
alone as in company.  Which seeds draw what can be chosen separately: is it the map, the weights or the batches that decide?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from copyhead.bit_tasks import Task, all_bits
from copyhead.encoder import Student
from copyhead.events import first_passage
from copyhead.validation import positive_number, whole_number

Array = NDArray[np.float64]
BLOCK = 32          # batches that a seed draws at a time


@dataclass(frozen=True)
class SeedsRun:
    """Record of training.

    ``step`` (times,); ``loss`` cross entropy per bit (seeds, times); ``accuracy`` of each output (seeds, times, S), on all
    2^S inputs up to S = 8 and on 256 random ones beyond; ``attention`` mean over these inputs (seeds, times, heads, S, S),
    or without the last three axes for a network that has none; ``pattern`` (seeds, S, S); ``horizon`` the last step allowed.
    """

    step: NDArray[np.intp]
    loss: Array
    accuracy: Array
    attention: Array
    pattern: Array
    horizon: int

    def solved(self, threshold: float = 0.97) -> Array:
        """Step at which the mean accuracy reaches the threshold, (seeds,); inf if it had not by the end."""
        return first_passage(self.step, self.accuracy.mean(axis=-1), threshold)

    def rows_solved(self, threshold: float = 0.97) -> Array:
        """The same for each output by itself, (seeds, S)."""
        return first_passage(self.step, np.moveaxis(self.accuracy, -1, 1), threshold)

    @property
    def on_pattern(self) -> Array:
        """Share of the attention that lies on the pattern, averaged over heads and outputs, (seeds, times)."""
        S = self.pattern.shape[-1]
        return np.asarray(np.einsum("nthab,nab->nth", self.attention, self.pattern).mean(axis=-1) / S)


def train_seeds(task: Task, student: Student, seeds: Sequence[int] = range(8), *, steps: int = 1000, batch: int = 64,
                lr: float = 3e-3, record_every: int = 10, stop: bool = True, init: Sequence[int] | None = None,
                data: Sequence[int] | None = None, dtype: torch.dtype = torch.float32) -> SeedsRun:
    """Train one network per seed by Adam on fresh batches.

    Parameters
    ----------
    task : its pattern belongs to all seeds, or has one entry for each
    seeds : whole numbers, one per network; ``init`` and ``data`` replace them for the weights and for the batches
    steps, batch, lr : at most so many steps, of so many inputs each; step size of Adam
    stop : end when every network has reached 0.97 of mean accuracy

    Raises ValueError for anything else.
    """
    steps, batch, record_every = (whole_number(name, n, 1) for name, n in
                                  (("steps", steps), ("batch", batch), ("record_every", record_every)))
    lr = positive_number("lr", lr)
    starts, draws = _generators("init", init, seeds, 0), _generators("data", data, seeds, 1)
    if len(task.pattern) not in (1, len(seeds)):
        raise ValueError(f"task must have one pattern or one for each of {len(seeds)} seeds, got {len(task.pattern)}")
    weights = {name: w.to(dtype).requires_grad_() for name, w in student.weights(task.S, starts).items()}
    adam = torch.optim.Adam(list(weights.values()), lr=lr)
    test, test_labels = _test(task, len(seeds), dtype)
    record: list[tuple[Tensor, Tensor, Tensor]] = []
    for step in range(steps + 1):
        if step % record_every == 0:
            record.append(_measure(student, weights, task, test, test_labels))
            if stop and bool((record[-1][1].mean(dim=-1) >= 0.97).all()):
                break
        if step % BLOCK == 0:
            block = torch.stack([torch.randint(2, (BLOCK, batch, task.S), generator=g) for g in draws], dim=1)
        x = block[step % BLOCK]
        logits, _ = student.forward(weights, x, task.pattern)
        adam.zero_grad()
        _loss(logits, task.labels(x, draws)).sum().backward()          # seeds share no weight: the sum trains each alone
        adam.step()
    loss, accuracy, attention = (torch.stack(part, dim=1).double().numpy() for part in zip(*record, strict=True))
    pattern = task.pattern.expand(len(seeds), -1, -1).double().numpy()
    return SeedsRun(record_every * np.arange(len(record)), loss, accuracy, attention, pattern, steps)


def initial_pull(task: Task, student: Student, seeds: Sequence[int]) -> Array:
    """Slope of the untrained logits' correlation with the labels, a number for each seed.

    The norm over all weights of the gradient of sum_a < (-1)^(y_a) logit_a >, over all 2^S inputs (S <= 16).  Towards the
    labels this is all that a small step of gradient descent has to go by.
    """
    starts = _generators("seeds", None, seeds, 0)
    weights = {name: w.double().requires_grad_() for name, w in student.weights(task.S, starts).items()}
    x = torch.as_tensor(all_bits(task.S)).expand(len(seeds), -1, -1)
    spins = 1 - 2 * task.labels(x, starts)
    correlation = (student.forward(weights, x, task.pattern)[0] * spins).mean(dim=1).sum()
    slopes = torch.autograd.grad(correlation, list(weights.values()))
    return torch.stack([g.flatten(1).square().sum(dim=1) for g in slopes]).sum(dim=0).sqrt().numpy()


def _loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy per bit of each seed."""
    function = torch.nn.functional.binary_cross_entropy_with_logits
    return function(logits, labels.to(logits.dtype), reduction="none").mean(dim=(1, 2))


def _measure(student: Student, weights: dict[str, Tensor], task: Task, x: Tensor,
             labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    with torch.no_grad():
        logits, attention = student.forward(weights, x, task.pattern)
        mean = torch.zeros(len(x)) if attention is None else attention.mean(dim=2)
        return _loss(logits, labels), ((logits > 0) == (labels > 0.5)).to(logits.dtype).mean(dim=1), mean


def _test(task: Task, n: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    generators = [torch.Generator().manual_seed(10**6 + i) for i in range(n)]
    x = torch.as_tensor(all_bits(task.S)) if task.S <= 8 else torch.randint(2, (256, task.S), generator=generators[0])
    x = x.expand(n, *x.shape)
    return x, task.labels(x, generators).to(dtype)


def _generators(name: str, chosen: Sequence[int] | None, seeds: Sequence[int], part: int) -> list[torch.Generator]:
    chosen = seeds if chosen is None else chosen
    if len(chosen) != len(seeds) or not len(seeds):
        raise ValueError(f"{name} must have one number for each of {len(seeds)} seeds (at least one), got {chosen!r}")
    return [torch.Generator().manual_seed(2 * whole_number(name, int(seed), 0) + part) for seed in chosen]
