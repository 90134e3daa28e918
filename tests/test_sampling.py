"""Samplers against targets whose answer is known exactly.

Statistical tests have fixed seeds.  A threshold of z standard errors has the false-alarm rate of a Gaussian at z: 1e-4
at z = 3.9, for an arbitrary seed; with the seed fixed a test passes always or never.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from copyhead.diagnostics import Samples
from copyhead.sampling import sample

Z = 3.9
COVARIANCE = np.array([[1.0, 0.6, 0.0], [0.6, 0.5, 0.1], [0.0, 0.1, 2.0]])
CENTRE = np.array([1.0, -2.0, 0.5])
STARTS = (CENTRE + 4.0, CENTRE - 4.0)


def gaussian(x: np.ndarray) -> tuple[float, np.ndarray]:
    slope = np.linalg.solve(COVARIANCE, x - CENTRE)
    return float(slope @ (x - CENTRE)) / 2, slope


def coordinates(x: np.ndarray) -> dict[str, float]:
    return {"x": x[0], "y": x[1], "z": x[2]}


def double_well(x: np.ndarray) -> tuple[float, np.ndarray]:
    """Wells at about -1 and 1, tilted; the barrier of 1 is low enough to be crossed often."""
    return float((x[0] ** 2 - 1) ** 2 + 0.4 * x[0]), 4 * x * (x**2 - 1) + 0.4


def place(x: np.ndarray) -> dict[str, float]:
    return {"x": x[0], "right": float(x[0] > 0)}


def unthinned(method: str, **options: Any) -> Samples:
    settings: dict[str, Any] = {"draws": 4000, "tune": 400, "seed": 3, "progress": False, **options}
    return sample(gaussian, STARTS, observe=coordinates, method=method, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("method, thin", [("hmc", 1), ("mala", 10)])
def test_gaussian_moments_and_distribution(method: str, thin: int) -> None:
    samples = unthinned(method, thin=thin)
    assert samples.mixed, samples.verdict
    for i, name in enumerate("xyz"):
        error = samples.standard_error(name)
        assert abs(samples.mean(name) - CENTRE[i]) < Z * error
        assert error < 0.1 * np.sqrt(COVARIANCE[i, i])        # so that the line above says something
        # relative standard error of a variance from n independent Gaussian draws: sqrt(2 / n)
        square = (samples.draws[name] - CENTRE[i]) ** 2
        spread = Samples({**samples.draws, "square": square}, samples.last, method, samples.step, samples.acceptance,
                         samples.divergences, 0)
        assert abs(spread.mean("square") - COVARIANCE[i, i]) < Z * spread.standard_error("square")
        # Kolmogorov-Smirnov on draws far enough apart to be independent
        gap = int(np.ceil(2 * samples.draws[name].size / samples.ess[name]))
        independent = samples.draws[name][:, ::gap].ravel()
        assert len(independent) > 300
        assert stats.kstest(independent, stats.norm(CENTRE[i], np.sqrt(COVARIANCE[i, i])).cdf).pvalue > 1e-4


@pytest.mark.parametrize("method", ["hmc", "mala", "ula"])
def test_double_well_has_the_right_odds(method: str) -> None:
    weight = lambda x: np.exp(-double_well(np.array([x]))[0])  # noqa: E731
    left, right = integrate.quad(weight, -np.inf, 0)[0], integrate.quad(weight, 0, np.inf)[0]
    options: dict[str, Any] = {"step": 0.15, "thin": 20} if method == "ula" else {"thin": 5, "leapfrogs": 4}
    samples = sample(double_well, [np.array([-1.0]), np.array([1.0])], observe=place, method=method,  # type: ignore[arg-type]
                     draws=3000, tune=300, seed=11, progress=False, **options)
    assert samples.mixed, samples.verdict
    allowed = Z * samples.standard_error("right") + (0.0225 if method == "ula" else 0.0)   # eps^2, the order of the bias
    assert abs(samples.mean("right") - right / (left + right)) < allowed
    assert allowed < 0.1                                           # without the tilt it would be 0.5, not 0.31


@pytest.mark.parametrize("step", [0.3, 0.8])
def test_bias_of_ula_is_the_known_one(step: float) -> None:
    """On N(0, 1) ULA is a linear recursion with the stationary variance 1 / (1 - eps^2 / 4)."""
    samples = sample(lambda x: (float(x @ x) / 2, x), [np.full(400, 2.0), np.full(400, -2.0)], method="ula", step=step,
                     observe=lambda x: {"square": float(x @ x) / 400}, draws=4000, thin=4, tune=200, seed=5, progress=False)
    exact = 1 / (1 - step**2 / 4)
    error = samples.standard_error("square")
    assert abs(samples.mean("square") - exact) < Z * error
    assert exact - 1 > 2 * Z * error                               # and no unbiased sampler would pass
    assert samples.acceptance.tolist() == [1.0, 1.0]


def test_tuning_reaches_the_wanted_acceptance() -> None:
    """In many dimensions, where acceptance falls steadily with the step."""
    starts = [np.full(200, 1.0), np.full(200, -1.0)]
    for method, goal in (("hmc", 0.8), ("mala", 0.574)):
        samples = sample(lambda x: (float(x @ x) / 2, x), starts, observe=lambda x: {}, method=method,  # type: ignore[arg-type]
                         draws=1000, tune=400, progress=False)
        assert np.allclose(samples.acceptance, goal, atol=0.06)


def test_leapfrog_of_one_step_is_mala() -> None:
    """Same proposal and same acceptance; only the jitter of HMC's step differs, which a fixed seed shows as a factor."""
    hmc = unthinned("hmc", leapfrogs=1, step=0.4, draws=20_000, tune=0)
    mala = unthinned("mala", step=0.4, draws=20_000, tune=0)
    assert np.allclose(hmc.acceptance, mala.acceptance, atol=0.02)


