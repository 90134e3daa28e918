"""A large weight matrix seen through a few vectors, with its prior, in one pass over it each way."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

BLOCK_BYTES = 1 << 21          # on a CPU the product and the norm of a block of rows are taken while it is in the cache


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
        product, norms = W.new_empty(len(W), E.shape[1]), W.new_empty(len(W))
        rows = len(W) if W.device.type != "cpu" else max(1, BLOCK_BYTES // (W.shape[1] * W.element_size()))
        for start in range(0, len(W), rows):
            block = slice(start, start + rows)
            torch.mm(W[block], E, out=product[block])
            torch.linalg.vector_norm(W[block], dim=1, out=norms[block])
        # Row by row and then in double precision: one single-precision sum of 10^8 squares would be 2 % off.
        square = norms.square().sum(dtype=torch.float64)
        return product, (square * (precision / 2)).to(W.dtype)

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
