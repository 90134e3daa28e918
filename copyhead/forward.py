"""What the networks share: one forward definition in terms of two small matrices, and the action.

A sequence enters through its features Phi = [X | I] (token and position, ``task.features``), and the weights of a
network through the kernel T of the logits, shape (V + L, V + L), and the effective readout r, shape (V, V + L):

    U = Phi T Phi^T,   G = U / L (linear) or softmax of the rows of U,   f = G Phi r^T.

With chi divided out the action is the data term ||Y - f||^2 / (2 sigma2) plus, for every weight, its square over twice its
prior variance, so that gradient descent on the action is training with weight decay.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from copyhead.probes import Probe
from copyhead.reduced import Attention, check_attention
from copyhead.setup import Setup
from copyhead.validation import positive_number, whole_number

Init = Literal["small", "prior"]
SMALL = 0.01                   # "small": attention weights and readout start at this share of their prior width


class Encoded(NamedTuple):
    """One-hot tokens and one-hot targets, both of shape (P, L, V), on a network's device and in its dtype."""

    X: Tensor
    Y: Tensor


class Network(torch.nn.Module):
    """What both networks share: everything that follows from ``kernel()`` and ``readout()``.

    Methods that take ``tokens`` accept integers in 0..V-1 of shape (P, L), as an array or a tensor, or what ``encode``
    made of them, which saves the checks and the transfer in a training loop.  They raise ValueError for other tokens.
    """

    def __init__(self, setup: Setup, attention: Attention, chi: float, init: Init, seed: int,
                 device: Any, dtype: torch.dtype) -> None:
        super().__init__()
        if not isinstance(setup, Setup):
            raise ValueError(f"setup must be a copyhead.Setup, got {setup!r}")
        check_attention(attention)
        if init not in ("small", "prior"):
            raise ValueError(f"init must be 'small' or 'prior', got {init!r}")
        if dtype not in (torch.float32, torch.float64):
            raise ValueError(f"dtype must be torch.float32 or torch.float64, got {dtype!r}")
        self.setup, self.attention_kind, self.chi = setup, attention, positive_number("chi", chi)
        self._init = init
        self._device, self._dtype = _checked_device(device), dtype
        self._generator = torch.Generator().manual_seed(whole_number("seed", seed, minimum=0))

    def kernel(self) -> Tensor:
        """T, the kernel of the logits, shape (V + L, V + L)."""
        return self._weights()[0]

    def readout(self) -> Tensor:
        """r, the effective readout, shape (V, V + L)."""
        return self._weights()[1]

    def prior_term(self) -> Tensor:
        """Minus the logarithm of the prior of the weights, divided by chi and without its constant; a scalar."""
        return self._weights()[2]

    def _weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """Kernel, readout and prior term, from one pass over the weights."""
        raise NotImplementedError

    def encode(self, tokens: ArrayLike | Tensor | Encoded) -> Encoded:
        """Check tokens and put them on the device as one-hot inputs and targets (y^a = x^(a-1), cyclic)."""
        if isinstance(tokens, Encoded):
            return tokens
        V, L = self.setup.V, self.setup.L
        given = tokens if isinstance(tokens, Tensor) else torch.as_tensor(np.asarray(tokens))
        if given.ndim != 2 or given.shape[1] != L or len(given) == 0:
            raise ValueError(f"tokens must have shape (P >= 1, L = {L}), got shape {tuple(given.shape)}")
        if given.is_floating_point() or given.is_complex() or given.dtype == torch.bool:
            raise ValueError(f"tokens must be integers in 0..{V - 1}, got dtype {given.dtype}")
        low, high = int(given.min()), int(given.max())
        if low < 0 or high >= V:
            raise ValueError(f"tokens must be integers in 0..{V - 1}, got the range {low}..{high}")
        where = self.device_and_dtype()
        X = torch.eye(V, **where)[given.to(where["device"], torch.int64)]
        return Encoded(X, torch.roll(X, 1, dims=1))

    def device_and_dtype(self) -> dict[str, Any]:
        """Where the weights are now, as keyword arguments for a new tensor."""
        weight = next(self.parameters())
        return {"device": weight.device, "dtype": weight.dtype}

    def attention(self, tokens: ArrayLike | Tensor | Encoded) -> Tensor:
        """Attention matrices G of all sequences, shape (P, L, L); rows are queries."""
        return self._attention(self.kernel(), self.encode(tokens).X)

    @torch.no_grad()
    def probe(self, tokens: ArrayLike | Tensor | Encoded, query: int = -1) -> Probe:
        """The head's attention row and what it hands to the readout, [G X | G], at one position; one layer, one head."""
        X = self.encode(tokens).X
        row = self._attention(self.kernel(), X)[:, query]
        outputs = torch.cat([torch.einsum("pb,pbv->pv", row, X), row], dim=-1)
        return Probe(*(part[None, None].double().cpu().numpy() for part in (row, outputs)))

    def forward(self, tokens: ArrayLike | Tensor | Encoded) -> Tensor:
        """Outputs f, shape (P, L, V)."""
        T, r, _ = self._weights()
        return self._outputs(T, r, self.encode(tokens).X)

    def data_term(self, tokens: ArrayLike | Tensor | Encoded) -> Tensor:
        """||Y - f||^2 / (2 sigma2), summed over sequences, positions and outputs; a scalar."""
        return self.squared_error(tokens) / (2 * self.setup.sigma2)

    def loss(self, tokens: ArrayLike | Tensor | Encoded) -> Tensor:
        """Squared error per token, ||Y - f||^2 / (P L): 2 sigma2 / (P L) times the data term; 1 for zero output."""
        data = self.encode(tokens)
        return self.squared_error(data) / (data.X.shape[0] * data.X.shape[1])

    def squared_error(self, tokens: ArrayLike | Tensor | Encoded) -> Tensor:
        """||Y - f||^2, summed over sequences, positions and outputs; a scalar."""
        data = self.encode(tokens)
        return (self(data) - data.Y).square().sum()

    def action(self, tokens: ArrayLike | Tensor | Encoded) -> Tensor:
        """``data_term + prior_term``, from one pass over the weights; a scalar."""
        data = self.encode(tokens)
        T, r, prior = self._weights()
        error = self._outputs(T, r, data.X) - data.Y
        return error.square().sum() / (2 * self.setup.sigma2) + prior

    def _outputs(self, T: Tensor, r: Tensor, X: Tensor) -> Tensor:
        V = self.setup.V
        return self._attention(T, X) @ (X @ r[:, :V].T + r[:, V:].T)            # G times the value of each key

    def _attention(self, T: Tensor, X: Tensor) -> Tensor:
        V, L = self.setup.V, self.setup.L
        if self.attention_kind == "linear":
            T = T / L
        # Phi T in its two parts, token keys and position keys: slices of one array would be copied on the way back.
        tokens, positions = (X @ part[:V] + part[V:] for part in (T[:, :V], T[:, V:]))
        U = torch.baddbmm(positions, tokens, X.transpose(1, 2))
        return U if self.attention_kind == "linear" else torch.softmax(U, dim=-1)

    def _draw(self, *shape: int, variance: float, small: float = SMALL) -> torch.nn.Parameter:
        """Weights from the prior at chi, or at ``small`` times its width at chi = 1.

        Drawn on the CPU in single precision, so that a seed gives the same weights on every device and in both dtypes.
        """
        width = np.sqrt(variance / self.chi) if self._init == "prior" else small * np.sqrt(variance)
        weights = torch.randn(*shape, generator=self._generator).mul_(float(width))
        return torch.nn.Parameter(weights.to(device=self._device, dtype=self._dtype))


def _checked_device(device: Any) -> torch.device:
    try:
        checked = torch.device("cpu" if device is None else device)
        torch.empty(0, device=checked)
    except (RuntimeError, TypeError, AssertionError) as error:
        raise ValueError(f"device must be one that torch can use here, got {device!r}: {error}") from None
    return checked
