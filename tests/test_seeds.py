"""Training of many seeds: each for itself, without a leak, and with censored times."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from copyhead.bit_tasks import LinearMap, Noise, all_bits  # noqa: E402
from copyhead.encoder import Encoder, Mixer  # noqa: E402
from copyhead.seeds import SeedsRun, initial_pull, train_seeds  # noqa: E402

SMALL = Encoder(heads=2, head_dim=3, width=6, hidden=8)


@pytest.mark.parametrize("student", [SMALL, Mixer(4, 6, 8)])
def test_a_seed_takes_the_same_way_alone_as_in_company(student) -> None:
    together = train_seeds(LinearMap.random(5, 2, [4, 9, 2]), student, [4, 9, 2], steps=40, dtype=torch.float64, stop=False)
    alone = train_seeds(LinearMap.random(5, 2, [9]), student, [9], steps=40, dtype=torch.float64, stop=False)
    assert np.allclose(together.loss[1], alone.loss[0], rtol=1e-10)
    assert np.array_equal(together.accuracy[1], alone.accuracy[0])
    assert not np.allclose(together.loss[0], alone.loss[0], rtol=1e-2)


def test_map_weights_and_batches_are_what_a_seed_draws_and_nothing_else() -> None:
    one = LinearMap.random(5, 2, [0])
    same = train_seeds(one, SMALL, range(3), steps=20, init=[0] * 3, data=[0] * 3, dtype=torch.float64)
    assert np.allclose(same.loss, same.loss[:1], rtol=1e-12)
    for init, data in (([0] * 3, None), (None, [0] * 3)):
        other = train_seeds(one, SMALL, range(3), steps=20, dtype=torch.float64, init=init, data=data)
        assert len(set(other.loss[:, -1].round(9))) == 3


def test_a_single_bit_is_learned_and_noise_is_not() -> None:
    """The same measurement on both, so that the second could fail: mean of (label - 1/2) logit, in standard errors."""

    def evidence(task) -> tuple[float, float]:
        run = train_seeds(task, Encoder(), range(4), steps=60, stop=False)
        excess = np.log(2) - run.loss[:, -1]
        return float(excess.mean()), float(run.accuracy[:, -1].mean())

    gain, accuracy = evidence(LinearMap.random(8, 1, range(4)))
    assert gain > 0.6 and accuracy > 0.97
    gain, accuracy = evidence(Noise(8))
    # 4 seeds x 256 inputs x 8 labels: the standard error of the accuracy is 0.0055; false alarm at 4 of them 6e-5.
    # Logits f cost <f^2>/8 on noise, so that the loss lies above ln 2, by what 60 steps on noise leave in them.
    assert abs(accuracy - 0.5) < 0.022 and -0.02 < gain < 0.003


def test_times_are_interpolated_and_censored() -> None:
    accuracy = np.array([[0.5, 0.5, 0.9, 1.0], [0.5, 0.6, 0.6, 0.6]])[:, :, None]
    run = SeedsRun(np.array([0, 10, 20, 30]), np.zeros((2, 4)), accuracy, np.ones((2, 4, 1, 1, 1)), np.ones((2, 1, 1)), 30)
    assert np.allclose(run.solved(0.95), [25, np.inf]) and np.allclose(run.rows_solved(0.55), np.array([[11.25], [5]]))
    assert np.allclose(run.on_pattern, 1)


def test_the_attention_of_the_record_belongs_to_the_pattern() -> None:
    run = train_seeds(LinearMap.random(6, 2, range(2)), Encoder(bias=30.0), range(2), steps=10, stop=False)
    assert run.attention.shape == (2, 2, 4, 6, 6) and np.allclose(run.attention.sum(axis=-1), 1, atol=1e-5)
    assert np.allclose(run.on_pattern, 1, atol=1e-5)
    free = train_seeds(LinearMap.random(6, 2, range(2)), Encoder(), range(2), steps=10, stop=False)
    assert np.all(np.abs(free.on_pattern - 2 / 6) < 0.2)


@pytest.mark.parametrize("student", [SMALL, Mixer(4, 6, 8)])
def test_the_pull_is_the_steepest_slope_of_the_correlation(student) -> None:
    """Along its own gradient, taken here from finite differences in random directions, no slope is larger."""
    task = LinearMap.random(5, 3, [0])
    x = torch.as_tensor(all_bits(5))[None]
    spins = 1 - 2 * task.labels(x, [])
    start = {k: w.double() for k, w in student.weights(5, [torch.Generator().manual_seed(0)]).items()}

    def correlation(weights) -> float:
        return float((student.forward(weights, x, task.pattern)[0] * spins).mean(dim=1).sum())

    squares, step = 0.0, 1e-6
    for name, w in start.items():
        for i in range(w.numel()):
            moved = w.flatten().clone()
            moved[i] += step
            up = correlation({**start, name: moved.view_as(w)})
            moved[i] -= 2 * step
            squares += ((up - correlation({**start, name: moved.view_as(w)})) / (2 * step)) ** 2
    assert np.isclose(initial_pull(task, student, [0])[0], squares**0.5, rtol=1e-4)


@pytest.mark.parametrize(("settings", "message"), [
    ({"steps": 0}, "steps must be an integer >= 1"), ({"lr": -1.0}, "lr must be a finite number > 0"),
    ({"init": [0]}, "init must have one number for each of 2 seeds"),
    ({"seeds": [0, 1, 2]}, "task must have one pattern or one for each of 3 seeds"),
    ({"seeds": []}, "at least one"), ({"seeds": [-1, 0]}, "init must be an integer >= 0"),
])
def test_bad_input_is_named(settings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        train_seeds(LinearMap.random(4, 2, [0, 1]), SMALL, **{"seeds": [0, 1], **settings})
