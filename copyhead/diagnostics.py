"""What a set of Markov chains may be trusted for: R-hat, effective sample size, and a verdict.

R-hat compares the spread between chains with the spread within; effective sample size (ESS) is the number of
independent draws that would fix a mean equally well.  Both come from ArviZ, in their rank-normalised forms.  Neither can
see a state that no chain has visited: start the chains in every state you know of.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_RHAT = 1.01          # the usual threshold for rank-normalised R-hat
MIN_ESS_PER_CHAIN = 100  # below it R-hat itself is too noisy to be believed


@dataclass(frozen=True, eq=False, repr=False)
class Samples:
    """Draws of one sampler from one target.

    Attributes
    ----------
    draws : mapping from name to array, shape (chains, draws)
        Recorded observables, without the tuning phase.  "potential" is always among them.
    last : ndarray, shape (chains, ...)
        Last position of every chain: a start for the next run.
    method : str
    step : ndarray, shape (chains,)
        Step sizes used after tuning; the convention is that of ``sampling.sample``.
    acceptance : ndarray, shape (chains,)
        Share of accepted proposals after tuning; 1 for ULA, which accepts everything.
    divergences : ndarray of int, shape (chains,)
        HMC trajectories whose energy error exceeded 1000.
    gradients : int
        Gradient evaluations of all chains, tuning included.
    """

    draws: Mapping[str, Array]
    last: Array
    method: str
    step: Array
    acceptance: Array
    divergences: NDArray[np.int64]
    gradients: int

    def mean(self, name: str) -> float:
        """Mean of an observable over all chains and draws."""
        return float(self._draws(name).mean())

    def sd(self, name: str) -> float:
        """Standard deviation of an observable over all chains and draws: the width of its distribution."""
        return float(self._draws(name).std(ddof=1))

    def standard_error(self, name: str) -> float:
        """Monte Carlo standard error of ``mean(name)``: sd / sqrt(ESS of the mean)."""
        return self.sd(name) / float(np.sqrt(_arviz("ess", self._draws(name), method="mean")))

    def summary(self, name: str, label: str | None = None) -> dict[str, float]:
        """mean_x, sd_x, error_x (of the mean), rhat_x and ess_x of an observable; x is ``label``, or else its name."""
        x = label or name
        return {f"mean_{x}": self.mean(name), f"sd_{x}": self.sd(name), f"error_{x}": self.standard_error(name),
                f"rhat_{x}": self.rhat[name], f"ess_{x}": self.ess[name]}

    @cached_property
    def rhat(self) -> dict[str, float]:
        """Rank-normalised split R-hat of every observable; 1 when the chains agree."""
        return {name: _arviz("rhat", draws) for name, draws in self.draws.items()}

    @cached_property
    def ess(self) -> dict[str, float]:
        """Bulk effective sample size of every observable, summed over the chains."""
        return {name: _arviz("ess", draws) for name, draws in self.draws.items()}

    @property
    def mixed(self) -> bool:
        """Whether two or more chains agree (R-hat below 1.01) with 100 effective draws per chain, in every observable."""
        return not self._complaints()

    @property
    def verdict(self) -> str:
        """One sentence: "mixed: ...", or "not mixed: ..." with what is wrong."""
        complaints = self._complaints()
        if complaints:
            return "not mixed: " + "; ".join(complaints)
        return f"mixed: R-hat at most {max(self.rhat.values()):.3f}, at least {min(self.ess.values()):.0f} effective draws"

    def __repr__(self) -> str:
        chains, draws = self.draws["potential"].shape
        means = ", ".join(f"{name}={self.mean(name):.4g}" for name in self.draws if name != "potential")
        return f"Samples({self.method}, {chains} chains of {draws}, {means}; {self.verdict})"

    def _draws(self, name: str) -> Array:
        if name not in self.draws:
            raise ValueError(f"name must be one of {sorted(self.draws)}, got {name!r}")
        return self.draws[name]

    def _complaints(self) -> list[str]:
        chains, draws = self.draws["potential"].shape
        if chains < 2:
            return ["one chain cannot show that it reached every state"]
        if draws < 4:
            return [f"{draws} draws per chain are too few to compare chains"]
        found = []
        worst = max(self.rhat, key=lambda name: _bad_if_nan(self.rhat[name]))
        if not self.rhat[worst] < MAX_RHAT:
            found.append(f"R-hat of {worst} is {self.rhat[worst]:.3f}, not below {MAX_RHAT}")
        least = min(self.ess, key=lambda name: -_bad_if_nan(-self.ess[name]))
        wanted = MIN_ESS_PER_CHAIN * chains
        if not self.ess[least] >= wanted:
            found.append(f"{self.ess[least]:.0f} effective draws of {least}, fewer than {wanted}")
        return found


def _bad_if_nan(value: float) -> float:
    return np.inf if np.isnan(value) else value


def _arviz(function: str, draws: Array, **options: str) -> float:
    """An ArviZ diagnostic of an array (chains, draws)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")     # importing ArviZ 0.x announces version 1 each time
        import arviz
    if draws.shape[1] < 4:
        return float("nan")                 # ArviZ logs a complaint and returns NaN
    if np.ptp(draws) == 0:
        return float("nan")                 # a constant has no spread to compare
    with np.errstate(invalid="ignore", divide="ignore"):      # chains that never move have no spread within
        return float({"ess": arviz.ess, "rhat": arviz.rhat}[function](np.array(draws), **options))
