"""Speed targets on one core, fast enough for a slider and a phase diagram.

Times are CPU seconds of this process, and the best of many rounds is compared with the target: the figure that other work
on the machine disturbs least.
"""

import time

import numpy as np
import pytest

from copyhead import LinearAction, Setup, SoftmaxAction

SETUP = Setup(25, 5)
pytestmark = pytest.mark.benchmark(timer=time.process_time)


def fastest(benchmark, target, function, rounds):
    benchmark.pedantic(function, rounds=rounds, iterations=1, warmup_rounds=1)
    assert benchmark.stats.stats.min <= target


@pytest.mark.parametrize("kind", ["linear", "softmax"])
def test_one_million_action_values(benchmark, kind):
    x, P = np.linspace(0.01, 1, 1000)[:, None], np.linspace(10, 800, 1000)
    linear, softmax = LinearAction(SETUP), SoftmaxAction(SETUP)
    fastest(benchmark, 0.2, (lambda: linear.action(x, 0.1, P)) if kind == "linear" else (lambda: softmax.action(x, P)), 5)


@pytest.mark.parametrize("action", [LinearAction(SETUP), SoftmaxAction(SETUP)], ids=["linear", "softmax"])
def test_minimum_at_one_P(benchmark, action):
    fastest(benchmark, 1e-3, lambda: action.minimum(310.0), 200)


@pytest.mark.parametrize("action", [LinearAction, SoftmaxAction])
def test_first_order_transition(benchmark, action):
    setup = Setup(100, 2)  # both attentions jump here
    fastest(benchmark, 0.02, lambda: action(setup).first_order_transition(), 30)


@pytest.mark.parametrize("action", [LinearAction, SoftmaxAction])
def test_loss_map_in_P_and_L(benchmark, action):
    P = np.geomspace(5, 1000, 100)

    def loss_map():
        return np.array([action(Setup(L, 5)).minimum(P).loss for L in range(6, 106)])

    fastest(benchmark, 10.0, loss_map, 1)


def test_redraw_of_the_trainer(benchmark):
    from copyhead.experiments.trainer import GRID
    from copyhead.trainer_panels import Point
    from copyhead.trainer_widget import Trainer

    trainer = Trainer(GRID)
    trainer.points["softmax"] = [Point(P, "up", 0.9, 0.5) for P in GRID]
    trainer.curves["softmax"] = [("up", list(range(0, 800, 10)), [0.5] * 80)]
    fastest(benchmark, 0.150, lambda: trainer.draw(Point(270, "up", 0.9, 0.5)), 20)
