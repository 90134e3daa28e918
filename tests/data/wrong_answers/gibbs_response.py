"""Plausible wrong answers to check.gibbs_response."""

import numpy as np

ANSWERS = [
    lambda A, v: A * v,  # forgets that the row is normalised
    lambda A, v: v - A @ v,  # forgets the weight of the position
    lambda A, v: A * (1 - A) * v,  # the diagonal of the softmax's Jacobian only
    lambda A, v: A * (v - v.mean()),  # subtracts the plain mean
    lambda A, v: A * (A @ v - v),  # the sign of an energy, not of a logit
    lambda A, v: np.outer(A, v) @ A,
]
