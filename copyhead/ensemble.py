"""Many fits at once, for a GPU: the same minima as ``fit_map(..., fast=True)``, searched for in one batch.

All (P, seed) problems of an ensemble advance together: their sequences are padded to one length and masked, each
evaluation of all actions and gradients is a handful of large matrix products, and every problem keeps its own L-BFGS
memory, step length and end.  A problem that has ended leaves the batch.

Which one to use: on a CPU the loop over ``fit_map(..., fast=True)`` (through ``sweep`` for several cores), which wastes
nothing on padding and calls a compiled L-BFGS; on a GPU this module, because a single problem leaves a GPU idle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from copyhead.batched import BatchedAction
from copyhead.fit import FAST_PROGRESS, choose_starts
from copyhead.patterns import global_sign
from copyhead.reduced import Attention, ReducedAction, check_attention
from copyhead.setup import Setup
from copyhead.starts import wrong_sign_tokens
from copyhead.task import sequences
from copyhead.validation import positive_number, whole_number

MEMORY = 20                    # pairs of steps and gradient changes that L-BFGS remembers
LONGEST_STEP = 2.0             # in units of the prior width: a longer one may leave the basin of the copy state
SUFFICIENT = 1e-4              # Armijo: share of the predicted decrease that a step has to achieve
NOISE = {torch.float32: 2e-6, torch.float64: 1e-14}      # an action may seem to rise by this share through rounding
EVALUATIONS = 1000
SHORTEST = 1e-10               # share of a step below which a search gives up


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Fits on a grid of P and seeds.  Every array has the shape (len(P), len(seeds)), ``M`` two more axes of V + L.

    ``c1`` and ``c_G`` are those of the mean attention, with T = c1 + sqrt(L) c_G >= 0; for softmax c_G is a_G.
    ``converged`` says that every search for this cell ended by its rule.
    """

    P: NDArray[np.int64]
    seeds: NDArray[np.int64]
    c1: NDArray[np.float64]
    c_G: NDArray[np.float64]
    action: NDArray[np.float64]
    loss: NDArray[np.float64]
    coverage: NDArray[np.float64]
    converged: NDArray[np.bool_]
    evaluations: NDArray[np.int64]
    M: NDArray[np.float64]


def fit_ensemble(setup: Setup, attention: Attention, P: Sequence[int], seeds: Sequence[int], *, device: Any = None,
                 dtype: torch.dtype = torch.float32, tolerance: float = 1e-4, progress: float = FAST_PROGRESS,
                 batch: int = 60_000) -> Ensemble:
    """Fit every data set (P, seed) by the batched search.

    Parameters
    ----------
    setup, attention
    P, seeds : sequences of int
        The data of a cell are those of ``fit_map``: a function of (L, V, P, seed).
    device : anything that torch takes; by default CUDA if there is one, else the CPU
    dtype : torch.float32 or torch.float64
        Of the passes over the sequences; the small systems are solved in double precision.
    tolerance, progress : float
        A search ends when no gradient entry, in units of the prior width, exceeds ``tolerance``, or when two steps in
        succession lower the action by a smaller share than ``progress`` (0 for the first rule alone).
    batch : int
        Largest number of sequences, padding included, that are worked on at once; 60,000 of length 25 need about 1.5 GB.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """
    check_attention(attention)
    sizes, numbers = ([whole_number(name, v, minimum=low) for v in values]
                      for name, values, low in (("P", P, 1), ("seeds", seeds, 0)))
    tolerance = positive_number("tolerance", tolerance)
    if dtype not in NOISE:
        raise ValueError(f"dtype must be torch.float32 or torch.float64, got {dtype!r}")
    where = torch.device(device if device is not None else "cuda" if torch.cuda.is_available() else "cpu")
    problems = []
    for cell, (size, seed) in enumerate((size, seed) for size in sizes for seed in numbers):
        tokens = sequences(setup.L, setup.V, size, seed)
        starts = choose_starts(ReducedAction(setup, attention, tokens, np.float32), "both", fast=True)
        problems += [_Problem(cell, tokens, M) for M in starts.values()]

    def search(problems: list[_Problem]) -> None:
        for group in _groups(problems, batch):
            action = BatchedAction(setup, attention, [p.tokens for p in group], where, dtype)
            _minimise(action, group, tolerance, progress)

    search(problems)
    if attention == "linear":
        repaired = []
        for p in problems:
            if len(wrong := wrong_sign_tokens(p.M, setup.V)):
                repaired.append(_Problem(p.cell, p.tokens, p.M.copy()))
                repaired[-1].M[:, wrong] *= -1
        search(repaired)
        problems += repaired
    return _collected(setup, attention, sizes, numbers, problems, where, dtype, batch)


