"""Sequences in which something comes again, and a small language model that learns to expect it.

Token 0 begins every sequence; the others are random, 1..vocab-1, except for what is repeated:

    "repeat"     one block of random length comes a second time, anywhere after the first
    "periodic"   a block of random length is repeated to the end
    "random"     nothing is repeated; the control, on which there is nothing to learn

A repeated token is predictable from the second one of the block on: the first one may come at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from copyhead.neox import NeoX
from copyhead.validation import positive_number, whole_number

Data = Literal["repeat", "periodic", "random"]


def repeats(N: int, T: int, vocab: int, generator: torch.Generator, data: Data = "repeat") -> tuple[Tensor, Tensor]:
    """Sequences (N, T), and which of their tokens are predictable from what stands before them, (N, T).

    Blocks have 4 to n/2 tokens, n = T - 1, in "repeat", and 4 to n/3 in "periodic".  Needs T >= 13, vocab >= 3.
    """
    N, T, vocab = whole_number("N", N, minimum=1), whole_number("T", T, minimum=13), whole_number("vocab", vocab, minimum=3)
    if data not in get_args(Data):
        raise ValueError(f"data must be one of {', '.join(get_args(Data))}, got {data!r}")
    x = torch.randint(1, vocab, (N, T), generator=generator)
    x[:, 0] = 0
    n, place = T - 1, torch.arange(T - 1).expand(N, -1)
    if data == "random":
        return x, torch.zeros(N, T, dtype=torch.bool)
    longest = n // 2 if data == "repeat" else n // 3
    size = torch.randint(4, longest + 1, (N, 1), generator=generator)
    if data == "periodic":
        source, again = place % size, place >= size
    else:
        first = (torch.rand(N, 1, generator=generator) * (n - 2 * size + 1)).long()
        second = first + size + (torch.rand(N, 1, generator=generator) * (n - first - 2 * size + 1)).long()
        again = (place >= second) & (place < second + size)
        source = torch.where(again, place - second + first, place)
        again &= place > second
    x[:, 1:] = torch.gather(x[:, 1:], 1, source)
    return x, torch.cat([torch.zeros(N, 1, dtype=torch.bool), again], dim=1)


def train_on_repeats(model: NeoX, watch: Callable[[NeoX], Mapping[str, ArrayLike]], *, data: Data = "repeat", T: int = 25,
                     batch: int = 32, steps: int = 500, lr: float = 4e-3, every: int = 25, predictable_only: bool = False,
                     seed: int = 0) -> dict[str, NDArray[Any]]:
    """Train in place with AdamW on fresh sequences, and record what ``watch`` says of the model every few steps.

    ``predictable_only`` leaves the tokens that cannot be predicted out of the loss.

    Returns ``step`` (n,), ``loss`` and ``accuracy`` (n,) on 200 held-out sequences, where accuracy counts the predictable
    tokens alone (NaN with nothing to predict), and the arrays of ``watch`` stacked, (n, ...).
    """
    steps, every, batch = (whole_number(name, n, minimum=1) for name, n in
                           (("steps", steps), ("every", every), ("batch", batch)))
    if predictable_only and data == "random":
        raise ValueError("data must not be 'random' with predictable_only, which leaves nothing to learn")
    V = model.sizes.vocab
    generator = torch.Generator().manual_seed(whole_number("seed", seed, minimum=0))
    held_out = repeats(200, T, V, torch.Generator().manual_seed(2**40 + seed), data)
    adam = torch.optim.AdamW(model.parameters(), lr=positive_number("lr", lr), weight_decay=0.01)
    records: list[dict[str, NDArray[Any]]] = []
    for step in range(steps + 1):
        if step % every == 0:
            with torch.no_grad():
                loss, accuracy = _score(model, *held_out, predictable_only)
                found = {"step": step, "loss": float(loss), "accuracy": float(accuracy), **watch(model)}
            records.append({name: np.asarray(value) for name, value in found.items()})
        if step < steps:
            adam.zero_grad()
            _score(model, *repeats(batch, T, V, generator, data), predictable_only)[0].backward()
            adam.step()
    return {name: np.stack([record[name] for record in records]) for name in records[0]}


def _score(model: NeoX, tokens: Tensor, predictable: Tensor, only: bool) -> tuple[Tensor, Tensor]:
    """Cross entropy per token, and the share of predictable tokens that are predicted."""
    logits, target, counted = model(tokens)[:, :-1], tokens[:, 1:], predictable[:, 1:]
    chosen = counted if only else torch.ones_like(counted)
    loss = torch.nn.functional.cross_entropy(logits[chosen], target[chosen])
    return loss, (logits.argmax(dim=-1) == target)[counted].float().mean()
