"""The in-context bigram task: a query token has appeared before; which token came next?

A sequence has L context tokens, all different, and after them a query, a copy of one context token.  The target is the
token that followed it there.  Nothing about the vocabulary helps: the pair is new in every sequence, and has to be found
by its content.  On a ring (``cyclic``) the token after the last is the first, every context position can be the one
asked for, and positions are equivalent; on a chain the last context token is never asked for.

Data are a function of (L, V, P, seed, cyclic) only, and nested in P as in ``task.sequences``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from copyhead.task import HELD_OUT, TRAINING
from copyhead.validation import whole_number


def bigrams(L: int, V: int, P: int, seed: int, *, cyclic: bool = True,
            stream: int = TRAINING) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Tokens of shape (P, L + 1), the query last, and targets of shape (P,); integers in 0..V-1.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range: L >= 3, V >= L, P >= 1, seed >= 0.
    """
    L, P, seed = whole_number("L", L, minimum=3), whole_number("P", P, minimum=1), whole_number("seed", seed, minimum=0)
    V = whole_number("V", V, minimum=L)
    if stream not in (TRAINING, HELD_OUT):
        raise ValueError(f"stream must be TRAINING ({TRAINING}) or HELD_OUT ({HELD_OUT}), got {stream!r}")
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(L, V, stream, 2 + bool(cyclic))))
    draws = generator.random((P, V + 1))                          # one row a sequence, so that more rows change none
    context = np.argsort(draws[:, :V], axis=1)[:, :L]
    asked = (draws[:, V] * (L if cyclic else L - 1)).astype(np.intp)
    rows = np.arange(P)
    tokens = np.concatenate([context, context[rows, asked][:, None]], axis=1).astype(np.intp, copy=False)
    return tokens, tokens[rows, (asked + 1) % L]


def asked_position(tokens: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where the query token stands in the context; shape (P,)."""
    return np.argmax(tokens[:, :-1] == tokens[:, -1:], axis=1)
