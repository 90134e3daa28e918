"""From a copy head to a language model: the same measures on a small GPT-NeoX in training, and on public checkpoints.

``learn``    the model of the chapter on sequences with one repeat; the loss counts what is predictable
``talk``     the same as a language model: the loss counts every token
``control``  the same as ``talk`` on sequences without a repeat, where there is nothing to copy
``shifted``  as ``learn`` on periodic sequences
``public``   one revision of a public model; ``full_pythia`` runs over Pythia's.  It needs ``transformers`` and the network.

Every record holds, for all heads, the attention from the last token of an induction prompt to the token after its first
occurrence (with offsets), to the previous and to the first token, the last two also from a token that repeats nothing, and
the spectral measures of the outputs.  Numbers are kept in half precision, three digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.probes import Probed, effective_rank, induction_batch, participation_ratio, selectivity, spectrum
from copyhead.results import Result, join, scratch
from copyhead.sweep import sweep

T, VOCAB, WIDTH, HEADS = 25, 32, 32, 4
OFFSETS = (-2, -1, 0, 1, 2, 3)
PYTHIA = (1, 4, 16, 64, 256, 512, 1000, 3000, 10_000, 38_000, 143_000)


def measures(model: Probed, tokens: NDArray[np.intp], targets: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """What the module's text lists; arrays (layers, heads), ``mass`` (layers, heads, offsets)."""
    end, middle = model.probe(tokens), model.probe(tokens, query=tokens.shape[1] // 2)
    found = selectivity(end.attention, targets, OFFSETS)
    eigenvalues = spectrum(end.outputs)
    record = {"mass": found.mass, "ratio": np.minimum(found.ratio[..., OFFSETS.index(0)], 6e4),
              "previous": end.attention[..., -2].mean(axis=-1), "first": end.attention[..., 0].mean(axis=-1),
              "previous_middle": middle.attention[..., tokens.shape[1] // 2 - 1].mean(axis=-1),
              "first_middle": middle.attention[..., 0].mean(axis=-1),
              "rank": effective_rank(eigenvalues), "participation": participation_ratio(eigenvalues),
              "rank_centred": effective_rank(spectrum(end.outputs, centred=True))}
    return {name: np.asarray(value, dtype=np.float16) for name, value in record.items()}


def small_model(seed: int) -> Any:
    """The chapter's model: two layers of four heads of width 8."""
    from copyhead.neox import NeoX, NeoXSizes

    return NeoX(NeoXSizes(vocab=VOCAB, width=WIDTH, heads=HEADS, rotary=0.5), seed=seed, width_of_start=0.1)


def run(seed: int, data: Any, steps: int, every: int, predictable_only: bool, prompts: int = 150) -> Mapping[str, Any]:
    """One training, with its record."""
    import torch

    from copyhead.repeats import train_on_repeats

    torch.set_num_threads(1)
    tokens, targets = induction_batch(prompts, T, VOCAB, seed=0)
    return train_on_repeats(small_model(seed), partial(measures, tokens=tokens, targets=targets), data=data, T=T,
                            steps=steps, every=every, predictable_only=predictable_only, seed=seed)


def full() -> Result:
    """Five seeds of each; three of ``shifted``."""
    return _all(scratch("real_models"), range(5), range(3), talk=2500, learn=1000, control=600, every=25)


def quick() -> Result:
    """Two seeds, one of ``shifted``, shorter: about half a minute."""
    return _all(None, range(2), range(1), talk=600, learn=500, control=300, every=50)


def _all(home: Path | None, seeds: Sequence[int], few: Sequence[int], *, talk: int, learn: int, control: int,
         every: int) -> Result:
    arms: dict[str, tuple[Sequence[int], dict[str, Any]]] = {
        "learn": (seeds, dict(data="repeat", steps=learn, every=every, predictable_only=True)),
        "talk": (seeds, dict(data="repeat", steps=talk, every=2 * every, predictable_only=False)),
        "control": (seeds, dict(data="random", steps=control, every=every, predictable_only=False)),
        "shifted": (few, dict(data="periodic", steps=control, every=2 * every, predictable_only=True)),
    }
    return join(**{name: sweep(partial(run, **settings), dict(seed=which), folder=home / name if home else None)
                   for name, (which, settings) in arms.items()})


# --- Public checkpoints --------------------------------------------------------------------------------------------------


def public(revision: str, source: str, prompts: int = 200, length: int = 256, device: str = "cpu") -> Mapping[str, Any]:
    """The measures on one revision, which is fetched and deleted again; ordinary tokens only (100 to 9999)."""
    from copyhead.checkpoints import load_once

    tokens, targets = induction_batch(prompts, length, 10_000, seed=42, first=100)
    with load_once(source, revision, device=device) as model:
        return measures(model, tokens, targets)


def full_pythia() -> Result:
    """Pythia 70m and 160m at eleven revisions, one file a revision so that a killed run goes on.  Not yet run by us."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    home, revisions = scratch("real_models-pythia"), [f"step{n}" for n in PYTHIA]
    return join(**{size: sweep(partial(public, source=f"EleutherAI/pythia-{size}", device=device), dict(revision=revisions),
                               folder=home / size) for size in ("70m", "160m")})
