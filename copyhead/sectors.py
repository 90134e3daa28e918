r"""Stability of a state against every deformation of M, sorted by symmetry.

The copy task looks the same after a rotation of the positions and after a cyclic renaming of the tokens.  At an M with both
symmetries the population Hessian commutes with the group Z_V x Z_L, so its eigenvectors can be chosen to pick up a phase
exp(2 pi i (j v + k r) / ...) under renaming by v and rotation by r.  The pair (j, k) names the **sector**.  Sector (0, 0)
holds deformations that keep the symmetry, all others break it, and no two sectors mix: (V + L)^2 modes fall into V L blocks,
the largest of size V + L + 2.

Entries of M fall into orbits, one of each kind below; a block needs H on one entry of each orbit only.

    entry                     orbits   in sectors
    token t, token t + s      V        k = 0
    token, position           1        all
    position, token           1        all
    position a, position a+s  L        j = 0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from copyhead.patterns import G_star
from copyhead.population import PopulationHessian

Array = NDArray[np.float64]
SYMMETRIC = 1e-8                 # largest asymmetry of M, relative to its largest entry


def symmetric_matrix(L: int, V: int, c1: float, c_G: float, tau: float = 0.0, kappa: float = 0.0) -> Array:
    """The M of smallest norm with these order parameters of linear attention in the complete closure; (V + L, V + L)."""
    a = c1 - (kappa + (1 - 1 / V) * tau) / (L - 1)
    M = np.zeros((V + L, V + L))
    M[:V, :V] = tau * np.eye(V)
    M[V:, V:] = a - tau / V + (c1 + np.sqrt(L) * c_G - a) * G_star(L) + kappa * np.eye(L)
    n = np.concatenate([np.ones(V), -np.ones(L)])                    # features are orthogonal to it (``planted``)
    projector = np.eye(V + L) - np.outer(n, n) / (V + L)
    return np.asarray(projector @ M @ projector)


def is_symmetric(M: Array, V: int) -> bool:
    """Whether M, shape (V + L, V + L), keeps its entries when tokens are renamed cyclically and positions rotated."""
    n = len(M)
    renamed = np.r_[np.roll(np.arange(V), -1), V:n]
    rotated = np.r_[:V, np.roll(np.arange(V, n), -1)]
    limit = SYMMETRIC * np.abs(M).max()
    return all(np.abs(M[np.ix_(order, order)] - M).max() <= limit for order in (renamed, rotated))


def sector_blocks(hessian: PopulationHessian) -> dict[tuple[int, int], NDArray[np.complex128]]:
    """The Hermitian block of each sector (j, k), 0 <= j < V, 0 <= k < L; together they hold all (V + L)^2 modes.

    The Hessian must have been taken at an M for which ``is_symmetric`` holds.
    """
    L, V, n = hessian.setup.L, hessian.setup.V, hessian.setup.L + hessian.setup.V
    places = [(0, s) for s in range(V)] + [(0, V), (V, 0)] + [(V, V + s) for s in range(L)]
    kinds = np.array(["tt"] * V + ["tp", "pt"] + ["pp"] * L)
    units = np.zeros((len(places), n, n))
    for unit, place in zip(units, places, strict=True):
        unit[place] = 1
    columns = hessian.apply(units)
    v, r = np.arange(V), np.arange(L)
    # Rows g' of each orbit kind, moved by (v, r): arrays (column, orbit of g', v, r), then one Fourier transform.
    moved = np.zeros((len(places), len(places), V, L))
    for s in range(V):
        moved[:, s] = columns[:, v, (v + s) % V][:, :, None]
    moved[:, V] = columns[:, :V, V:]
    moved[:, V + 1] = columns[:, V:, :V].transpose(0, 2, 1)
    for s in range(L):
        moved[:, V + 2 + s] = columns[:, V + r, V + (r + s) % L][:, None]
    fixed = np.sqrt(np.select([kinds == "tt", kinds == "pp"], [L, V], 1))         # size of each orbit's stabiliser
    blocks = np.fft.fft2(moved, axes=(2, 3)).transpose(2, 3, 1, 0) / (fixed[:, None] * fixed)
    found = {}
    for j in range(V):
        for k in range(L):
            here = np.flatnonzero(((kinds != "tt") | (k == 0)) & ((kinds != "pp") | (j == 0)))
            found[j, k] = blocks[j, k][np.ix_(here, here)]
    return found


def softest(hessian: PopulationHessian) -> NDArray[np.float64]:
    """Smallest eigenvalue of the Hessian in each sector, shape (V, L)."""
    L, V = hessian.setup.L, hessian.setup.V
    blocks = sector_blocks(hessian)
    return np.array([[np.linalg.eigvalsh(blocks[j, k])[0] for k in range(L)] for j in range(V)])
