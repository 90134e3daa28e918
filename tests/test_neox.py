"""The small GPT-NeoX alone (test_checkpoints.py compares it with transformers), and its training on repeats."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from copyhead.neox import NeoX, NeoXSizes, rotation, turned
from copyhead.repeats import repeats, train_on_repeats

SIZES = NeoXSizes(vocab=20, width=16, layers=2, heads=2, rotary=0.5)


def test_later_tokens_do_not_matter_and_fused_equals_eager() -> None:
    model = NeoX(SIZES, seed=1, width_of_start=0.4)
    tokens = torch.randint(20, (3, 14), generator=torch.Generator().manual_seed(0))
    other = tokens.clone()
    other[:, 9:] = (other[:, 9:] + 1) % 20
    torch.testing.assert_close(model(tokens)[:, :9], model(other)[:, :9], atol=1e-6, rtol=1e-5)
    assert (model(tokens)[:, 9:] - model(other)[:, 9:]).abs().max() > 0.01
    found: list[tuple[torch.Tensor, torch.Tensor]] = []
    eager = model.embed_out(model.gpt_neox(tokens, found))
    torch.testing.assert_close(eager, model(tokens), atol=1e-5, rtol=1e-4)
    for layer in range(2):
        row = found[layer][0][:, :, 8].transpose(0, 1).detach()
        np.testing.assert_allclose(model.probe(tokens, 8).attention[layer], row)


def test_rotation_knows_differences_of_positions_only() -> None:
    x = torch.randn(2, 6, generator=torch.Generator().manual_seed(2))
    q, k = (turned(row.expand(10, 6), rotation(10, 6, x)) for row in x)
    products = q @ k.T
    for lag in range(5):
        np.testing.assert_allclose(torch.diagonal(products, -lag), products[lag, 0].expand(10 - lag), atol=1e-5)
    torch.testing.assert_close(q.norm(dim=-1), x[0].norm().expand(10))
    assert products[0, 0] != pytest.approx(products[3, 0].item(), abs=1e-3)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [(dict(width=18, heads=4), "width must be a multiple of heads = 4"), (dict(rotary=0.0), "rotary must be in"),
     (dict(width=12, heads=4), "rotary must be in"), (dict(layers=0), "layers must be an integer >= 1")],
    ids=range(4),
)
def test_bad_sizes_are_named(sizes: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NeoXSizes(**sizes)  # type: ignore[arg-type]


def test_repeats() -> None:
    generator = torch.Generator().manual_seed(0)
    x, again = repeats(400, 25, 1000, generator)                         # hardly a repeat by chance
    assert bool((x[:, 0] == 0).all()) and x[:, 1:].min() >= 1
    seen_before = torch.stack([(x[:, :t] == x[:, t : t + 1]).any(dim=1) for t in range(25)], dim=1)
    assert bool(seen_before[again].all())                                # what counts as predictable has occurred
    count = again.sum(dim=1)
    assert count.min() == 3 and count.max() == 11                        # blocks of 4 to 12, without their first token
    starts = (again & ~torch.roll(again, 1, dims=1)).sum(dim=1)
    assert bool((starts == 1).all())                                     # one stretch
    y, later = repeats(200, 25, 1000, generator, "periodic")
    for row, predictable in zip(y, later, strict=True):
        period = int(predictable.long().argmax()) - 1
        assert 4 <= period <= 8 and torch.equal(row[1 + period :], row[1:-period])
    assert not repeats(5, 25, 9, generator, "random")[1].any()
    with pytest.raises(ValueError, match="data must be one of repeat, periodic, random"):
        repeats(5, 25, 9, generator, "noise")  # type: ignore[arg-type]


def test_training_is_recorded_and_repeatable() -> None:
    def once() -> dict[str, np.ndarray]:
        model = NeoX(SIZES, seed=0, width_of_start=0.1)
        size = lambda m: {"norm": float(m.embed_out.weight.detach().norm())}  # noqa: E731
        return train_on_repeats(model, size, T=13, steps=20, every=10, predictable_only=True)

    first, second = once(), once()
    np.testing.assert_array_equal(first["step"], [0, 10, 20])
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
    assert first["norm"][2] != first["norm"][0] and first["loss"][2] < first["loss"][0]
    with pytest.raises(ValueError, match="data must not be 'random'"):
        train_on_repeats(NeoX(SIZES), lambda m: {}, data="random", predictable_only=True)


def test_control_learns_nothing() -> None:
    """Without repeats the held-out loss stays at ln(vocab - 1); a leak of later tokens would show here."""
    model = NeoX(NeoXSizes(vocab=12, width=16, heads=2, rotary=0.5), width_of_start=0.1)
    found = train_on_repeats(model, lambda m: {}, data="random", T=13, steps=60, every=60)
    assert found["loss"][-1] == pytest.approx(np.log(11), abs=0.05) and np.isnan(found["accuracy"]).all()
