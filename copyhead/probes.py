r"""What to measure on attention heads, whatever model they belong to.

**Spectrum.**  Outputs z_n of a head on N inputs have the second moment M = sum_n z_n z_n^T / N, or the covariance when
*centred*.  With its eigenvalues lambda_i, p_i = lambda_i / sum lambda:

    effective rank       exp(- sum p ln p)                   (exponential of the spectral entropy)
    participation ratio  (sum lambda)^2 / sum lambda^2.

Both count directions and lie between 1 and the dimension; effective rank >= participation ratio.  They are different
numbers, and the literature calls both "PR".

**Selectivity.**  Attention on a target position over mean attention on positions that are none.  The ratio explodes when
the rest of the row underflows, so ``mass``, the attention on the target itself, belongs beside it; and a head that looks
one position further on has selectivity ~ 0, so offsets are scanned.

**Closed form for a copy head.**  Its output per query is sum_b G_ab [x^b | e_b].  With kappa = m^2 + (1-m)^2/(L-1),
m = G_a,a-1, random tokens, the rest of the row even, M has the eigenvalues kappa + 1/V once and kappa / V (V-1) times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.validation import real_array, whole_number

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Probe:
    """What every head does at one query position of N sequences.

    ``attention`` (layers, heads, N, T): its row; ``outputs`` (layers, heads, N, width): what it hands to its readout.
    """

    attention: Array
    outputs: Array

    def __post_init__(self) -> None:
        if self.attention.ndim != 4 or self.outputs.ndim != 4 or self.attention.shape[:3] != self.outputs.shape[:3]:
            raise ValueError("attention and outputs must have shapes (layers, heads, N, T) and (layers, heads, N, width), "
                             f"got {self.attention.shape} and {self.outputs.shape}")


class Probed(Protocol):
    """A model that can be looked into."""

    def probe(self, tokens: Any, query: int = -1) -> Probe:
        """Rows and outputs of all heads at one query position of sequences (N, T)."""


# --- Spectrum -----------------------------------------------------------------------------------------------------------


def spectrum(outputs: ArrayLike, centred: bool = False) -> Array:
    """Eigenvalues, descending, of the second moment (or covariance) of outputs (..., N, width); shape (..., min(N, width)).

    Raises ValueError for fewer than two axes or entries that are not finite.
    """
    z = real_array("outputs", outputs)
    if z.ndim < 2 or 0 in z.shape:
        raise ValueError(f"outputs must have shape (..., N, width), not empty, got {z.shape}")
    if centred:
        z = z - z.mean(axis=-2, keepdims=True)
    return np.asarray(np.linalg.svd(z, compute_uv=False) ** 2 / z.shape[-2])


def effective_rank(eigenvalues: ArrayLike) -> Array:
    """Exponential of the entropy of the normalised eigenvalues, over the last axis; NaN where all vanish."""
    p = _shares(eigenvalues)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.exp(-np.where(p > 0, p * np.log(p), p).sum(axis=-1)))


def participation_ratio(eigenvalues: ArrayLike) -> Array:
    """(sum lambda)^2 / sum lambda^2 over the last axis; NaN where all vanish."""
    return np.asarray(1 / np.square(_shares(eigenvalues)).sum(axis=-1))


def _shares(eigenvalues: ArrayLike) -> Array:
    lam = real_array("eigenvalues", eigenvalues)
    if lam.ndim < 1 or np.any(lam < 0):
        raise ValueError(f"eigenvalues must be >= 0, at least one axis, got {eigenvalues!r}")
    with np.errstate(invalid="ignore"):
        return np.asarray(lam / lam.sum(axis=-1, keepdims=True))


def copy_spectrum(m: ArrayLike, L: int, V: int) -> Array:
    """The V eigenvalues of a copy head that puts weight m on its lag and spreads the rest; shape (..., V)."""
    weight, L, V = real_array("m", m), whole_number("L", L, minimum=2), whole_number("V", V, minimum=2)
    kappa = np.square(weight) + np.square(1 - weight) / (L - 1)
    return np.asarray(np.concatenate([(kappa + 1 / V)[..., None], np.repeat((kappa / V)[..., None], V - 1, -1)], axis=-1))


# --- Selectivity --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Selectivity:
    """``offsets`` (n,); ``mass`` mean attention at target + offset, ``ratio`` mass over the baseline; both (..., n)."""

    offsets: NDArray[np.intp]
    mass: Array
    ratio: Array

    def best(self) -> NDArray[np.intp]:
        """Offset with most mass; shape (...)."""
        return np.asarray(self.offsets[self.mass.argmax(axis=-1)])


def selectivity(attention: ArrayLike, targets: ArrayLike, offsets: Sequence[int] = (0,), floor: float = 1e-4) -> Selectivity:
    """How much more attention falls on a position than on others.

    Parameters
    ----------
    attention : rows, shape (..., N, T)
    targets : integers, shape (N,)
        The position asked for, in each sequence.
    offsets : sequence of integers
        Positions relative to the target; a target + offset outside 0..T-1 counts as no attention.
    floor : float
        Smallest baseline: the ratio is mass / max(baseline, floor), so that underflow cannot pass for selectivity.

    The baseline of an offset is the mean over all other positions that are neither the first (a sink) nor the last (the
    query itself).  Raises ValueError naming the argument.
    """
    rows, where = real_array("attention", attention), np.asarray(targets)
    if rows.ndim < 2 or where.shape != rows.shape[-2:-1] or where.dtype.kind not in "iu":
        raise ValueError(f"targets must be integers of shape (N,) for attention (..., N, T) = {rows.shape}, "
                         f"got {where.dtype}, shape {where.shape}")
    T, steps = rows.shape[-1], np.asarray(list(offsets), dtype=np.intp)
    if not len(steps) or not floor > 0:
        raise ValueError(f"offsets must not be empty and floor > 0, got {offsets!r} and {floor!r}")
    at = where[:, None] + steps
    inside = (at >= 0) & (at < T)
    seen = np.take_along_axis(rows, np.broadcast_to(np.clip(at, 0, T - 1), (*rows.shape[:-1], len(steps))), axis=-1)
    mass = np.where(inside, seen, 0.0)
    inner = inside & (at > 0) & (at < T - 1)
    rest = rows[..., 1:-1].sum(axis=-1)[..., None] - np.where(inner, seen, 0.0)
    base = (rest / np.maximum(T - 2 - inner, 1)).mean(axis=-2)
    mean = mass.mean(axis=-2)
    return Selectivity(steps, mean, mean / np.maximum(base, floor))


def induction_batch(N: int, T: int, vocab: int, seed: int, *, first: int = 1) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sequences [0, filler, A, B, filler, A] of shape (N, T) whose last token has occurred once before, and the place of B.

    Filler is drawn without replacement, so that A and B stand nowhere else; tokens come from first..vocab-1, position 0
    holds token 0.  Needs vocab - first >= T - 2.
    """
    N, T = whole_number("N", N, minimum=1), whole_number("T", T, minimum=5)
    vocab, seed, first = whole_number("vocab", vocab, minimum=T), whole_number("seed", seed, minimum=0), int(first)
    if vocab - first < T - 2:
        raise ValueError(f"vocab must be >= {T - 2 + first} for tokens without repeats, got {vocab!r}")
    rng = np.random.default_rng(seed)
    tokens = np.zeros((N, T), dtype=np.intp)
    tokens[:, 1:-1] = first + rng.permuted(np.tile(np.arange(vocab - first), (N, 1)), axis=1)[:, : T - 2]
    place = rng.integers(1, T - 3, N)                       # of A; B follows, and at least one filler token
    tokens[:, -1] = tokens[np.arange(N), place]
    return tokens, place + 1
