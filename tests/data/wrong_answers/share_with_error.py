"""Wrong errors of a share."""

import numpy as np


def _jumps(copying):
    return np.sum(copying[:, 1:] != copying[:, :-1])


def _finite(p, variance, jumps):
    return p, np.sqrt(variance) if jumps else np.inf


def _independent(copying):
    p = np.mean(copying)
    return _finite(p, p * (1 - p) / copying.size, _jumps(copying))


def _concatenated(copying):
    p, flat = np.mean(copying), copying.ravel()
    jumps = np.sum(flat[1:] != flat[:-1])
    return _finite(p, 4 * p**2 * (1 - p) ** 2 / max(jumps, 1), jumps)


def _binomial_in_jumps(copying):
    p, jumps = np.mean(copying), _jumps(copying)
    return _finite(p, p * (1 - p) / max(jumps, 1), jumps)


def _at_least_one_jump(copying):
    p = np.mean(copying)
    return p, 2 * p * (1 - p) / np.sqrt(max(_jumps(copying), 1))


def _up_only(copying):
    p, jumps = np.mean(copying), np.sum(copying[:, 1:] & ~copying[:, :-1])
    return _finite(p, 4 * p**2 * (1 - p) ** 2 / max(jumps, 1), jumps)


ANSWERS = [_independent, _concatenated, _binomial_in_jumps, _at_least_one_jump, _up_only]