@dataclass
class _Problem:
    cell: int
    tokens: NDArray[np.intp]
    M: NDArray[np.float64]
    action: float = np.inf
    evaluations: int = 0
    ended: bool = False


def _groups(problems: list[_Problem], batch: int) -> list[list[_Problem]]:
    """Problems of similar size together, so that little is padding: at most ``batch`` sequences in each group."""
    groups: list[list[_Problem]] = []
    for problem in sorted(problems, key=lambda p: -len(p.tokens)):
        if not groups or (len(groups[-1]) + 1) * len(groups[-1][0].tokens) > batch:
            groups.append([])
        groups[-1].append(problem)
    return groups


def _minimise(action: BatchedAction, problems: list[_Problem], tolerance: float, progress: float) -> None:
    """L-BFGS with Armijo's rule for all problems together; each accepts or shortens its own step."""
    noise, width = NOISE[action.X.dtype], float(np.sqrt(action.setup.g_W))
    shape = problems[0].M.shape
    here: dict[str, Any] = dict(dtype=torch.float64, device=action.X.device)
    x = torch.tensor(np.stack([p.M.ravel() / width for p in problems]), **here)

    def evaluate(x: Tensor) -> tuple[Tensor, Tensor]:
        value, gradient = action.value_and_gradient(width * x.reshape(-1, *shape))
        return value, width * gradient.flatten(1)

    f, g = evaluate(x)
    d, t = _capped(-g, longest=1.0), torch.ones_like(f)
    steps, changes = (torch.zeros(MEMORY, *x.shape, **here) for _ in range(2))
    rho = torch.zeros(MEMORY, len(x), **here)                       # zero for a place that holds nothing yet
    count = torch.ones_like(f, dtype=torch.int64)
    done = g.abs().amax(dim=1) <= tolerance
    calm = torch.zeros_like(done)
    active = torch.arange(len(problems), device=x.device)
    while True:
        if 2 * int(done.sum()) >= len(done):                        # smaller batches are faster: let the ended ones go
            for i in torch.nonzero(done)[:, 0].tolist():
                p = problems[int(active[i])]
                p.M, p.action = width * x[i].reshape(shape).cpu().numpy(), float(f[i])
                p.evaluations, p.ended = int(count[i]), bool(count[i] < EVALUATIONS and t[i] >= SHORTEST)
            rest = torch.nonzero(~done)[:, 0]
            if not len(rest):
                return
            action.keep(rest)
            x, f, g, d, t, count, done, calm, active = (v[rest] for v in (x, f, g, d, t, count, done, calm, active))
            steps, changes, rho = steps[:, rest], changes[:, rest], rho[:, rest]
        slope = (g * d).sum(dim=1)
        trial = x + t[:, None] * d
        f_new, g_new = evaluate(trial)
        count = count + (~done)
        accepted = (f_new <= f + SUFFICIENT * t * slope + noise * f.abs()) & ~done
        s, y = trial - x, g_new - g
        curvature = (s * y).sum(dim=1)
        useful = accepted & (curvature > 1e-10 * y.square().sum(dim=1))
        for kept, new in ((steps, s), (changes, y), (rho, 1 / curvature)):
            kept[:, useful] = torch.cat([kept[1:, useful], new[None, useful]])
        small = accepted & (f - f_new <= progress * f_new.abs().clamp(min=1)) & (progress > 0)
        ended = accepted & ((small & calm) | (g_new.abs().amax(dim=1) <= tolerance))
        calm = torch.where(accepted, small, calm)               # a single short step may be an accident
        x, g = (torch.where(accepted[:, None], new, old) for new, old in ((trial, x), (g_new, g)))
        f = torch.where(accepted, f_new, f)
        done = done | ended | (count >= EVALUATIONS) | (t < SHORTEST)
        d = torch.where(accepted[:, None], _direction(g, steps, changes, rho), d)
        t = torch.where(accepted, 1.0, t / 2)


