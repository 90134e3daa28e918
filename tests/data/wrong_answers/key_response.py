"""Wrong responses of logits to a force."""

import numpy as np


def centred(F):
    F = np.asarray(F, float)
    return F - F.mean(axis=1, keepdims=True)


ANSWERS = [
    lambda F, V: centred(F),                                                              # the bias forgotten
    lambda F, V: centred(F) + centred(F).sum(axis=0) / (len(F) + V),                      # not solved, multiplied
    lambda F, V: np.asarray(F, float) + np.sum(F, axis=0) / V,                            # rows not centred
    lambda F, V: centred(F) + centred(F).mean(axis=0) / V,                                # mean instead of sum
    lambda F, V: centred(F) + centred(F.T).sum(axis=0) / V,                               # the wrong index
]
