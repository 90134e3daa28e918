"""Plausible wrong answers to check.gap_for."""

import numpy as np

ANSWERS = [
    lambda m, L: np.log(m / (1 - m)) + np.log(L),  # one position too many in the entropy
    lambda m, L: np.log(m / (1 - m)),  # no entropy at all
    lambda m, L: np.log(m * L),  # the weight against pooling, not the odds
    lambda m, L: np.log(m / (1 - m)) - np.log(L - 1),  # the entropy with the wrong sign
    lambda m, L: (np.log(m / (1 - m)) + np.log(L - 1)) / 2,  # the gap at which the error has this share
]
