# mypy: allow-untyped-defs
"""The in-context bigram task."""

import numpy as np
import pytest

from copyhead.bigram import asked_position, bigrams
from copyhead.task import HELD_OUT


@pytest.mark.parametrize("cyclic", [True, False])
def test_the_target_is_what_followed_the_query(cyclic):
    tokens, targets = bigrams(7, 9, 400, 0, cyclic=cyclic)
    assert tokens.shape == (400, 8) and targets.shape == (400,)
    asked = asked_position(tokens)
    for row, target, at in zip(tokens, targets, asked, strict=True):
        assert len(set(row[:7])) == 7 and row[at] == row[7] and row[(at + 1) % 7] == target
    assert set(asked) == set(range(7 if cyclic else 6))
    assert set(tokens.ravel()) == set(range(9))


def test_data_are_nested_and_streams_differ():
    few, many = bigrams(5, 6, 10, 3)[0], bigrams(5, 6, 50, 3)[0]
    assert (many[:10] == few).all()
    assert (bigrams(5, 6, 10, 3, stream=HELD_OUT)[0] != few).any()
    assert (bigrams(5, 6, 10, 3, cyclic=False)[0] != few).any()


def test_tokens_are_uniform():
    """Chi-squared over token counts at one position, 9 degrees of freedom: false alarm 1e-4."""
    tokens, targets = bigrams(5, 10, 5000, 1)
    for column in (tokens[:, 0], tokens[:, 5], targets):
        counts = np.bincount(column, minlength=10)
        assert ((counts - 500) ** 2 / 500).sum() < 33.7


@pytest.mark.parametrize("bad", [dict(L=2), dict(V=6), dict(P=0), dict(seed=-1), dict(stream=7)], ids=str)
def test_bad_arguments(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        bigrams(**{"L": 7, "V": 9, "P": 5, "seed": 0} | bad)
