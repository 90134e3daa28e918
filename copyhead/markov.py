"""A Markov chain of high order, and the smallest transformer that can learn it; many seeds are trained side by side.

The chain draws its next token from

    softmax( sum_k A_k mean_{i in span k} x_(t-i) ),

with spans of lags that do not overlap and orthogonal matrices A_k, each weaker than the one before by a factor.  It is the
task of Yüksel, Alvarez Lucendo and Flammarion (arXiv 2602.19143); so is the student, H heads whose attention knows lags
only, each with a value matrix of its own:

    student:  softmax( sum_h V_h sum_i a_hi x_(t-i) ),    a_h = softmax(q_h).

Cutting the sum over k after the first j spans gives a truncated chain.  The distance to it (KL divergence of the student
from it, on contexts of the chain) tells which stage the student has reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from copyhead.validation import positive_number, whole_number

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MarkovTask:
    """``window`` lags are visible; span k covers the ``width`` lags after k * width; A_k has norm strength / ratio^k."""

    V: int = 20
    window: int = 24
    spans: int = 3
    width: int = 2
    strength: float = 17.34
    ratio: float = 1.7

    def matrices(self, seeds: int, generator: torch.Generator) -> Tensor:
        """A_k of independent chains, shape (seeds, spans, V, V)."""
        A = torch.linalg.qr(torch.randn(seeds, self.spans, self.V, self.V, generator=generator))[0]
        return A * self.strength / self.ratio ** torch.arange(self.spans)[:, None, None]

    def logits(self, A: Tensor, context: Tensor, spans: int | None = None) -> Tensor:
        """Of the next token, (S, B, V), after contexts (S, B, window), latest token first; cut after ``spans`` spans."""
        n = self.spans if spans is None else spans
        out = torch.zeros(*context.shape[:2], self.V)
        for k in range(n):
            for i in range(self.width):
                out += _look_up(A[:, k] / self.width, context[..., k * self.width + i])
        return out

    def draw(self, A: Tensor, n: int, generator: torch.Generator, settle: int = 30) -> tuple[Tensor, Tensor]:
        """``n`` contexts from chains of their own, (S, n, window), latest token first, and the tokens after, (S, n)."""
        context = torch.randint(self.V, (len(A), n, self.window), generator=generator)
        for _ in range(self.window + settle):
            context = torch.cat([self._next(A, context, generator)[..., None], context[..., :-1]], dim=-1)
        return context, self._next(A, context, generator)

    def _next(self, A: Tensor, context: Tensor, generator: torch.Generator) -> Tensor:
        p = torch.softmax(self.logits(A, context), dim=-1)
        return torch.multinomial(p.reshape(-1, self.V), 1, generator=generator).reshape(p.shape[:2])


@dataclass(frozen=True)
class MarkovRun:
    """Record of training; all arrays begin with (seeds, times).

    ``step`` (times,); ``loss`` cross entropy on fresh contexts; ``kl`` distance to the chains cut after 1, 2, ... spans,
    (..., spans); ``weights`` attention of the heads on the spans, (..., H, spans).
    """

    step: NDArray[np.intp]
    loss: Array
    kl: Array
    weights: Array


def train_markov(task: MarkovTask, *, heads: int = 3, seeds: int = 10, steps: int = 3000, batch: int = 128,
                 data: int = 40_000, lr: float = 0.02, record_every: int = 25, init: float = 1e-9,
                 seed: int = 0) -> MarkovRun:
    """Train ``seeds`` students, each on a chain of its own, by Adam on minibatches of ``data`` contexts.

    Attention logits start at ``init`` times normal numbers and values at zero.
    """
    heads, seeds, steps = (whole_number(name, n, minimum=1)
                           for name, n in (("heads", heads), ("seeds", seeds), ("steps", steps)))
    lr = positive_number("lr", lr)
    generator = torch.Generator().manual_seed(seed)
    A = task.matrices(seeds, generator)
    (contexts, targets), (test, _) = task.draw(A, data, generator), task.draw(A, 2000, generator)
    truth = [torch.log_softmax(task.logits(A, test, j + 1), dim=-1) for j in range(task.spans)]
    q = (init * torch.randn(seeds, heads, task.window, generator=generator)).requires_grad_()
    values = torch.zeros(seeds, heads, task.V, task.V, requires_grad=True)
    adam = torch.optim.Adam([q, values], lr=lr)
    record: list[tuple[Tensor, Tensor, Tensor]] = []
    for step in range(steps + 1):
        if step % record_every == 0:
            with torch.no_grad():
                record.append(_measure(task, q, values, test, truth))
        pick = torch.randint(data, (batch,), generator=generator)
        adam.zero_grad()
        logits = _student(q, values, contexts[:, pick])
        wrong = torch.nn.functional.cross_entropy(logits.reshape(-1, task.V), targets[:, pick].reshape(-1), reduction="sum")
        (wrong / batch).backward()
        adam.step()
    loss_, kl, weights = (torch.stack(part, dim=1).double().numpy() for part in zip(*record, strict=True))
    return MarkovRun(np.arange(0, steps + 1, record_every), loss_, kl, weights)


def _look_up(A: Tensor, tokens: Tensor) -> Tensor:
    """Column of A for every token: (S, V, V) and (S, B) to (S, B, V)."""
    return torch.gather(A.mT, 1, tokens[..., None].expand(-1, -1, A.shape[1]))


def _student(q: Tensor, values: Tensor, context: Tensor) -> Tensor:
    X = torch.nn.functional.one_hot(context, values.shape[-1]).to(q.dtype)              # (S, B, window, V)
    seen = torch.einsum("shi,sbiv->shbv", torch.softmax(q, dim=-1), X)
    return (seen @ values.mT).sum(dim=1)


def _measure(task: MarkovTask, q: Tensor, values: Tensor, test: Tensor,
             truth: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    student = torch.log_softmax(_student(q, values, test), dim=-1)
    kl = torch.stack([(cut.exp() * (cut - student)).sum(dim=-1).mean(dim=-1) for cut in truth], dim=-1)
    full = truth[-1].exp()
    loss = -(full * student).sum(dim=-1).mean(dim=-1)                  # exact, no sampling of the next token
    a = torch.softmax(q, dim=-1)[..., : task.spans * task.width]
    return loss, kl, a.reshape(*a.shape[:-1], task.spans, task.width).sum(dim=-1)
