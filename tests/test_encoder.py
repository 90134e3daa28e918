"""The networks against PyTorch's own attention and against loops over positions."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from copyhead.bit_tasks import all_bits  # noqa: E402
from copyhead.encoder import Encoder, Mixer  # noqa: E402

S = 4


def drawn(student, seeds: int = 2):
    generators = [torch.Generator().manual_seed(i) for i in range(seeds)]
    weights = {name: w.double() for name, w in student.weights(S, generators).items()}
    for name in weights:                                        # biases begin at zero: move them, so that they count
        if name.startswith("b"):
            weights[name] = torch.randn(weights[name].shape, generator=generators[0], dtype=torch.float64)
    return weights, torch.as_tensor(all_bits(S)).expand(seeds, -1, -1)


@pytest.mark.parametrize("bias", [0.0, 1.5])
def test_the_encoder_is_multi_head_attention_as_pytorch_computes_it(bias: float) -> None:
    student = Encoder(heads=3, head_dim=5, width=6, hidden=7, bias=bias)
    w, x = drawn(student)
    pattern = torch.eye(S).roll(1, 0).expand(2, S, S)
    logits, A = student.forward(w, x, pattern)
    for n in range(2):
        inputs = w["E"][n][torch.arange(S), x[n]]                                            # (B, S, width)
        heads = [torch.stack([(rows @ w[name][n]).unflatten(-1, (3, 5)).transpose(1, 2)], 0)[0]
                 for name, rows in (("WK", inputs), ("WV", inputs))]
        q = (w["Q"][n] @ w["WQ"][n]).unflatten(-1, (3, 5)).transpose(0, 1).expand(len(x[n]), 3, S, 5)
        mask = bias * pattern[n].double()
        out = torch.nn.functional.scaled_dot_product_attention(q, *heads, attn_mask=mask)
        h = w["Q"][n] + out.transpose(1, 2).flatten(2) @ w["WO"][n]
        h = h + torch.relu(h @ w["W1"][n] + w["b1"][n]) @ w["W2"][n] + w["b2"][n]
        assert torch.allclose(logits[n], h @ w["u"][n] + w["b0"][n], atol=1e-12)
        attention = torch.softmax(q @ heads[0].mT / 5**0.5 + mask, dim=-1)
        assert torch.allclose(A[n].transpose(0, 1), attention, atol=1e-12)


def test_the_mixer_is_its_loop_over_channels_and_positions() -> None:
    student = Mixer(mixing=3, width=5, hidden=7)
    w, x = drawn(student)
    logits, _ = student.forward(w, x, torch.ones(1, S, S))
    for n, i in ((0, 3), (1, 14)):
        h = torch.stack([w["E"][n, b, x[n, i, b]] for b in range(S)])
        mixed = h.clone()
        for c in range(5):
            mixed[:, c] += torch.relu(h[:, c] @ w["WA"][n] + w["bA"][n]) @ w["WB"][n] + w["bB"][n]
        for a in range(S):
            out = mixed[a] + torch.relu(mixed[a] @ w["W1"][n] + w["b1"][n]) @ w["W2"][n] + w["b2"][n]
            assert torch.isclose(logits[n, i, a], out @ w["u"][n] + w["b0"][n, 0], atol=1e-12)


def test_a_strong_bias_leaves_attention_on_the_pattern_and_a_bias_everywhere_does_nothing() -> None:
    student = Encoder(bias=60.0)
    w, x = drawn(student)
    pattern = torch.eye(S).roll(1, 0)[None]
    _, A = student.forward(w, x, pattern)
    assert torch.allclose((A * pattern[:, None, None]).sum(dim=-1), torch.ones(()).double(), atol=1e-12)
    everywhere, _ = student.forward(w, x, torch.ones(1, S, S))
    assert torch.allclose(everywhere, Encoder().forward(w, x, torch.ones(1, S, S))[0], atol=1e-9)


def test_no_network_reads_another_seeds_weights() -> None:
    for student in (Encoder(), Mixer()):
        w, x = drawn(student)
        before = student.forward(w, x, torch.ones(1, S, S))[0]
        changed = {name: torch.cat([v[:1], 2 * v[1:] + 1]) for name, v in w.items()}
        after = student.forward(changed, x, torch.ones(1, S, S))[0]
        assert torch.allclose(before[0], after[0], atol=1e-12) and not torch.allclose(before[1], after[1])


@pytest.mark.parametrize("make", [lambda: Encoder(heads=0), lambda: Encoder(head_dim=0), lambda: Mixer(mixing=0)])
def test_bad_sizes_are_named(make) -> None:
    with pytest.raises(ValueError, match="must be an integer >= 1"):
        make()
