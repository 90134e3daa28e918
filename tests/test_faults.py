"""When the machine fails: full disks, folders that cannot be written, builds that are killed.

A kill -9 of sweeps, sampling and training, damaged result files, and two processes in one folder have their tests beside
these capabilities (test_sweep, test_sampling, test_training, test_results).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from test_build import CHAPTER, execute, shown, write_package
from visits import ROOT

from copyhead.results import load, save

LIMIT = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)       # the write fails with an error, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
"""


def run(code: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_a_full_disk_leaves_the_old_result(tmp_path: Path) -> None:
    target = tmp_path / "x.npz"
    save(target, {"a": np.arange(3)}, {"name": "old"})
    before = target.read_bytes()
    code = LIMIT + "import sys, numpy as np; from copyhead.results import save\n"
    done = run(code + "save(sys.argv[1], {'a': np.zeros(100_000)}, {'name': 'new'})", target)
    said = last_line(done)
    assert said.startswith("OSError") and str(target) in said and "unchanged" in said and "COPYHEAD_CACHE" in said
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["x.npz"]


def test_a_full_disk_costs_a_sweep_the_cell_in_flight_only(tmp_path: Path) -> None:
    code = """
import sys, numpy as np
from copyhead.sweep import sweep
def grow(n):
    return {"a": np.zeros(200) + n} if n < 3 or len(sys.argv) > 2 else {"a": np.zeros(20_000)}
"""
    call = "print(sweep(grow, {'n': range(4)}, folder=sys.argv[1], progress=False)['a'].sum())"
    folder = tmp_path / "cells"
    said = last_line(run(LIMIT + code + call, folder))
    assert said.startswith("OSError") and str(folder) in said
    kept = {path.name: path.read_bytes() for path in (folder / "cells").iterdir()}
    assert "000003.npz" not in kept and not any(name.endswith(".tmp") for name in kept)
    done = run(code + call, folder, "room")
    assert float(done.stdout) == 200 * (0 + 1 + 2 + 3), done.stderr
    for name, data in kept.items():
        assert (folder / "cells" / name).read_bytes() == data, "a finished cell was computed again"


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    target = tmp_path / "run.pt"
    code = "import sys, torch; from pathlib import Path; from copyhead.checkpoint import write\n"
    done = run(code + "write(Path(sys.argv[1]), {'a': torch.zeros(3)})", target)
    assert done.returncode == 0, done.stderr
    before = target.read_bytes()
    said = last_line(run(code + LIMIT + "write(Path(sys.argv[1]), {'a': torch.zeros(100_000)})", target))
    assert said.startswith("OSError") and str(target) in said and "unchanged" in said
    assert target.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["run.pt"]


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder that may be read and not written by whoever is not root, in a place that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="copyhead-closed-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "cache").mkdir(mode=0o555)
        yield folder / "cache"
        (folder / "cache").chmod(0o755)


def test_a_folder_that_cannot_be_written_is_named(closed_folder: Path) -> None:
    code = """
import os, sys
from copyhead.sweep import sweep
from copyhead.provenance import versions
from copyhead.results import scratch
versions()                                           # imports what another user may not be able to read
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)               # to root nothing is closed
sweep(lambda n: {"a": n}, {"n": [1]}, folder=scratch("trial"), progress=False)
"""
    said = last_line(run(code, COPYHEAD_CACHE=str(closed_folder)))
    assert said.startswith("PermissionError") and str(closed_folder) in said and "COPYHEAD_CACHE" in said
    assert list(closed_folder.iterdir()) == []


def test_a_truncated_result_is_an_error_wherever_it_is_cut(tmp_path: Path) -> None:
    whole = tmp_path / "whole.npz"
    save(whole, {"a": np.arange(50.0)}, {"name": "x"})
    data = whole.read_bytes()
    for length in np.linspace(0, len(data) - 1, 40).astype(int):
        (tmp_path / "cut.npz").write_bytes(data[:length])
        with pytest.raises(ValueError, match="cut.npz is truncated, damaged, or not a result file"):
            load(tmp_path / "cut.npz")


def test_a_killed_build_keeps_the_chapters_it_has_run(tmp_path: Path) -> None:
    write_package(tmp_path, {"__init__": "", "one": "VALUE = 1\n"})
    (tmp_path / "_config.yml").write_text((ROOT / "_config.yml").read_text("utf-8"))
    (tmp_path / "references.bib").write_text("")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/first\nchapters: [{file: book/second}]\n")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "first.md").write_text(CHAPTER.format(title="first", module="one"))
    waits = CHAPTER.format(title="second", module="one") + (
        "\n```{code-cell} ipython3\nimport os, time\nwhile not os.path.exists(" + repr(str(tmp_path / "go")) + "):\n"
        "    time.sleep(0.1)\nVALUE\n```\n"
    )
    (tmp_path / "book" / "second.md").write_text(waits)
    subprocess.run([sys.executable, ROOT / "tools" / "export_notebooks.py", "--root", tmp_path], check=True)
    command = [sys.executable, str(ROOT / "tools" / "execute.py"), "--root", str(tmp_path)]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(tmp_path)}, start_new_session=True)
    first = tmp_path / "_build" / "notebooks" / "book" / "first.ipynb"
    deadline = time.monotonic() + 90
    while not first.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (first.parent / "second.ipynb").exists()
    (tmp_path / "go").touch()
    done = execute(tmp_path)
    assert "1 executed, 1 unchanged, 0 failed" in done.stdout, done.stdout + done.stderr
    assert shown(tmp_path, "first") == shown(tmp_path, "second") != ""