def test_a_stuck_sampler_says_so() -> None:
    def deep(x: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(over="ignore"):
            U, slope = double_well(x)
            return 60 * U, 60 * slope

    samples = sample(deep, [np.array([-1.0]), np.array([1.0])], observe=place, draws=400, tune=100, progress=False)
    assert not samples.mixed
    assert "R-hat" in samples.verdict and samples.verdict.startswith("not mixed")
    one = sample(gaussian, STARTS[:1], observe=coordinates, draws=400, tune=100, progress=False)
    assert not one.mixed and "one chain" in one.verdict
    few = sample(gaussian, STARTS, observe=coordinates, draws=3, tune=50, progress=False)
    assert not few.mixed and "too few" in few.verdict


def test_chains_share_no_random_number() -> None:
    """Chains with one start and one stream would be copies of each other."""
    samples = sample(gaussian, [CENTRE, CENTRE], observe=coordinates, draws=100, tune=50, progress=False)
    assert abs(np.corrcoef(*samples.draws["x"])[0, 1]) < 0.5


def test_result_depends_on_the_seed_only() -> None:
    first, second = (unthinned("hmc", draws=50, n_jobs=n) for n in (1, 2))
    assert all((first.draws[name] == second.draws[name]).all() for name in first.draws)
    assert (unthinned("hmc", draws=50, seed=4).draws["x"] != first.draws["x"]).any()


SCRIPT = """
import sys, time
import numpy as np
sys.path.insert(0, {tests!r})
from test_sampling import STARTS, coordinates, gaussian
from copyhead import chain
from copyhead.sampling import sample
chain.SAVE_EVERY_S = 0.0
def slow(x):
    time.sleep({pause})
    return gaussian(x)
samples = sample(slow, STARTS, observe=coordinates, draws=60, tune=50, leapfrogs=2, seed=7, progress=False,
                 folder={folder!r})
np.save({result!r}, np.stack([samples.draws[name] for name in sorted(samples.draws)]))
"""


def test_killed_run_continues_to_the_same_draws(tmp_path: Path) -> None:
    folder, result = tmp_path / "chains", tmp_path / "draws.npy"

    def script(pause: float) -> list[str]:
        text = SCRIPT.format(tests=str(Path(__file__).parent), pause=pause, folder=str(folder), result=str(result))
        return [sys.executable, "-c", text]

    for chain in (0, 1):                                           # once in each chain
        process = subprocess.Popen(script(0.01))
        deadline = time.monotonic() + 60
        while not (folder / f"chain-{chain}.npz").exists():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not result.exists()
    subprocess.run(script(0.0), check=True)
    whole = sample(gaussian, STARTS, observe=coordinates, draws=60, tune=50, leapfrogs=2, seed=7, progress=False)
    assert (np.load(result) == np.stack([whole.draws[name] for name in sorted(whole.draws)])).all()


def test_folder_of_another_call_or_damaged_is_refused(tmp_path: Path) -> None:
    call: dict[str, Any] = {"observe": coordinates, "draws": 10, "tune": 50, "folder": tmp_path, "progress": False}
    sample(gaussian, STARTS, **call)
    with pytest.raises(ValueError, match="folder must be empty or hold the chains of this call"):
        sample(gaussian, STARTS, **call, seed=1)
    file = tmp_path / "chain-1.npz"
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(ValueError, match="damaged chain"):
        sample(gaussian, STARTS, **call)


def test_divergence_is_rejected_by_hmc_and_an_error_of_ula() -> None:
    def steep(x: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.sum(x**8)), 8 * x**7

    start = [np.array([1.0])]
    observe = {"observe": lambda x: {"x": x[0]}, "progress": False}
    samples = sample(steep, start, method="hmc", step=1.5, leapfrogs=30, draws=50, tune=0, **observe)  # type: ignore[arg-type]
    assert samples.divergences[0] > 10 and np.abs(samples.draws["x"]).max() < 2
    with pytest.raises(FloatingPointError, match="chain 0, move .*smaller"):
        sample(steep, start, method="ula", step=1.5, draws=500, tune=0, **observe)  # type: ignore[arg-type]
    with pytest.raises(FloatingPointError, match="not finite at the start"):
        sample(lambda x: (np.nan, x), start, step=0.1, **observe)  # type: ignore[arg-type]
    calls = itertools.count()
    with pytest.raises(FloatingPointError, match="is the gradient that of U"):
        sample(lambda x: (1e3 * next(calls), x), start, **observe)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong, message", [
    ({"method": "nuts"}, "method must be 'ula', 'mala' or 'hmc', got 'nuts'"),
    ({"draws": 0}, "draws must be an integer >= 1, got 0"),
    ({"step": -0.1}, "step must be a finite number > 0, got -0.1"),
    ({"tune": 10}, "tune must be an integer >= 50 where step is not given, got 10"),
    ({"starts": []}, "starts must be one or more finite arrays of one shape"),
    ({"starts": [np.zeros(2), np.zeros(3)]}, "of one shape, got shapes"),
    ({"starts": [np.array([np.nan])]}, "finite arrays"),
    ({"starts": ["a"]}, "starts must be a sequence of arrays of numbers"),
], ids=["method", "draws", "step", "tune", "no start", "shapes", "nan", "text"])
def test_bad_input(wrong: dict[str, Any], message: str) -> None:
    call: dict[str, Any] = {"starts": STARTS, "observe": coordinates, **wrong}
    with pytest.raises(ValueError, match=message):
        sample(gaussian, call.pop("starts"), **call)
    with pytest.raises(ValueError, match="name must be one of"):
        sample(gaussian, STARTS, observe=coordinates, draws=5, tune=50, progress=False).mean("w")


