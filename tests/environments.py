"""Virtual environments that slow tests keep in ``_build``: made once, and again when their recipe changes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path


def virtual_environment(folder: Path, recipe: Iterable[str], fill: Callable[[], object], base: str = sys.executable) -> Path:
    """The interpreter of the environment in ``folder``, which ``fill`` has filled after ``base`` made it.

    It is made anew unless the one there was finished with the same ``recipe`` (texts: pins, versions) by the same ``base``.
    """
    key = hashlib.sha256("\0".join([base, sys.version, str(folder), *recipe]).encode()).hexdigest()
    ready = folder / "ready"
    if not ready.exists() or ready.read_text() != key:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([base, "-m", "venv", str(folder)], check=True)
        fill()
        ready.write_text(key)
    return folder / "bin" / "python"
