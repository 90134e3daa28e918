"""Result files: the same content gives the same bytes, damage is noticed, and the three run modes give what they say."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from visits import ROOT

from copyhead import Setup, results
from copyhead.provenance import provenance
from copyhead.results import RECORD, Result, compute, join, load, recall, save

ABOUT = provenance("example", "full", {"setup": Setup(L=6, V=3)}, seconds=3.0, cpu_seconds=5.5)
ARRAYS = {"loss": np.linspace(0, 1, 6).reshape(2, 3), "P": np.array([20, 60]), "kind": np.array(["linear", "softmax"])}
NUMBERS = (arrays_of.floating_dtypes(), arrays_of.integer_dtypes(), arrays_of.complex_number_dtypes())
DTYPES = st.one_of(*NUMBERS, st.just(np.dtype("bool")))


@pytest.fixture
def file(tmp_path):
    save(tmp_path / "example.npz", ARRAYS, ABOUT)
    return tmp_path / "example.npz"


# --- The format ----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(array=arrays_of.arrays(DTYPES, arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
def test_what_goes_in_comes_out_without_pickle_and_with_equal_bytes(tmp_path_factory, array):
    folder = tmp_path_factory.mktemp("results")
    save(folder / "one.npz", {"x": array, "y": ARRAYS["loss"]}, ABOUT)
    result = load(folder / "one.npz")
    np.testing.assert_array_equal(result["x"], array, strict=array.dtype.isnative)
    assert result["x"].dtype.kind == array.dtype.kind and not result["x"].flags.writeable
    save(folder / "two.npz", {"y": ARRAYS["loss"], "x": array[...].copy(order="F")}, dict(reversed(ABOUT.items())))
    assert (folder / "one.npz").read_bytes() == (folder / "two.npz").read_bytes()


def test_numpy_alone_reads_the_file(file):
    with np.load(file, allow_pickle=False) as npz:
        assert set(npz.files) == {*ARRAYS, RECORD}
        about = json.loads(str(npz[RECORD]))
    assert about["parameters"] == {"setup": {"L": 6, "V": 3, "sigma2": 30.0, "g_O": 1.0, "g_W": 1.0}}
    wanted = {"name", "mode", "parameters", "versions", "commit", "machine", "seconds", "cpu_seconds", "created", "sha256"}
    assert set(about) == wanted
    assert set(about["versions"]) == {"python", "numpy", "scipy", "torch", "copyhead"}
    assert set(about["machine"]) == {"cores", "cpu", "cuda"} and os.uname().nodename not in json.dumps(about)


def test_the_checksum_can_be_verified_by_hand(file):
    with np.load(file, allow_pickle=False) as npz:
        content = {name: npz[name] for name in npz.files}
    about = json.loads(str(content.pop(RECORD)))
    claimed = about.pop("sha256")
    text = json.dumps(about, sort_keys=True).encode()
    for name in sorted(content):
        text += (name + content[name].dtype.str + str(content[name].shape)).encode() + content[name].tobytes()
    assert hashlib.sha256(text).hexdigest() == claimed


@pytest.mark.parametrize(
    ("arrays", "about", "match"),
    [
        ({"x": np.array([object()])}, {}, "numbers or text"),
        ({"x": np.array(["2026-01-01"], dtype="M8[D]")}, {}, "numbers or text"),
        ({"not a name": 1}, {}, "identifier"),
        ({RECORD: 1}, {}, "identifier"),
        ({"x": 1}, {"why": {1, 2}}, "provenance holds"),
        ({"x": 1}, {"seconds": float("nan")}, "JSON compliant"),
    ],
    ids=["object", "date", "name", "reserved", "set", "nan"],
)
def test_what_cannot_be_kept_is_refused(tmp_path, arrays, about, match):
    with pytest.raises(ValueError, match=match):
        save(tmp_path / "x.npz", arrays, about)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(file, monkeypatch):
    before = file.read_bytes()

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        save(file, {"x": 1}, ABOUT)
    assert file.read_bytes() == before and list(file.parent.iterdir()) == [file]


# --- Damage --------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_damage_goes_unnoticed(tmp_path_factory, data):
    """Cut the file anywhere, or change any byte: either an error says so, or nothing that is read has changed."""
    file = tmp_path_factory.mktemp("results") / "example.npz"
    save(file, ARRAYS, ABOUT)
    content = bytearray(file.read_bytes())
    position = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[position] ^= data.draw(st.integers(1, 255))
    else:
        del content[position:]
    file.write_bytes(content)
    try:
        result = load(file)
    except ValueError as error:
        assert str(file) in str(error)
        return
    assert result.provenance["parameters"] == {"setup": {"L": 6, "V": 3, "sigma2": 30.0, "g_O": 1.0, "g_W": 1.0}}
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(result[name], array, strict=True)


@pytest.mark.parametrize("what", ["array", "provenance", "new array"])
def test_tampering_is_noticed(file, what):
    """Someone rewrites a valid zip with other numbers, as numpy would, and keeps the checksum."""
    with np.load(file) as npz:
        content = dict(npz)
    if what == "array":
        content["loss"] = content["loss"] * 0.99
    elif what == "new array":
        content["better"] = content["loss"] * 0.99
    else:
        content[RECORD] = np.array(str(content[RECORD]).replace('"seconds": 3.0', '"seconds": 0.1'))
    np.savez(file, **content)
    with pytest.raises(ValueError, match="changed after it was written"):
        load(file)


def npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.arange(3))
    return stream.getvalue()


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def plain_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("readme.txt", "hello")
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", npy(), npz(x=np.arange(3)), npz(x=np.array([None])), plain_zip(), pickle.dumps({"x": 1}),
     npz(**{RECORD: np.array("[]")}), npz(**{RECORD: np.array("not json")})],
    ids=["empty", "text", "npy", "npz", "pickled npz", "zip", "pickle", "list", "no json"],
)
def test_foreign_files_are_named_as_such(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npz is (truncated, damaged, or )?not a result file"):
        load(tmp_path / "x.npz")


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.npz")


# --- Results -------------------------------------------------------------------------------------------------------


def test_an_unknown_array_is_answered_with_the_known_ones():
    with pytest.raises(KeyError, match="no array 'los'; there are P, kind, loss"):
        Result(ARRAYS, ABOUT)["los"]


def test_joined_results_keep_names_apart_and_add_times():
    both = join(linear=Result({"loss": 1.0}, ABOUT), softmax=Result({"loss": 2.0}, ABOUT))
    assert (both["linear_loss"], both["softmax_loss"]) == (1.0, 2.0)
    assert (both.provenance["seconds"], both.provenance["cpu_seconds"]) == (6.0, 11.0)
    assert both.provenance["parameters"] == {"linear": ABOUT["parameters"], "softmax": ABOUT["parameters"]}


def test_computing_records_the_time_it_took():
    def work():
        x = np.random.default_rng(0).normal(size=(300, 300))
        for _ in range(100):
            np.linalg.svd(x[:60, :60])
        return {"x": 1}

    result = compute("work", "quick", work)
    assert 0 < result.provenance["cpu_seconds"] and 0 < result.provenance["seconds"] < 30
    assert result.describe().startswith("Mode quick: computed in this session")


# --- Run modes -----------------------------------------------------------------------------------------------------


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A package whose only stored result is the example."""
    save(tmp_path / "stored" / "example.npz", ARRAYS, ABOUT)
    monkeypatch.setattr(results, "files", lambda package: {"copyhead": tmp_path}[package])
    monkeypatch.delenv("COPYHEAD_MODE", raising=False)


