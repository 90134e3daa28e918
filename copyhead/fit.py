"""The most probable attention weights for a real data set, and what they show.

``fit_map`` draws P random sequences, minimises the exact reduced action (``reduced.py``) over all (V + L)^2 entries of
M by L-BFGS, and measures the order parameters of the attention it finds.  No theory enters: neither the restriction to
two patterns nor the average over data sets.

``fast=True`` is for ensembles.  It saves where it costs no accuracy that an ensemble could show: passes over the
sequences in single precision, an end to the search when a step lowers the action by less than a millionth, and only
those starts that can lead to different states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from copyhead.patterns import coverage, global_sign, order_parameters
from copyhead.reduced import Attention, ReducedAction, check_attention
from copyhead.setup import Setup
from copyhead.starts import copy_start, copying, ray_minimum, softest_mode, state_gaps, uniform_start, wrong_sign_tokens
from copyhead.task import HELD_OUT, sequences
from copyhead.validation import positive_number, whole_number

Matrix = NDArray[np.float64]
TEST_SEQUENCES = 1000
MAX_EVALUATIONS = 5000
SAME_MINIMUM = 1e-5            # two searches whose actions differ by less have found one minimum
FAST_PROGRESS = 1e-6           # a fast search ends at a step that lowers the action by a smaller share


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """What both kinds of fit have in common.

    Attributes
    ----------
    setup, P, seed
        What was fitted.
    action : float
        S at the minimum with every term, chi divided out: comparable with the theory's action.
    loss : float
        Squared error per token on the training sequences (summed over the output, divided by P L).
    test_loss : float
        The same on 1,000 held-out sequences, with the posterior-mean readout of the training set.  NaN in a fast fit.
    coverage : float
        Share of the attention in span{J, G*}: ``patterns.coverage`` of the single-sequence attention matrices.
    attention : ndarray, (L, L), read-only
        Mean attention over the training sequences; its projection gives the order parameters.  For linear attention
        this is G (logits divided by L).
    M : ndarray, (V + L, V + L), read-only
        The fitted attention weights.
    start : str
        The start that led to the minimum: "uniform", "copy", "both" (they led to the same one, or a fast fit saw that one
        search is enough), "given", "softest mode" (linear, just above the critical P), or "zero" (linear, below it: the
        global minimum on these data is M = 0).
    converged : bool
        Whether every entry of the gradient, in units of the prior width, is at most the tolerance.  Of a fast fit:
        whether the searches ended by one of their rules, not by exhaustion.
    evaluations : int
        Evaluations of the action and its gradient, over all starts.
    """

    setup: Setup
    P: int
    seed: int
    action: float
    loss: float
    test_loss: float
    coverage: float
    attention: Matrix
    M: Matrix
    start: str
    converged: bool
    evaluations: int

    def __repr__(self) -> str:
        names = [name for name in ("c1", "c_G", "a_G", "action", "loss", "test_loss", "coverage") if hasattr(self, name)]
        numbers = ", ".join(f"{name}={getattr(self, name):.6g}" for name in names)
        return f"{type(self).__name__}(P={self.P}, seed={self.seed}, {numbers}, start={self.start!r})"


@dataclass(frozen=True, eq=False, repr=False)
class LinearFit(Fit):
    """A fit of linear attention.  The global sign is fixed by T = c1 + sqrt(L) c_G >= 0.  It has no ``a_G``."""

    c1: float
    c_G: float


@dataclass(frozen=True, eq=False, repr=False)
class SoftmaxFit(Fit):
    """A fit of softmax attention; ``a_G`` is the theory's, not divided by sqrt(L).  It has no ``c1`` or ``c_G``."""

    a_G: float


@overload
def fit_map(setup: Setup, attention: Literal["linear"], P: int, seed: int = 0, *,
            start: str | Matrix = "both", tolerance: float = 1e-4, fast: bool = False) -> LinearFit: ...
@overload
def fit_map(setup: Setup, attention: Literal["softmax"], P: int, seed: int = 0, *,
            start: str | Matrix = "both", tolerance: float = 1e-4, fast: bool = False) -> SoftmaxFit: ...
@overload
def fit_map(setup: Setup, attention: Attention, P: int, seed: int = 0, *,
            start: str | Matrix = "both", tolerance: float = 1e-4, fast: bool = False) -> LinearFit | SoftmaxFit: ...
