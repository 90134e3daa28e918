"""Training: against closed forms, against an optimiser written out by hand, against L-BFGS, and against kill -9."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from copyhead import Setup, checkpoint, fit_map
from copyhead.networks import CopyNetwork, Network, ReducedNetwork
from copyhead.task import HELD_OUT, sequences
from copyhead.training import TrainingRun, learning_rate, train, warmup_factor

SMALL = Setup(L=6, V=3, sigma2=2.0)
TOKENS, FRESH = sequences(6, 3, 40, seed=0), sequences(6, 3, 20, seed=0, stream=HELD_OUT)
STIFFNESS = torch.tensor([0.5, 1.0, 3.0], dtype=torch.float64)
GOAL = torch.tensor([1.0, -2.0, 0.25], dtype=torch.float64)


class Bowl(torch.nn.Module):
    """Action sum_i k_i (x_i - g_i)^2 / 2, held-out loss (x_0 - 0.4)^2; every way through it is known."""

    setup, attention_kind = SMALL, "linear"

    def __init__(self) -> None:
        super().__init__()
        self.x = torch.nn.Parameter(torch.tensor([-1.0, 1.0, 2.0], dtype=torch.float64))
        self.attentions, self.losses = 0, 0

    def encode(self, tokens):
        return (torch.as_tensor(tokens),)

    def action(self, data):
        return (STIFFNESS * (self.x - GOAL) ** 2).sum() / 2

    def loss(self, data):
        self.losses += 1
        return (self.x[0] - 0.4) ** 2

    def attention(self, data):
        self.attentions += 1
        return torch.ones(2, 6, 6)


def quiet(network: Any, tokens: Any = TOKENS, **options: Any) -> TrainingRun:
    return train(network, tokens, progress=False, **options)


# --- the two optimisers ------------------------------------------------------------------------------------------


def test_gradient_descent_on_a_quadratic_is_a_product_of_contractions() -> None:
    bowl, lr, warmup = Bowl(), 0.3, 8
    run = quiet(bowl, steps=25, lr=lr, optimizer="gd", warmup=warmup, record_every=1)
    rates = lr * np.array([0.01 + 0.99 * min(n / warmup, 1) for n in range(25)])
    k, goal = STIFFNESS.numpy(), GOAL.numpy()
    shrink = np.cumprod(np.vstack([np.ones(3), 1 - rates[:, None] * k]), axis=0)
    distance = shrink * (np.array([-1.0, 1.0, 2.0]) - goal)
    assert np.array_equal(run.step, np.arange(26)) and run.stopped == "steps"
    np.testing.assert_allclose(run.action, (k * distance**2).sum(axis=1) / 2, rtol=1e-12)
    np.testing.assert_allclose(bowl.x.detach(), goal + distance[-1], rtol=1e-12)


def test_adam_on_a_quadratic_is_the_published_recursion() -> None:
    bowl, lr, warmup, eps = Bowl(), 0.05, 10, 1e-8
    quiet(bowl, steps=40, lr=lr, warmup=warmup)
    x, m, v = np.array([-1.0, 1.0, 2.0]), np.zeros(3), np.zeros(3)
    for n in range(40):
        gradient = STIFFNESS.numpy() * (x - GOAL.numpy())
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        rate = lr * (0.01 + 0.99 * min(n / warmup, 1))
        x = x - rate * m / (1 - 0.9 ** (n + 1)) / (np.sqrt(v / (1 - 0.999 ** (n + 1))) + eps)
    np.testing.assert_allclose(bowl.x.detach(), x, rtol=1e-9)


def test_warmup_runs_from_a_hundredth_to_one() -> None:
    assert warmup_factor(0, 0) == 1.0 and warmup_factor(0, 200) == 0.01 and warmup_factor(200, 200) == 1.0
    assert warmup_factor(10**6, 200) == 1.0
    np.testing.assert_allclose(np.diff([warmup_factor(n, 200) for n in range(201)]), 0.99 / 200)


def test_rule_for_the_learning_rate_gives_the_papers_value_at_the_papers_size() -> None:
    assert learning_rate(ReducedNetwork(SMALL, "linear")) == 0.01
    assert learning_rate(CopyNetwork(SMALL, "linear", 1000)) == pytest.approx(1e-4)
    assert 0.1 / 10_000 == pytest.approx(1e-5)                                    # Table 1: d = 10,000, rate 1e-5


def test_each_weight_may_have_a_rate_of_its_own() -> None:
    # Gradient descent on the full network is that of the reduced one with its metric, if W_O goes d times more slowly.
    d, eta = 12, 0.02
    full = CopyNetwork(SMALL, "softmax", d, dtype=torch.float64, init="prior", seed=3)
    reduced = ReducedNetwork(SMALL, "softmax", metric=full.metric(), dtype=torch.float64)
    run = quiet(full, steps=30, lr={"W_G": eta, "W_O": eta / d}, optimizer="gd")
    # The same start: T and r agree when M = C^-1/2 T C^-1/2 and W = r C^-1/2; C has full rank, since d > V + L.
    inverse = torch.linalg.inv(reduced.root)
    start = CopyNetwork(SMALL, "softmax", d, dtype=torch.float64, init="prior", seed=3)
    reduced.M.data, reduced.W.data = inverse @ start.kernel().data @ inverse, start.readout().data @ inverse
    other = quiet(reduced, steps=30, lr=eta, optimizer="gd")
    np.testing.assert_allclose(run.loss, other.loss, rtol=1e-9)
    np.testing.assert_allclose(run.a_G, other.a_G, rtol=1e-8)


# --- decay is the prior ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["reduced", "full"])
def test_decay_shrinks_by_the_inverse_prior_variance(kind: str) -> None:
    # Without readout the output is zero whatever the attention, and without linear attention it is zero whatever the
    # readout: then only the prior moves the weights, by the factor 1 - lr / variance.
    setup, d, lr = replace(SMALL, g_O=2.0, g_W=0.5), 7, 0.01
    for zero, other, variance in (("W", "M", 0.5), ("M", "W", 2.0)):
        if kind == "full":
            zero, other = {"W": "W_O", "M": "W_G"}[zero], {"W": "W_O", "M": "W_G"}[other]
            variance = variance if other == "W_G" else variance / d
            network: Network = CopyNetwork(setup, "linear", d, init="prior", dtype=torch.float64)
        else:
            network = ReducedNetwork(setup, "linear", init="prior", dtype=torch.float64)
        weights = dict(network.named_parameters())
        weights[zero].data.zero_()
        before = weights[other].detach().clone()
        quiet(network, steps=1, lr=lr, optimizer="gd")
        torch.testing.assert_close(weights[other].detach(), (1 - lr / variance) * before, rtol=1e-12, atol=0)


def test_decay_goes_through_adam_like_any_gradient() -> None:
    # Adam's first step has length lr in every entry, whatever the gradient.  Decoupled decay would shrink instead.
    network = ReducedNetwork(SMALL, "linear", init="prior", dtype=torch.float64)
    network.W.data.zero_()
    before = network.M.detach().clone()
    quiet(network, steps=1, lr=1e-3)
    torch.testing.assert_close(network.M.detach(), before - 1e-3 * before.sign(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("attention", "P", "sigma2", "steps"),
                         [("softmax", 100, 10.0, 500), ("softmax", 40, 10.0, 400), ("linear", 40, 15.0, 600)])
def test_adam_ends_at_the_map(attention: Any, P: int, sigma2: float, steps: int) -> None:
    # At sigma2 = 30 these are P = 300, 120 and 80.
    setup = Setup(L=25, V=5, sigma2=sigma2)
    network = ReducedNetwork(setup, attention)
    run = quiet(network, sequences(25, 5, P, seed=0), steps=steps, lr=0.02, record_every=50)
    best = fit_map(setup, attention, P, seed=0)
    # Single precision and a finite step leave 1e-5 of the action; another minimum lies higher by 1e-2 of it.
    assert run.action[-1] == pytest.approx(best.action, rel=3e-5)
    if attention == "softmax":
        assert run.a_G[-1] == pytest.approx(best.a_G, abs=2e-3) and not hasattr(best, "c1")
        assert (best.a_G > 0.7) == (P == 100)                                     # one copies, the other does not
    else:
        assert run.c1[-1] == pytest.approx(best.c1, abs=2e-3)
        assert run.c_G[-1] == pytest.approx(best.c_G, abs=2e-3)
    assert run.loss[-1] == pytest.approx(best.loss, abs=1e-3)


# --- records -----------------------------------------------------------------------------------------------------


def test_records_are_what_the_network_says() -> None:
    network = ReducedNetwork(SMALL, "softmax", seed=1)
    seen = []
    run = quiet(network, steps=23, record_every=10, held_out=FRESH, on_record=lambda n, values: seen.append((n, values)))
    assert run.step.tolist() == [0, 10, 20, 23] == [n for n, _ in seen] and run.seconds > 0
    with torch.no_grad():
        assert run.action[-1] == pytest.approx(float(network.action(TOKENS)), rel=1e-6)
        assert run.loss[-1] == pytest.approx(float(network.loss(TOKENS)), rel=1e-6)
        assert run.test_loss[-1] == pytest.approx(float(network.loss(FRESH)), rel=1e-6)
        G = network.attention(TOKENS).mean(dim=0).numpy()
    T = np.mean([G[a, a - 1] for a in range(6)]) * 6
    assert run.c1[-1] * 5 == pytest.approx(G.sum() - T, rel=1e-5)                 # all entries: c1 L + c_G sqrt(L)
    assert run.a_G[-1] == pytest.approx((T - run.c1[-1]) / math.sqrt(6), rel=1e-4)
    for n, values in seen:
        for name, value in values.items():
            assert value == pytest.approx(getattr(run, name)[run.step == n].item(), rel=1e-9)


def test_records_do_not_disturb_and_nothing_else_is_measured() -> None:
    ends = []
    for every in (1, 7):
        network = ReducedNetwork(SMALL, "linear", seed=2)
        quiet(network, steps=30, record_every=every, held_out=FRESH)
        ends.append(network.M.detach().clone())
    assert torch.equal(*ends)
    bowl = Bowl()
    assert len(quiet(bowl, steps=50, lr=0.01, record_every=10).step) == 6
    assert bowl.attentions == 6 and bowl.losses == 6
    assert np.isnan(quiet(Bowl(), steps=1, lr=0.01).test_loss).all()


def test_sign_of_linear_attention_is_fixed_once_for_a_run() -> None:
    runs = []
    for sign in (1, -1):
        network = ReducedNetwork(SMALL, "linear", seed=4, dtype=torch.float64)
        network.M.data *= sign
        network.W.data *= sign
        runs.append(quiet(network, steps=200, lr=0.03))
    assert runs[0].c1[-1] + math.sqrt(6) * runs[0].c_G[-1] > 0.05                 # it has learned something
    np.testing.assert_allclose(runs[0].c1, runs[1].c1, rtol=1e-9)
    np.testing.assert_allclose(runs[0].c_G, runs[1].c_G, rtol=1e-9)
    with pytest.raises(AttributeError, match="softmax"):
        _ = runs[0].a_G


@pytest.mark.parametrize(("patience", "every"), [(5, 1), (12, 1), (5, 4)])
def test_patience_counts_steps_since_the_lowest_held_out_loss(patience: int, every: int) -> None:
    # x_0 moves from -1 towards 1 by a factor 1 - 0.5 lr per step, and the held-out loss is lowest at 0.4.
    lr = 0.1
    x = 1 - 2 * (1 - 0.5 * lr) ** np.arange(200)
    looked = np.arange(0, 200, every)
    best = looked[np.argmin((x[looked] - 0.4) ** 2)]
    end = looked[looked >= best + patience][0]
    run = quiet(Bowl(), steps=199, lr=lr, optimizer="gd", patience=patience, held_out=FRESH, record_every=every)
    assert run.stopped == "patience" and run.step[-1] == end and run.step[np.argmin(run.test_loss)] == best


def test_caller_can_stop_a_run() -> None:
    run = quiet(Bowl(), steps=100, lr=0.01, on_record=lambda step, values: step < 30)
    assert run.stopped == "asked" and run.step[-1] == 30


@pytest.mark.parametrize(("progress", "static", "shown"), [(True, "", True), (True, "1", False), (False, "", False)])
def test_bar_vanishes(progress: bool, static: str, shown: bool, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COPYHEAD_STATIC", static)
    network: Any = Bowl()
    train(network, TOKENS, steps=5, lr=0.01, progress=progress)
    output = capsys.readouterr()
    assert output.out == "" and ("5" in output.err) == shown
    assert output.err.split("\r")[-1].strip() == "" and "\n" not in output.err


# --- what goes wrong ---------------------------------------------------------------------------------------------


def test_divergence_is_named_and_the_last_checkpoint_stays(tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    network = ReducedNetwork(SMALL, "linear", init="prior")
    with pytest.raises(FloatingPointError, match=r"action is (nan|inf) at step \d+ with lr = 2: .* smaller lr .*run\.pt"):
        quiet(network, steps=500, lr=2.0, optimizer="gd", record_every=1, checkpoint=file, checkpoint_every=1e-9)
    state = checkpoint.read(file, torch.device("cpu"))
    assert state is not None and torch.isfinite(state["records"][:, :3]).all()
    assert all(torch.isfinite(value).all() for value in state["network"].values())


@pytest.mark.parametrize(("options", "name"), [
    ({"steps": 0}, "steps"), ({"steps": 1.5}, "steps"), ({"lr": 0.0}, "lr"), ({"lr": math.nan}, "lr"), ({"lr": "big"}, "lr"),
    ({"lr": {"M": 0.1}}, "lr"), ({"lr": {"M": 0.1, "W": -1.0}}, "lr"), ({"optimizer": "sgd"}, "optimizer"),
    ({"warmup": -1}, "warmup"), ({"patience": 0, "held_out": FRESH}, "patience"), ({"patience": 5}, "patience"),
    ({"record_every": 0}, "record_every"), ({"checkpoint": "unused.pt", "checkpoint_every": 0}, "checkpoint_every"),
    ({"held_out": FRESH[:, :4]}, "tokens"), ({"tokens": TOKENS + 1}, "tokens"),
], ids=str)
def test_bad_input_is_refused(options: dict, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}\b.* must .*, got"):
        quiet(ReducedNetwork(SMALL, "linear"), **options)


# --- checkpoints -------------------------------------------------------------------------------------------------

SCRIPT = """
import sys
import numpy as np
from copyhead import Setup, checkpoint
from copyhead.networks import CopyNetwork
from copyhead.task import HELD_OUT, sequences
from copyhead.training import train

