"""A large weight matrix seen through a few vectors, with its prior, in one pass over it each way."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


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
        # Row by row and then in double precision: one single-precision sum of 10^8 squares would be 2 % off.
        square = torch.linalg.vector_norm(W, dim=1).square().sum(dtype=torch.float64)
        return W @ E, (square * (precision / 2)).to(W.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_product: Tensor, d_square: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        W, E = ctx.saved_tensors
        d_W = d_E = None
        if ctx.needs_input_grad[0]:
            d_W = torch.addmm(W, d_product, E.T, beta=float(d_square) * ctx.precision)
        if ctx.needs_input_grad[1]:
            d_E = W.T @ d_product
        return d_W, d_E, None
