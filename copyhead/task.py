"""The copy task: random sequences in which every position has to repeat its predecessor.

A sequence is a row of L tokens, each uniform on 0..V-1 and independent of the rest.  The target at position a is
the token at position a - 1, cyclically: position 0 has to copy the last token.

Training and held-out sequences come from two separate endless streams, each fixed by (L, V, seed).  A data set of
size P is the first P sequences of its stream, so it depends on (L, V, P, seed) only, and growing P adds sequences
without changing the earlier ones.  A sweep over P at one seed therefore follows one growing data set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from copyhead.validation import whole_number

TRAINING, HELD_OUT = 0, 1


def sequences(L: int, V: int, P: int, seed: int, stream: int = TRAINING) -> NDArray[np.intp]:
    """Tokens of the first ``P`` sequences of a stream: integers in 0..V-1, shape (P, L).

    Parameters
    ----------
    L, V : int, at least 2
        Sequence length and vocabulary size.
    P : int, at least 1
        Number of sequences.
    seed : int, at least 0
    stream : ``TRAINING`` or ``HELD_OUT``

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """
    L, V = whole_number("L", L, minimum=2), whole_number("V", V, minimum=2)
    P, seed = whole_number("P", P, minimum=1), whole_number("seed", seed, minimum=0)
    if stream not in (TRAINING, HELD_OUT):
        raise ValueError(f"stream must be TRAINING ({TRAINING}) or HELD_OUT ({HELD_OUT}), got {stream!r}")
    # A spawn key keeps the streams of different (L, V) and the two streams of one (L, V) unrelated.
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(L, V, stream)))
    return generator.integers(V, size=(P, L), dtype=np.int64).astype(np.intp, copy=False)


def targets(tokens: NDArray[np.intp]) -> NDArray[np.intp]:
    """Token that each position has to output, y^a = x^(a-1) with cyclic positions; same shape (..., L)."""
    return np.roll(tokens, 1, axis=-1)


def one_hot(tokens: NDArray[np.intp], V: int, dtype: DTypeLike = np.float64) -> NDArray[np.floating]:
    """One-hot rows of ``tokens``, shape (..., L, V)."""
    return np.eye(V, dtype=dtype)[tokens]


def features(tokens: NDArray[np.intp], V: int, dtype: DTypeLike = np.float64) -> NDArray[np.floating]:
    """The feature matrix Phi = [X | I_L]: row a joins the one-hot token and the one-hot position; (..., L, V + L).

    ``features(s, V) @ features(t, V).T`` is the embedding kernel of two sequences at unit embedding variances: the
    number of shared properties (same token, same position) of each pair of positions.
    """
    L = tokens.shape[-1]
    positions = np.broadcast_to(np.eye(L, dtype=dtype), (*tokens.shape, L))
    return np.concatenate([one_hot(tokens, V, dtype), positions], axis=-1)
