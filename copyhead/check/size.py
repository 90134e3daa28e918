"""Checkers for the exercises on the full-size network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from copyhead.check._properties import array, close, function, number, truth, verdict
from copyhead.metric import MetricAction, most_probable
from copyhead.setup import Setup
from copyhead.task import sequences

Answer = Callable[..., Any]


def largest_dimension(answer: Answer) -> bool:
    """``answer(memory)`` is the largest d at which weights, gradient and Adam's two means fit so many bytes."""
    sizes = [100, 10**6, 16 * 10**9, 16 * 10**9 - 1, 80 * 10**9]
    return verdict(
        answer,
        function("memory", (10**9,), number("a dimension")),
        [
            ("a dimension is a whole number", lambda f: all(float(f(m)) == int(f(m)) for m in sizes)),
            ("four times the memory is twice the dimension", lambda f: f(4 * 16 * 10**8) == 2 * f(16 * 10**8)),
            ("four matrices of that size fit", lambda f: all(16 * int(f(m)) ** 2 <= m for m in sizes)),
            ("and of no larger one", lambda f: all(16 * (int(f(m)) + 1) ** 2 > m for m in sizes)),
        ],
    )


def kernel_cost(answer: Answer) -> bool:
    """``answer(T, C, g_W)`` is ||W||^2 / (2 g_W) of the smallest W with E^T W E / d = T, where C = E^T E / d."""
    rng = np.random.default_rng(0)
    T, E = rng.standard_normal((4, 4)), rng.standard_normal((9, 4))
    C = E.T @ E / 9

    def smallest(T: np.ndarray, E: np.ndarray, g_W: float) -> float:
        equations = np.kron(E.T, E.T) / len(E)                       # of the entries of W, row by row
        return float(np.sum(np.linalg.lstsq(equations, T.ravel())[0] ** 2) / (2 * g_W))

    return verdict(
        answer,
        function("T, C, g_W", (T, C, 1.0), number("a cost")),
        [
            ("at the unit metric it is the reduced network's", lambda f: close(f(T, np.eye(4), 0.7), np.sum(T**2) / 1.4)),
            ("it is quadratic in T and inverse in g_W", lambda f: close(f(3 * T, C, 2.0), 4.5 * f(T, C, 1.0))),
            ("embeddings twice as long make a kernel sixteen times cheaper",
             lambda f: close(f(T, 4 * C, 1.0), f(T, C, 1.0) / 16)),
            ("it is the square of the least W, found by least squares", lambda f: close(f(T, C, 0.7), smallest(T, E, 0.7))),
        ],
    )


def action_slope(answer: Answer) -> bool:
    """``answer(M, W, g_W, g_O)`` is the derivative of the lowest action in the metric C, at C = 1."""
    rng = np.random.default_rng(1)
    M, W = rng.standard_normal((4, 4)), rng.standard_normal((4, 2))
    setup = Setup(5, 3, 1.0, 1.4, 0.6)
    H = rng.standard_normal((8, 8))
    H = H + H.T

    def measured() -> tuple[np.ndarray, np.ndarray, float]:
        """A minimum on real sequences, and the slope along H by going a little to both sides."""
        actions = [MetricAction(setup, "softmax", sequences(5, 3, 60, 0), np.eye(8) + t * H) for t in (-1e-3, 0.0, 1e-3)]
        best = most_probable(actions[1], tolerance=1e-7)
        low, high = (action.value(most_probable(action, best, 1e-7)) for action in (actions[0], actions[2]))
        return best, actions[1].readout(best), (high - low) / 2e-3

    def follows(f: Answer) -> bool:
        best, readout, slope = measured()
        return close(np.vdot(f(best, readout, 0.6, 1.4), H), slope, rtol=1e-3)

    return verdict(
        answer,
        function("M, W, g_W, g_O", (M, W, 1.0, 1.0), array((4, 4))),
        [
            ("it is symmetric, as C is", lambda f: close(f(M, W, 0.5, 2.0), np.transpose(f(M, W, 0.5, 2.0)))),
            ("longer embeddings never raise the action",
             lambda f: np.linalg.eigvalsh(np.asarray(f(M, W, 0.5, 2.0))).max() < 1e-9),
            ("weights that are zero leave nothing to gain", lambda f: close(f(0 * M, 0 * W, 1.0, 1.0), np.zeros((4, 4)))),
            ("queries and keys count alike", lambda f: close(f(M.T, W, 0.5, 2.0), f(M, W, 0.5, 2.0))),
            ("the action of fitted networks changes like that", follows),
        ],
    )


def extrapolate(answer: Answer) -> bool:
    """``answer(d, x)`` is the limit d -> infinity of x = limit + b / d + noise, the variance of the noise being s^2 / d."""
    d = np.array([64.0, 128.0, 512.0, 1024.0, 4096.0])
    x = 0.3 + np.random.default_rng(0).standard_normal(5) / np.sqrt(d)

    def weights(f: Answer) -> np.ndarray:
        return np.array([float(f(d, unit)) for unit in np.eye(5)])

    def least_variance() -> float:
        design = np.stack([np.ones(5), 1 / d], axis=1) * np.sqrt(d)[:, None]
        return float(np.linalg.inv(design.T @ design)[0, 0])

    return verdict(
        answer,
        function("d, x", (d, x), number("a limit")),
        [
            ("without noise the limit is exact", lambda f: close(f(d, 0.7 - 12 / d), 0.7) and close(f(d, 5 / d), 0.0)),
            ("it is linear in x", lambda f: close(f(d, x), weights(f) @ x)),
            ("the order of the measurements does not matter", lambda f: close(f(d[::-1], x[::-1]), f(d, x))),
            ("its variance is the least that an unbiased linear estimate can have",
             lambda f: close(np.sum(weights(f) ** 2 / d), least_variance(), rtol=1e-6)),
        ],
    )


def rotation_invariant(answer: Answer) -> bool:
    """``answer(update, d)`` tells whether update(Q G Q^T) = Q update(G) Q^T for rotations Q and d x d gradients G."""

    def polar(G: np.ndarray) -> np.ndarray:
        left, _, right = np.linalg.svd(G)
        return left @ right

    invariant = [lambda G: -0.1 * G, lambda G: G / np.linalg.norm(G), polar, lambda G: G * min(1.0, 1 / np.linalg.norm(G)),
                 lambda G: 0.0 * G]
    bound = [np.sign, lambda G: np.clip(G, -0.5, 0.5), lambda G: G / (np.abs(G) + 1e-8), lambda G: G / np.abs(G).max(),
             lambda G: np.tril(G)]
    return verdict(
        answer,
        function("update, d", (np.sign, 5), truth),
        [
            ("gradient descent does not see the basis", lambda f: f(invariant[0], 6)),
            ("Adam's first step, the sign of every entry, does", lambda f: not f(np.sign, 6)),
            ("clipping the norm does not", lambda f: all(f(u, 6) for u in (invariant[1], invariant[3], invariant[4]))),
            ("clipping every entry does", lambda f: not any(f(u, 6) for u in bound[1:])),
            ("the nearest orthogonal matrix does not", lambda f: f(polar, 3) and f(polar, 8)),
        ],
    )
