"""Markov chains for a density exp(-U(x)) whose gradient is known: Langevin (ULA), MALA and Hamiltonian Monte Carlo.

With step eps the three moves are, xi standard Gaussian,

    ULA    x' = x - eps^2/2 grad U(x) + eps xi                        (accept always: biased, by O(eps^2))
    MALA   the same proposal, accepted by Metropolis and Hastings      (no bias)
    HMC    momentum xi; ``leapfrogs`` leapfrog steps of size eps; accepted by the change of energy   (no bias)

ULA with a full batch is what the literature on networks calls SGLD, eta = eps^2 / 2.  HMC of one leapfrog step is MALA.

Tuning adapts eps so that the mean acceptance probability is that of TARGET (dual averaging, Hoffman & Gelman 2014,
section 3.2); ULA is tuned by the probability with which MALA *would* accept.  Then eps is frozen.  HMC multiplies eps by
a random factor in [0.8, 1.2] per trajectory, so that no mode of the target is in resonance with the trajectory's length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from copyhead.chain import Chain, Target
from copyhead.diagnostics import Samples
from copyhead.validation import positive_number, whole_number

Array = NDArray[np.float64]
Method = Literal["ula", "mala", "hmc"]
Observe = Callable[[Array], Mapping[str, float]]


def sample(target: Target, starts: Sequence[Array], *, observe: Observe, method: Method = "hmc", draws: int = 500,
           tune: int = 150, step: float | None = None, leapfrogs: int = 10, length: float | None = None,
           scale: Array | None = None, thin: int = 1, seed: int = 0, folder: str | Path | None = None, n_jobs: int = 1,
           progress: bool = True) -> Samples:
    """Run one chain from every start and report the draws with their diagnostics.

    Parameters
    ----------
    target : callable
        ``target(x)`` returns U(x), a float, and its gradient, an array of the shape of x.  Finite for every x.
    starts : sequence of arrays of one shape
        One chain each.  Take them from different states: chains with one start cannot disagree.
    observe : callable
        ``observe(x)`` returns the numbers to record, by name.  "potential" is recorded besides.
    method : "hmc", "mala" or "ula"
    draws, tune : int
        Recorded draws per chain, and moves spent before them on tuning and forgetting the start.
    step : float, optional
        Fixed eps > 0.  By default it is tuned, which needs ``tune`` >= 50.
    leapfrogs : int
        Leapfrog steps per HMC trajectory.
    length : float > 0, optional
        Length of an HMC trajectory in place of its number of steps: length / eps leapfrog steps, rounded.  Where most
        directions have one frequency omega, a quarter of a period, pi / (2 omega), makes successive draws independent in
        them, and their squares too; half a period reflects them, which helps means and leaves the potential as it was.
    scale : array, shape (n, n) for x of size n, optional
        Invertible.  The moves above are those of z, x = scale z, each in units of its own width if scale scale^T is near
        the covariance of x (the inverse Hessian of U): then a stiff direction no longer limits the step of a soft one.
        The density sampled is the same.  Steps and lengths are those of z.
    thin : int
        Moves per recorded draw.
    seed : int
        Chain i uses the i-th child of ``SeedSequence(seed)``: the chains share no random number.  (Chains driven by one
        sequence of numbers run into each other, and R-hat then sees agreement where there is none.)
    folder : path, optional
        Where every chain keeps its state.  A killed run that is started again continues and ends with the same draws.
    n_jobs : int
        Processes (joblib); any joblib back end serves.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range; also for a folder that holds chains of another call.
    FloatingPointError
        When U or its gradient stops being finite, naming chain and move.
    """
    settings = _settings(method, draws, tune, step, leapfrogs, length, thin, seed)
    states = _starts(starts)
    shape = _scale(scale, states[0].size)
    seeds = np.random.SeedSequence(settings["seed"]).spawn(len(states))
    place = None if folder is None else Path(folder)
    chains = [Chain(target, observe, x, seeds[i], settings, number=i, folder=place, scale=shape)
              for i, x in enumerate(states)]
    if n_jobs == 1:
        finished = [chain.run(progress) for chain in chains]
    else:
        from joblib import Parallel, delayed

        finished = list(Parallel(n_jobs=n_jobs)(delayed(Chain.run)(chain, False) for chain in chains))
    return Samples(
        draws={name: np.stack([chain.record[name] for chain in finished]) for name in finished[0].record},
        last=np.stack([chain.x for chain in finished]),
        method=method,
        step=np.array([chain.step for chain in finished]),
        acceptance=np.array([chain.accepted / (draws * thin) for chain in finished]),
        divergences=np.array([chain.divergences for chain in finished]),
        gradients=sum(chain.gradients for chain in finished),
    )


def _settings(method: Method, draws: int, tune: int, step: float | None, leapfrogs: int,
              length: float | None, thin: int, seed: int) -> dict[str, Any]:
    if method not in ("ula", "mala", "hmc"):
        raise ValueError(f"method must be 'ula', 'mala' or 'hmc', got {method!r}")
    settings: dict[str, Any] = {
        "method": method, "draws": whole_number("draws", draws, 1), "tune": whole_number("tune", tune, 0),
        "leapfrogs": whole_number("leapfrogs", leapfrogs, 1), "thin": whole_number("thin", thin, 1),
        "seed": whole_number("seed", seed, 0), "step": None if step is None else positive_number("step", step),
        "length": None if length is None else positive_number("length", length),
    }
    if step is None and tune < 50:
        raise ValueError(f"tune must be an integer >= 50 where step is not given, got {tune}")
    return settings


def _scale(scale: Array | None, size: int) -> Array | None:
    if scale is None:
        return None
    matrix = np.asarray(scale, dtype=np.float64)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all() or np.linalg.matrix_rank(matrix) < size:
        raise ValueError(f"scale must be an invertible, finite matrix of shape {(size, size)}, got shape {matrix.shape}")
    return matrix


def _starts(starts: Sequence[Array]) -> list[Array]:
    try:
        states = [np.array(x, dtype=np.float64) for x in starts]
    except (TypeError, ValueError):
        raise ValueError(f"starts must be a sequence of arrays of numbers, got {starts!r}") from None
    if not states or any(x.shape != states[0].shape or not np.isfinite(x).all() for x in states):
        raise ValueError("starts must be one or more finite arrays of one shape, "
                         f"got shapes {[x.shape for x in states]}")
    return states