def small():
    return {"loss": np.array([0.1])}


def large():
    return Result({"loss": np.array([0.01])}, ABOUT)


@pytest.mark.parametrize("how", ["argument", "variable"])
@pytest.mark.parametrize(("mode", "loss"), [("stored", 0.0), ("quick", 0.1), ("full", 0.01)])
def test_one_switch_selects_the_mode(shipped, monkeypatch, how, mode, loss):
    argument = mode
    if how == "variable":
        monkeypatch.setenv("COPYHEAD_MODE", mode)
        argument = None
    result = recall("example", mode=argument, quick=small, full=large)
    assert result.mode == mode and result["loss"].flat[0] == loss
    assert result.provenance["mode"] == ("full" if mode == "stored" else mode)
    assert result.describe().startswith(f"Mode {mode}: ")


def test_stored_is_the_default_and_the_argument_wins(shipped, monkeypatch):
    assert recall("example", quick=small, full=large).mode == "stored"
    monkeypatch.setenv("COPYHEAD_MODE", "quick")
    assert recall("example", mode="full", quick=small, full=large).mode == "full"


def test_the_description_says_mode_date_machine_and_time(shipped):
    lines = recall("example", quick=small, full=large).describe().split("\n")
    assert max(map(len, lines)) <= 72
    sentence = " ".join(lines)
    for part in ("mode full", ABOUT["created"][:10], f"{ABOUT['machine']['cores']} CPU cores", "in 3 s (5.5 s of CPU time)"):
        assert part in sentence


