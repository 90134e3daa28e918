"""Tasks on bits and the Walsh expansion, against brute force in plain Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from copyhead.bit_tasks import Automaton, LinearMap, Noise, all_bits, by_order, walsh  # noqa: E402


def test_all_bits_lists_every_input_once_in_the_order_of_the_numbers() -> None:
    x = all_bits(4)
    assert x.shape == (16, 4)
    assert [sum(int(bit) << b for b, bit in enumerate(row)) for row in x] == list(range(16))


@pytest.mark.parametrize("s", [1, 3, 5])
def test_a_linear_map_is_the_xor_of_the_ones_of_its_rows(s: int) -> None:
    task = LinearMap.random(5, s, [3, 7])
    assert (task.pattern.sum(dim=1) == s).all() and (task.pattern.sum(dim=2) == s).all()
    x = torch.as_tensor(all_bits(5)).expand(2, 32, 5)
    for seed, i, a in product(range(2), range(32), range(5)):
        parity = 0
        for b in range(5):
            parity ^= int(x[seed, i, b]) & int(task.pattern[seed, a, b])
        assert task.labels(x, [])[seed, i, a] == parity


def test_rule_110_grows_as_in_wolframs_picture_and_150_is_the_xor_of_three() -> None:
    def after(rule: int, cells: str) -> str:
        x = torch.tensor([[[int(c) for c in cells]]])
        return "".join(str(int(y)) for y in Automaton(rule, len(cells)).labels(x, [])[0, 0])

    rows = ["000000010", "000000110", "000001110", "000011010", "000111110", "001100010"]
    for row, following in zip(rows[:-1], rows[1:], strict=True):
        assert after(110, row) == following
    x = all_bits(6)
    y = Automaton(150, 6).labels(torch.as_tensor(x)[None], [])[0].numpy()
    assert np.array_equal(y, x ^ np.roll(x, 1, axis=1) ^ np.roll(x, -1, axis=1))


@pytest.mark.parametrize("rule", [30, 90, 110, 184])
def test_labels_of_an_automaton_depend_on_the_bits_of_its_pattern_and_no_others(rule: int) -> None:
    task, x = Automaton(rule, 6), all_bits(6)
    y = task.labels(torch.as_tensor(x)[None], [])[0].numpy()
    for a, b in product(range(6), range(6)):
        flipped = x.copy()
        flipped[:, b] ^= 1
        changed = (task.labels(torch.as_tensor(flipped)[None], [])[0].numpy()[:, a] != y[:, a]).any()
        assert not changed or task.pattern[0, a, b] == 1


def test_noise_is_drawn_from_each_seeds_own_generator() -> None:
    x = torch.zeros(2, 500, 4, dtype=torch.long)

    def generator(seed: int):
        return torch.Generator().manual_seed(seed)

    pair, alone = Noise(4).labels(x, [generator(1), generator(2)]), Noise(4).labels(x[:1], [generator(2)])
    assert torch.equal(pair[1], alone[0]) and not torch.equal(pair[0], pair[1])
    assert abs(float(pair.mean()) - 0.5) < 4 * 0.5 / 4000**0.5                      # false alarm 6e-5, seed fixed


def test_walsh_coefficients_are_means_with_products_of_spins() -> None:
    f = np.random.default_rng(0).standard_normal((2, 16))
    x = all_bits(4)
    found = walsh(f)
    for T in range(16):
        chi = np.array([(-1) ** sum(int(row[b]) for b in range(4) if T >> b & 1) for row in x])
        assert np.allclose(found[:, T], (f * chi).mean(axis=1), atol=1e-14)
    assert np.allclose(by_order(found).sum(axis=1), (f**2).mean(axis=1))


def test_a_row_of_a_linear_map_is_one_term_of_order_s() -> None:
    task = LinearMap.random(6, 4, [0])
    y = task.labels(torch.as_tensor(all_bits(6))[None], [])[0].numpy()
    c = walsh(1 - 2 * y.T)
    assert np.allclose(by_order(c), np.eye(7)[[4] * 6])
    masks = (task.pattern[0].numpy() @ 2 ** np.arange(6)).astype(int)
    assert np.allclose(c[range(6), masks], 1)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: LinearMap(np.full((3, 3), 0.5)), "pattern must hold zeros and ones"),
    (lambda: LinearMap(np.ones((2, 3))), "pattern must hold"),
    (lambda: LinearMap.random(4, 5, [0]), "s must be an integer in 1..S"),
    (lambda: Automaton(256, 8), "rule must be an integer in 0..255"),
    (lambda: Automaton(110, 2), "S must be an integer >= 3"),
    (lambda: all_bits(17), "S must be an integer in 1..16"),
    (lambda: walsh(np.ones(6)), r"values must have shape \(..., 2\^S\)"),
])
def test_bad_input_is_named(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
