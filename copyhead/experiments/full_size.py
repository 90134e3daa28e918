"""The paper's network at its real size, d = 10,000, and how it is approached as d grows.

Two kinds of cells.  ``frozen`` is the most probable network with frozen random embeddings, by the metric
(``metric.py``): exact, and as cheap at d = 10,000 as at d = 64.  ``adam`` trains the d x d weights themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from copyhead.reduced import Attention
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.starts import wrong_sign_tokens
from copyhead.sweep import sweep
from copyhead.task import HELD_OUT, sequences

if TYPE_CHECKING:
    from copyhead.networks import CopyNetwork

SETUP = Setup(25, 5)
STEPS, REPAIR_STEPS = 1500, 300
HELD_OUT_SEQUENCES = 1000
WITHIN_REACH = 25              # initial entries of W_G are about so many learning rates
NUMBERS = ("action", "loss", "test_loss", "c1", "c_G")


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
        the end (linear; ``starts.wrong_sign_tokens``).  If there are any they are repaired, 300 steps follow, and
        ``repaired`` has the five numbers that come out of that; otherwise it has the last record.
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
    return {**found, "spread": np.trace(network.metric()) / len(T), "wrong_tokens": len(wrong), "repaired": repaired}


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


def full_large() -> Result:
    """Real Adam at d = 10,000: softmax attention at P = 300, linear attention at P = 500, one seed."""
    def cell(attention: Attention, P: int) -> Result:
        folder = scratch("full_size-large") / f"{attention}-{P}"
        return sweep(partial(adam, attention, checkpoints=str(folder)), {"P": [P], "d": [10_000], "seed": [0]},
                     folder=folder / "sweep")

    return join(softmax=cell("softmax", 300), linear=cell("linear", 500))
