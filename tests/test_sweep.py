"""Sweeps: the result is a function of the grid alone, whoever computes which cell when, and however often it is killed."""

from __future__ import annotations

import functools
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
import sweep_examples as examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sweep_examples import GRID, LOG, noisy
from visits import ROOT

from copyhead.results import load
from copyhead.sweep import cell_seed, sweep

CELLS = 4 * 2 * 3


def assert_same(one, other):
    assert one.arrays.keys() == other.arrays.keys()
    for name in one.arrays:
        np.testing.assert_array_equal(one[name], other[name], strict=True)


@pytest.fixture(scope="module")
def expected():
    """The arrays by nested loops, without any sweep."""
    cells = [[[noisy(P, kind, seed) for seed in GRID["seed"]] for kind in GRID["kind"]] for P in GRID["P"]]

    def collect(name):
        return np.array([[[cell[name] for cell in row] for row in block] for block in cells])

    return {name: collect(name) for name in ("loss", "curve", "start", "seed_used")}


def test_axes_of_the_grid_come_first(expected):
    result = sweep(noisy, GRID, progress=False)
    assert result["curve"].shape == (4, 2, 3, 2, 3)
    for name, array in expected.items():
        np.testing.assert_array_equal(result[name], array)
    for axis, values in GRID.items():
        assert result[axis].tolist() == list(values)
    assert result.provenance["parameters"]["grid"]["P"] == GRID["P"]
    assert not result["loss"].flags.writeable


# --- Scheduling ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_jobs_and_backends_do_not_change_the_result(expected, backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        result = sweep(noisy, GRID, progress=False)
    np.testing.assert_array_equal(result["curve"], expected["curve"])
    np.testing.assert_array_equal(result["start"], expected["start"])


def test_a_dask_cluster_drops_in_with_two_lines(expected, tmp_path):
    from distributed import Client, LocalCluster

    options = dict(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None)
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        with joblib.parallel_config(backend="dask"):
            result = sweep(noisy, GRID, folder=tmp_path / "cells", progress=False)
        ran = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert sum(ran.values()) > 0, "no task went to the cluster"
    np.testing.assert_array_equal(result["curve"], expected["curve"])
    assert len(list((tmp_path / "cells" / "cells").iterdir())) == CELLS


def test_seeds_come_from_coordinates_alone():
    text = b'{"L": 6, "P": 20}'
    assert cell_seed(P=20, L=6) == int.from_bytes(hashlib.sha256(text).digest()[:8], "big") // 2
    assert cell_seed(P=np.int64(20), L=6.0) == cell_seed(L=np.float32(6), P=20.0)
    seeds = {cell_seed(P=P, L=L, kind=kind) for P in range(20) for L in (6, 6.5, 7) for kind in ("linear", "softmax")}
    assert len(seeds) == 120
    assert all(0 <= seed < 2**63 for seed in seeds)


# --- Being killed, and company -------------------------------------------------------------------------------------


