r"""How strongly a state answers: susceptibilities of the action and of a fitted network.

A field h on an observable O, S -> S - h O, moves the mean of O by chi_O h; and in a well of e^{-chi S} the variance is
chi_O / chi.  Both are read off the Hessian at the minimum (fluctuation and response are one):

    chi Cov(x) = Hess^-1,        chi Var(O) = grad O . Hess^-1 grad O.

In the two-parameter theory the Hessian is 2 x 2 or a number; of a network it has (V + L)^2 rows, found by differences
of the gradient.  Everything here is the harmonic approximation: it fails where a well is softer than the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from copyhead.linear import LinearAction
from copyhead.softmax import SoftmaxAction
from copyhead.validation import positive_number

Array = NDArray[np.float64]


@overload
def susceptibility(action: LinearAction, P: float, state: Any = None) -> Array: ...
@overload
def susceptibility(action: SoftmaxAction, P: float, state: Any = None) -> float: ...
def susceptibility(action: LinearAction | SoftmaxAction, P: float, state: Any = None) -> float | Array:
    """chi times the covariance of the order parameters at a minimum: (2, 2) in (c1, c_G), or a number for a_G.

    ``state`` is a minimum of the action at P, by default the global one; pass another for its metastable branch.

    Raises
    ------
    ValueError
        If the Hessian at the state is not positive: it is no minimum, or P is a critical point or a spinodal.
    """
    state = action.minimum(P) if state is None else state
    if isinstance(action, LinearAction):
        hessian = action.hessian(state.c1, state.c_G, P)
        if np.linalg.eigvalsh(hessian)[0] <= 0:
            raise ValueError(f"state must be a minimum at P = {P}, got Hessian {hessian.tolist()}")
        return np.asarray(np.linalg.inv(hessian), dtype=np.float64)
    curvature = float(action.curvature(state.a_G, P))
    if curvature <= 0:
        raise ValueError(f"state must be a minimum at P = {P}, got curvature {curvature:.4g}")
    return 1 / curvature


def numerical_hessian(gradient: Callable[[Array], Array], x: Array, step: float = 1e-5) -> Array:
    """Hessian, shape (x.size, x.size), from x.size + 1 gradients; symmetrised, first order in ``step``."""
    step = positive_number("step", step)
    rows, base = np.empty((x.size, x.size)), gradient(x).ravel()
    flat = x.ravel()
    for i in range(x.size):
        moved = flat.copy()
        moved[i] += step
        rows[i] = (gradient(moved.reshape(x.shape)).ravel() - base) / step
    return (rows + rows.T) / 2


class Fluctuations:
    """The Gaussian well around a minimum: ``hessian`` of shape (n, n) with its eigenvalues, softest first.

    Raises ValueError if the smallest eigenvalue is not positive.
    """

    def __init__(self, hessian: Array) -> None:
        self.values, self.vectors = np.linalg.eigh(hessian)
        if self.values[0] <= 0:
            raise ValueError(f"hessian must be positive definite, got the eigenvalue {self.values[0]:.4g}")

    @property
    def softest(self) -> float:
        """Smallest eigenvalue: the rate at which gradient flow returns along the softest direction."""
        return float(self.values[0])

    @cached_property
    def half_log_determinant(self) -> float:
        """1/2 ln det: what the width of the well costs in units of kT, up to a constant of the size n."""
        return float(np.log(self.values).sum() / 2)

    def susceptibility(self, slope: Array) -> float:
        """chi Var(O) of an observable with this gradient (any shape with n entries) at the minimum."""
        return float((((self.vectors.T @ slope.ravel()) ** 2) / self.values).sum())
