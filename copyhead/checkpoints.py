"""Look into public checkpoints with the same probe as into our own networks; needs the extra ``copyhead[llm]``.

A *source* is a folder, with one sub-folder a revision as ``save_pretrained`` writes it, or a name on the Hugging Face hub,
whose revisions are branches (Pythia's are called step0, step1, step2, step4, ..., step143000).

Attention is computed in the eager way, because fused kernels do not hand out their weights; and in single precision,
because attention on a position underflows in half precision long before it says nothing.
What a head hands to its output projection is caught by a hook in front of that projection.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from copyhead.probes import Probe
from copyhead.validation import whole_number


def _llama(model: Any) -> list[torch.nn.Module]:
    return [layer.self_attn.o_proj for layer in model.model.layers]


# model_type of the configuration -> the output projections of the layers, in order
ADAPTERS: dict[str, Callable[[Any], list[torch.nn.Module]]] = {
    "gpt_neox": lambda model: [layer.attention.dense for layer in model.gpt_neox.layers],
    "llama": _llama,
    "olmo": _llama,
    "olmoe": _llama,
}


class Checkpoint:
    """A model of ``transformers`` that can be probed; made by ``load``.

    ``model`` is the module itself, ``layers`` and ``heads`` are its numbers.
    """

    def __init__(self, model: Any) -> None:
        kind = model.config.model_type
        if kind not in ADAPTERS:
            raise ValueError(f"model type must be one of {', '.join(sorted(ADAPTERS))}, got {kind!r}")
        self.model, self.projections = model.eval(), ADAPTERS[kind](model)
        self.layers, self.heads = len(self.projections), int(model.config.num_attention_heads)

    @torch.no_grad()
    def probe(self, tokens: ArrayLike, query: int = -1, batch: int = 8) -> Probe:
        """Attention rows and head outputs of all heads at one position of sequences (N, T), ``batch`` at a time."""
        batch = whole_number("batch", batch, minimum=1)
        given = torch.as_tensor(np.asarray(tokens), dtype=torch.long).to(self.model.device)
        vocab = int(self.model.config.vocab_size)
        if given.ndim != 2 or not len(given) or given.min() < 0 or given.max() >= vocab:
            raise ValueError(f"tokens must be integers in 0..{vocab - 1}, shape (N >= 1, T), got shape {tuple(given.shape)}")
        parts = [self._look(part, query) for part in given.split(batch)]
        rows, outputs = (torch.cat(list(side), dim=2).double().cpu().numpy() for side in zip(*parts, strict=True))
        return Probe(rows, outputs)

    def _look(self, tokens: torch.Tensor, query: int) -> tuple[torch.Tensor, torch.Tensor]:
        seen: list[torch.Tensor] = []

        def catch(module: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
            seen.append(arguments[0][:, query].unflatten(-1, (self.heads, -1)).transpose(0, 1))

        with ExitStack() as hooks:
            for projection in self.projections:
                hooks.callback(projection.register_forward_pre_hook(catch).remove)
            attentions = self.model(tokens, output_attentions=True, use_cache=False).attentions
        if not attentions or attentions[0] is None:
            raise ValueError("model must be loaded with attn_implementation='eager', it returned no attention")
        return torch.stack([a[:, :, query].transpose(0, 1) for a in attentions]), torch.stack(seen)


def load(source: str | Path, revision: str | None = None, *, device: str = "cpu",
         cache: str | Path | None = None) -> Checkpoint:
    """A checkpoint from a folder or from the hub, in single precision, with eager attention.

    Parameters
    ----------
    source : a folder, or a name on the hub such as "EleutherAI/pythia-70m"
    revision : sub-folder or branch; None for the folder itself or the hub's main branch
    device : where to run it
    cache : folder for what is fetched from the hub; the default is the hub's own cache

    Raises
    ------
    ImportError
        Without ``transformers``.
    ValueError
        For a model type without an adapter (before any weights are read), or a revision that the folder lacks.
    """
    transformers = _transformers()
    where: dict[str, Any] = {}
    folder = Path(source)
    if folder.is_dir():
        known = sorted(path.name for path in folder.iterdir() if (path / "config.json").is_file())
        if revision is not None and revision not in known:
            raise ValueError(f"revision must be one of {', '.join(known) or 'none, here'} in {folder}, got {revision!r}")
        name = str(folder / revision) if revision is not None else str(folder)
    else:
        name = str(source)
        where = {"revision": revision or "main", "cache_dir": None if cache is None else str(cache)}
    kind = transformers.AutoConfig.from_pretrained(name, **where).model_type
    if kind not in ADAPTERS:
        raise ValueError(f"model type must be one of {', '.join(sorted(ADAPTERS))}, got {kind!r} in {name}")
    where |= {"dtype": torch.float32, "attn_implementation": "eager"}
    model = transformers.AutoModelForCausalLM.from_pretrained(name, **where)
    return Checkpoint(model.to(device))


@contextmanager
def load_once(source: str | Path, revision: str | None = None, *, device: str = "cpu") -> Iterator[Checkpoint]:
    """``load`` for the length of a ``with`` block, after which what was fetched from the hub is deleted again.

    Ten checkpoints of a large model then need the disk of one.
    """
    with tempfile.TemporaryDirectory(prefix="copyhead-") as cache:
        yield load(source, revision, device=device, cache=cache)


def _transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise ImportError("public checkpoints are read by transformers, which is not installed: "
                          "pip install 'copyhead[llm]', or pip install transformers") from error
    return transformers
