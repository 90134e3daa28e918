# mypy: allow-untyped-defs
"""The batched search: its action against the single one, and its minima against those of fit_map."""

import numpy as np
import pytest

from copyhead import Setup, fit_map
from copyhead.reduced import ReducedAction
from copyhead.task import sequences

torch = pytest.importorskip("torch")

from copyhead import ensemble  # noqa: E402
from copyhead.batched import BatchedAction  # noqa: E402
from copyhead.ensemble import fit_ensemble  # noqa: E402

KINDS = ["linear", "softmax"]
CPU = torch.device("cpu")
SMALL = Setup(9, 4, 6.0, 1.3, 0.7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 3e-6)], ids=["double", "single"])
def test_padded_actions_and_gradients_are_those_of_single_problems(kind, dtype, tolerance):
    tokens = [sequences(9, 4, P, seed) for P, seed in ((30, 0), (7, 1), (19, 0), (1, 2))]
    M = np.random.default_rng(0).normal(size=(4, 13, 13))
    batched = BatchedAction(SMALL, kind, tokens, CPU, dtype)

    def compare(indices):
        values, gradients = batched.value_and_gradient(torch.tensor(M[indices]))
        for i, value, gradient in zip(indices, values, gradients, strict=True):
            expected, slope = ReducedAction(SMALL, kind, tokens[i]).value_and_gradient(M[i])
            assert float(value) == pytest.approx(expected, rel=tolerance)
            np.testing.assert_allclose(gradient.numpy(), slope, rtol=0, atol=10 * tolerance * np.abs(slope).max())
            attention = batched.attention(torch.tensor(M[[i]], dtype=dtype).expand(len(indices), -1, -1))
            row = attention[indices.index(i)].double().numpy()
            P = len(tokens[i])
            np.testing.assert_allclose(row[:P], ReducedAction(SMALL, kind, tokens[i]).attention(M[i]), atol=20 * tolerance)
            assert not row[P:].any()

    compare([0, 1, 2, 3])
    batched.keep(torch.tensor([1, 2]))
    assert batched.X.shape[:2] == (2, 19)
    compare([1, 2])


@pytest.mark.parametrize("setup", [Setup(25, 5, 10.0), SMALL], ids=["paper", "small"])
@pytest.mark.parametrize("kind", KINDS)
def test_double_precision_finds_the_minima_of_fit_map(kind, setup):
    P, seeds = (4, 40, 92, 110), (0, 3)
    found = fit_ensemble(setup, kind, P, seeds, dtype=torch.float64, progress=0.0, device="cpu")
    assert found.converged.all() and found.action.shape == (4, 2) and found.M.shape == (4, 2, *2 * (setup.L + setup.V,))
    for i, size in enumerate(P):
        for j, seed in enumerate(seeds):
            fit = fit_map(setup, kind, size, seed)
            assert found.action[i, j] == pytest.approx(fit.action, abs=2e-6)
            c_G = fit.a_G if kind == "softmax" else fit.c_G
            for mine, its in ((found.c_G, c_G), (found.loss, fit.loss), (found.coverage, fit.coverage)):
                assert mine[i, j] == pytest.approx(its, abs=2e-4)
            action = ReducedAction(setup, kind, sequences(setup.L, setup.V, size, seed))
            assert action.value(found.M[i, j]) == pytest.approx(found.action[i, j], rel=1e-10)
            if kind == "linear":
                assert found.c1[i, j] == pytest.approx(fit.c1, abs=2e-4)
                mean = action.attention(found.M[i, j]).mean(axis=0)
                assert (np.abs(mean - fit.attention) < 2e-4).all()                       # the sign is fixed in M too


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_is_as_good_as_a_fast_fit(kind):
    """The accuracy that ``fit_map(..., fast=True)`` states, at the paper's parameters and on both sides of every change."""
    setup, P, seeds = Setup(25, 5), (20, 60, 250, 275, 400), (1,)
    found = fit_ensemble(setup, kind, P, seeds, device="cpu", batch=700)                 # in two groups
    for i, size in enumerate(P):
        fit = fit_map(setup, kind, size, 1, tolerance=1e-3)
        assert found.action[i, 0] == pytest.approx(fit.action, abs=2e-3)
        near = 5e-3 if kind == "softmax" and size in (250, 275) else 1e-3
        assert found.c_G[i, 0] == pytest.approx(fit.a_G if kind == "softmax" else fit.c_G, abs=near)
        assert found.c1[i, 0] == pytest.approx(1 - fit.a_G / 5 if kind == "softmax" else fit.c1, abs=near)
    assert found.converged.all()


def test_signs_are_repaired(monkeypatch):
    """Some random starts end with wrong signs of some tokens; without the repair the search stays there."""
    setup, P, seeds = Setup(25, 5, 10.0), 100, range(8)
    best = [fit_map(setup, "linear", P, seed, fast=True).action for seed in seeds]
    draws = np.random.default_rng(0).normal(size=(8, 30, 30))

    def from_random_starts():
        starts = iter(draws)
        monkeypatch.setattr(ensemble, "choose_starts", lambda *_, **__: {"random": next(starts)})
        return fit_ensemble(setup, "linear", [P], seeds, device="cpu").action[0] - best

    assert (np.abs(from_random_starts()) < 4e-3).all()
    monkeypatch.setattr(ensemble, "wrong_sign_tokens", lambda *_: [])
    assert (from_random_starts() > 0.1).any()


@pytest.mark.parametrize("change, message", [
    (dict(attention="cubic"), "attention must be"), (dict(P=[0]), "P must be an integer >= 1, got 0"),
    (dict(seeds=[-1]), "seeds must be an integer >= 0, got -1"),
    (dict(tolerance=0), "tolerance must be a finite number > 0"),
    (dict(dtype=torch.float16), "dtype must be torch.float32 or torch.float64")], ids=str)
def test_bad_arguments_are_named(change, message):
    arguments = dict(setup=SMALL, attention="linear", P=[5], seeds=[0]) | change
    with pytest.raises(ValueError, match=f"^{message}"):
        fit_ensemble(**arguments)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("kind", KINDS)
def test_gpu_and_cpu_agree(kind):
    setup, P, seeds = Setup(25, 5), (60, 275, 400), (0, 1)
    gpu, cpu = (fit_ensemble(setup, kind, P, seeds, device=device) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(gpu.action, cpu.action, atol=2e-3)
    np.testing.assert_allclose(gpu.c_G, cpu.c_G, atol=5e-3)
    double = fit_ensemble(setup, kind, P, seeds, device="cuda", dtype=torch.float64, progress=0.0)
    np.testing.assert_allclose(double.action, cpu.action, atol=2e-3)
    assert gpu.converged.all() and double.converged.all()