def fit_map(setup: Setup, attention: Attention, P: int, seed: int = 0, *,
            start: str | Matrix = "both", tolerance: float = 1e-4, fast: bool = False) -> LinearFit | SoftmaxFit:
    """Fit the infinitely wide network to P random sequences: the minimum of the exact action over all M.

    Parameters
    ----------
    setup : Setup
    attention : "linear" or "softmax"
    P : int, at least 1
        Number of training sequences.
    seed : int, at least 0
        The data are a function of (L, V, P, seed) only; at one seed they are nested in P (``task.sequences``).
    start : "both", "uniform", "copy", or an array of shape (V + L, V + L)
        Basin in which to search.  "both" searches from both and keeps the lower action.  "uniform" and "copy" return
        whatever minimum that start leads to, also where the other one is lower.  An array, e.g. the ``M`` of a
        neighbouring P, follows one branch.
    tolerance : float, positive
        The search ends when no gradient entry, in units of the prior width sqrt(g_W), exceeds this.  At the default
        the action is accurate to about 1e-8 and order parameters to 1e-5 away from critical points.
    fast : bool
        For many fits: three to six times faster, the action accurate to 2e-3 and order parameters to 1e-3 (a_G of softmax
        to 5e-3 near its transition).  There is no test loss.  "both" then searches for linear attention from
        the lower of the two starts (if there are no fewer tokens than weights), and for softmax leaves out the uniform
        start where it cannot end in a state of its own.

    Returns
    -------
    LinearFit or SoftmaxFit

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """
    if not isinstance(setup, Setup):
        raise ValueError(f"setup must be a copyhead.Setup, got {setup!r}")
    check_attention(attention)
    P, seed = whole_number("P", P, minimum=1), whole_number("seed", seed, minimum=0)
    tolerance = positive_number("tolerance", tolerance)
    if not isinstance(fast, bool):
        raise ValueError(f"fast must be True or False, got {fast!r}")

    tokens = sequences(setup.L, setup.V, P, seed)
    action = ReducedAction(setup, attention, tokens, np.float32 if fast else np.float64)
    starts = choose_starts(action, start, fast)
    searches = {name: _search(action, M, tolerance, fast) for name, M in starts.items()}
    name, best = min(searches.items(), key=lambda item: item[1].action)
    if max(search.action for search in searches.values()) - best.action < SAME_MINIMUM:
        name = start if isinstance(start, str) and len(searches) > 1 else name
    M = best.M
    G = action.attention(M)
    converged = all(search.ended for search in searches.values()) if fast else best.gradient <= tolerance
    common: dict[str, Any] = dict(
        setup=setup, P=P, seed=seed, action=best.action, loss=action.loss(M),
        test_loss=float("nan") if fast else _test_loss(action, M, seed), coverage=coverage(G), start=name,
        converged=converged, evaluations=sum(search.evaluations for search in searches.values()))
    mean = G.mean(axis=0)
    c1, c_G = order_parameters(mean)
    if attention == "softmax":
        return SoftmaxFit(a_G=float(c_G), attention=_frozen(mean), M=_frozen(M), **common)
    sign = global_sign(c1, c_G, setup.L)
    return LinearFit(c1=float(sign * c1), c_G=float(sign * c_G), attention=_frozen(sign * mean), M=_frozen(sign * M),
                     **common)


@dataclass
class Search:
    """Where a descent ended."""

    M: Matrix
    action: float
    gradient: float            # largest entry, in units of the prior width
    evaluations: int
    ended: bool                # by its rule, not by exhaustion


def choose_starts(action: ReducedAction, start: str | Matrix, fast: bool) -> dict[str, Matrix]:
    size = action.setup.V + action.setup.L
    if not isinstance(start, str):
        try:
            M = np.asarray(start, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"start must be 'both', 'uniform', 'copy' or an array of numbers, got {start!r}") from None
        if M.shape != (size, size) or not np.isfinite(M).all():
            raise ValueError(f"start must be finite and of shape (V + L, V + L) = {(size, size)}, got shape {M.shape}")
        return {"given": M}
    if start not in ("both", "uniform", "copy"):
        raise ValueError(f"start must be 'both', 'uniform', 'copy' or an array, got {start!r}")
    if fast and start == "both" and action.attention_kind == "softmax":
        *uniform, gap = state_gaps(action)
        copy = copying(action, gap)
        return {"uniform": np.zeros((size, size)), "copy": copy} if uniform else {"both": copy}
    made = {"uniform": uniform_start, "copy": copy_start}
    starts = {name: make(action) for name, make in made.items() if start in ("both", name)}
    if action.attention_kind == "softmax":
        return starts
    moved = {name: M for name, M in starts.items() if M.any()}
    if fast and len(moved) == 2 and action.tokens.size >= size**2:      # with fewer tokens than weights, minima abound
        return {"both": min(moved.values(), key=action.value)}
    if moved:
        return moved
    # Neither direction lowers the action.  Either zero is the global minimum, or another direction lowers it.
    strength, mode = softest_mode(action)
    return {"zero": np.zeros((size, size))} if strength <= 1 else {"softest mode": ray_minimum(action, mode)}


def _search(action: ReducedAction, M: Matrix, tolerance: float, fast: bool) -> Search:
    """L-BFGS from M; for linear attention repeated from the sign-repaired matrix where tokens have the wrong sign."""
    best = descend(action, M, tolerance, fast)
    if action.attention_kind == "linear":
        wrong = wrong_sign_tokens(best.M, action.setup.V)
        if len(wrong):
            repaired = best.M.copy()
            repaired[:, wrong] *= -1
            other = descend(action, repaired, tolerance, fast)
            other.evaluations = best.evaluations = best.evaluations + other.evaluations
            best = min(best, other, key=lambda search: search.action)
    return best


def descend(action: ReducedAction, M: Matrix, tolerance: float, fast: bool = False) -> Search:
    """L-BFGS from M alone, in units of the prior width; the rules by which it ends are those of ``fit_map``."""
    rule = dict(maxcor=20, ftol=FAST_PROGRESS) if fast else dict(maxcor=50, ftol=0.0)
    width = np.sqrt(action.setup.g_W)

    def objective(x: Matrix) -> tuple[float, Matrix]:
        value, gradient = action.value_and_gradient(width * x.reshape(M.shape))
        return value, width * gradient.ravel()

    result = minimize(objective, (M / width).ravel(), jac=True, method="L-BFGS-B",
                      options=dict(gtol=tolerance, maxiter=MAX_EVALUATIONS, maxfun=MAX_EVALUATIONS, **rule))
    return Search(width * result.x.reshape(M.shape), float(result.fun), float(np.abs(result.jac).max()), int(result.nfev),
                   bool(result.success))


def _test_loss(action: ReducedAction, M: Matrix, seed: int) -> float:
    setup = action.setup
    held_out = sequences(setup.L, setup.V, TEST_SEQUENCES, seed, stream=HELD_OUT)
    return ReducedAction(setup, action.attention_kind, held_out).loss(M, action.readout(M))


def _frozen(array: Matrix) -> Matrix:
    array = np.array(array)
    array.flags.writeable = False
    return array
