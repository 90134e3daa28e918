"""Data term of the action and the loss in the equivalent-kernel approximation, common to both attentions.

With p = P / sigma2 and q = g_O P / sigma2 the label power splits into one mode shared by all tokens (k = 0) and V - 1
modes that tell tokens apart (k >= 1).  Both are written here without the cancelling difference L u^2 - T^2, which equals
(L - 1) c1^2 exactly, so that action and loss keep full relative precision in every phase.

Arguments are arrays that broadcast:
``rho2``  squared row sum of the attention matrix (1 for softmax),
``u2``    tr G^T G,
``off2``  squared coefficient of J/L (c1 for linear, 1 - a_G / sqrt(L) for softmax).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from copyhead.setup import Setup

Array = NDArray[np.float64]


def shared_mode(setup: Setup, rho2: Array | float, P: Array) -> Array:
    """Action of the k = 0 mode, (P L / V) / (2 [g_O P rho^2 (L/V + 1) + sigma2])."""
    L, V, p = setup.L, setup.V, P / setup.sigma2
    return p * L / (2 * V * (1 + setup.g_O * p * rho2 * (L / V + 1)))


def token_modes(setup: Setup, u2: Array, off2: Array, P: Array) -> Array:
    """Action of the k >= 1 modes, (V-1)/2 [P L/(V sigma2) - g_O P^2 T^2 / (V^2 sigma2 (sigma2 + g_O P u^2 / V))]."""
    L, V, p = setup.L, setup.V, P / setup.sigma2
    q = setup.g_O * p
    return (V - 1) / (2 * V) * p * (L * V + q * (L - 1) * off2) / (V + q * u2)


def loss_per_token(setup: Setup, rho2: Array | float, u2: Array, off2: Array, P: Array) -> Array:
    """Squared error per sequence and position, ||y - f||^2 / (P L); it is 1 for a network whose output is zero."""
    L, V, q = setup.L, setup.V, setup.g_O * P / setup.sigma2
    shared = 1 / (1 + q * rho2 * (L / V + 1)) ** 2
    tokens = (L * V**2 + q * (L - 1) * off2 * (2 * V + q * u2)) / (L * (V + q * u2) ** 2)
    return shared / V + (V - 1) / V * tokens
