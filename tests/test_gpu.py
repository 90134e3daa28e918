"""CPU and CUDA agree (marked ``gpu``: skipped without a device, run by ``make gpu``), and the tool that measures times."""

import json
import subprocess
import sys
from pathlib import Path

import gpu
import numpy as np
import pytest
from gpu_times import FILE, gpu_time

from copyhead import Setup, task
from copyhead.cost import DEVICES, adam_step, naive_operations

ROOT = Path(__file__).resolve().parent.parent
SETUP = Setup(12, 4, 3.0)
TOKENS = task.sequences(12, 4, 80, seed=0)


@pytest.fixture
def cuda():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return "cuda"


def network(kind, attention, device, dtype):
    import torch

    from copyhead.networks import CopyNetwork, ReducedNetwork

    options = dict(init="prior", seed=1, device=device, dtype=getattr(torch, dtype))
    return ReducedNetwork(SETUP, attention, **options) if kind == "reduced" else CopyNetwork(SETUP, attention, 64, **options)


# Double precision leaves rounding alone; single precision loses up to a factor 1e3 of its 6e-8 in sums over P L terms.
@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-11), ("float32", 1e-4)])
@pytest.mark.parametrize("attention", ["linear", "softmax"])
@pytest.mark.parametrize("kind", ["reduced", "full"])
def test_action_and_gradient_agree(cuda, kind, attention, dtype, tolerance):
    results = []
    for device in ("cpu", cuda):
        net = network(kind, attention, device, dtype)
        action = net.action(TOKENS)
        action.backward()
        gradients = {name: p.grad.cpu().numpy() for name, p in net.named_parameters() if p.requires_grad}
        results.append((action.item(), net(TOKENS).detach().cpu().numpy(), gradients))
    (here, outputs, slopes), (there, outputs_there, slopes_there) = results
    assert there == pytest.approx(here, rel=tolerance)
    assert np.abs(outputs_there - outputs).max() < tolerance * np.abs(outputs).max()
    for name, slope in slopes.items():
        assert np.abs(slopes_there[name] - slope).max() < tolerance * np.abs(slope).max(), name


@pytest.mark.gpu
@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_trajectories_agree(cuda, attention):
    """Adam in double precision: 1e-7 after 200 steps, because what rounding differs by grows while symmetry breaks."""
    from copyhead.training import train

    networks = [network("full", attention, device, "float64") for device in ("cpu", cuda)]
    runs = [train(net, TOKENS, steps=200, progress=False) for net in networks]
    for name in ("action", "loss", "c1", "c_G"):
        here, there = (getattr(run, name) for run in runs)
        assert np.abs(there - here).max() < 1e-7 * max(1.0, np.abs(here).max()), name


@pytest.mark.gpu
def test_a_run_begun_on_the_gpu_goes_on_there_to_the_last_bit(cuda, tmp_path):
    from copyhead.training import train

    def run(steps, path=None):
        return train(network("reduced", "softmax", cuda, "float32"), TOKENS, steps=steps, checkpoint=path, progress=False)

    run(40, tmp_path / "half.pt")
    assert np.array_equal(run(80, tmp_path / "half.pt").action, run(80).action)


@pytest.mark.gpu
def test_full_size_fits_a_small_gpu(cuda):
    """Ten steps at d = 10,000 take no more memory than four matrices of that size and a tenth."""
    import torch

    torch.cuda.reset_peak_memory_stats()
    gpu.step_time(cuda, 10_000, repeats=10)
    assert torch.cuda.max_memory_allocated() < 1.15 * adam_step(Setup(25, 5), 10_000).memory


# --- without a GPU -------------------------------------------------------------------------------------------------


def test_without_a_device_the_tool_says_so_and_changes_nothing(tmp_path):
    code = "import torch; torch.cuda.is_available = lambda: False; import gpu, sys; sys.exit(gpu.main())"
    command = [sys.executable, "-c", code, "--output", str(tmp_path / "gpu.json")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "tools", check=False)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert "make gpu needs a CUDA device" in result.stderr and "stays as it is" in result.stderr
    assert not (tmp_path / "gpu.json").exists()


def test_measured_times_replace_estimates(tmp_path):
    done = []
    record = gpu.measure("cpu", {"book/a": done.append, "book/b": done.append}, [16, 32])
    assert done == ["cpu"]                              # the same work is done once
    assert set(record["minutes"]) == {"book/a", "book/b"} and all(0 < t < 5 for t in record["steps"].values())
    assert "32" in gpu.report(record)
    record |= {"device": "NVIDIA Tesla T9", "minutes": {"book/a": 0.347, "book/b": 12.3, "book/c": 0.01}}
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(json.dumps(record))
    assert gpu_time(tmp_path, "book/a", "2 (estimated)") == ("T9", "0.3 min (measured)")
    assert gpu_time(tmp_path, "book/b", "2 (estimated)") == ("T9", "12 min (measured)")
    assert gpu_time(tmp_path, "book/c", "2 (estimated)") == ("T9", "under 0.1 min (measured)")
    assert gpu_time(tmp_path, "book/d", "2 (estimated)") == ("T4", "2 min (estimated)")
    assert gpu_time(tmp_path / "nowhere", "book/a", "under 1 (estimated)") == ("T4", "under 1 min (estimated)")
    wrong_type = '{"device": "x", "minutes": {"book/a": "1"}}'
    for damaged in ("{", "[]", '{"device": 1, "minutes": {}}', '{"device": "x"}', wrong_type):
        (tmp_path / FILE).write_text(damaged)
        with pytest.raises(ValueError, match=r"gpu\.json is not what make gpu writes"):
            gpu_time(tmp_path, "book/a", "2 (estimated)")


def test_committed_times_belong_to_chapters():
    record = json.loads((ROOT / FILE).read_text("utf-8"))
    assert set(record["minutes"]) <= set(gpu.WORK)
    assert bool(record["device"]) == bool(record["minutes"])


def test_counted_memory_is_what_a_step_keeps():
    """Weights, gradient and the two running means of Adam, by the tensors that are there after a step."""
    torch = pytest.importorskip("torch")
    from copyhead.networks import CopyNetwork

    d = 300
    net = CopyNetwork(Setup(25, 5), "softmax", d)
    method = torch.optim.Adam([net.W_G], lr=1e-3, fused=True)
    net.action(task.sequences(25, 5, 10, 0)).backward()
    method.step()
    kept = [net.W_G, net.W_G.grad, *(t for t in method.state[net.W_G].values() if t.numel() > 1)]
    assert sum(t.numel() * t.element_size() for t in kept) == adam_step(Setup(25, 5), d).memory


def test_estimates_follow_the_count():
    cost = adam_step(Setup(25, 5), 10_000)
    assert cost.traffic == 4.4e9 and cost.operations == 1.2e10
    assert cost.seconds(DEVICES["T4"], share=1.0) == pytest.approx(4.4e9 / 320e9 + 1.2e10 / 8.1e12)
    assert cost.seconds(DEVICES["H100"]) < cost.seconds(DEVICES["T4"]) / 8
    assert naive_operations(Setup(25, 5), 300, 10_000) == 250 * cost.operations
    with pytest.raises(ValueError, match="d must be an integer >= 1"):
        adam_step(Setup(25, 5), 0)