def test_wrong_modes_and_names_are_errors(shipped, monkeypatch):
    with pytest.raises(ValueError, match="mode must be one of stored, quick, full, got 'fast'"):
        recall("example", mode="fast", quick=small, full=large)
    with pytest.raises(FileNotFoundError, match="no stored result 'other'; compute it"):
        recall("other", quick=small, full=large)
    monkeypatch.setenv("COPYHEAD_MODE", "fast")
    with pytest.raises(ValueError, match="COPYHEAD_MODE must be one of"):
        recall("example", quick=small, full=large)


# --- What the package ships ----------------------------------------------------------------------------------------

STORED = sorted((ROOT / "copyhead" / "stored").glob("*.npz"))


def test_every_stored_file_is_whole_complete_and_small():
    for path in STORED:
        about = load(path).provenance
        assert about.keys() == ABOUT.keys() | {"sha256"}, path
        assert about["name"] == path.stem and about["mode"] == "full"
        assert about["seconds"] > 0 and about["cpu_seconds"] > 0
        assert path.stat().st_size < 1_000_000, f"{path} is too large to ship"
    assert sum(path.stat().st_size for path in STORED) < 5_000_000


def test_stored_files_are_package_data():
    """So that an installed package has them, not only a checkout."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    patterns = settings["package-data"]["copyhead.stored"]
    shipped = {path for pattern in patterns for path in (ROOT / "copyhead/stored").glob(pattern)}
    assert "copyhead.stored" in settings["packages"]
    assert set(STORED) <= shipped
    assert settings["packages"][0] == "copyhead"


def test_storing_an_experiment_writes_what_recall_reads(tmp_path):
    """The command behind `make stored`, with an experiment of its own, killed by nobody."""
    code = "import copyhead.experiments, sys; copyhead.experiments.__path__.append(sys.path[0]); " \
           "import store; sys.argv[1:] = sys.argv[2:]; sys.exit(store.main())"
    (tmp_path / "tiny.py").write_text(
        "from copyhead.results import scratch\nfrom copyhead.sweep import sweep\n"
        "def square(x):\n    return {'y': x * x}\n"
        "def full_squares():\n"
        "    result = sweep(square, {'x': [1, 2, 3]}, folder=scratch('cells'), progress=False)\n"
        "    assert len(list(scratch('cells').glob('cells/*.npz'))) == 3\n"
        "    return result\n")
    (tmp_path / "run.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT / 'tools'}"}
    command = [sys.executable, str(tmp_path / "run.py"), "--", "tiny-squares", "--root", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stored = load(tmp_path / "copyhead" / "stored" / "tiny-squares.npz")
    assert stored["y"].tolist() == [1, 4, 9]
    assert (stored.provenance["name"], stored.provenance["mode"]) == ("tiny-squares", "full")
    assert not (tmp_path / "_build" / "stored" / "tiny-squares").exists()
    assert "tiny-squares.npz" in done.stdout and Path(tmp_path / "copyhead").exists()
