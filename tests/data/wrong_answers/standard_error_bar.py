import numpy as np


def _spread(values):
    return values.mean(axis=-1), values.std(axis=-1, ddof=1)


def _biased(values):
    return values.mean(axis=-1), values.std(axis=-1) / np.sqrt(values.shape[-1])


def _variance(values):
    return values.mean(axis=-1), values.var(axis=-1, ddof=1) / values.shape[-1]


def _wrong_axis(values):
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


ANSWERS = [_spread, _biased, _variance, _wrong_axis]
