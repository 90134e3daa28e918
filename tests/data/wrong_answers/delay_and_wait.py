"""Plausible wrong answers to the delay and the mean wait of runs of which some were censored."""

import numpy as np


def of_the_likelihood(times, horizon):
    first = times.min()
    return first, np.minimum(times, horizon).clip(first).mean() - first


def censored_runs_dropped(times, horizon):
    seen = times[np.isfinite(times)]
    tau = np.sum(seen - seen.min()) / (len(seen) - 1)
    return seen.min() - tau / len(seen), tau


def horizon_taken_for_an_event(times, horizon):
    t = np.minimum(times, horizon)
    tau = np.sum(t - t.min()) / (len(t) - 1)
    return t.min() - tau / len(t), tau


def delay_not_corrected(times, horizon):
    t = np.minimum(times, horizon)
    return t.min(), np.sum(t - t.min()) / (np.isfinite(times).sum() - 1)


def no_delay(times, horizon):
    return 0.0, np.minimum(times, horizon).sum() / np.isfinite(times).sum()


ANSWERS = [of_the_likelihood, censored_runs_dropped, horizon_taken_for_an_event, delay_not_corrected, no_delay]
