"""Where a result comes from: what was computed, by which versions and commit, on what kind of machine, in what time."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np


def provenance(name: str, mode: str, parameters: Mapping[str, Any], seconds: float, cpu_seconds: float) -> dict[str, Any]:
    """The record that goes with a result computed now, by this package, on this machine."""
    return dict(name=name, mode=mode, parameters=plain(parameters), versions=versions(), commit=_commit(),
                machine=_machine(), seconds=round(seconds, 3), cpu_seconds=round(cpu_seconds, 3),
                created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def plain(value: Any) -> Any:
    """``value`` in the types that JSON knows; a Setup becomes the dict of its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | range):
        return [plain(entry) for entry in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"provenance holds numbers, text, lists and dicts, got {value!r}")


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("numpy", "scipy", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = ""
    from copyhead import __version__  # what an editable installation says of itself may be old

    return {**found, "copyhead": __version__}


def _commit() -> str:
    folder = Path(__file__).parent

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)

    try:
        tracked = git("ls-files", "--error-unmatch", Path(__file__).name).returncode == 0
        head = git("rev-parse", "--short=10", "HEAD").stdout.strip() if tracked else ""
        return head + ("+" if head and git("diff", "--quiet", "HEAD", "--", "*.py").returncode else "")
    except OSError:  # no git here
        return ""


def _machine() -> dict[str, Any]:
    """Kind of machine, without anything that names it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    torch = sys.modules.get("torch")
    cuda = torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else ""
    return {"cores": cores, "cpu": platform.machine(), "cuda": cuda}
