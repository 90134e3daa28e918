"""Checkers for the exercises on the spectrum of the readout kernel: its determinant, its size, its pull at the origin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from copyhead.check._properties import array, close, function, number, verdict
from copyhead.equivalent_kernel import equivalent_data_term, population_moments
from copyhead.patterns import pattern
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction, SoftmaxState

Answer = Callable[..., Any]


def log_det_gap(answer: Answer) -> bool:
    """``answer(features, lam)``: ln det(1 + A/lam) of the mean Gram matrix A, minus its mean over the data sets."""
    rng = np.random.default_rng(5)
    features = rng.normal(size=(8, 5, 3))                                 # (data sets, rows, columns of Psi)
    same = np.repeat(features[:1], 6, axis=0)
    turned = np.array([np.linalg.qr(rng.normal(size=(5, 5)))[0] @ psi for psi in features])

    def kernels(lam: float) -> float:
        """Mean of ln det(1 + Psi Psi^T / lam): the determinants of the kernels themselves."""
        return float(np.mean([np.linalg.slogdet(np.eye(5) + psi @ psi.T / lam)[1] for psi in features]))

    def weak(f: Answer) -> bool:
        """At large lam, ln det(1 + A/lam) = tr A/lam - tr A^2/(2 lam^2): the gap is half the variance of A / lam."""
        grams = np.swapaxes(features, 1, 2) @ features
        variance = np.mean(np.sum((grams - grams.mean(axis=0)) ** 2, axis=(1, 2)))
        return close(f(features, 1e5) * 1e10, variance / 2, rtol=1e-3)

    def mean_of_kernels(f: Answer, lam: float) -> bool:
        gram = np.einsum("npi,npj->ij", features, features) / len(features)
        return close(f(features, lam) + kernels(lam), np.sum(np.log1p(np.linalg.eigvalsh(gram) / lam)))

    return verdict(
        answer,
        function("features, lam", (features, 0.5), number()),
        [
            ("equal data sets leave no gap", lambda f: close(f(same, 0.5), 0.0, atol=1e-10)),
            ("fluctuations lower the log-determinant, so the gap is positive",
             lambda f: f(features, 0.5) > 0 and f(turned, 3.0) > 0),
            ("the order of a data set's rows, or any rotation of them, does not matter",
             lambda f: close(f(turned, 0.5), f(features, 0.5)) and close(f(features[:, ::-1], 0.5), f(features, 0.5))),
            ("twice the features with four times the noise leave it unchanged",
             lambda f: close(f(2 * features, 2.0), f(features, 0.5))),
            ("with much noise it is half the variance of the Gram matrix over the noise, squared", weak),
            ("together with the mean over the kernels it gives the determinant of the averaged Gram matrix",
             lambda f: mean_of_kernels(f, 0.5) and mean_of_kernels(f, 0.03)),
        ],
    )


def pull_matrix(answer: Answer) -> bool:
    """``answer(L, V)`` is D: the Hessian of the data term at the origin is -g_O P^2/(V^2 sigma^4) D."""
    cases = [(6, 3), (2, 2), (25, 5), (4, 30)]

    def measured(L: int, V: int, direction: tuple[float, float]) -> float:
        """e^T D e from the equivalent kernel at two small lengths of the vector e, the error of fourth order removed."""
        def drop(t: float) -> float:
            c1, c_G = t * np.array(direction)
            setup = Setup(L, V, 1.0)
            return (L / 2 - equivalent_data_term(setup, pattern(c1, c_G, L), 1.0)) * 2 * V**2 / t**2
        return (4 * drop(0.005) - drop(0.01)) / 3

    def agrees(f: Answer, *directions: tuple[float, float]) -> bool:
        return all(close(np.array(e) @ np.asarray(f(*case), dtype=float) @ np.array(e), measured(*case, e), rtol=1e-4)
                   for case in cases for e in directions)

    def growth(f: Answer, entry: int) -> float:
        """The power of L with which a diagonal entry grows at fixed V."""
        near, far = (np.asarray(f(L, 3), dtype=float)[entry, entry] for L in (10**6, 10**7))
        return float(np.log10(far / near))

    return verdict(
        answer,
        function("L, V", cases[0], array((2, 2), "a 2 x 2 matrix")),
        [
            ("a matrix of second derivatives is symmetric", lambda f: all(close(f(*x), np.transpose(f(*x))) for x in cases)),
            ("data pull away from the origin in every direction",
             lambda f: all(np.all(np.linalg.eigvalsh(np.asarray(f(*x), dtype=float)) > 0) for x in cases)),
            ("for long sequences the pull on pooling grows as L^2, that on copying as L",
             lambda f: close([growth(f, 0), growth(f, 1)], [2.0, 1.0], rtol=1e-4)),
            ("along pure pooling it agrees with the equivalent kernel", lambda f: agrees(f, (1.0, 0.0))),
            ("along pure copying it agrees with the equivalent kernel", lambda f: agrees(f, (0.0, 1.0))),
            ("it agrees along mixed directions too", lambda f: agrees(f, (0.6, 0.8), (0.8, -0.6))),
        ],
    )


# --- the log-determinant at the transition of softmax attention ----------------------------------------------------


def _parts(setup: Setup, a_G: float, P: float) -> np.ndarray:
    """ln det(1 + K/sigma2) of the averaged kernel in three invariant spaces: the constant, token waves, positions.

    By dense determinants of the mean Gram matrix, without the list of its eigenvalues.
    """
    L, V = setup.L, setup.V
    gram = population_moments(pattern(1 - a_G / np.sqrt(L), a_G, L), V)[0]
    blocks = [np.zeros((V + L, 2)), np.zeros((V + L, V - 1)), np.zeros((V + L, L - 1))]
    blocks[0][:V, 0], blocks[0][V:, 1] = 1 / np.sqrt(V), 1 / np.sqrt(L)
    blocks[1][:V] = np.linalg.svd(np.ones((1, V)))[2][1:].T
    blocks[2][V:] = np.linalg.svd(np.ones((1, L)))[2][1:].T
    inside = [Q.T @ gram @ Q * setup.g_O * P / setup.sigma2 for Q in blocks]
    return np.array([np.linalg.slogdet(np.eye(len(block)) + block)[1] for block in inside])


def needed_chi(answer: Answer) -> bool:
    """``answer(setup, tolerance)``: the chi at which S_1 alone moves the softmax transition by this fraction of P*."""
    setups = [Setup(25, 5, 30.0), Setup(40, 3, 2.0, 0.5, 2.0), Setup(30, 20, 1.0)]

    def displaced(setup: Setup, chi: float) -> float:
        """Relative shift of the point at which chi S + S_1 of the two minima of S is equal."""
        model = SoftmaxAction(setup)
        transition = model.first_order_transition()
        assert transition is not None

        def exponent(state: SoftmaxState, P: float) -> float:
            a_G = float(np.asarray(state.a_G))
            return chi * float(np.asarray(state.action)) + setup.V / 2 * float(np.sum(_parts(setup, a_G, P)))

        def excess(P: float) -> float:
            uniform, copy = sorted(model.minima(P), key=lambda state: state.a_G)
            return exponent(copy, P) - exponent(uniform, P)

        return float(brentq(excess, transition.P, 0.3 * transition.P + 0.7 * transition.upper_spinodal)) / transition.P - 1

    return verdict(
        answer,
        function("setup, tolerance", (setups[0], 1e-3), number()),
        [
            ("chi is positive", lambda f: all(f(setup, 1e-3) > 0 for setup in setups)),
            ("half the tolerance needs twice the chi", lambda f: close(f(setups[0], 5e-4), 2 * f(setups[0], 1e-3))),
            ("the noise variance does not matter, since P enters as P / sigma2",
             lambda f: close(f(Setup(25, 5, 7.0), 1e-3), f(setups[0], 1e-3), rtol=1e-6)),
            ("with this chi the minima of the action plus S_1 / chi are equally deep at (1 + tolerance) P*",
             lambda f: all(close(displaced(setup, float(f(setup, 1e-3))), 1e-3, rtol=1e-2) for setup in setups)),
        ],
    )


def copy_state_shares(answer: Answer) -> bool:
    """``answer(L, V)``: shares of the constant, the waves and the positions in S_1 of the copy state at P*."""

    def exact(L: int, V: int) -> np.ndarray:
        transition = SoftmaxAction(Setup(L, V, 1.0)).first_order_transition()
        assert transition is not None
        parts = _parts(Setup(L, V, 1.0), transition.copy.a_G, transition.P)
        return parts / parts.sum()

    return verdict(
        answer,
        function("L, V", (30, 5), array((3,), "three shares")),
        [
            ("no share is negative", lambda f: all(np.min(f(*case)) >= 0 for case in [(30, 5), (200, 2), (40, 30)])),
            ("they add up to one", lambda f: all(close(np.sum(f(*case)), 1.0) for case in [(30, 5), (200, 2), (40, 30)])),
            ("the constant, a single mode, loses share with length", lambda f: f(50, 5)[0] > f(200, 5)[0] > f(800, 5)[0]),
            ("a larger vocabulary has more waves and gives them a larger share",
             lambda f: f(40, 40)[1] > f(40, 10)[1] > f(40, 3)[1]),
            ("each agrees with determinants of the averaged kernel",
             lambda f: all(close(f(*case), exact(*case), rtol=1e-6) for case in [(30, 5), (60, 2), (40, 30)])),
        ],
    )
