"""Fluctuations of the readout: the log-determinant and the thermal part of the loss.

Both are read off the spectrum of the readout kernel K in the equivalent-kernel approximation.  Neither is multiplied by
chi: the posterior is exp(-chi S - S_1), so the log-determinant is a correction of relative order 1 / chi.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.setup import Setup
from copyhead.validation import positive_number, real_array, scalar_or_array

Array = NDArray[np.float64]


def kernel_spectrum(setup: Setup, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike) -> tuple[Array, NDArray[np.int64]]:
    """The three non-zero eigenvalues of K, stacked on the last axis (..., 3), and their multiplicities (3,).

    In order: the constant mode v_00 (once), the token modes (V - 1 times), the position modes w_m (L - 1 times);
    the remaining L P - L - V + 1 eigenvalues vanish.  Arguments broadcast.  Equation: eq-log-determinant-spectrum.
    Raises ValueError unless the arguments are finite and P > 0.
    """
    c1, c_G, P = real_array("c1", c1), real_array("c_G", c_G), real_array("P", P, low=0.0)
    L, V = setup.L, setup.V
    rho = c1 + c_G / np.sqrt(L)
    u2 = c1**2 + 2 * c1 * c_G / np.sqrt(L) + c_G**2
    modes = np.broadcast_arrays(rho**2 * (L / V + 1), u2 / V, c_G**2 / L, P)
    values = setup.g_O * modes[3][..., None] * np.stack(modes[:3], axis=-1)
    return values, np.array([1, V - 1, L - 1])


def log_determinant(setup: Setup, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike) -> Array | float:
    """S_1 = V/2 ln det(1 + K / sigma2), so that S_1 = 0 without attention; the V channels give the factor V.

    Add it to chi times the action: -ln posterior = chi S + S_1 + const.  Arguments broadcast; scalars give a float.
    Equation: eq-log-determinant-S1.  Raises ValueError unless the arguments are finite and P > 0.
    """
    values, multiplicity = kernel_spectrum(setup, c1, c_G, P)
    S1 = setup.V / 2 * np.sum(multiplicity * np.log1p(values / setup.sigma2), axis=-1)
    return scalar_or_array(S1)


def thermal_loss(setup: Setup, c1: ArrayLike, c_G: ArrayLike, P: ArrayLike, chi: float) -> Array | float:
    """Loss per token added by the readout's fluctuations at temperature 1 / chi; Langevin sampling has it, Adam has not.

    V sigma2 / (chi P L) times the sum of lambda / (lambda + sigma2) over the spectrum (eq-log-determinant-thermal).
    Arguments broadcast; scalars give a float.  Raises ValueError unless all are finite and chi, P > 0.
    """
    chi = positive_number("chi", chi)
    values, multiplicity = kernel_spectrum(setup, c1, c_G, P)
    modes = np.sum(multiplicity * values / (values + setup.sigma2), axis=-1)
    loss = setup.V * setup.sigma2 / (chi * np.asarray(P, dtype=float) * setup.L) * modes
    return scalar_or_array(loss)
