"""The paper's network at its real size, d = 10,000, and how it is approached as d grows.

Two kinds of cells.  ``frozen`` is the most probable network with frozen random embeddings, by the metric
(``metric.py``): exact, and as cheap at d = 10,000 as at d = 64.  ``adam`` trains the d x d weights themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from copyhead.metric import MetricAction, most_probable, random_metric
from copyhead.patterns import global_sign, order_parameters
from copyhead.reduced import Attention
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.starts import wrong_sign_tokens
from copyhead.sweep import sweep
from copyhead.task import HELD_OUT, sequences

if TYPE_CHECKING:
    from copyhead.networks import CopyNetwork

Matrix = NDArray[np.float64]
SETUP = Setup(25, 5)
STEPS, REPAIR_STEPS = 1000, 300
HELD_OUT_SEQUENCES = 1000
WITHIN_REACH = 25              # initial entries of W_G are about so many learning rates
NUMBERS = ("action", "loss", "test_loss", "c1", "c_G")
GRID = (20, 60, 100, 200, 250, 275, 300, 325, 350, 400, 500, 600, 700, 800)        # P in the paper's figures
FULL = 10_000

# --- frozen embeddings, exactly ------------------------------------------------------------------------------------


def frozen(attention: Attention, P: int, d: int, seed: int, draw: int | None = None) -> Mapping[str, float]:
    """The most probable network of dimension d: action, loss, c1, c_G.

    ``seed`` gives the sequences; ``draw`` the embeddings, the same number by default.
    """
    return _measured(attention, P, seed, random_metric(SETUP.V, SETUP.L, d, seed if draw is None else draw))


def infinite(attention: Attention, P: int, seed: int) -> Mapping[str, float]:
    """The most probable network at d = infinity on the same sequences."""
    return _measured(attention, P, seed, np.eye(SETUP.V + SETUP.L))


def expansion(attention: Attention, P: int, direction: int, *, seed: int = 0, step: float = 0.01) -> Mapping[str, float]:
    """How action, loss, c1 and c_G of the most probable network change with the metric, along one random direction.

    C = 1 + H / sqrt(d) with H symmetric Gaussian, variance 1 off the diagonal and 2 on it, to the order that matters.
    For C = 1 + t H, ``first_x`` is dx/dt and ``second_x`` half the second derivative, by differences over ``step``.
    The spread of x over embeddings is the standard deviation of ``first_x`` over sqrt(d), and its bias is the mean of
    ``second_x`` over d.
    """
    n = SETUP.V + SETUP.L
    half = np.random.default_rng(direction).standard_normal((n, n))
    H = (half + half.T) / np.sqrt(2)
    centre = _action(attention, P, seed, np.eye(n), np.float64)
    start = most_probable(centre, tolerance=1e-3)
    values = []
    for t in (-step, 0.0, step):
        action = _action(attention, P, seed, np.eye(n) + t * H, np.float64)
        values.append(_numbers(action, most_probable(action, start, tolerance=1e-6)))
    found: dict[str, float] = {}
    for name in values[1]:
        below, middle, above = (v[name] for v in values)
        found[f"first_{name}"] = (above - below) / (2 * step)
        found[f"second_{name}"] = (above + below - 2 * middle) / (2 * step**2)
    return found


def _action(attention: Attention, P: int, seed: int, C: Matrix, dtype: Any = np.float32) -> MetricAction:
    return MetricAction(SETUP, attention, sequences(SETUP.L, SETUP.V, P, seed), C, dtype)


def _measured(attention: Attention, P: int, seed: int, C: Matrix) -> dict[str, float]:
    action = _action(attention, P, seed, C)
    return _numbers(action, most_probable(action))


def _numbers(action: MetricAction, M: Matrix) -> dict[str, float]:
    c1, c_G = order_parameters(action.attention(action.kernel(M)).mean(axis=0))
    sign = global_sign(c1, c_G, SETUP.L) if action.attention_kind == "linear" else 1.0
    return {"action": action.value(M), "loss": action.loss(M), "c1": float(sign * c1), "c_G": float(sign * c_G)}


# --- training the d x d weights ------------------------------------------------------------------------------------


def adam(attention: Attention, P: int, d: int, seed: int, *, steps: int = STEPS, width: float | None = None,
         embedding_rate: float = 0.0, checkpoints: str = "", progress: bool = False,
         device: str | None = None) -> Mapping[str, Any]:
    """Train the network of dimension d by Adam with lr = 0.1 / d, and say what it shows on the way and at the end.

    Parameters
    ----------
    attention, P, d
    seed : int
        Of sequences, embeddings and initial weights: the metric is ``random_metric(V, L, d, seed)``.
    width : float, optional
        Initial entries of W_G; by default 25 lr.  Adam moves an entry by about lr a step, so noise of width w stays for
        w / lr steps, and as lr = 0.1 / d a fixed width would stay the longer the larger d is.
    embedding_rate : float
        Learning rate of the embeddings; 0 freezes them.
    checkpoints : str
        Folder for a checkpoint, so that a killed run goes on.
    device : "cpu", "cuda" or None, which is a CPU

    Returns
    -------
    mapping
        Records ``step``, ``action``, ``loss``, ``test_loss``, ``c1``, ``c_G``, all (n,); final ``kernel`` T, ``readout``
        r and ``spread``, the mean diagonal entry of C.  ``wrong_tokens`` is the number of tokens whose sign is wrong in
        the end (linear; ``starts.wrong_sign_tokens``).  If there are any they are repaired, ``repair_steps`` more steps
        follow, 300 unless interrupted, and ``repaired`` has the five numbers that come out of that; otherwise it has the
        last record.
    """
    import torch

    from copyhead.networks import CopyNetwork
    from copyhead.training import learning_rate, train

    tokens = sequences(SETUP.L, SETUP.V, P, seed)
    held_out = sequences(SETUP.L, SETUP.V, HELD_OUT_SEQUENCES, seed, stream=HELD_OUT)
    network = CopyNetwork(SETUP, attention, d, seed=seed, train_embeddings=embedding_rate > 0, device=device)
    lr = learning_rate(network)
    wanted = WITHIN_REACH * lr if width is None else width
    with torch.no_grad():
        network.W_G.mul_(wanted / (0.01 * np.sqrt(SETUP.g_W)))        # CopyNetwork's own is 0.01 prior widths
    rates = {"W_O": lr, "W_G": lr} | ({"E": embedding_rate} if embedding_rate > 0 else {})
    options: dict[str, Any] = dict(lr=rates, held_out=held_out, progress=progress, checkpoint_every=240.0)
    path = f"{checkpoints}/{attention}-{P}-{d}-{seed}" if checkpoints else None
    run = train(network, tokens, steps=steps, checkpoint=path and f"{path}.pt", **options)
    T, r = (x.detach().cpu().double().numpy() for x in (network.kernel(), network.readout()))
    found = {name: getattr(run, name) for name in ("step", *NUMBERS)} | {"kernel": T, "readout": r}
    wrong = wrong_sign_tokens(T, SETUP.V) if attention == "linear" else np.empty(0, dtype=np.intp)
    if len(wrong):
        reverse_tokens(network, wrong)
        run = train(network, tokens, steps=REPAIR_STEPS, checkpoint=path and f"{path}-repaired.pt", **options)
    repaired = np.array([getattr(run, name)[-1] for name in NUMBERS])
    return {**found, "spread": np.trace(network.metric()) / len(T), "wrong_tokens": len(wrong), "repaired": repaired,
            "repair_steps": run.step[-1] if len(wrong) else 0}


def reverse_tokens(network: CopyNetwork, wrong: NDArray[np.intp]) -> None:
    """Change the signs of the columns of T and r that belong to these key tokens, by the least change of the weights.

    T = E^T W_G E / d becomes T D, D = diag(+-1), when W_G becomes W_G + W_G E (D - 1) E^+ with E^+ = (E^T E)^-1 E^T;
    and r = W_O E becomes r D in the same way.
    """
    import torch

    with torch.no_grad():
        E = network.E.double()
        rows = torch.linalg.solve(E.T @ E, E.T)[wrong].to(network.E.dtype)       # of E^+
        for W in (network.W_G, network.W_O):
            W.addmm_(W @ network.E[:, wrong], rows, alpha=-2)


# --- what the chapter shows ----------------------------------------------------------------------------------------

BOTH = ("linear", "softmax")
DIMENSIONS = (64, 128, 256, 512, 1024, 2048, 4096, FULL)


def full() -> Result:
    """Frozen embeddings: d = 10,000 at the paper's P, the way there, and its expansion around d = infinity."""
    return _frozen_parts(GRID, range(10), (60, 100, 300, 500, 800), DIMENSIONS, range(10), (60, 300, 500), range(24))


