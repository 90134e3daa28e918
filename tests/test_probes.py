"""The measures on heads: closed forms, enumeration of all sequences, and the traps that attention sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from copyhead.probes import (
    Probe,
    copy_spectrum,
    effective_rank,
    induction_batch,
    participation_ratio,
    selectivity,
    spectrum,
)


def test_both_measures_count_equal_directions_and_differ_otherwise() -> None:
    for n in (1, 3, 8):
        flat = np.r_[np.full(n, 2.5), np.zeros(4)]
        np.testing.assert_allclose([effective_rank(flat), participation_ratio(flat)], n, rtol=1e-12)
    uneven = np.array([3.0, 1.0])
    np.testing.assert_allclose(effective_rank(uneven), 4 / 27**0.25, rtol=1e-12)            # p = 3/4, 1/4
    np.testing.assert_allclose(participation_ratio(uneven), 16 / 10, rtol=1e-12)
    draws = np.random.default_rng(0).exponential(size=(200, 6))
    assert np.all(effective_rank(draws) > participation_ratio(draws))
    np.testing.assert_allclose(effective_rank(draws), effective_rank(7 * draws), rtol=1e-12)
    assert np.isnan(effective_rank(np.zeros(3))) and np.isnan(participation_ratio(np.zeros(3)))


def test_spectrum_is_that_of_the_moment_matrix() -> None:
    z = np.random.default_rng(1).standard_normal((2, 50, 4)) + 3
    for centred in (False, True):
        y = z - z.mean(axis=1, keepdims=True) * centred
        expected = np.linalg.eigvalsh(np.swapaxes(y, 1, 2) @ y / 50)[:, ::-1]
        np.testing.assert_allclose(spectrum(z, centred), expected, rtol=1e-10)
    assert spectrum(z[0, :2]).shape == (2,)


@pytest.mark.parametrize("m", [0.25, 0.4, 1.0])
def test_copy_head_by_enumeration(m: float) -> None:
    """All 3^4 sequences of L = 4, V = 3: one query, outputs [sum_b G_b x^b | G]."""
    L, V = 4, 3
    row = np.full(L, (1 - m) / (L - 1))
    row[1] = m
    outputs = [np.r_[row @ np.eye(V)[list(tokens)], row] for tokens in itertools.product(range(V), repeat=L)]
    found = spectrum(np.array(outputs))
    np.testing.assert_allclose(found[:V], copy_spectrum(m, L, V), rtol=1e-12)
    np.testing.assert_allclose(found[V:], 0, atol=1e-15)
    np.testing.assert_allclose(effective_rank(spectrum(np.array(outputs), centred=True)), V - 1, rtol=1e-10)


def test_networks_can_be_probed() -> None:
    """A planted copy head of both kinds of network has the closed form's spectrum, up to 3 sigma of 4000 sequences."""
    import torch

    from copyhead import Setup
    from copyhead.networks import ReducedNetwork
    from copyhead.task import sequences

    setup, ell = Setup(6, 4), 2.0
    network = ReducedNetwork(setup, "softmax", dtype=torch.float64)
    with torch.no_grad():
        network.M.zero_()
        network.M[4:, 4:] = ell * torch.roll(torch.eye(6), -1, dims=1)
    tokens = sequences(6, 4, 4000, 0)
    probe = network.probe(tokens, query=3)
    assert probe.attention.shape == (1, 1, 4000, 6) and probe.outputs.shape == (1, 1, 4000, 10)
    at = int(probe.attention[0, 0, 0].argmax())
    m = np.exp(ell) / (np.exp(ell) + 5)
    np.testing.assert_allclose(probe.attention[0, 0, :, at], m, rtol=1e-12)
    assert at == 2                                                       # the previous position
    np.testing.assert_allclose(spectrum(probe.outputs[0, 0])[:4], copy_spectrum(m, 6, 4), rtol=0.07)
    found = selectivity(probe.attention[0, 0], np.full(4000, 2))
    np.testing.assert_allclose(found.ratio, np.exp(ell), rtol=1e-10)


def test_selectivity_scans_offsets_and_names_the_shift() -> None:
    T, targets = 12, np.array([3, 5, 7, 8])
    rows = np.full((2, 4, T), 0.01)
    for n, t in enumerate(targets):
        rows[0, n, t], rows[1, n, t + 2] = 0.89, 0.89
    found = selectivity(rows, targets, range(-1, 3))
    np.testing.assert_array_equal(found.best(), [0, 2])
    np.testing.assert_allclose(found.ratio[0, 1], 89, rtol=1e-9)
    assert found.ratio[1, 1] < 1 and found.mass[1, 3] > 0.88


def test_underflow_is_no_selectivity() -> None:
    """A sink that takes all but 1e-7 leaves a ratio of thousands on nothing; the floor says so."""
    T, targets = 20, np.array([4, 9, 11])
    rows = np.full((3, T), 1e-10)
    rows[np.arange(3), targets], rows[:, 0] = 1e-6, 1 - 1e-6
    assert selectivity(rows, targets, floor=1e-12).ratio[0] > 1000
    found = selectivity(rows, targets)
    assert found.ratio[0] < 0.1 and found.mass[0] < 1e-5


def test_targets_outside_count_as_no_attention() -> None:
    rows = np.full((2, 6), 1 / 6)
    found = selectivity(rows, np.array([4, 2]), [3])
    np.testing.assert_allclose(found.mass, 0.5 / 6)


def test_induction_batch() -> None:
    tokens, place = induction_batch(500, 20, 32, seed=3)
    rows = np.arange(500)
    assert np.all(tokens[:, 0] == 0) and tokens[:, 1:].min() == 1 and tokens.max() == 31
    assert np.all(tokens[rows, place - 1] == tokens[:, -1]) and place.min() == 2 and place.max() == 17
    for row, B in zip(tokens, place, strict=True):
        assert (row == row[-1]).sum() == 2 and (row == row[B]).sum() == 1 and len(set(row)) == 19
    assert np.array_equal(tokens[:10], induction_batch(500, 20, 32, seed=3)[0][:10])
    assert induction_batch(4, 10, 60, seed=0, first=50)[0][:, 1:].min() >= 50


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spectrum([1.0, 2.0]), "outputs must have shape"),
        (lambda: spectrum([[np.nan, 1.0]]), "outputs must be finite"),
        (lambda: effective_rank([1.0, -1.0]), "eigenvalues must be >= 0"),
        (lambda: selectivity(np.ones((2, 5)), [1]), "targets must be integers of shape"),
        (lambda: selectivity(np.ones((2, 5)), [1.0, 2.0]), "targets must be integers of shape"),
        (lambda: selectivity(np.ones((2, 5)), [1, 2], []), "offsets must not be empty"),
        (lambda: induction_batch(3, 20, 20, 0, first=3), "vocab must be >= 21"),
        (lambda: induction_batch(3, 20, 20, 0, first=5), "vocab must be >= 23"),
        (lambda: induction_batch(3, 4, 20, 0), "T must be an integer >= 5"),
        (lambda: Probe(np.ones((1, 2, 3, 4)), np.ones((1, 2, 4, 4))), "attention and outputs must have shapes"),
    ],
    ids=range(10),
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
