"""Evaluate a function on every cell of a grid: in parallel, resumable, and with a result that no scheduling changes.

    result = sweep(fit, {"P": [100, 200, 400], "seed": range(10)}, folder="cells", n_jobs=2)
    result["loss"]          # shape (3, 10): the axes of the grid, in its order, then those of the function's own arrays

Each cell is a call ``function(**cell)`` that depends on its coordinates only; take random numbers from a coordinate
``seed``, or from ``cell_seed(**cell)``.  Then order and place of execution do not matter, and cells are in fact
visited in random order: it balances the load, makes the estimated time honest, and lets several processes that share
a folder meet each other's finished cells instead of computing the same ones in step.

Cells run through joblib.  Without more it means ``n_jobs`` processes here; inside ``joblib.parallel_config`` it means
any backend that joblib knows, a cluster among them.  A function that does its linear algebra with several threads may
round differently from call to call: for results equal to the last bit set ``OMP_NUM_THREADS=1``, as the book does.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from copyhead.progress import bar
from copyhead.provenance import provenance, versions
from copyhead.results import Result, load, save, write_atomically

Cell = dict[str, Any]
Function = Callable[..., Mapping[str, ArrayLike]]
MANIFEST = "sweep.json"


def sweep(function: Function, grid: Mapping[str, Iterable[Any]], *, folder: str | os.PathLike[str] | None = None,
          n_jobs: int | None = None, progress: bool = True, name: str = "") -> Result:
    """Evaluate ``function(**cell)`` on every cell of ``grid`` and collect the arrays.

    Parameters
    ----------
    function : callable
        Returns a mapping of names to numbers or arrays whose shapes do not depend on the cell.  It must depend on the
        cell only.  Fixed arguments are added by ``functools.partial``.  For processes and clusters define it in a
        module.
    grid : mapping of axis names to sequences of numbers or strings
        The cells are all combinations.
    folder : path, optional
        Each finished cell is written there at once, so that a killed sweep loses at most the cells in flight; the same
        call resumes it.  Several processes may share one folder.
    n_jobs : int, optional
        Cells at a time; the default is 1, or what ``joblib.parallel_config`` says.
    progress : bool
        Show a bar that vanishes at the end.  Never in a page of the book (``COPYHEAD_STATIC``).
    name : str
        Recorded in the provenance; the default is the name of the function.

    Returns
    -------
    Result
        Each array has the axes of the grid in front; the axes themselves are arrays too.

    Raises
    ------
    ValueError
        For an empty or unusable grid, cells whose arrays differ in name or shape, or a folder that belongs to another
        grid, function or version of the package.
    RuntimeError
        When a cell raises: the message names the cell.  Cells finished by then stay in the folder.
    """
    axes = _axes(grid)
    cells = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    home = Path(folder) if folder is not None else None
    identity = _identity(function)
    if home is not None:
        _claim(home, {"function": identity, "grid": list(axes.items()), "copyhead": versions()["copyhead"]})
    start = time.perf_counter()
    found = _finished(home, len(cells))
    missing = [index for index in range(len(cells)) if index not in found]
    random.Random().shuffle(missing)
    earlier = sum(result.provenance["seconds"] for result in found.values())
    for index, result in _run(function, cells, missing, home, n_jobs, progress):
        found[index] = result
        _same_shape(cells, found, index)
    for index in found:
        _same_shape(cells, found, index)
    arrays = _assembled(axes, [found[index] for index in range(len(cells))])
    about = provenance(name or identity["name"].rpartition(".")[2], "", {"function": identity["name"], "grid": axes},
                       time.perf_counter() - start + earlier, sum(r.provenance["cpu_seconds"] for r in found.values()))
    return Result(arrays, about)


def cell_seed(**cell: Any) -> int:
    """A seed in 0..2^63-1 from the coordinates of a cell alone; equal numbers (2, 2.0, numpy's 2) give equal seeds."""
    text = json.dumps({name: _coordinate(name, value) for name, value in cell.items()}, sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1


# --- Running cells -------------------------------------------------------------------------------------------------


def _run(function: Function, cells: list[Cell], todo: list[int], home: Path | None, n_jobs: int | None,
         progress: bool) -> Iterator[tuple[int, Result]]:
    if not todo:
        return
    from joblib import Parallel, delayed

    task = delayed(_one)
    with bar(len(cells), done=len(cells) - len(todo), show=progress, unit="cell") as shown:
        try:
            parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        except ValueError:  # multiprocessing and ray hand over all cells at the end (each is in its file before)
            parallel = Parallel(n_jobs=n_jobs)
        for outcome in parallel(task(function, cells[index], index, home) for index in todo):
            shown.update()
            yield outcome


def _one(function: Function, cell: Cell, index: int, home: Path | None) -> tuple[int, Result]:
    """Evaluate one cell, unless another process has finished it meanwhile; write it at once."""
    if home is not None and (known := _read(_file(home, index))) is not None:
        return index, known
    # A worker that is a thread must not count its neighbours' time; a worker process counts all its threads.
    clock = time.process_time if threading.current_thread() is threading.main_thread() else time.thread_time
    wall, cpu = time.perf_counter(), clock()
    try:
        result = Result(function(**cell), {"cell": cell})
    except Exception as error:
        kept = f"; the cells finished so far are in {home}" if home is not None else ""
        raise RuntimeError(f"cell {_named(cell)} raised {type(error).__name__}: {error}{kept}") from error
    result.provenance.update(seconds=time.perf_counter() - wall, cpu_seconds=clock() - cpu)
    if home is not None:
        save(_file(home, index), result.arrays, result.provenance)
    return index, result


def _file(home: Path, index: int) -> Path:
    return home / "cells" / f"{index:06d}.npz"


def _read(path: Path) -> Result | None:
    """A finished cell; None when there is none, or when a failing disk has damaged it: then it is computed again."""
    try:
        return load(path)
    except (FileNotFoundError, ValueError):
        return None


def _finished(home: Path | None, count: int) -> dict[int, Result]:
    if home is None:
        return {}
    read = ((index, _read(_file(home, index))) for index in range(count))
    return {index: result for index, result in read if result is not None}


def _same_shape(cells: list[Cell], found: dict[int, Result], index: int) -> None:
    reference = next(iter(found))
    shapes = [{name: array.shape for name, array in found[i].arrays.items()} for i in (reference, index)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"cells must give arrays of equal names and shapes, got {shapes[0]} in cell "
                         f"{_named(cells[reference])} and {shapes[1]} in cell {_named(cells[index])}")


def _assembled(axes: dict[str, list[Any]], results: list[Result]) -> dict[str, ArrayLike]:
    shape = tuple(len(values) for values in axes.values())
    arrays: dict[str, ArrayLike] = {axis: np.array(values) for axis, values in axes.items()}
    for name, first in results[0].arrays.items():
        if name in axes:
            raise ValueError(f"the function returns an array called {name!r}, which is the name of an axis")
        arrays[name] = np.stack([result[name] for result in results]).reshape(shape + first.shape)
    return arrays


# --- What a sweep is -----------------------------------------------------------------------------------------------


def _axes(grid: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    axes = {}
    for axis, values in grid.items():
        axes[axis] = [_coordinate(axis, value) for value in values]
        if not axis.isidentifier() or not axes[axis] or len(set(axes[axis])) < len(axes[axis]):
            raise ValueError(f"grid needs identifiers as axis names and different values, got {axis!r}: {axes[axis]}")
    if not axes:
        raise ValueError("grid must have at least one axis, got none")
    return axes


def _coordinate(axis: str, value: Any) -> Any:
    """A coordinate as a plain number or string."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float | str) or value != value:
        raise ValueError(f"{axis} must be a number or a string, got {value!r}")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _named(cell: Cell) -> str:
    return "(" + ", ".join(f"{axis}={value!r}" for axis, value in cell.items()) + ")"


def _identity(function: Function) -> dict[str, Any]:
    """What tells one function from another: its name, its source, and arguments that ``functools.partial`` fixed."""
    if isinstance(function, partial):
        inner = _identity(function.func)
        return {**inner, "fixed": repr((function.args, sorted(function.keywords.items()))), "inner": inner.get("fixed")}
    try:
        source = hashlib.sha256(inspect.getsource(function).encode()).hexdigest()
    except (OSError, TypeError):
        source = ""
    kind = function if hasattr(function, "__qualname__") else type(function)
    return {"name": f"{kind.__module__}.{kind.__qualname__}", "source": source}


def _claim(home: Path, identity: dict[str, Any]) -> None:
    """Mark the folder as belonging to this sweep, or check that it does."""
    manifest = home / MANIFEST
    wanted = json.loads(json.dumps(identity))
    if not manifest.exists():
        if home.exists() and any(not path.name.startswith(f".{MANIFEST}") for path in home.iterdir()):
            if not manifest.exists():               # it may have come between the two looks
                raise ValueError(f"folder must be empty or hold this sweep, but {home} holds other files")
        else:
            write_atomically(manifest, json.dumps(wanted, indent=1).encode())
    try:
        known = json.loads(manifest.read_text("utf-8"))
    except ValueError:
        raise ValueError(f"{manifest} is damaged: remove the folder, or choose another") from None
    differs = sorted(key for key in wanted.keys() | known.keys() if wanted.get(key) != known.get(key))
    if differs:
        raise ValueError(f"folder {home} holds a sweep that differs in {', '.join(differs)}; choose another folder or "
                         "remove this one")
