import numpy as np


def _wave(tokens, V, k):
    return np.exp(2j * np.pi * k * tokens / V)


def _mean_kept(tokens, V, k):
    P, L = tokens.shape
    return np.roll(_wave(tokens, V, k), 1, axis=1) / np.sqrt(P * L)


def _rolled_backwards(tokens, V, k):
    P, L = tokens.shape
    wave = _wave(tokens, V, k)
    return (np.roll(wave, -1, axis=1) - wave.mean(axis=1, keepdims=True)) / np.sqrt(P * (L - 1))


def _rolled_over_sequences(tokens, V, k):
    P, L = tokens.shape
    wave = _wave(tokens, V, k)
    return (np.roll(wave, 1, axis=0) - wave.mean(axis=1, keepdims=True)) / np.sqrt(P * (L - 1))


def _normalised_by_L(tokens, V, k):
    P, L = tokens.shape
    wave = _wave(tokens, V, k)
    return (np.roll(wave, 1, axis=1) - wave.mean(axis=1, keepdims=True)) / np.sqrt(P * L)


def _conjugate(tokens, V, k):
    P, L = tokens.shape
    wave = _wave(tokens, V, -k)
    return (np.roll(wave, 1, axis=1) - wave.mean(axis=1, keepdims=True)) / np.sqrt(P * (L - 1))


ANSWERS = [_mean_kept, _rolled_backwards, _rolled_over_sequences, _normalised_by_L, _conjugate]
