"""The networks, in PyTorch: the paper's with d-dimensional embeddings, and what is left of it at any d.

**One forward definition.**  A sequence enters through its features Phi = [X | I] (token and position, ``task.features``)
and the weights enter through two small matrices, the kernel T of the logits, shape (V + L, V + L), and the effective
readout r, shape (V, V + L):

    U = Phi T Phi^T,   G = U / L (linear) or softmax of the rows of U,   f = G Phi r^T.

**CopyNetwork** has an embedding vector of length d for every token and every position, the columns of E, shape
(d, V + L).  The embedded sequence would be Phi E^T, of shape (P, L, d), but only V + L different vectors occur, so

    T = E^T W_G E / d,   or   (W_Q E)^T (W_K E) / d,       r = W_O E,

and a step costs a few passes over the weights instead of P L d^2 operations.

**ReducedNetwork** has T = R M R and r = W R with R = C^(1/2): the same network with frozen embeddings of metric
C = E^T E / d.  C = 1 is d = infinity.

**Action.**  With chi divided out, ``action = data_term + prior_term``: ||Y - f||^2 / (2 sigma2), and for every weight
its square over twice its prior variance.  Gradient descent on it is training with weight decay.  Variances: g_W for
W_G and M, g_O / d for W_O, g_O for W.  The entries of W_Q and W_K share the variance sqrt(g_W / (chi d_k)), so that
W_Q^T W_K has entries of variance g_W / chi; a product does not scale like its factors, which leaves a chi in the action.
Embeddings have no term: their prior does not carry chi, and drops out as 1 / chi.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from copyhead.metric import square_root
from copyhead.reduced import Attention, check_attention
from copyhead.setup import Setup
from copyhead.validation import positive_number, whole_number

Init = Literal["small", "prior"]
SMALL = 0.01                   # "small": attention weights and readout start at this share of their prior width
BLOCK_BYTES = 1 << 20          # on a CPU a weight matrix is passed over in blocks of rows that stay in its cache


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
        query = X @ T[:V] + T[V:]                                               # Phi T, (P, L, V + L)
        U = torch.baddbmm(query[..., V:], query[..., :V], X.transpose(1, 2))
        return U / L if self.attention_kind == "linear" else torch.softmax(U, dim=-1)

    def _draw(self, *shape: int, variance: float, small: float = SMALL) -> torch.nn.Parameter:
        """Weights from the prior at chi, or at ``small`` times its width at chi = 1.

        Drawn on the CPU in single precision, so that a seed gives the same weights on every device and in both dtypes.
        """
        width = np.sqrt(variance / self.chi) if self._init == "prior" else small * np.sqrt(variance)
        weights = torch.randn(*shape, generator=self._generator).mul_(float(width))
        return torch.nn.Parameter(weights.to(device=self._device, dtype=self._dtype))


class ReducedNetwork(Network):
    """The network with frozen embeddings of a given metric, in its (V + L)^2 + V (V + L) weights M and W.

    Parameters
    ----------
    setup : Setup
    attention : "linear" or "softmax"
    chi : float, positive
        Used by ``init="prior"`` alone: the action has chi divided out.
    metric : symmetric and positive semidefinite, shape (V + L, V + L); None for the unit matrix, d = infinity
    init : "small" or "prior"
        Independent Gaussian entries of 0.01 sqrt(g), or from the prior: variance g / chi.
    seed : int, at least 0
    device, dtype : as for any tensor; torch.float32 (default) or torch.float64

    Attributes
    ----------
    M : parameter, (V + L, V + L), prior variance g_W.  T = C^(1/2) M C^(1/2).
    W : parameter, (V, V + L), prior variance g_O.  r = W C^(1/2).

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    root: Tensor | None

    def __init__(self, setup: Setup, attention: Attention, chi: float = 1.0, *, metric: ArrayLike | None = None,
                 init: Init = "small", seed: int = 0, device: Any = None, dtype: torch.dtype = torch.float32) -> None:
        super().__init__(setup, attention, chi, init, seed, device, dtype)
        n = setup.V + setup.L
        root = None if metric is None else square_root(np.asarray(metric, dtype=np.float64), n)
        self.register_buffer("root", None if root is None else torch.as_tensor(root).to(self._device, dtype))
        self.W = self._draw(setup.V, n, variance=setup.g_O)
        self.M = self._draw(n, n, variance=setup.g_W)

    def _weights(self) -> tuple[Tensor, Tensor, Tensor]:
        prior = self.M.square().sum() / (2 * self.setup.g_W) + self.W.square().sum() / (2 * self.setup.g_O)
        if self.root is None:
            return self.M, self.W, prior
        return self.root @ self.M @ self.root, self.W @ self.root, prior


