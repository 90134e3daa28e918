r"""Linear attention at finite chi: what the noise of the other attention weights does to the two order parameters.

At finite chi the (V + L)^2 weights M fluctuate around the state.  Almost all of these directions are orthogonal to J and
G* and to the copy target, so they carry no signal, but they add to the squared norm of the attention: in the data term
u^2 becomes u^2 + delta with

    delta = (g_W / chi) [ 1/(1 + 2 k g_W / V^2) + 2/(1 + 2 k g_W / (V L)) + 1/(1 + 2 k g_W / L^2) ],   k = dS_data/du^2.

The three terms are the token-token, the two mixed and the position-position block of M: V^2 entries that each take part
in the attention with frequency 1/V^2, and so on; each entry has the prior's stiffness 1/g_W and feels 2 k times its
share of u^2.  k depends on u^2 + delta, so both are found together.  Equation: eq-langevin-one-loop.

Left out: fluctuations along J and G*, the k = 0 mode and the readout's log-determinant, each of them a few directions
out of (V + L)^2; near the second-order point, where the soft one among them dominates, the formula does not help.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from copyhead.data_term import token_modes
from copyhead.linear import LinearAction, LinearState
from copyhead.validation import positive_number

ITERATIONS = 200
Point = NDArray[np.float64]


def stiffness(linear: LinearAction, u2: float, T: float, P: float) -> float:
    """k = dS_data/du^2 at fixed T, which only the k >= 1 modes contribute: (V-1) q^3 T^2 / [2 V g_O (V + q u^2)^2]."""
    setup = linear.setup
    V, q = setup.V, setup.g_O * P / setup.sigma2
    return (V - 1) * q**3 * T**2 / (2 * V * setup.g_O * (V + q * u2) ** 2)


def noise(linear: LinearAction, k: float, chi: float) -> float:
    """delta at stiffness k: the squared norm that independent noise of all entries of M adds to the attention."""
    L, V, g_W = linear.setup.L, linear.setup.V, linear.setup.g_W
    blocks = ((1, V * V), (2, V * L), (1, L * L))
    return g_W / chi * sum(number / (1 + 2 * k * g_W / size) for number, size in blocks)


def one_loop_minimum(linear: LinearAction, P: float, chi: float) -> LinearState:
    """Minimum of the action with u^2 + delta in place of u^2, delta self-consistent; its loss is that of the state.

    Iterates between the minimum at fixed delta, found from the tree-level one, and delta at that minimum.

    Raises
    ------
    ValueError
        Unless P and chi are positive numbers.
    RuntimeError
        If the iteration does not settle, as it may close to a fold.
    """
    P, chi = positive_number("P", P), positive_number("chi", chi)
    setup = linear.setup
    L, root = setup.L, np.sqrt(setup.L)
    state = linear.minimum(P)
    point = np.array([state.c1, state.c_G], dtype=float)

    def u2_and_T(c: Point) -> tuple[float, float]:
        return float(c[0] ** 2 + 2 * c[0] * c[1] / root + c[1] ** 2), float(c[0] + root * c[1])

    def action(c: Point, delta: float) -> float:
        u2, _ = u2_and_T(c)
        bare, noisy = (token_modes(setup, np.array(u2 + d), np.array(c[0] ** 2 + L * d / (L - 1)), np.array(P))
                       for d in (0.0, delta))      # the last but one argument keeps T^2 = L u^2 - (L-1) c1^2 as it is
        return float(linear.action(c[0], c[1], P) + noisy - bare)

    delta = noise(linear, 0.0, chi)
    for _ in range(ITERATIONS):
        u2, T = u2_and_T(point)
        delta = noise(linear, stiffness(linear, u2 + delta, T, P), chi)
        moved = minimize(action, point, args=(delta,), method="Nelder-Mead", options=dict(xatol=1e-9, fatol=1e-13)).x
        settled, point = bool(np.abs(moved - point).max() < 1e-8), moved
        if settled:
            c1, c_G = (float(c) for c in point)
            return LinearState(c1, c_G, action(point, delta), float(linear.loss(c1, c_G, P)))
    raise RuntimeError(f"the noise did not settle in {ITERATIONS} iterations at P = {P}, chi = {chi}")
