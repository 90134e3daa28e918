"""Results with their provenance: one file format, one checksum, and the three ways to come by a result.

A result is a set of named arrays together with a record of where they come from.  On disk it is one ``.npz`` file
(a zip of ``.npy`` arrays, read without pickle) in which the record is one more array, a JSON text.  The same arrays
and record give the same bytes, so a result that did not change does not change in version control either.

``recall`` is what chapters call.  Its mode is an argument, or the environment variable ``COPYHEAD_MODE``, or "stored":

    stored   the file that ships with the package, ``stored/<name>.npz``: seconds
    quick    a smaller version computed now: under a minute on two cores
    full     the real thing computed now: what ``tools/store.py`` runs to make the stored file
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from textwrap import fill
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copyhead.provenance import plain, provenance

RECORD = "__provenance__"        # the array that holds the provenance
MODES = ("stored", "quick", "full")
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Result:
    """Named arrays and where they come from.

    Attributes
    ----------
    arrays : mapping of names to read-only arrays; ``result[name]`` is short for ``result.arrays[name]``
    provenance : dict
        ``name``, ``mode`` ("quick" or "full": which version was computed), ``parameters``, ``versions``, ``commit``
        (of the package; with "+" when its modules had changed since; "" outside a checkout), ``machine``,
        ``seconds`` (wall time), ``cpu_seconds``, ``created`` (UTC), ``sha256`` (once saved).
    mode : str
        How this session came by it: "stored", "quick" or "full"; "" for a bare result.
    """

    arrays: Mapping[str, Any]
    provenance: dict[str, Any]
    mode: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", _checked(self.arrays))

    def __getitem__(self, name: str) -> Array:
        try:
            return self.arrays[name]
        except KeyError:
            raise KeyError(f"no array {name!r}; there are {', '.join(self.arrays)}") from None

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(array.shape)}" for name, array in self.arrays.items())
        return f"Result({self.provenance.get('name', '')!r}, {shapes})"

    def describe(self) -> str:
        """One sentence, wrapped to fit a page: which mode, what was computed, when, on what machine, in what time."""
        about = self.provenance
        time_taken = f"{_duration(about['seconds'])} ({_duration(about['cpu_seconds'])} of CPU time)"
        where = about["machine"]["cuda"] or f"{about['machine']['cores']} CPU cores"
        if self.mode != "stored":
            return fill(f"Mode {self.mode}: computed in this session on {where}, in {time_taken}.", 72)
        commit = f", commit {about['commit']}" if about["commit"] else ""
        return fill(f"Mode stored: computed in mode {about['mode']} on {about['created'][:10]} on {where}, in {time_taken}, "
                    f"by copyhead {about['versions']['copyhead']}{commit}.", 72)


def recall(name: str, *, mode: str | None = None, quick: Callable[[], Result | Mapping[str, ArrayLike]],
           full: Callable[[], Result | Mapping[str, ArrayLike]]) -> Result:
    """The result called ``name``, in one of the three run modes.

    Write ``name`` as a string literal: that is how the build knows which stored file a chapter depends on.

    Parameters
    ----------
    name : str
        The stored file is ``copyhead/stored/<name>.npz``.
    mode : "stored", "quick", "full", or None for ``COPYHEAD_MODE``, which defaults to "stored"
    quick, full : functions without arguments
        They compute the result in the other modes: a ``Result`` (of ``sweep``, say) or a mapping of names to arrays.

    Raises
    ------
    ValueError
        For an unknown mode, or a stored file that is damaged.
    FileNotFoundError
        In mode "stored" when no such file ships with the package.
    """
    source = "mode" if mode is not None else "COPYHEAD_MODE"
    mode = mode if mode is not None else os.environ.get("COPYHEAD_MODE") or "stored"
    if mode not in MODES:
        raise ValueError(f"{source} must be one of {', '.join(MODES)}, got {mode!r}")
    if mode != "stored":
        return compute(name, mode, quick if mode == "quick" else full)
    resource = files("copyhead") / "stored" / f"{name}.npz"
    if not resource.is_file():
        raise FileNotFoundError(f"there is no stored result {name!r}; compute it with mode='quick' or mode='full'")
    with as_file(resource) as path:
        stored = load(path)
    return Result(stored.arrays, stored.provenance, "stored")


def compute(name: str, mode: str, function: Callable[[], Result | Mapping[str, ArrayLike]]) -> Result:
    """Call ``function`` and record how its result came about."""
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    made = function()
    wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
    if isinstance(made, Result):
        # A sweep knows what its workers spent, and what earlier calls spent on cells that this one found on disk.
        about = {**made.provenance, "name": name, "mode": mode, "seconds": max(wall, made.provenance["seconds"])}
        return Result(made.arrays, about, mode)
    return Result(_checked(made), provenance(name, mode, {}, wall, cpu), mode)


def join(**parts: Result) -> Result:
    """One result from several: array ``x`` of part ``p`` becomes ``p_x``; times add up, parameters stand side by side."""
    arrays = {f"{part}_{name}": array for part, result in parts.items() for name, array in result.arrays.items()}
    first = next(iter(parts.values())).provenance
    about = {**first, "parameters": {part: result.provenance["parameters"] for part, result in parts.items()}}
    about |= {key: sum(result.provenance[key] for result in parts.values()) for key in ("seconds", "cpu_seconds")}
    return Result(arrays, about)


def scratch(name: str) -> Path:
    """Folder for the cells of a long sweep, so that a killed run resumes: below ``COPYHEAD_CACHE`` or the user's cache."""
    cache = os.environ.get("COPYHEAD_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "copyhead"
    return Path(cache) / name


# --- Files ---------------------------------------------------------------------------------------------------------


def save(path: str | os.PathLike[str], arrays: Mapping[str, ArrayLike], provenance: Mapping[str, Any]) -> None:
    """Write one ``.npz`` file: completely or not at all, and the same bytes for the same content.

    Raises
    ------
    ValueError
        For an array of objects, a name that is not an identifier, or provenance that JSON cannot hold.
    """
    checked = _checked(arrays)
    about = plain({key: value for key, value in provenance.items() if key != "sha256"})
    about["sha256"] = _digest(checked, about)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:               # not compressed: git and wheels compress themselves
        for name, array in [*checked.items(), (RECORD, np.array(_json(about)))]:
            entry = zipfile.ZipInfo(f"{name}.npy")              # its date is fixed, in 1980
            entry.create_system = 3
            with archive.open(entry, "w") as stream:
                np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    write_atomically(Path(path), buffer.getvalue())


def load(path: str | os.PathLike[str]) -> Result:
    """Read a file that ``save`` wrote.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If the file is truncated or damaged, was not written by ``save``, or was changed afterwards.
    """
    path = Path(path)
    data = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"bad checksum in {damaged}")
        with np.load(io.BytesIO(data), allow_pickle=False) as npz:
            arrays = {name: npz[name] for name in npz.files}
    except Exception as error:  # zipfile and numpy raise a dozen kinds on malformed input
        raise ValueError(f"{path} is truncated, damaged, or not a result file: {error}") from error
    try:
        about = json.loads(str(arrays.pop(RECORD)))
        digest, wanted = about["sha256"], _digest(_checked(arrays), {k: v for k, v in about.items() if k != "sha256"})
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a result file: it has no provenance that copyhead wrote ({error})") from None
    if digest != wanted:
        raise ValueError(f"{path} was changed after it was written: its content does not match its sha256")
    return Result(arrays, about, "")


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that no reader, and no later run, ever sees a part of it; see ``whole_file`` for errors."""
    with whole_file(path) as stream:
        stream.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file ``path`` at the end of the ``with`` block, all at once, or never.

    Raises
    ------
    OSError
        When the disk is full or the folder cannot be written; it names the file, and what was there before still is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise not_written(error, path) from error


def not_written(error: OSError, path: Path) -> OSError:
    """The error that says which file could not be written, that nothing else was touched, and what can be done."""
    text = (f"{error.strerror or error}: {path} was not written, files that were there are unchanged; choose a folder "
            "with room that you may write to (experiments: the variable COPYHEAD_CACHE)")
    return OSError(error.errno, text) if error.errno else OSError(text)


def _checked(arrays: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Read-only little-endian arrays, sorted by name."""
    checked = {}
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if not name.isidentifier() or name == RECORD or array.dtype.kind not in "biufcU":
            raise ValueError(f"an array needs an identifier as name and numbers or text as entries, got {name!r} of dtype "
                             f"{array.dtype}")
        array = np.array(array, dtype=array.dtype.newbyteorder("<"), order="C")
        array.flags.writeable = False
        checked[name] = array
    return checked


def _digest(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(_json(about).encode())
    for name, array in arrays.items():
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def _duration(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
