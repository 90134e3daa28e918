"""Times on a GPU that ``make gpu`` measured, which the headers of chapters show in place of estimates.

They stand in ``tools/gpu.json``, to be committed: {"device": ..., "minutes": {chapter: ...}, ...}.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

FILE = "tools/gpu.json"


def gpu_time(root: Path, chapter: str, estimate: str) -> tuple[str, str]:
    """Device and minutes to show for a chapter whose header says ``estimate``, as in ``2 (estimated)``, for a T4.

    A chapter that was not measured keeps its own words.

    Raises
    ------
    ValueError
        If the file is not what ``make gpu`` writes.
    """
    path = root / FILE
    if not path.exists():
        return "T4", _minutes(estimate)
    try:
        record = json.loads(path.read_text("utf-8"))
        device, minutes = record["device"], record["minutes"].get(chapter)
        if not isinstance(device, str) or not isinstance(minutes, int | float | None):
            raise TypeError("device must be text and minutes a number")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not what make gpu writes: {error!r}") from None
    if minutes is None:
        return "T4", _minutes(estimate)
    wording = f"{minutes:.0f}" if minutes >= 9.95 else f"{minutes:.1f}" if minutes >= 0.1 else "under 0.1"
    return re.sub(r"^(?:(?:NVIDIA|Tesla) )+", "", device), f"{wording} min (measured)"


def _minutes(time: str) -> str:
    return time.replace(" (", " min (", 1)
