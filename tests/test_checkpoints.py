"""The reader of public checkpoints, on tiny ones written here in the public format; nothing touches the network.

``transformers`` comes from requirements-test.txt.  Where it is missing these tests fail: skipped they would prove nothing.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from visits import ROOT

from copyhead.checkpoints import ADAPTERS, Checkpoint, load, load_once
from copyhead.experiments.real_models import measures, public
from copyhead.neox import NeoX, NeoXSizes
from copyhead.probes import induction_batch
from copyhead.sweep import sweep

TOKENS, TARGETS = induction_batch(6, 12, 40, seed=1)


def tiny(kind: str, **more: Any) -> Any:
    """A random model of the kind, two layers of four heads."""
    import transformers

    names = {"gpt_neox": "GPTNeoX", "llama": "Llama", "olmo": "Olmo", "olmoe": "Olmoe", "gpt2": "GPT2"}
    sizes: dict[str, Any] = dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4,
                                 intermediate_size=24, max_position_embeddings=64)
    if kind == "gpt2":
        sizes = dict(vocab_size=40, n_embd=16, n_layer=1, n_head=2, n_positions=64)
    if kind == "olmoe":
        sizes |= dict(num_experts=4, num_experts_per_tok=2)
    if kind == "llama":
        sizes |= dict(num_key_value_heads=2)                     # grouped queries: fewer keys than heads
    torch.manual_seed(0)
    config = getattr(transformers, names[kind] + "Config")(**sizes, bos_token_id=0, eos_token_id=0, pad_token_id=0, **more)
    model = getattr(transformers, names[kind] + ("LMHeadModel" if kind == "gpt2" else "ForCausalLM"))(config)
    with torch.no_grad():                                        # attention of the first weights is nearly even: sharpen it
        for name, weight in model.named_parameters():
            if weight.ndim == 2 and "embed" not in name and "wte" not in name:
                weight.mul_(8)
    return model.eval()


@pytest.mark.parametrize("kind", ["gpt_neox", "llama", "olmo", "olmoe"])
def test_probe_of_each_kind(kind: str, tmp_path: Path) -> None:
    """Rows are distributions, differ between heads, and each layer's outputs give its attention's contribution."""
    model = tiny(kind)
    model.save_pretrained(tmp_path / "step1")
    checkpoint = load(tmp_path, "step1")
    assert (checkpoint.layers, checkpoint.heads) == (2, 4)
    probe = checkpoint.probe(TOKENS, query=7, batch=4)
    assert probe.attention.shape == (2, 4, 6, 12) and probe.outputs.shape == (2, 4, 6, 4)
    np.testing.assert_allclose(probe.attention.sum(axis=-1), 1, atol=1e-5)
    assert np.all(probe.attention[..., 8:] == 0) and np.ptp(probe.attention, axis=1).max() > 0.1
    seen: list[torch.Tensor] = []
    projections = [m for name, m in model.named_modules() if name.endswith(("attention.dense", "o_proj"))]
    for projection in projections:
        projection.register_forward_hook(lambda module, given, made: seen.append(made))
    with torch.no_grad():
        model(torch.as_tensor(TOKENS))
    for layer, projection in enumerate(projections):
        flat = torch.as_tensor(probe.outputs[layer]).float().transpose(0, 1).reshape(6, -1)
        torch.testing.assert_close(projection(flat), seen[layer][:, 7], atol=2e-4, rtol=2e-4)


def in_pythias_format(ours: NeoX, folder: Path) -> Checkpoint:
    """Write our weights, under their own names as in Pythia's files, and read them with transformers."""
    import transformers
    from safetensors.torch import save_file

    config = transformers.GPTNeoXConfig(**ours.configuration(), bos_token_id=0, eos_token_id=0,
                                        architectures=["GPTNeoXForCausalLM"])
    config.save_pretrained(folder)
    save_file(ours.state_dict(), folder / "model.safetensors", metadata={"format": "pt"})
    return load(folder)


@pytest.mark.parametrize(("rotary", "heads"), [(0.25, 2), (1.0, 4)])
def test_our_neox_is_that_of_transformers(rotary: float, heads: int, tmp_path: Path) -> None:
    """Same weights, same logits, attention and head outputs; and back from their state dict and from their file."""
    from safetensors.torch import load_file

    ours = NeoX(NeoXSizes(vocab=40, width=32, layers=3, heads=heads, rotary=rotary), seed=3, width_of_start=0.2)
    checkpoint, x = in_pythias_format(ours, tmp_path / "step1"), torch.as_tensor(TOKENS)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), checkpoint.model(x).logits, atol=2e-5, rtol=1e-4)
    mine, its = ours.probe(TOKENS, 5), checkpoint.probe(TOKENS, 5)
    np.testing.assert_allclose(mine.attention, its.attention, atol=1e-5)
    np.testing.assert_allclose(mine.outputs, its.outputs, atol=1e-5)
    checkpoint.model.save_pretrained(tmp_path / "theirs")
    for state in (checkpoint.model.state_dict(), load_file(tmp_path / "theirs" / "model.safetensors")):
        again = NeoX(ours.sizes, seed=4)
        again.load_state_dict(state)
        torch.testing.assert_close(again(x), ours(x), atol=1e-6, rtol=1e-6)


