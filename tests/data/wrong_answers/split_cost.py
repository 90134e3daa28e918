"""Wrong costs of dividing a pattern between two heads."""

import numpy as np

from copyhead import Setup
from copyhead.multi import MultiAction
from copyhead.teacher import Teacher, orthogonal_values


def cost(L, P, values=None, starts=((4, 0), (0, 4)), other=((2, 2), (0, 0)), sign=1):
    values = np.array([np.eye(5), np.eye(5)]) if values is None else values
    model = MultiAction(Setup(L, 5), Teacher(L, values), heads=2)
    split, joint = (model.descend(start, P) for start in (starts, other))
    return sign * (split.action - joint.action)


ANSWERS = [
    lambda L, P: cost(L, P, sign=-1),
    lambda L, P: cost(L, P, values=orthogonal_values(5, 2)),                     # different value maps: division pays
    lambda L, P: cost(L, P, starts=((2, 2), (2, 2))),                            # both heads on both lags
    lambda L, P: cost(L, P, other=((0, 0), (0, 0))),                             # against no attention at all
]
