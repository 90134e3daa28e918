r"""Two small networks from S bits to S bits, with a leading axis of seeds on everything.

**Encoder**: one layer of multi-head attention and an MLP, both with residual connections.  Each output position a asks with
a learned vector q_a of its own, so the answer is not in the input, nothing has to be masked and nothing can leak:

    h_a = q_a + W_O concat_h sum_b A^h_ab v^h_b,   A^h_ab = softmax_b( q^h_a . k^h_b / sqrt(head_dim) + bias R_ab ),
    h_a <- h_a + W_2 relu(W_1 h_a + b_1) + b_2,    logit_a = u . h_a + u_0.

``bias`` adds to the scores where the task's pattern R has its ones: attention is then told where to look.
The input at position b is one of two vectors, E_b0 or E_b1, so keys and values are tables of two rows per position.

**Mixer**: an MLP across positions in the place of attention, the same for every channel, as in MLP-Mixer.

There is no layer normalisation in either.  Every weight has shape (seeds, ...) and enters in products of the same seed
only; torch's batched products then train many networks in the time of a few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from copyhead.validation import whole_number

Weights = Mapping[str, Tensor]


def _draw(generators: Sequence[torch.Generator], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Normal numbers, with variance one over the number of inputs for names in W; biases ``b`` are zero.

    Each seed draws from its own generator, in the order of the names.
    """
    weights = {}
    for name, shape in shapes.items():
        scale = 0.0 if name.startswith("b") else shape[0] ** -0.5 if name[0] in "Wu" else 1.0
        weights[name] = scale * torch.stack([torch.randn(shape, generator=g) for g in generators])
    return weights


def _mlp(h: Tensor, w: Weights) -> Tensor:
    return torch.relu(h @ w["W1"] + w["b1"][:, None]) @ w["W2"] + w["b2"][:, None]


@dataclass(frozen=True)
class Encoder:
    """Attention with ``heads`` heads of ``head_dim``; ``width`` of the residual stream, ``hidden`` of the MLP."""

    heads: int = 4
    head_dim: int = 8
    width: int = 32
    hidden: int = 64
    bias: float = 0.0

    def __post_init__(self) -> None:
        for name in ("heads", "head_dim", "width", "hidden"):
            whole_number(name, getattr(self, name), 1)

    def weights(self, S: int, generators: Sequence[torch.Generator]) -> dict[str, Tensor]:
        """Random weights for sequences of S bits, one network per generator."""
        D, inner, M = self.width, self.heads * self.head_dim, self.hidden
        return _draw(generators, {"E": (S, 2, D), "Q": (S, D), "WQ": (D, inner), "WK": (D, inner), "WV": (D, inner),
                                  "WO": (inner, D), "W1": (D, M), "b1": (M,), "W2": (M, D), "b2": (D,), "u": (D,),
                                  "b0": (1,)})

    def forward(self, w: Weights, x: Tensor, pattern: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (seeds, B, S) for bits x (seeds, B, S), and attention (seeds, heads, B, S, S)."""
        n, B, S = x.shape
        bits = x.to(w["E"].dtype)[:, None, :, None]                                    # (seeds, 1, B, 1, S)
        q = self._split(w["Q"] @ w["WQ"], S)[..., 0, :]                                # (seeds, heads, S, head_dim)
        inputs = w["E"].flatten(1, 2)
        k, v = self._split(inputs @ w["WK"], S), self._split(inputs @ w["WV"], S)      # (seeds, heads, S, 2, head_dim)
        scores = q[:, :, None] @ k.permute(0, 1, 3, 4, 2) / self.head_dim**0.5         # (seeds, heads, 2, S, S)
        scores = scores + self.bias * pattern[:, None, None].to(scores.dtype)
        zero, one = scores[:, :, None, 0], scores[:, :, None, 1]
        A = torch.softmax(zero + bits * (one - zero), dim=-1)
        flat, ones = A.flatten(2, 3), (A * bits).flatten(2, 3)
        mixed = flat @ v[..., 0, :] + ones @ (v[..., 1, :] - v[..., 0, :])             # (seeds, heads, B S, head_dim)
        h = w["Q"].repeat(1, B, 1) + mixed.transpose(1, 2).flatten(2) @ w["WO"]
        h = h + _mlp(h, w)
        return ((h @ w["u"][..., None])[..., 0] + w["b0"]).view(n, B, S), A

    def _split(self, rows: Tensor, S: int) -> Tensor:
        """(seeds, S * tokens, heads * head_dim) to (seeds, heads, S, tokens, head_dim)."""
        return rows.view(len(rows), S, -1, self.heads, self.head_dim).permute(0, 3, 1, 2, 4)


@dataclass(frozen=True)
class Mixer:
    """``mixing`` hidden units across positions; ``width`` channels, ``hidden`` units of the MLP across channels."""

    mixing: int = 32
    width: int = 32
    hidden: int = 64

    def __post_init__(self) -> None:
        for name in ("mixing", "width", "hidden"):
            whole_number(name, getattr(self, name), 1)

    def weights(self, S: int, generators: Sequence[torch.Generator]) -> dict[str, Tensor]:
        """Random weights for sequences of S bits, one network per generator."""
        D, M = self.width, self.hidden
        return _draw(generators, {"E": (S, 2, D), "WA": (S, self.mixing), "bA": (self.mixing,), "WB": (self.mixing, S),
                                  "bB": (S,), "W1": (D, M), "b1": (M,), "W2": (M, D), "b2": (D,), "u": (D,), "b0": (1,)})

    def forward(self, w: Weights, x: Tensor, pattern: Tensor) -> tuple[Tensor, None]:
        """Logits (seeds, B, S) for bits x (seeds, B, S); there is no attention, and ``pattern`` has no effect."""
        n, B, S = x.shape
        zero, one = w["E"][:, None, :, 0], w["E"][:, None, :, 1]
        h = zero + x.to(zero.dtype)[..., None] * (one - zero)                          # (seeds, B, S, width)
        columns = h.transpose(2, 3).flatten(1, 2)                                      # (seeds, B width, S)
        across = torch.relu(columns @ w["WA"] + w["bA"][:, None]) @ w["WB"] + w["bB"][:, None]
        h = (h + across.view(n, B, -1, S).transpose(2, 3)).flatten(1, 2)
        h = h + _mlp(h, w)
        return ((h @ w["u"][..., None])[..., 0] + w["b0"]).view(n, B, S), None


Student = Encoder | Mixer
