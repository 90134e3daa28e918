"""Profiles with two wells: against quadrature, and lifetimes against the backward equation solved on a grid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.sparse import diags
from scipy.sparse.linalg import spsolve

from copyhead import Setup, SoftmaxAction
from copyhead.barrier import Profile, kramers
from copyhead.log_determinant import log_determinant

X = np.linspace(-2, 2, 4001)


def wells(x: np.ndarray, height: float, tilt: float) -> np.ndarray:
    return height * (x**2 - 1) ** 2 - tilt * x


def indices(profile: Profile) -> tuple[int, int, int]:
    found = profile.wells
    assert found is not None
    return found


def backward(x: np.ndarray, F: np.ndarray, D: np.ndarray, a: int, b: int) -> float:
    """Mean time from x[a] to x[b] by (e^-F D tau')' = -e^-F, reflecting on the left and absorbing at b."""
    h, weight = x[1] - x[0], np.exp(-F[: b + 1])
    between = np.sqrt(weight[:-1] * weight[1:]) * (D[:b] + D[1 : b + 1]) / 2
    flow = between / h**2
    main = np.append(0, flow[:-1]) + flow
    matrix = diags([-flow[:-1], main, -flow[:-1]], [-1, 0, 1], format="csc")
    return float(spsolve(matrix, weight[:-1])[a])


@pytest.mark.parametrize(("height", "tilt"), [(2.0, 0.0), (5.0, 1.0), (8.0, -2.0)])
@pytest.mark.parametrize("varying", [False, True])
def test_lifetimes_solve_the_backward_equation(height: float, tilt: float, varying: bool) -> None:
    F = wells(X, height, tilt)
    D = 0.3 + 0.1 * np.tanh(X) if varying else np.full(X.shape, 0.3)
    profile = Profile(X, F)
    left, _, right = indices(profile)
    assert profile.lifetime(D) == pytest.approx(backward(X, F, D, left, right), rel=2e-3)
    mirrored = backward(-X[::-1], F[::-1], D[::-1], len(X) - 1 - right, len(X) - 1 - left)
    assert profile.lifetime(D, right=True) == pytest.approx(mirrored, rel=2e-3)


def test_kramers_is_the_limit_of_high_barriers() -> None:
    miss = []
    for height in (8.0, 16.0):
        exact = Profile(X, wells(X, height, 0.0)).lifetime(1.0)
        miss.append(exact / kramers(8 * height, -4 * height, height) - 1)
    assert 0 < miss[1] < 0.05 and miss[1] == pytest.approx(miss[0] / 2, rel=0.25)


def test_odds_and_barriers() -> None:
    profile = Profile(X, wells(X, 3.0, 0.7))
    left, top, right = indices(profile)
    edge = X[top]
    masses = [quad(lambda x: np.exp(-wells(x, 3.0, 0.7)), *limits)[0] for limits in ((-2, edge), (edge, 2))]
    assert profile.log_odds() == pytest.approx(np.log(masses[1] / masses[0]), abs=1e-3)
    assert profile.log_odds(0.5) < profile.log_odds()
    down, up = profile.barriers
    assert up - down == pytest.approx(profile.F[left] - profile.F[right])
    assert Profile(X, X**2).wells is None and Profile(X, X**2).barriers == (0.0, 0.0)


def test_odds_of_unequal_wells_do_not_underflow() -> None:
    profile = Profile(X, wells(X, 2000.0, 600.0))
    assert profile.log_odds() == pytest.approx(1200, abs=2)


@pytest.mark.parametrize(("chi", "bare", "with_S1", "width"), [(10, 276.41, 286.13, 30.1), (30, 276.29, 279.52, 29.5),
                                                               (100, 276.24, 277.22, 29.3)])
def test_even_odds_of_softmax_theory(chi: int, bare: float, with_S1: float, width: float) -> None:
    """P of even odds without and with the log-determinant, and chi times the 10-90 % width; an independent quadrature."""
    setup = Setup(25, 5)
    model, ell = SoftmaxAction(setup, prior="paper"), np.linspace(-1, 4, 2001)
    a_G = 5 * (25 / (1 + 24 * np.exp(-ell)) - 1) / 24

    def odds(P: float, share: float) -> float:
        F = chi * model.action(a_G, P) + share * log_determinant(setup, 1 - a_G / 5, a_G, P)
        return Profile(ell, np.asarray(F)).log_odds(1.05)

    found = [brentq(lambda P, s=share: odds(P, s), 265, 296) for share in (0, 1)]
    assert found == pytest.approx([bare, with_S1], abs=0.02)
    edges = [brentq(lambda P, sign=sign: odds(P, 0) - sign * np.log(9), 265, 296) for sign in (-1, 1)]
    assert chi * (edges[1] - edges[0]) == pytest.approx(width, abs=0.1)


def test_detailed_balance_of_lifetimes() -> None:
    """The ratio of the two lifetimes tends to the ratio of the weights."""
    profile = Profile(X, wells(X, 10.0, 0.5))
    ratio = np.log(profile.lifetime(1.0, right=True) / profile.lifetime(1.0))
    assert ratio == pytest.approx(profile.log_odds(), abs=0.02)


def test_ripples_do_not_count_as_barriers() -> None:
    profile = Profile(X, wells(X, 6.0, 0.0) + 0.05 * np.cos(60 * X))
    left, top, right = indices(profile)
    assert abs(X[left] + 1) < 0.1 and abs(X[top]) < 0.1 and abs(X[right] - 1) < 0.1


def test_bad_profiles_are_refused() -> None:
    with pytest.raises(ValueError, match="x must increase"):
        Profile(X[::-1], X)
    with pytest.raises(ValueError, match="two wells"):
        Profile(X, X**2).lifetime(1.0)
    with pytest.raises(ValueError, match="edge must be given"):
        Profile(X, X**2).log_odds()
    with pytest.raises(ValueError, match="top_curvature"):
        kramers(1.0, 1.0, 3.0)
