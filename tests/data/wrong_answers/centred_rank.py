import numpy as np

from copyhead.probes import effective_rank

ANSWERS = [
    lambda p: effective_rank(p),                                              # second moment of a token, not centred
    lambda p: len(p) - 1.0,                                                   # right for even tokens only
    lambda p: effective_rank(p * (1 - p)),                                    # variances without the covariances
    lambda p: effective_rank(np.maximum(np.linalg.eigvalsh(np.diag(p) - np.outer(p, p)), 0) ** 2),     # squared twice
]