def quick() -> Result:
    return _frozen_parts((60, 300, 500), range(2), (60, 300, 500), (64, 256, 1024, FULL), range(3), (60, 300, 500), range(4))


def _frozen_parts(grid: Sequence[int], seeds: Sequence[int], few: Sequence[int], dimensions: Sequence[int],
                  draws: Sequence[int], expanded: Sequence[int], directions: Sequence[int]) -> Result:
    folder = scratch("full_size")
    return join(
        grid=sweep(frozen, dict(attention=BOTH, P=grid, d=[FULL], seed=seeds), folder=folder / "grid"),
        infinite=sweep(infinite, dict(attention=BOTH, P=grid, seed=seeds), folder=folder / "infinite"),
        towards=sweep(partial(frozen, seed=0), dict(attention=BOTH, P=few, d=dimensions, draw=draws),
                      folder=folder / "towards"),
        expansion=sweep(expansion, dict(attention=BOTH, P=expanded, direction=directions), folder=folder / "expansion"),
    )


def full_adam() -> Result:
    """Real Adam below full size, three seeds each; single runs at d = 4096; and what random weights and trained E change."""
    return _adam_parts((60, 300, 500), (256, 1024), range(3), 4096, 800)


def quick_adam() -> Result:
    return _adam_parts((60, 300), (64, 128), range(1), 256, 400)