def test_revisions_are_folders_and_a_missing_one_is_named(tmp_path: Path) -> None:
    for step in (1, 16):
        tiny("gpt_neox", initializer_range=0.02 * step).save_pretrained(tmp_path / f"step{step}")
    probes = [load(tmp_path, f"step{step}").probe(TOKENS) for step in (1, 16)]
    assert np.abs(probes[0].attention - probes[1].attention).max() > 0.01
    with pytest.raises(ValueError, match=r"revision must be one of step1, step16 in .*, got 'step4'"):
        load(tmp_path, "step4")
    with pytest.raises(ValueError, match="revision must be one of none, here"):
        load(tmp_path / "step1", "step4")


def test_unknown_kinds_and_bad_tokens_are_refused(tmp_path: Path) -> None:
    tiny("gpt2").save_pretrained(tmp_path / "gpt2")
    for weights in (tmp_path / "gpt2").glob("*.safetensors"):
        weights.unlink()                                         # refused before any weights are read
    with pytest.raises(ValueError, match="model type must be one of gpt_neox, llama, olmo, olmoe, got 'gpt2'"):
        load(tmp_path, "gpt2")
    with pytest.raises(ValueError, match="model type must be one of"):
        Checkpoint(tiny("gpt2"))
    checkpoint = Checkpoint(tiny("gpt_neox", attn_implementation="eager"))
    with pytest.raises(ValueError, match=r"tokens must be integers in 0\.\.39"):
        checkpoint.probe(TOKENS + 30)
    with pytest.raises(ValueError, match="batch must be an integer >= 1"):
        checkpoint.probe(TOKENS, batch=0)
    assert set(ADAPTERS) == {"gpt_neox", "llama", "olmo", "olmoe"}


def test_fused_attention_is_noticed() -> None:
    fused = Checkpoint(tiny("gpt_neox", attn_implementation="sdpa"))
    with pytest.raises(ValueError, match="eager"):
        fused.probe(TOKENS)


def test_without_transformers_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=r"copyhead\[llm\]"):
        load("anything")


def test_hub_names_go_with_their_revision_and_leave_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub itself is replaced: what is tested is what we ask it for, and that the fetched copy is gone afterwards."""
    import transformers

    tiny("gpt_neox").save_pretrained(tmp_path / "hub")
    asked: list[tuple[str, str, str]] = []

    def fetch(original: Any, name: str, *, revision: str = "main", cache_dir: str = "", **rest: Any) -> Any:
        if Path(name).is_dir():                                  # transformers, reading the copy
            return original(name, **rest)
        asked.append((name, revision, cache_dir))
        shutil.copytree(tmp_path / "hub", Path(cache_dir) / "snapshot", dirs_exist_ok=True)
        return original(str(Path(cache_dir) / "snapshot"), **rest)

    for auto in (transformers.AutoConfig, transformers.AutoModelForCausalLM):
        monkeypatch.setattr(auto, "from_pretrained", partial(fetch, auto.from_pretrained))
    with load_once("somebody/pythia", "step512") as checkpoint:
        assert Path(asked[-1][2]).is_dir()
        assert checkpoint.probe(TOKENS).attention.shape == (2, 4, 6, 12)
    assert {(name, revision) for name, revision, _ in asked} == {("somebody/pythia", "step512")}
    assert not Path(asked[-1][2]).exists()


def test_a_public_run_measures_every_revision_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (1, 16):
        model = tiny("gpt_neox")
        model.resize_token_embeddings(300)
        model.save_pretrained(tmp_path / "model" / f"step{step}")
    import copyhead.experiments.real_models as module

    monkeypatch.setattr(module, "induction_batch", lambda N, T, vocab, **more: induction_batch(N, T, 300, **more))
    one = partial(public, source=str(tmp_path / "model"), prompts=5, length=20)
    first = sweep(one, dict(revision=["step1", "step16"]), folder=tmp_path / "cells", progress=False)
    assert first["rank"].shape == (2, 2, 4) and first["mass"].shape == (2, 2, 4, 6)
    (tmp_path / "model" / "step1" / "config.json").unlink()      # a second call reads the cells, not the models
    again = sweep(one, dict(revision=["step1", "step16"]), folder=tmp_path / "cells", progress=False)
    np.testing.assert_array_equal(first["rank"], again["rank"])


def test_measures_agree_between_our_model_and_theirs(tmp_path: Path) -> None:
    ours = NeoX(NeoXSizes(vocab=40, width=16, heads=2, rotary=0.5), seed=0, width_of_start=0.3)
    left, right = (measures(model, TOKENS, TARGETS) for model in (ours, in_pythias_format(ours, tmp_path)))
    for name, value in left.items():
        np.testing.assert_allclose(value, right[name], rtol=5e-3, atol=2e-3, err_msg=name)


def test_pins_leave_torch_alone() -> None:
    """requirements-test.txt names no package of requirements.txt, torch least of all, and pins everything it names."""
    def names(file: str) -> list[str]:
        lines = [line.split("#")[0].strip() for line in (ROOT / file).read_text().splitlines()]
        assert all("==" in line for line in lines if line)
        return [line.split("==")[0].lower().replace("_", "-") for line in lines if line]

    assert not set(names("requirements.txt")) & set(names("requirements-test.txt"))
    assert "transformers" in names("requirements-test.txt")