checkpoint.WRITING_SHARE = 1.0                         # small runs may spend their time on writing
out, *files = sys.argv[1:]
for number, file in enumerate(files):
    network = CopyNetwork(Setup(L=6, V=3, sigma2=2.0), "softmax", 16)
    run = train(network, sequences(6, 3, 40, 0), steps=400, warmup=150, held_out=sequences(6, 3, 20, 0, HELD_OUT),
                record_every=10, checkpoint=file or None, checkpoint_every=1e-9, progress=False,
                on_record=lambda step, values: print(step, flush=True))
    np.savez(f"{out}{number}", step=run.step, action=run.action, loss=run.loss, test_loss=run.test_loss, c1=run.c1,
             c_G=run.c_G, **{name: weight.detach().numpy() for name, weight in network.named_parameters()})
"""


def test_run_killed_in_the_middle_ends_like_one_that_was_not(tmp_path: Path) -> None:
    def start(*files: Path | str) -> subprocess.Popen:
        return subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path / "end"), *map(str, files)], text=True,
                                stdout=subprocess.PIPE, env=os.environ | {"OMP_NUM_THREADS": "1"})

    file = tmp_path / "folder" / "run.pt"
    killed = start(file)
    assert killed.stdout is not None
    for line in killed.stdout:
        if int(line) >= 300:
            killed.send_signal(signal.SIGKILL)
            break
    assert killed.wait() == -signal.SIGKILL and not (tmp_path / "end0.npz").exists()
    both = start(file, "")
    steps = [int(line) for line in both.communicate()[0].split()]
    assert both.returncode == 0
    # The first went on, it did not restart: the checkpoint may lag behind the last record.
    assert steps[0] > 150 and steps.count(400) == 2 and steps.count(0) == 1
    with np.load(tmp_path / "end0.npz") as resumed, np.load(tmp_path / "end1.npz") as whole:
        assert resumed["step"].tolist() == list(range(0, 401, 10)) and set(resumed) == set(whole)
        for name in resumed:
            assert resumed[name].tobytes() == whole[name].tobytes(), name


def test_finished_run_is_not_repeated_and_can_be_prolonged(tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    whole = quiet(ReducedNetwork(SMALL, "softmax"), steps=60)
    quiet(ReducedNetwork(SMALL, "softmax"), steps=35, checkpoint=file)
    steps: list[int] = []
    longer = ReducedNetwork(SMALL, "softmax")
    run = quiet(longer, steps=60, checkpoint=file, on_record=lambda step, values: steps.append(step))
    assert steps == [40, 50, 60] and np.array_equal(run.action, whole.action) and np.array_equal(run.step, whole.step)
    steps.clear()
    again = quiet(ReducedNetwork(SMALL, "softmax"), steps=60, checkpoint=file, on_record=lambda step, _: steps.append(step))
    assert np.array_equal(again.action, whole.action) and steps == []
    # The clock of a finished run is read from the checkpoint, which is written just before the run returns.
    assert again.seconds > 0.9 * run.seconds
    with pytest.raises(ValueError, match="^steps must be >= 60, where the checkpoint"):
        quiet(ReducedNetwork(SMALL, "softmax"), steps=59, checkpoint=file)


def test_patience_survives_a_checkpoint(tmp_path: Path) -> None:
    options: dict[str, Any] = dict(steps=199, lr=0.1, optimizer="gd", patience=9, held_out=FRESH, record_every=1)
    whole = quiet(Bowl(), **options)
    file = tmp_path / "run.pt"
    quiet(Bowl(), **options, checkpoint=file, on_record=lambda step, values: step < whole.step[-1] - 4)
    for _ in range(2):                                                            # the second has nothing left to do
        run = quiet(Bowl(), **options, checkpoint=file)
        assert run.stopped == "patience" and np.array_equal(run.step, whole.step)


def test_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    quiet(ReducedNetwork(SMALL, "softmax"), steps=10, held_out=FRESH, checkpoint=file)
    before = file.read_bytes()
    others = {
        "lr": lambda: quiet(ReducedNetwork(SMALL, "softmax"), steps=20, lr=0.1, held_out=FRESH, checkpoint=file),
        "tokens": lambda: quiet(ReducedNetwork(SMALL, "softmax"), FRESH, steps=20, held_out=FRESH, checkpoint=file),
        "held_out": lambda: quiet(ReducedNetwork(SMALL, "softmax"), steps=20, checkpoint=file),
        "network": lambda: quiet(ReducedNetwork(SMALL, "linear"), steps=20, held_out=FRESH, checkpoint=file),
        "initial weights": lambda: quiet(ReducedNetwork(SMALL, "softmax", seed=1), steps=20, held_out=FRESH,
                                         checkpoint=file),
    }
    for name, attempt in others.items():
        with pytest.raises(ValueError, match=f"^checkpoint must belong to this run: .*another {name} "):
            attempt()
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", None], ids=["empty", "text", "foreign"])
def test_file_that_is_no_checkpoint_is_refused_and_kept(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    if content is None:
        torch.save({"step": 3}, file)
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"^checkpoint must be a file that a run wrote; .*run\.pt"):
        quiet(ReducedNetwork(SMALL, "softmax"), steps=10, checkpoint=file)
    assert file.read_bytes() == before


def test_failed_write_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "run.pt"
    checkpoint.write(file, {"step": 1})
    before = file.read_bytes()

    def fail(state, stream) -> None:
        stream.write(b"half a file")
        raise OSError("disk full")

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        checkpoint.write(file, {"step": 2})
    assert file.read_bytes() == before and list(tmp_path.iterdir()) == [file]


def test_writing_takes_a_small_share_of_the_time(tmp_path: Path, monkeypatch) -> None:
    written = []
    monkeypatch.setattr(checkpoint, "write", lambda path, state: written.append(state["step"]))
    quiet(Bowl(), steps=30, lr=0.01, record_every=1, checkpoint=tmp_path / "a.pt", checkpoint_every=3600.0)
    assert written == [30]                                                        # not yet time, but the end is kept
