"""One training step of the d = 4096 network against the least that its d x d weights ask for.

The yardstick is a bare E^T W E with its backward pass and one fused Adam step on W, timed in the same run and in turn with
our step, on one core, in CPU time.  ``python tests/test_network_benchmark.py`` prints the row of the benchmark table.
"""

import time

import pytest
import torch

from copyhead import Setup
from copyhead.metric import embedding_vectors
from copyhead.networks import CopyNetwork
from copyhead.task import sequences

SETUP, P, D, TARGET = Setup(25, 5), 300, 4096, 1.2


def step_times(d=D, rounds=20):
    """Least CPU seconds of the bare step and of ours over ``rounds`` rounds in which they take turns."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        E = torch.as_tensor(embedding_vectors(SETUP.V, SETUP.L, d, 0), dtype=torch.float32)
        W = torch.nn.Parameter(0.01 * torch.randn(d, d))
        slope = torch.randn(SETUP.V + SETUP.L, SETUP.V + SETUP.L)
        network = CopyNetwork(SETUP, "softmax", d)
        data = network.encode(sequences(SETUP.L, SETUP.V, P, seed=0))
        methods = [torch.optim.Adam(weights, lr=0.1 / d, fused=True) for weights in ([W], network.parameters())]

        def bare():
            methods[0].zero_grad()
            (E.T @ W @ E / d).backward(slope)
            methods[0].step()

        def ours():
            methods[1].zero_grad()
            network.action(data).backward()
            methods[1].step()

        times = ([], [])
        for _ in range(rounds + 1):
            for step, measured in zip((bare, ours), times, strict=True):
                start = time.process_time()
                step()
                measured.append(time.process_time() - start)
        return min(times[0][1:]), min(times[1][1:])
    finally:
        torch.set_num_threads(threads)


def row(bare, ours):
    """The row of the benchmark table: work, target, measured."""
    return (f"| one step of the d = {D} network at P = {P}, one core | <= {TARGET} x bare E^T W E and fused Adam "
            f"| {ours / bare:.2f} x ({1e3 * ours:.0f} ms against {1e3 * bare:.0f} ms) |")


@pytest.mark.slow
def test_a_step_of_the_full_network_costs_little_more_than_its_weights():
    bare, ours = step_times()
    print(f"\n{row(bare, ours)}")
    assert ours <= TARGET * bare


def test_a_step_costs_as_much_at_many_sequences_as_at_few_where_the_weights_dominate():
    """P L d^2 operations, which the textbook network needs, would make 300 sequences 100 times as dear as three."""
    torch.manual_seed(0)
    network = CopyNetwork(SETUP, "softmax", 1024)

    def seconds(P):
        data, times = network.encode(sequences(SETUP.L, SETUP.V, P, seed=0)), []
        for _ in range(8):
            start = time.process_time()
            network.action(data).backward()
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(300) < 30 * seconds(3)         # about 10 on cores that are shared; 100 by the textbook


if __name__ == "__main__":
    print(row(*step_times()))
