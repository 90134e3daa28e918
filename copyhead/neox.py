"""A small GPT-NeoX in PyTorch, with the names and the layout of Pythia's checkpoints.

Each layer adds what its attention and its MLP make of the same stream (parallel residual),

    x <- x + attention(norm_1(x)) + mlp(norm_2(x)),

attention knows positions by rotation: the first ``rotary * head width`` entries of queries and keys are turned, in
pairs (i, i + half), by the angle position * 10000^(-i / half).  Rows of ``query_key_value`` are ordered by head, and
within a head query, key, value.  A state dict of ``transformers.GPTNeoXForCausalLM`` of the same sizes fits, and back.

``Probe`` is what the measures of ``probes.py`` look at; every model here and in ``checkpoints.py`` can give one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional as F

from copyhead.probes import Probe
from copyhead.validation import positive_number, whole_number


@dataclass(frozen=True)
class NeoXSizes:
    """``vocab`` tokens, ``width`` = heads times head width, ``layers`` layers; the MLP is four times as wide."""

    vocab: int = 64
    width: int = 64
    layers: int = 2
    heads: int = 4
    rotary: float = 0.25
    eps: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("vocab", "width", "layers", "heads"):
            whole_number(name, getattr(self, name), minimum=1)
        positive_number("eps", self.eps)
        if self.width % self.heads:
            raise ValueError(f"width must be a multiple of heads = {self.heads}, got {self.width!r}")
        if not 0 < self.rotary <= 1 or self.turned < 2 or self.turned % 2:
            raise ValueError(f"rotary must be in (0, 1] and turn an even number >= 2 of a head's {self.width // self.heads} "
                             f"entries, got {self.rotary!r}")

    @property
    def turned(self) -> int:
        """Entries of a query that the rotation acts on."""
        return int(self.width // self.heads * self.rotary)


class NeoX(nn.Module):
    """Tokens (N, T) to logits (N, T, vocab).

    Parameters
    ----------
    sizes : NeoXSizes
    seed : int, at least 0
    width_of_start : float, positive
        Matrices start with independent normal entries of this standard deviation; biases are 0, norms 1.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    def __init__(self, sizes: NeoXSizes | None = None, seed: int = 0, width_of_start: float = 0.02) -> None:
        super().__init__()
        self.sizes = sizes = sizes or NeoXSizes()
        start = positive_number("width_of_start", width_of_start)
        self.register_load_state_dict_pre_hook(_rename)
        self.gpt_neox = _Stack(sizes)
        self.embed_out = nn.Linear(sizes.width, sizes.vocab, bias=False)
        generator = torch.Generator().manual_seed(whole_number("seed", seed, minimum=0))
        for name, weight in self.named_parameters():
            with torch.no_grad():
                if weight.ndim == 2:
                    weight.copy_(start * torch.randn(weight.shape, generator=generator))
                elif name.endswith("bias"):
                    weight.zero_()

    def forward(self, tokens: Tensor) -> Tensor:
        return self.embed_out(self.gpt_neox(tokens, None))

    @torch.no_grad()
    def probe(self, tokens: ArrayLike, query: int = -1) -> Probe:
        """Attention rows and head outputs of every head at one position of sequences (N, T)."""
        found: list[tuple[Tensor, Tensor]] = []
        self.gpt_neox(torch.as_tensor(np.asarray(tokens)).to(self.embed_out.weight.device), found)
        rows, heads = ([part[:, :, query] for part in parts] for parts in zip(*found, strict=True))
        return Probe(*(torch.stack(part).transpose(1, 2).double().cpu().numpy() for part in (rows, heads)))

    def configuration(self) -> dict[str, object]:
        """Arguments with which ``transformers.GPTNeoXConfig`` describes this model."""
        s = asdict(self.sizes)
        return dict(vocab_size=s["vocab"], hidden_size=s["width"], num_hidden_layers=s["layers"],
                    num_attention_heads=s["heads"], intermediate_size=4 * s["width"], rotary_pct=s["rotary"],
                    layer_norm_eps=s["eps"], hidden_act="gelu", use_parallel_residual=True, tie_word_embeddings=False)


def _rename(module: nn.Module, state: dict[str, Tensor], prefix: str, *rest: object) -> None:
    """Newer versions of transformers call ``embed_out`` lm_head in memory; in files it keeps its name."""
    if prefix + "lm_head.weight" in state:
        state[prefix + "embed_out.weight"] = state.pop(prefix + "lm_head.weight")


class _Stack(nn.Module):
    def __init__(self, sizes: NeoXSizes) -> None:
        super().__init__()
        self.embed_in = nn.Embedding(sizes.vocab, sizes.width)
        self.layers = nn.ModuleList(_Layer(sizes) for _ in range(sizes.layers))
        self.final_layer_norm = nn.LayerNorm(sizes.width, sizes.eps)
        self.turned = sizes.turned

    def forward(self, tokens: Tensor, found: list[tuple[Tensor, Tensor]] | None) -> Tensor:
        x = self.embed_in(tokens)
        turn = rotation(tokens.shape[1], self.turned, x)
        for layer in self.layers:
            x = layer(x, turn, found)
        return self.final_layer_norm(x)


class _Layer(nn.Module):
    def __init__(self, sizes: NeoXSizes) -> None:
        super().__init__()
        self.input_layernorm = nn.LayerNorm(sizes.width, sizes.eps)
        self.post_attention_layernorm = nn.LayerNorm(sizes.width, sizes.eps)
        self.attention = _Attention(sizes)
        self.mlp = _MLP(sizes.width)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], found: list[tuple[Tensor, Tensor]] | None) -> Tensor:
        return x + self.attention(self.input_layernorm(x), turn, found) + self.mlp(self.post_attention_layernorm(x))


class _MLP(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense_h_to_4h = nn.Linear(width, 4 * width)
        self.dense_4h_to_h = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense_4h_to_h(F.gelu(self.dense_h_to_4h(x)))


class _Attention(nn.Module):
    def __init__(self, sizes: NeoXSizes) -> None:
        super().__init__()
        self.heads, self.turned = sizes.heads, sizes.turned
        self.query_key_value = nn.Linear(sizes.width, 3 * sizes.width)
        self.dense = nn.Linear(sizes.width, sizes.width)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], found: list[tuple[Tensor, Tensor]] | None) -> Tensor:
        N, T, width = x.shape
        q, k, v = self.query_key_value(x).view(N, T, self.heads, -1).transpose(1, 2).chunk(3, dim=-1)
        q, k = (torch.cat([turned(part[..., : self.turned], turn), part[..., self.turned :]], dim=-1) for part in (q, k))
        if found is None:
            z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:                                                # the fused form does not hand out its weights
            later = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
            G = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(later, -torch.inf).softmax(dim=-1)
            z = G @ v
            found.append((G, z))
        return self.dense(z.transpose(1, 2).reshape(N, T, width))


def rotation(T: int, width: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine of the angles at positions 0..T-1, each of shape (T, width / 2), on the device of ``like``."""
    half = width // 2
    rate = 10000.0 ** (-torch.arange(half, dtype=torch.float32, device=like.device) / half)
    angle = torch.arange(T, dtype=torch.float32, device=like.device)[:, None] * rate
    return angle.cos().to(like.dtype), angle.sin().to(like.dtype)


def turned(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotate the pairs (i, i + half) of the last axis of x, shape (..., T, width)."""
    cos, sin = turn
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