def _direction(g: Tensor, steps: Tensor, changes: Tensor, rho: Tensor) -> Tensor:
    """Minus the inverse Hessian's estimate times g, by the two-loop recursion; places that hold nothing drop out."""
    q, shares = g.clone(), []
    for s, y, r in zip(steps.flip(0), changes.flip(0), rho.flip(0), strict=True):
        share = r * (s * q).sum(dim=1)
        shares.append(share)
        q -= share[:, None] * y
    y2 = changes[-1].square().sum(dim=1)
    scale = torch.where(rho[-1] > 0, 1 / (rho[-1] * y2).clamp(min=1e-300), 1.0)
    q *= scale[:, None]
    for s, y, r, share in zip(steps, changes, rho, reversed(shares), strict=True):
        q += (share - r * (y * q).sum(dim=1))[:, None] * s
    return _capped(-q, LONGEST_STEP)


def _capped(d: Tensor, longest: float) -> Tensor:
    return d * (longest / d.norm(dim=1).clamp(min=longest))[:, None]


def _collected(setup: Setup, attention: Attention, sizes: list[int], seeds: list[int], problems: list[_Problem],
               device: torch.device, dtype: torch.dtype, batch: int) -> Ensemble:
    """The best problem of every cell, measured."""
    cells = [[p for p in problems if p.cell == cell] for cell in range(len(sizes) * len(seeds))]
    best = [min(cell, key=lambda p: p.action) for cell in cells]
    L = setup.L
    found = np.empty((len(best), 4))
    for group in _groups(best, batch):
        action = BatchedAction(setup, attention, [p.tokens for p in group], device, dtype)
        M = torch.tensor(np.stack([p.M for p in group]), dtype=dtype, device=device)
        G = action.attention(M)
        Z = torch.cat([G @ action.X, G], dim=-1)
        W, _ = action.readout(Z)
        error = (Z @ W.to(dtype)[:, None] - action.Y).square().sum(dim=(1, 2, 3)).double() / (action.P * L)
        mean = G.sum(dim=1).double() / action.P[:, None, None]
        norm = G.square().sum(dim=(1, 2, 3)).double() / action.P
        T = mean.diagonal(offset=-1, dim1=1, dim2=2).sum(dim=1) + mean[:, 0, -1]
        c1 = (mean.sum(dim=(1, 2)) - T) / (L - 1)
        c_G = (T - c1) / np.sqrt(L)
        covered = torch.where(norm > 0, (c1**2 + 2 * c1 * c_G / np.sqrt(L) + c_G**2) / norm, 1.0)
        found[[p.cell for p in group]] = torch.stack([c1, c_G, error, covered], dim=1).cpu().numpy()
    sign = global_sign(found[:, 0], found[:, 1], L) if attention == "linear" else np.ones(len(best))
    shape = (len(sizes), len(seeds))

    def grid(values: Any) -> Any:
        array = np.asarray(values)
        return array.reshape(*shape, *array.shape[1:])

    return Ensemble(
        np.array(sizes), np.array(seeds), grid(sign * found[:, 0]), grid(sign * found[:, 1]),
        grid([p.action for p in best]), grid(found[:, 2]), grid(found[:, 3]),
        grid([all(p.ended for p in cell) for cell in cells]), grid([sum(p.evaluations for p in cell) for cell in cells]),
        grid([s * p.M for s, p in zip(sign, best, strict=True)]))