class CopyNetwork(Network):
    """The paper's network: embeddings of dimension d, attention weights, readout.

    Parameters
    ----------
    setup : Setup
    attention : "linear" or "softmax"
    d_model : int, at least 1
        Embedding dimension d.
    chi : float, positive
        Width of ``init="prior"``; with W_Q and W_K also in the action (see the module).
    parametrization : "W_G" or "W_QW_K"
        One attention matrix of shape (d, d), or two of shape (d_k, d).
    d_k : int, at least 1
        Inner width; needed with "W_QW_K" and only there.
    train_embeddings : bool
        Whether E is a parameter to be trained.  It has no decay.
    init : "small" or "prior"
        Entries of 0.01 times the prior width at chi = 1 (W_Q and W_K: 0.1, so that their product is at 0.01), or the
        prior with chi.  E is standard normal in both.
    seed : int, at least 0
        The embedding depends on (V, L, d_model, seed) only: ``metric()`` is ``metric.random_metric(V, L, d, seed)``.
    device, dtype : as for any tensor; torch.float32 (default) or torch.float64

    Attributes
    ----------
    E : parameter, (d, V + L).  Column t embeds token t, column V + a position a.
    W_O : parameter, (V, d), prior variance g_O / d.
    W_G : parameter, (d, d), prior variance g_W; or W_Q and W_K, (d_k, d), prior variance sqrt(g_W / (chi d_k)).

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    def __init__(self, setup: Setup, attention: Attention, d_model: int, chi: float = 1.0, *,
                 parametrization: Literal["W_G", "W_QW_K"] = "W_G", d_k: int | None = None,
                 train_embeddings: bool = False, init: Init = "small", seed: int = 0, device: Any = None,
                 dtype: torch.dtype = torch.float32) -> None:
        super().__init__(setup, attention, chi, init, seed, device, dtype)
        self.d_model = d = whole_number("d_model", d_model, minimum=1)
        if parametrization not in ("W_G", "W_QW_K"):
            raise ValueError(f"parametrization must be 'W_G' or 'W_QW_K', got {parametrization!r}")
        if not isinstance(train_embeddings, bool):
            raise ValueError(f"train_embeddings must be True or False, got {train_embeddings!r}")
        self.parametrization = parametrization
        E = torch.as_tensor(embedding_vectors(setup.V, setup.L, d, seed))
        self.E = torch.nn.Parameter(E.to(self._device, dtype), requires_grad=train_embeddings)
        self.W_O = self._draw(setup.V, d, variance=setup.g_O / d)
        if parametrization == "W_G":
            if d_k is not None:
                raise ValueError(f"d_k must be None with parametrization 'W_G', got {d_k!r}")
            self.W_G = self._draw(d, d, variance=setup.g_W)
        else:
            self.d_k = whole_number("d_k", d_k, minimum=1)
            # The prior's variance is sqrt(g_W / (chi d_k)); _draw divides by chi itself.
            share = self.chi**0.5 if init == "prior" else 1.0
            variance = share * (setup.g_W / self.d_k) ** 0.5
            self.W_Q = self._draw(self.d_k, d, variance=variance, small=SMALL**0.5)
            self.W_K = self._draw(self.d_k, d, variance=variance, small=SMALL**0.5)

    def metric(self) -> NDArray[np.float64]:
        """C = E^T E / d, shape (V + L, V + L)."""
        E = self.E.detach().to("cpu", torch.float64).numpy()
        return E.T @ E / self.d_model

    def _weights(self) -> tuple[Tensor, Tensor, Tensor]:
        E, d = self.E, self.d_model
        r, readout_prior = project(self.W_O, E, d / self.setup.g_O)
        if self.parametrization == "W_G":
            keys, prior = project(self.W_G, E, 1 / self.setup.g_W)
            return E.T @ keys / d, r, prior + readout_prior
        precision = (self.d_k / (self.setup.g_W * self.chi)) ** 0.5       # 1 / (chi variance)
        queries, query_prior = project(self.W_Q, E, precision)
        keys, key_prior = project(self.W_K, E, precision)
        return queries.T @ keys / d, r, query_prior + key_prior + readout_prior


def embedding_vectors(V: int, L: int, d: int, seed: int) -> NDArray[np.float64]:
    """Independent standard normal embeddings, shape (d, V + L): those behind ``metric.random_metric``."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(L, V, d))).standard_normal((d, V + L))


def project(W: Tensor, E: Tensor, precision: float) -> tuple[Tensor, Tensor]:
    """W E and the scalar precision ||W||^2 / 2, for W of shape (rows, d) and E of shape (d, n).

    Autograd would read and write the gradient of a large W several times, once for each term.  Here both terms are done
    in one pass over W forward and one backward, and the gradient is the only matrix of W's size that is allocated.
    """
    product, square = _Project.apply(W, E, precision)
    return product, square


class _Project(torch.autograd.Function):

    @staticmethod
    def forward(ctx: Any, W: Tensor, E: Tensor, precision: float) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(W, E)
        ctx.precision = precision
        product = W.new_empty(W.shape[0], E.shape[1])
        squares = []
        for rows in _blocks(W):
            torch.mm(W[rows], E, out=product[rows])
            flat = W[rows].reshape(-1)
            squares.append(torch.dot(flat, flat))
        # Block sums in double precision: at d = 10,000 a single one would run over 10^8 numbers.
        total = torch.stack(squares).sum(dtype=torch.float64) * (precision / 2)
        return product, total.to(W.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_product: Tensor, d_square: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        W, E = ctx.saved_tensors
        d_W = d_E = None
        if ctx.needs_input_grad[0]:
            decay = float(d_square) * ctx.precision
            d_W = torch.empty_like(W)
            for rows in _blocks(W):
                torch.addmm(W[rows], d_product[rows], E.T, beta=decay, out=d_W[rows])
        if ctx.needs_input_grad[1]:
            d_E = W.T @ d_product
        return d_W, d_E, None


def _blocks(W: Tensor) -> list[slice]:
    """Blocks of rows: of the size of a cache on a CPU, all rows at once elsewhere."""
    size = len(W) if W.device.type != "cpu" else max(1, BLOCK_BYTES // (W.shape[1] * W.element_size()))
    return [slice(start, min(start + size, len(W))) for start in range(0, len(W), size)]


def _checked_device(device: Any) -> torch.device:
    try:
        checked = torch.device("cpu" if device is None else device)
        torch.empty(0, device=checked)
    except (RuntimeError, TypeError, AssertionError) as error:
        raise ValueError(f"device must be one that torch can use here, got {device!r}: {error}") from None
    return checked
