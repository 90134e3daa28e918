"""Many-headed networks that learn from a teacher, on real sequences: most probable weights, and gradient flow; in PyTorch.

The most probable weights come from ``heads_network.HeadsAction`` with the teacher's targets in the place of the copy
task's.  For the flow the readouts are kept as weights of their own, W of shape (H, V + L, V), so that they can be slow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from copyhead.heads_network import Floats, HeadsAction
from copyhead.reduced import Attention, planted
from copyhead.setup import Setup
from copyhead.teacher import Teacher
from copyhead.validation import positive_number, whole_number


class TeacherAction(HeadsAction):
    """Action S(M_1, ..., M_H) of a network under a teacher; everything else as in ``HeadsAction``."""

    def __init__(self, setup: Setup, attention: Attention, tokens: NDArray[np.intp], teacher: Teacher,
                 heads: int = 1) -> None:
        super().__init__(setup, attention, tokens, heads)
        self.teacher = teacher
        self._Y = torch.as_tensor(teacher.targets(tokens)).reshape(-1, setup.V)

    def weights(self, M: Floats) -> Floats:
        """Mean attention of every head at one position of each lag or pattern, shape (H, K)."""
        with torch.no_grad():
            mean = np.array([self._attention(x).mean(dim=0).numpy() for x in torch.as_tensor(M)])
        return np.einsum("hab,kab->hk", mean, self.teacher.patterns()) / (self.setup.L * self.teacher.sizes)

    def planted(self, x: Floats) -> Floats:
        """Weights whose softmax logits are sum_k x_hk R_k, from x of shape (H, K)."""
        return np.array([planted(row, self.setup.V) for row in np.einsum("hk,kab->hab", x, self.teacher.patterns())])


@dataclass(frozen=True)
class HeadsRun:
    """``time`` (n,), ``weights`` mean attention at the lags (n, H, K), ``loss`` per token (n,)."""

    time: NDArray[np.float64]
    weights: NDArray[np.float64]
    loss: NDArray[np.float64]


def train_heads(setup: Setup, teacher: Teacher, tokens: NDArray[np.intp], *, heads: int, speed: float, step: float,
                times: ArrayLike, start: Floats, seed: int = 0, size: float = 1e-3) -> HeadsRun:
    """Gradient flow on S by Euler steps of softmax attention and readouts, the latter ``speed`` times as fast.

    ``start`` (H, K) are logits at the lags to begin with; readouts begin as ``size`` times normal numbers.
    """
    heads, step, speed = whole_number("heads", heads, 1), positive_number("step", step), positive_number("speed", speed)
    action = TeacherAction(setup, "softmax", tokens, teacher, heads)
    generator = torch.Generator().manual_seed(seed)
    M = torch.as_tensor(action.planted(start)).float().requires_grad_()
    W = (size * torch.randn(heads * (setup.V + setup.L), setup.V, generator=generator)).requires_grad_()
    action._Phi, Y = action._Phi.float(), action._Y.float()
    rows: list[tuple[NDArray[np.float64], float]] = []
    at = np.rint(np.asarray(times) / step).astype(int)
    for n in range(at[-1] + 1):
        error = Y - action._features(M) @ W
        if n in at:
            rows.append((action.weights(M.detach().numpy()), float(error.detach().square().sum() / len(Y))))
        S = (error.square().sum() / setup.sigma2 + M.square().sum() / setup.g_W + W.square().sum() / setup.g_O) / 2
        dM, dW = torch.autograd.grad(S, (M, W))
        with torch.no_grad():
            M -= step * dM
            W -= speed * step * dW
    return HeadsRun(at * step, np.array([w for w, _ in rows]), np.array([loss for _, loss in rows]))