def _adam_parts(few: Sequence[int], dimensions: Sequence[int], seeds: Sequence[int], large: int, steps: int) -> Result:
    folder = scratch("full_size-adam")
    width = float(np.sqrt(SETUP.g_W / 30))                           # of the prior at chi = 30
    axes = dict(attention=BOTH, P=few, d=dimensions, seed=seeds)
    made = join(
        runs=sweep(partial(adam, steps=steps), axes, folder=folder / "runs"),
        exact=sweep(frozen, axes, folder=folder / "exact"),
        large=sweep(partial(adam, steps=steps), dict(attention=BOTH, P=[300], d=[large], seed=[0]), folder=folder / "large"),
        start=sweep(partial(adam, "softmax", 400, seed=0, steps=steps), dict(width=[0.01, width], d=dimensions),
                    folder=folder / "start"),
        embedding=sweep(partial(adam, "softmax", 400, dimensions[0], 0, steps=steps),
                        dict(embedding_rate=[0.0, 1e-5, 0.1 / dimensions[0]]), folder=folder / "embedding"),
    )
    kept = {name: array for name, array in made.arrays.items() if not name.endswith(("_kernel", "_readout"))}
    return Result(kept, made.provenance)


def full_large() -> Result:
    """Real Adam at d = 10,000: softmax attention at P = 300, linear attention at P = 500, one seed."""
    def cell(attention: Attention, P: int, steps: int) -> Result:
        folder = scratch("full_size-large") / f"{attention}-{P}"
        return sweep(partial(adam, attention, steps=steps, checkpoints=str(folder)), {"P": [P], "d": [FULL], "seed": [0]},
                     folder=folder / "sweep")

    return join(softmax=cell("softmax", 300, 1500), linear=cell("linear", 500, 800))


def quick_large() -> Result:
    """The same at d = 256, 400 steps, and P = 60 for linear attention."""
    def cell(attention: Attention, P: int) -> Result:
        return sweep(partial(adam, attention, steps=400), {"P": [P], "d": [256], "seed": [0]})

    return join(softmax=cell("softmax", 300), linear=cell("linear", 60))