def start(folder, tmp_path, name, jobs=1):
    environment = {**os.environ, LOG: str(tmp_path / "log"), "PYTHONPATH": str(ROOT / "tests"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, examples.__file__, str(folder), str(tmp_path / name), str(jobs)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, start_new_session=True)


def finished(folder):
    return len(list((folder / "cells").glob("[0-9]*.npz"))) if (folder / "cells").exists() else 0


def finish(process):
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == 0, errors.decode()


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_twice_it_finishes_with_the_same_result(expected, tmp_path, jobs):
    folder = tmp_path / "cells"
    for enough in (4, 10):
        process = start(folder, tmp_path, "unused", jobs)
        deadline = time.monotonic() + 60
        while finished(folder) < enough:
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()[1].decode()
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert finished(folder) < CELLS, "it was killed too late to show anything"
    finish(start(folder, tmp_path, "result.npz", jobs))
    result = load(tmp_path / "result.npz")
    for name, array in expected.items():
        np.testing.assert_array_equal(result[name], array)
    # Each kill cost at most the cells in flight: nothing else was computed twice.
    calls = (tmp_path / "log").read_text().splitlines()
    assert set(calls) == {f"{P} {kind} {seed}" for P in GRID["P"] for kind in GRID["kind"] for seed in GRID["seed"]}
    assert len(calls) <= CELLS + 2 * jobs


def test_two_processes_share_one_folder(expected, tmp_path):
    folder = tmp_path / "cells"
    both = [start(folder, tmp_path, f"{i}.npz") for i in range(2)]
    for process in both:
        finish(process)
    assert (tmp_path / "0.npz").read_bytes() == (tmp_path / "1.npz").read_bytes()
    np.testing.assert_array_equal(load(tmp_path / "0.npz")["curve"], expected["curve"])
    # In step they would make 48 calls.  In random orders, at equal speed, 4 cells are taken by both on average, and 12 or
    # more with a chance below 1e-3 (a simulation of 20,000 runs had 10 at most).
    assert len((tmp_path / "log").read_text().splitlines()) < CELLS + 12


@settings(max_examples=25, deadline=None)
@given(
    a=st.lists(st.integers(-9, 9), min_size=1, max_size=4, unique=True),
    b=st.lists(st.floats(-2, 2), min_size=1, max_size=3, unique=True),
    data=st.data(),
)
def test_lost_and_damaged_cells_are_computed_again_and_no_others(tmp_path_factory, a, b, data):
    folder = tmp_path_factory.mktemp("sweep")
    calls = []

    def product(a, b):
        calls.append((a, b))
        return {"product": a * b}

    first = sweep(product, {"a": a, "b": b}, folder=folder, progress=False)
    np.testing.assert_array_equal(first["product"], np.multiply.outer(np.array(a), np.array(b)))
    files = sorted((folder / "cells").iterdir())
    harmed = data.draw(st.lists(st.sampled_from(files), unique=True))
    for file in harmed:
        kept = data.draw(st.none() | st.floats(0, 1, exclude_max=True))
        file.unlink() if kept is None else file.write_bytes(file.read_bytes()[: int(kept * file.stat().st_size)])
    calls.clear()
    assert_same(sweep(product, {"a": a, "b": b}, folder=folder, progress=False), first)
    assert len(calls) == len(harmed)


# --- Errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_raises_is_named_and_the_others_stay(tmp_path, jobs):
    folder = tmp_path / "cells"
    with pytest.raises(RuntimeError, match=r"cell \(P=30, kind='softmax', seed=\d\) raised FloatingPointError: the loss is"):
        sweep(examples.fails_at_30, GRID, folder=folder, n_jobs=jobs, progress=False)
    kept = [load(path) for path in (folder / "cells").glob("[0-9]*.npz")]
    for result in kept:
        np.testing.assert_array_equal(result["curve"], noisy(**result.provenance["cell"])["curve"])


@pytest.mark.parametrize(
    ("function", "grid", "match"),
    [
        (examples.product, {"a": [1, 2], "b": [1, 3]}, "grid"),
        (examples.product, {"b": [1, 2], "a": [1, 2]}, "grid"),
        (functools.partial(noisy, kind="linear", seed=0), {"P": [1]}, "function"),
        (functools.partial(examples.product, b=3), {"a": [1, 2]}, "function, grid"),
    ],
    ids=["values", "order", "function", "fixed argument"],
)
def test_a_folder_of_another_sweep_is_refused(tmp_path, function, grid, match):
    sweep(examples.product, {"a": [1, 2], "b": [1, 2]}, folder=tmp_path, progress=False)
    with pytest.raises(ValueError, match=f"holds a sweep that differs in .*{match}"):
        sweep(function, grid, folder=tmp_path, progress=False)


def test_a_folder_of_another_version_is_refused(tmp_path, monkeypatch):
    sweep(examples.product, {"a": [1], "b": [2]}, folder=tmp_path, progress=False)
    monkeypatch.setattr("copyhead.sweep.versions", lambda: {"copyhead": "0.0.1"})
    with pytest.raises(ValueError, match="differs in copyhead"):
        sweep(examples.product, {"a": [1], "b": [2]}, folder=tmp_path, progress=False)


def test_other_fixed_arguments_and_other_code_are_another_function(tmp_path):
    sweep(functools.partial(examples.product, b=3), {"a": [1]}, folder=tmp_path, progress=False)
    with pytest.raises(ValueError, match="differs in function"):
        sweep(functools.partial(examples.product, b=4), {"a": [1]}, folder=tmp_path, progress=False)

    def same(a):
        return {"x": a}

    first = same

    def same(a):
        return {"x": 2 * a}

    sweep(first, {"a": [1]}, folder=tmp_path / "one", progress=False)
    with pytest.raises(ValueError, match="differs in function"):
        sweep(same, {"a": [1]}, folder=tmp_path / "one", progress=False)


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="holds other files"):
        sweep(examples.product, {"a": [1], "b": [2]}, folder=tmp_path, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("function", "grid", "match"),
    [
        (examples.product, {}, "at least one axis"),
        (examples.product, {"a": []}, "different values"),
        (examples.product, {"a": [1, 1.0]}, "different values"),
        (examples.product, {"a": [None]}, "a must be a number or a string"),
        (examples.product, {"a": [float("nan")]}, "a must be a number"),
        (lambda a: {"x": np.zeros(a)}, {"a": [1, 2]}, r"equal names and shapes.*a=[12]"),
        (lambda a: {"a": 1}, {"a": [1, 2]}, "name of an axis"),
        (lambda a: {"x": object()}, {"a": [1]}, "numbers or text"),
    ],
    ids=["no axis", "empty axis", "equal values", "none", "nan", "shapes", "name", "object"],
)
def test_what_cannot_be_a_sweep_is_said_clearly(function, grid, match):
    with pytest.raises((ValueError, RuntimeError), match=match):
        sweep(function, grid, progress=False)


# --- Progress ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("static", "shown"), [("", True), ("1", False)])
def test_the_bar_vanishes_and_never_shows_in_the_book(capsys, monkeypatch, static, shown):
    monkeypatch.setenv("COPYHEAD_STATIC", static)
    sweep(examples.product, {"a": range(5), "b": [1]})
    printed = capsys.readouterr()
    assert printed.out == ""
    assert ("cell" in printed.err) == shown
    assert printed.err.rpartition("\r")[2].strip() == ""  # the line is blank when it is done


def test_time_of_resumed_cells_counts(tmp_path):
    def work(a):
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        return {"x": a}

    first = sweep(work, {"a": range(3)}, folder=tmp_path, progress=False)
    again = sweep(work, {"a": range(3)}, folder=tmp_path, progress=False)
    for result in (first, again):
        assert 0.15 <= result.provenance["cpu_seconds"] < 0.3
        assert result.provenance["seconds"] >= 0.15
    assert Path(tmp_path / "sweep.json").exists()
