"""Argument checks shared by the public functions: each error names the argument, its value and the allowed range."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray


def whole_number(name: str, value: object, minimum: int) -> int:
    """Return ``value`` as an int; ValueError unless it is an integer of at least ``minimum``."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= minimum:
        return int(value)
    raise ValueError(f"{name} must be an integer >= {minimum}, got {value!r}")


def positive_number(name: str, value: object) -> float:
    """Return ``value`` as a float; ValueError unless it is a finite real number above zero."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf:
        return float(value)
    raise ValueError(f"{name} must be a finite number > 0, got {value!r}")


def real_array(name: str, value: ArrayLike, low: float = -math.inf, high: float = math.inf) -> NDArray[np.float64]:
    """Return ``value`` as a float64 array; ValueError unless every entry is finite and in the open interval (low, high)."""
    wanted = "finite real" if low == -math.inf else f"finite and > {low:.6g}"
    if high != math.inf:
        wanted += f" and < {high:.6g}"
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            raise TypeError
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {wanted}, got {value!r}") from None
    good = (array > low) & (array < high)  # False for NaN; excludes infinities at the default bounds too
    if not good.all():
        raise ValueError(f"{name} must be {wanted}, got {float(array[~good].flat[0])!r}")
    return array


def one_hot_array(X: ArrayLike) -> NDArray[np.float64]:
    """Return one-hot sequences as a float64 array; ValueError unless the shape is (P, L, V)."""
    array = np.asarray(X, dtype=np.float64)
    if array.ndim != 3:
        raise ValueError(f"X must be one-hot with shape (P, L, V), got shape {array.shape}")
    return array


def sample_number(P: ArrayLike, sigma2: float, scalar: bool = False) -> NDArray[np.float64]:
    """Return P as an array; ValueError unless P / sigma2 lies in the forty decades that the tabulated minima cover."""
    P = real_array("P", P, low=0.0)
    if scalar and P.ndim:
        raise ValueError(f"P must be one number, got an array of shape {P.shape}")
    return real_array("P", P, low=1e-20 * sigma2, high=1e20 * sigma2)


def scalar_or_array(value: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Turn a zero-dimensional array into a float and leave every other array as it is."""
    return float(value) if np.ndim(value) == 0 else value
