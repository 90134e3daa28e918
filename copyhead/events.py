"""When something happens for the first time, and when it had not happened until the end."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def first_passage(time: ArrayLike, series: ArrayLike, threshold: float) -> NDArray[np.float64]:
    """Time at which each series first reaches the threshold from below, interpolated; inf if it had not by the end.

    ``time`` has shape (n,), ``series`` (..., n); the result has shape (...).  A series that starts at the threshold or above
    gives time[0].  What is inf is censored: the event may come after time[-1].
    """
    t, y = np.asarray(time, dtype=float), np.asarray(series, dtype=float)
    if t.ndim != 1 or y.shape[-1:] != t.shape:
        raise ValueError(f"series must have shape (..., n) with n = {t.size} times, got {y.shape}")
    above = y >= threshold
    at = above.argmax(axis=-1)
    before = np.maximum(at - 1, 0)
    low, high = (np.take_along_axis(y, i[..., None], axis=-1)[..., 0] for i in (before, at))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(at > 0, (threshold - low) / (high - low), 0.0)
    return np.where(above.any(axis=-1), t[before] + share * (t[at] - t[before]), np.inf)