def test_quarter_period_forgets_energies_and_half_a_period_does_not() -> None:
    """300 directions of one frequency omega: a trajectory of pi / (2 omega) turns each into its momentum."""
    def target(x: np.ndarray) -> tuple[float, np.ndarray]:
        return 15 * float(x @ x), 30 * x

    starts = [np.zeros(300), np.full(300, 0.2)]
    quarter, half = (sample(target, starts, observe=lambda x: {"first": float(x[0])}, tune=100, draws=300, seed=1,
                            length=share * np.pi / np.sqrt(30), progress=False) for share in (0.5, 1.0))
    assert quarter.ess["potential"] > 300 and quarter.ess["first"] > 300
    assert half.ess["potential"] < 0.5 * quarter.ess["potential"]
    assert abs(quarter.mean("potential") - 150) < 3.9 * quarter.standard_error("potential")
    with pytest.raises(ValueError, match="^length must be"):
        sample(target, starts, observe=lambda x: {}, length=-1.0)


def test_scale_changes_the_moves_and_not_the_density() -> None:
    """A Gaussian with widths from 0.01 to 1: moments within 3.9 standard errors, at a fraction of the leapfrog steps."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    root = rotation * np.geomspace(0.01, 1, 12)                         # covariance root root^T
    precision = np.linalg.inv(root @ root.T)
    samples = sample(lambda x: (float(x @ precision @ x) / 2, precision @ x), [np.zeros(12), np.ones(12)],
                     observe=lambda x: {f"z{i}": float(z) for i, z in enumerate(np.linalg.solve(root, x) ** 2)}, tune=100,
                     draws=600, scale=root, length=np.pi / 2, seed=2, progress=False)
    assert all(abs(samples.mean(f"z{i}") - 1) < 3.9 * samples.standard_error(f"z{i}") for i in range(12))
    assert min(samples.ess.values()) > 300 and samples.step.min() > 0.2
    for bad in (np.eye(11), np.zeros((12, 12))):
        with pytest.raises(ValueError, match="^scale must be an invertible"):
            sample(lambda x: (0.0, x), [np.zeros(12)], observe=lambda x: {}, scale=bad)
