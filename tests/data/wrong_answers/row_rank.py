import numpy as np

from copyhead.probes import effective_rank, participation_ratio


def _eigenvalues(kappa, V):
    return np.r_[kappa + 1 / V, np.full(V - 1, kappa / V)]


ANSWERS = [
    lambda g, V: participation_ratio(_eigenvalues(np.sum(g**2), V)),          # the other measure
    lambda g, V: effective_rank(_eigenvalues(np.max(g) ** 2, V)),             # only the largest weight
    lambda g, V: effective_rank(np.full(V - 1, np.sum(g**2) / V)),            # centred
    lambda g, V: effective_rank(np.r_[1 / V, np.full(V - 1, np.sum(g**2) / V)]),      # without the positions
]
