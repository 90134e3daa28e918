r"""When something happens for the first time, when it had not happened until the end, and whether luck decides.

A run that ends before the event is *censored*: its time is inf here, and ``horizon`` says how long it was watched.  Every
run then has an exposure, t_i or its horizon.  With d events among n runs:

**Exponential**, density e^{-t/tau} / tau.  The likelihood is tau^-d e^{-exposure/tau}, so tau = (sum of exposures) / d.

**Shifted exponential**: nothing before a delay s, then exponential.  The likelihood grows with s up to the first event, so
s = min t, too late by tau/n in the mean, for the first of n events comes at the rate n/tau.  After it the remaining times
are again exponential and independent of it (no memory); 2 (remaining exposure) / tau is chi^2 with 2(d-1) degrees of
freedom, and

    tau = (remaining exposure) / (d - 1),   s = min t - tau/n,   n (min t - s_true) / tau ~ F(2, 2(d-1)).

All this is exact without censoring, and where the watch ends at the d-th event; at a fixed horizon it is an approximation.

**Is it exponential?**  Embed the remaining times in gamma densities of shape k.  The slope of the log-likelihood at k = 1
(the score) is, with x = t/tau, a sum over events of ln x + gamma_Euler and over censored runs of
ln c + e^c E_1(c) + gamma_Euler, c = horizon/tau.  Positive: more regular than exponential.  Its law under the exponential
is simulated, so that the test has its level at small n too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import exp1
from scipy.stats import chi2, f

from copyhead.validation import positive_number, whole_number

Array = NDArray[np.float64]


def first_passage(time: ArrayLike, series: ArrayLike, threshold: float) -> Array:
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


@dataclass(frozen=True)
class WaitingFit:
    """A delay ``shift`` and a mean wait ``tau`` after it, with intervals at the level asked for; ``n`` runs, ``events``.

    ``mle_shift`` and ``mle_tau`` maximise the likelihood; ``shift`` and ``tau`` have their bias removed.
    """

    shift: float
    tau: float
    shift_interval: tuple[float, float]
    tau_interval: tuple[float, float]
    mle_shift: float
    mle_tau: float
    n: int
    events: int

    def survival(self, t: ArrayLike) -> Array:
        """Probability that the event has not come by t."""
        return np.exp(-np.maximum(np.asarray(t, dtype=float) - self.shift, 0) / self.tau)


def fit_exponential(times: ArrayLike, horizon: ArrayLike = np.inf, level: float = 0.95) -> WaitingFit:
    """Exponential waiting times without a delay: ``shift`` is 0.

    Parameters
    ----------
    times : positive numbers, shape (n,); inf where the event had not come
    horizon : how long each run was watched, a number or shape (n,); needed where a time is inf
    level : coverage of the interval

    Raises ValueError for anything else, or without an event.
    """
    t, c = _watched(times, horizon, events=1)
    d, exposure = int(np.isfinite(t).sum()), float(np.minimum(t, c).sum())
    return WaitingFit(0.0, exposure / d, (0.0, 0.0), _scale_interval(exposure, d, level), 0.0, exposure / d, len(t), d)


def fit_shifted_exponential(times: ArrayLike, horizon: ArrayLike = np.inf, level: float = 0.95) -> WaitingFit:
    """A delay and an exponential wait after it; arguments as for ``fit_exponential``, with at least two events.

    Runs censored before the first event carry no information on the wait and are left out of the remaining exposure.
    """
    t, c = _watched(times, horizon, events=2)
    first, d = float(t.min()), int(np.isfinite(t).sum())
    at_risk = int((np.minimum(t, c) >= first).sum())
    remaining = float(np.maximum(np.minimum(t, c) - first, 0).sum())
    if remaining == 0:
        raise ValueError(f"times must not all be equal, got {first!r} {d} times")
    tau = remaining / (d - 1)
    earliest = first - tau / at_risk * f.ppf(level, 2, 2 * (d - 1))
    return WaitingFit(first - tau / at_risk, tau, (float(earliest), first), _scale_interval(remaining, d - 1, level),
                      first, remaining / d, len(t), d)


def _scale_interval(exposure: float, d: int, level: float) -> tuple[float, float]:
    tail = (1 - _share("level", level)) / 2
    return float(2 * exposure / chi2.isf(tail, 2 * d)), float(2 * exposure / chi2.ppf(tail, 2 * d))


# --- The shape ----------------------------------------------------------------------------------------------------------


def shape_score(remaining: ArrayLike, horizon: ArrayLike = np.inf) -> Array:
    """Slope of the gamma log-likelihood at shape 1, over sqrt(number of runs); shape (..., n) gives (...).

    ``remaining`` are times after the delay, inf where censored at ``horizon`` (broadcasts).  Not finite without an event.
    """
    t, c = np.broadcast_arrays(np.asarray(remaining, float), np.asarray(horizon, float))
    seen = np.isfinite(t)
    x = np.minimum(t, c)
    x = x * (seen.sum(axis=-1) / x.sum(axis=-1))[..., None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        tail = 0.0 if seen.all() else np.where(seen, 0.0, np.exp(np.minimum(x, 600)) * exp1(np.minimum(x, 600)))
        return np.asarray((np.log(x) + tail + np.euler_gamma).sum(axis=-1) / np.sqrt(x.shape[-1]))


def shape_test(times: ArrayLike, horizon: ArrayLike = np.inf, draws: int = 4000, seed: int = 0) -> tuple[float, float]:
    """(score, p): is what follows the first event exponential?  Two-sided p from ``draws`` simulated samples.

    The first event is taken for the end of the delay, and the others, counted from it, are tested.  A positive score means
    more regular than exponential.  The simulation uses the fitted tau over the horizons at hand.  Arguments as for
    ``fit_exponential``, with at least three events.
    """
    t, c = _watched(times, horizon, events=3)
    draws = whole_number("draws", draws, 100)
    first = t.min()
    kept = np.flatnonzero(np.minimum(t, c) > first)
    rest, ends = t[kept] - first, c[kept] - first
    score = float(shape_score(rest, ends))
    tau = np.minimum(rest, ends).sum() / np.isfinite(rest).sum()
    waits = np.random.default_rng(seed).exponential(tau, (draws, len(rest)))
    null = shape_score(np.where(waits < ends, waits, np.inf), ends)
    null = null[np.isfinite(null)]                                      # a sample without an event has no score
    tail = np.minimum(np.mean(null >= score), np.mean(null <= score))
    return score, float(min(1.0, 2 * (tail * len(null) + 1) / (len(null) + 1)))


def shape_power(n: int, shape: float, level: float = 0.05, draws: int = 4000, seed: int = 0) -> float:
    """Probability that ``shape_test`` at this level rejects n uncensored gamma times of this shape (and no delay).

    At shape 1 it is the false-alarm rate.  Simulated: the error is below 1/(2 sqrt(draws)).
    """
    n, draws = whole_number("n", n, 4), whole_number("draws", draws, 100)
    level, rng = _share("level", level), np.random.default_rng(seed)
    null = shape_score(_after_first(rng.exponential(1.0, (draws, n))))
    score = shape_score(_after_first(rng.gamma(positive_number("shape", shape), 1.0, (draws, n))))
    low, high = np.quantile(null, [level / 2, 1 - level / 2])
    return float(np.mean((score < low) | (score > high)))


def _after_first(times: Array) -> Array:
    ordered = np.sort(times, axis=-1)
    return ordered[..., 1:] - ordered[..., :1]


# --- Without a model ----------------------------------------------------------------------------------------------------


def variation(times: ArrayLike, draws: int = 2000, seed: int = 0) -> tuple[float, float]:
    """Coefficient of variation, standard deviation over mean, and its bootstrap standard error; no time may be censored."""
    t, _ = _watched(times, np.inf, events=2)
    again = np.random.default_rng(seed).choice(t, (whole_number("draws", draws, 10), len(t)))
    return float(t.std(ddof=1) / t.mean()), float((again.std(axis=1, ddof=1) / again.mean(axis=1)).std(ddof=1))


def spread(times: ArrayLike) -> float:
    """The latest over the earliest time; inf if one is censored."""
    t = np.asarray(times, dtype=float)
    if t.ndim != 1 or not len(t) or not np.all(t > 0):
        raise ValueError(f"times must be positive numbers, shape (n,), got {times!r}")
    return float(t.max() / t.min())


def survival(times: ArrayLike, horizon: ArrayLike = np.inf) -> tuple[Array, Array, Array]:
    """Kaplan and Meier's estimate of the survival curve: event times, the value just after each, and its standard error.

    The error is Greenwood's.  Arguments as for ``fit_exponential``.
    """
    t, c = _watched(times, horizon, events=1)
    seen, count = np.unique(t[np.isfinite(t)], return_counts=True)
    at_risk = (np.minimum(t, c)[:, None] >= seen).sum(axis=0)
    value = np.cumprod(1 - count / at_risk)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = value * np.sqrt(np.cumsum(count / (at_risk * (at_risk - count))))
    return seen, value, np.nan_to_num(error, nan=0.0)


def _share(name: str, value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(f"{name} must be in (0, 1), got {value!r}")
    return float(value)


def _watched(times: ArrayLike, horizon: ArrayLike, events: int) -> tuple[Array, Array]:
    """Times and horizons as arrays of one shape; checks what the public functions promise."""
    t = np.asarray(times, dtype=float)
    if t.ndim != 1 or not np.all(t > 0):
        raise ValueError(f"times must be positive numbers or inf, shape (n,), got {times!r}")
    if np.isfinite(t).sum() < events:
        raise ValueError(f"times must hold at least {events} events, got {np.isfinite(t).sum()} among {len(t)}")
    c = np.broadcast_to(np.asarray(horizon, dtype=float), t.shape)
    if np.isinf(c[np.isinf(t)]).any() or np.any(c[np.isfinite(t)] < t[np.isfinite(t)]) or not np.all(c > 0):
        raise ValueError(f"horizon must be finite where a time is inf, and no time may lie beyond it, got {horizon!r}")
    return t, c
