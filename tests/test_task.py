# mypy: allow-untyped-defs
import numpy as np
import pytest

from copyhead.patterns import G_star
from copyhead.task import HELD_OUT, features, one_hot, sequences, targets


def test_a_data_set_is_a_function_of_its_four_arguments_only():
    first = sequences(25, 5, 40, 3)
    sequences(25, 5, 7, 0)
    sequences(25, 5, 40, 4)
    assert np.array_equal(first, sequences(25, 5, 40, 3))
    assert first.shape == (40, 25) and first.min() == 0 and first.max() == 4


def test_data_sets_of_one_seed_are_nested():
    large = sequences(10, 3, 500, 2)
    for P in (1, 2, 77, 499):
        assert np.array_equal(sequences(10, 3, P, 2), large[:P])


def test_streams_are_unrelated():
    base = sequences(12, 4, 300, 0)
    others = [sequences(12, 4, 300, 1), sequences(12, 4, 300, 0, stream=HELD_OUT), sequences(13, 4, 300, 0)[:, :12],
              sequences(12, 4, 301, 0)[1:]]
    for other in others:
        # 3600 independent comparisons, each equal with probability 1/4: five standard deviations, false alarm 6e-7.
        assert abs(np.mean(base == other) - 0.25) < 5 * np.sqrt(0.25 * 0.75 / base.size)


@pytest.mark.parametrize("V", [2, 3, 5, 20])
def test_tokens_are_uniform_and_independent_of_their_neighbours(V):
    tokens = sequences(25, V, 4000, 0)
    pairs = np.bincount((tokens * V + targets(tokens)).ravel(), minlength=V * V)
    expected = tokens.size / V**2
    chi2 = ((pairs - expected) ** 2 / expected).sum()
    # For independent pairs chi^2 has mean V^2 - 1 and variance 2 (V^2 - 1).  Neighbouring pairs share a token; doubling
    # the variance covers that.  Six standard deviations on the upper side.
    assert chi2 < V**2 - 1 + 6 * np.sqrt(4 * (V**2 - 1))


def test_target_is_the_preceding_token():
    tokens = sequences(7, 4, 5, 0)
    y = targets(tokens)
    assert np.array_equal(y[:, 1:], tokens[:, :-1]) and np.array_equal(y[:, 0], tokens[:, -1])
    assert np.array_equal(G_star(7) @ one_hot(tokens, 4), one_hot(y, 4))


def test_features_count_shared_properties():
    tokens = sequences(6, 3, 2, 5)
    Phi = features(tokens, 3)
    assert Phi.shape == (2, 6, 9)
    shared = [[float(x == y) + float(a == b) for b, y in enumerate(tokens[1])] for a, x in enumerate(tokens[0])]
    assert np.array_equal(Phi[0] @ Phi[1].T, shared)


@pytest.mark.parametrize("arguments, name", [
    ((1, 5, 10, 0), "L"), ((25, 1, 10, 0), "V"), ((25, 5, 0, 0), "P"), ((25, 5, 2.0, 0), "P"), ((25, 5, 10, -1), "seed"),
    ((25, 5, 10, True), "seed"), ((25, 5, 10, 0, 2), "stream")])
def test_bad_arguments_are_named(arguments, name):
    with pytest.raises(ValueError, match=f"^{name} must be .*got"):
        sequences(*arguments)
