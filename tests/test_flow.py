"""The flow of many heads: against descent, energy decrease, and the plateaus of the loss; first passages."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from copyhead import Setup
from copyhead.events import first_passage
from copyhead.flow import flow
from copyhead.multi import MultiAction
from copyhead.teacher import Teacher, copy_teacher, orthogonal_values

PAPER = Setup(25, 5)
STRENGTHS = np.array([1.0, 0.75, 0.5])
THREE = MultiAction(PAPER, Teacher(25, STRENGTHS[:, None, None] * orthogonal_values(5, 3)), heads=3)
TIME = np.geomspace(1e-2, 1e4, 200)


def start(seed: int, size: float = 1e-3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"x": size * rng.standard_normal((3, 3)), "u": size * rng.standard_normal((3, 3))}


@pytest.mark.parametrize("readout", ["explicit", "slaved"])
@pytest.mark.parametrize("P", [300.0, 2000.0])
def test_the_flow_ends_in_a_minimum(readout: Literal["explicit", "slaved"], P: float) -> None:
    path = flow(THREE, P, TIME, **start(0), readout=readout)
    end = THREE.descend(path.x[-1], P)
    np.testing.assert_allclose(path.weights[-1], end.weights, atol=1e-4)
    np.testing.assert_allclose(path.readout[-1], THREE.readout(end.x, P), atol=1e-3)


@pytest.mark.parametrize("speed", [0.01, 1.0])
def test_the_action_never_rises(speed: float) -> None:
    path = flow(THREE, 600.0, TIME, **start(1), speed=speed)
    S = [THREE.explicit(x, u, 600.0)[0] for x, u in zip(path.x, path.readout, strict=True)]
    assert np.diff(S).max() < 1e-6 * abs(S[0]) and S[-1] < S[0] - 1


def test_small_steps_of_the_gradient_follow_the_flow() -> None:
    """An independent integrator, Euler's, on the action's finite differences."""
    model, P, h = MultiAction(PAPER, copy_mean_free(), heads=2), 400.0, 2e-4
    z = np.array([0.5, 0.1, 0.3, 0.0])                    # two logit gaps, two readouts
    path = flow(model, P, [0.05, 0.1], x=z[:2], u=z[2:], speed=0.5)
    mobility = np.array([1 / 24, 1 / 24, 0.5 / 4, 0.5 / 4])        # costs of a gap, L - 1, and of a readout, V - 1

    def S(z: np.ndarray) -> float:
        return model.explicit(z[:2, None], z[2:, None], P)[0]

    for _ in range(500):
        slope = np.array([(S(z + d) - S(z - d)) / 2e-5 for d in 1e-5 * np.eye(4)])
        z = z - h * mobility * slope
    np.testing.assert_allclose(np.concatenate([path.x[-1], path.readout[-1]]).ravel(), z, atol=2e-3)


def copy_mean_free() -> Teacher:
    return Teacher(25, orthogonal_values(5, 1))


def test_a_fast_readout_is_slaved() -> None:
    fast, slaved = (flow(THREE, 2000.0, TIME, **start(2), readout=kind, speed=1e4) for kind in ("explicit", "slaved"))
    assert fast.stages() == slaved.stages() == [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]
    at = [first_passage(TIME, path.weights.max(axis=1).T, 0.3) for path in (fast, slaved)]
    np.testing.assert_allclose(at[0], at[1], rtol=0.05)


def test_plateaus_of_unlimited_data() -> None:
    """With no decay and a slow readout: all heads on the first lag, then one after the other, at the losses of what is left.

    The plateau with the first j lags learned has the squared strengths of the others.
    """
    strengths = np.array([1.7**2, 1.7, 1.0])
    teacher = Teacher(40, strengths[:, None, None] * orthogonal_values(50, 3))
    model = MultiAction(Setup(40, 50, sigma2=1e-6), teacher, heads=3)
    path = flow(model, 1.0, np.geomspace(1e-6, 1e3, 300), **start(0, 1e-6))
    assert path.stages() == [(0, 0, 0), (3, 0, 0), (2, 1, 0), (1, 1, 1)]
    loss = path.loss * 50 / 49
    for plateau in (strengths[1:] @ strengths[1:], strengths[2:] @ strengths[2:]):
        assert np.sum(abs(loss / plateau - 1) < 0.03) >= 8                  # 8 of 300 times: a quarter of a decade
    assert loss[-1] < 1e-3


def test_refusals() -> None:
    x = np.zeros((1, 1))
    with pytest.raises(ValueError, match="teacher must have no mean target"):
        flow(MultiAction(PAPER, copy_teacher(25, 5)), 100.0, [1.0], x=x)
    model = MultiAction(PAPER, copy_mean_free())
    with pytest.raises(ValueError, match="readout must be 'explicit' or 'slaved', got 'fast'"):
        flow(model, 100.0, [1.0], x=x, readout="fast")                                            # type: ignore[arg-type]
    with pytest.raises(ValueError, match="time must be increasing"):
        flow(model, 100.0, [2.0, 1.0], x=x)


def test_first_passage() -> None:
    time = np.array([0.0, 1.0, 2.0, 4.0])
    series = np.array([[0.0, 0.2, 0.6, 0.1], [0.9, 0.0, 0.0, 0.0], [0.0, 0.0, 0.1, 0.3], [0.0, 0.5, 0.0, 0.0]])
    np.testing.assert_allclose(first_passage(time, series, 0.5), [1.75, 0.0, np.inf, 1.0])
    assert first_passage(time, series[0], 0.5) == 1.75
    with pytest.raises(ValueError, match="n = 4 times"):
        first_passage(time, series[:, :3], 0.5)
