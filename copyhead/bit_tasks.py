r"""Tasks on bits: S bits in, S bits out, and the Walsh expansion that says what is hard about them.

    linear map            y_a = sum_b R_ab x_b mod 2, with s ones in every row (and column) of R
    cellular automaton    y_a = rule(x_{a-1}, x_a, x_{a+1}) on a ring, rules numbered as by Wolfram
    noise                 y_a independent of x: whatever a network learns from it, it has learned from a leak

With spins sigma_b = (-1)^{x_b}, a function of S bits is a sum over subsets T of the positions (its **Walsh expansion**),

    f(x) = sum_T f_T chi_T(x),    chi_T = prod_{b in T} sigma_b,    f_T = 2^-S sum_x f(x) chi_T(x).

The order of a term is |T|.  A row of a linear map, as a spin, is one single term of order s: it is uncorrelated with every
function of fewer than s of its bits.

A task has ``S`` and ``pattern``, shape (seeds or 1, S, S), which has ones where the label at a depends on the bit at b; and
``labels(x, generators)``, bits of shape (seeds, B, S), as floats, for bits x of that shape.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from copyhead.patterns import circulant, random_regular
from copyhead.validation import whole_number

Array = NDArray[np.float64]
Generators = Sequence[torch.Generator]


class LinearMap:
    """Parities of s bits each.  ``pattern`` holds zeros and ones, shape (S, S), or (seeds, S, S) for a map per seed."""

    def __init__(self, pattern: ArrayLike) -> None:
        R = np.asarray(pattern, dtype=np.float32)
        R = R[None] if R.ndim == 2 else R
        if R.ndim != 3 or R.shape[1] != R.shape[2] or not np.isin(R, (0, 1)).all():
            raise ValueError(f"pattern must hold zeros and ones, shape (S, S) or (seeds, S, S), got shape {R.shape}")
        self.pattern, self.S = torch.as_tensor(R), R.shape[1]

    @classmethod
    def random(cls, S: int, s: int, seeds: Sequence[int]) -> LinearMap:
        """A random pattern for each seed, with s ones in every row and column, 1 <= s <= S."""
        if whole_number("s", s, 1) > whole_number("S", S, 2):
            raise ValueError(f"s must be an integer in 1..S = {S}, got {s}")
        if s == S:
            return cls(np.ones((len(seeds), S, S)))
        return cls(np.array([random_regular(S, s, seed) for seed in seeds]))

    def labels(self, x: Tensor, generators: Generators) -> Tensor:
        return (x.to(self.pattern.dtype) @ self.pattern.mT) % 2


class Automaton:
    """One step of the elementary cellular automaton with this rule, 0..255, on a ring of S >= 3 cells."""

    def __init__(self, rule: int, S: int) -> None:
        self.S = whole_number("S", S, 3)
        if whole_number("rule", rule, 0) > 255:
            raise ValueError(f"rule must be an integer in 0..255, got {rule}")
        self.table = torch.tensor([rule >> i & 1 for i in range(8)], dtype=torch.float32)
        self.pattern = torch.as_tensor(circulant(S, [0, 1, S - 1]), dtype=torch.float32)[None]

    def labels(self, x: Tensor, generators: Generators) -> Tensor:
        return self.table[4 * x.roll(1, -1) + 2 * x + x.roll(-1, -1)]


class Noise:
    """Labels that are coin tosses of their own."""

    def __init__(self, S: int) -> None:
        self.S = whole_number("S", S, 2)
        self.pattern = torch.ones(1, S, S)

    def labels(self, x: Tensor, generators: Generators) -> Tensor:
        return torch.stack([torch.randint(2, x.shape[1:], generator=g) for g in generators]).float()


Task = LinearMap | Automaton | Noise


def all_bits(S: int) -> NDArray[np.intp]:
    """Every input of S <= 16 bits, shape (2^S, S); the bit at position b of row i is bit b of the number i."""
    if whole_number("S", S, 1) > 16:
        raise ValueError(f"S must be an integer in 1..16, got {S}")
    return np.arange(2**S)[:, None] >> np.arange(S) & 1


def walsh(values: ArrayLike) -> Array:
    """Coefficients f_T of functions of bits, given as their values at ``all_bits``; both of shape (..., 2^S).

    T is the number whose bits are the positions in the subset.  The squares add up to the mean square of the values.
    """
    f = np.asarray(values, dtype=np.float64)
    n = f.shape[-1] if f.ndim else 0
    if n < 2 or n & n - 1:
        raise ValueError(f"values must have shape (..., 2^S), got {f.shape}")
    for b in range(n.bit_length() - 1):
        pair = f.reshape(*f.shape[:-1], -1, 2, 2**b)
        f = np.stack([pair[..., 0, :] + pair[..., 1, :], pair[..., 0, :] - pair[..., 1, :]], axis=-2).reshape(f.shape) / 2
    return f


def by_order(coefficients: ArrayLike) -> Array:
    """Sum of the squared Walsh coefficients of each order, shape (..., 2^S) to (..., S + 1)."""
    c = np.asarray(coefficients, dtype=np.float64)
    order = np.array([T.bit_count() for T in range(c.shape[-1])])
    return np.stack([(c[..., order == k] ** 2).sum(axis=-1) for k in range(order.max() + 1)], axis=-1)
