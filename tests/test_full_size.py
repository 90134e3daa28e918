"""What the full-size experiments compute, on small networks, and what they stored, by another route."""

from functools import partial

import numpy as np
import pytest

from copyhead import task
from copyhead.experiments import full_size
from copyhead.metric import MetricAction, most_probable, random_metric
from copyhead.results import recall
from copyhead.starts import wrong_sign_tokens

torch = pytest.importorskip("torch")

from copyhead.networks import CopyNetwork  # noqa: E402

PAPER = full_size.SETUP


def action_from_kernel(T, r, attention, P, C, seed=0):
    """Data term of kernel and readout plus the least prior cost of weights that make them; no W_G anywhere."""
    tokens = task.sequences(25, 5, P, seed)
    phi = task.features(tokens, 5)
    U = phi @ T @ phi.transpose(0, 2, 1)
    weights = np.exp(U - U.max(axis=-1, keepdims=True))
    G = U / 25 if attention == "linear" else weights / weights.sum(axis=-1, keepdims=True)
    error = G @ phi @ r.T - task.one_hot(task.targets(tokens), 5)
    inverse = np.linalg.inv(C)
    least = np.trace(inverse @ T @ inverse @ T.T) / PAPER.g_W + np.trace(r @ inverse @ r.T) / PAPER.g_O
    return np.sum(error**2) / (2 * PAPER.sigma2) + least / 2


def test_adam_reaches_the_exact_minimum_at_finite_dimension():
    run = full_size.adam("softmax", 60, 64, 0, steps=300)
    exact = full_size.frozen("softmax", 60, 64, 0)
    assert run["action"][-1] == pytest.approx(exact["action"], abs=2e-3) and run["action"][-1] > exact["action"] - 2e-4
    assert run["c_G"][-1] == pytest.approx(exact["c_G"], abs=1e-4)
    C = random_metric(5, 25, 64, 0)
    rebuilt = action_from_kernel(run["kernel"], run["readout"], "softmax", 60, C)
    assert rebuilt == pytest.approx(run["action"][-1], abs=1e-3)
    assert run["spread"] == pytest.approx(np.trace(C) / 30, rel=1e-6) and run["wrong_tokens"] == 0
    assert run["repaired"][0] == run["action"][-1]


def test_width_of_the_start_and_the_embeddings_rate():
    still = full_size.adam("softmax", 20, 40, 0, steps=1, width=0.5)
    network = CopyNetwork(PAPER, "softmax", 40, seed=0)
    noise = network.W_G.detach().double() * 50                                # from 0.01 to 0.5
    E = network.E.detach().double()
    assert np.abs(still["kernel"] - (E.T @ noise @ E / 40).numpy()).max() < 0.2          # one step away
    moved = full_size.adam("softmax", 20, 40, 0, steps=20, embedding_rate=0.01)
    frozen = full_size.adam("softmax", 20, 40, 0, steps=20)
    assert frozen["spread"] == pytest.approx(np.trace(random_metric(5, 25, 40, 0)) / 30, rel=1e-6)
    assert abs(moved["spread"] - frozen["spread"]) > 1e-3


def test_reversing_tokens_changes_columns_and_nothing_else():
    network = CopyNetwork(PAPER, "linear", 50, init="prior", seed=1, dtype=torch.float64)
    T, r, W = (x.detach().clone() for x in (network.kernel(), network.readout(), network.W_G))
    full_size.reverse_tokens(network, np.array([1, 4]))
    signs = torch.ones(30, dtype=torch.float64)
    signs[[1, 4]] = -1
    assert torch.allclose(network.kernel(), T * signs, atol=1e-10)
    assert torch.allclose(network.readout(), r * signs, atol=1e-10)
    # What no embedding sees is left alone: the change has the rank of the reversed tokens.
    assert torch.linalg.matrix_rank(network.W_G.detach() - W) == 2


def test_expansion_is_a_derivative_of_the_minimum():
    direction = partial(full_size.expansion, "softmax", 60, 3)
    found = direction()
    half = np.random.default_rng(3).standard_normal((30, 30))
    H = (half + half.T) / np.sqrt(2)
    unit = MetricAction(PAPER, "softmax", task.sequences(25, 5, 60, 0), np.eye(30))
    M = most_probable(unit, tolerance=1e-6)
    W = unit.readout(M)
    assert found["first_action"] == pytest.approx(-np.vdot(M @ M.T + M.T @ M + W @ W.T, H) / 2, rel=1e-2)
    assert direction(step=0.005)["second_action"] == pytest.approx(found["second_action"], rel=0.05)


# --- what is stored ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    return recall("full_size-large", mode="stored", quick=full_size.quick_large, full=full_size.full_large)


@pytest.mark.parametrize(("attention", "P"), [("softmax", 300), ("linear", 500)])
def test_stored_run_of_dimension_10000_is_what_it_says(large, attention, P):
    """Rebuilt from its 30 by 30 kernel with another program, it has the stored action; and never less than the minimum."""
    assert large[f"{attention}_d"].tolist() == [10_000] and large[f"{attention}_P"].tolist() == [P]
    C = random_metric(5, 25, 10_000, 0)
    T, r, action = (large[f"{attention}_{name}"] for name in ("kernel", "readout", "action"))
    rebuilt = action_from_kernel(T.reshape(30, 30), r.reshape(5, 30), attention, P, C)
    assert rebuilt == pytest.approx(action.ravel()[-1], abs=5e-3)
    exact = full_size.frozen(attention, P, 10_000, 0)
    assert large[f"{attention}_repaired"].ravel()[0] == pytest.approx(exact["action"], abs=0.05)
    wrong = wrong_sign_tokens(T.reshape(30, 30), 5) if attention == "linear" else []
    assert len(wrong) == large[f"{attention}_wrong_tokens"].item()


def test_stored_minima_come_out_again():
    stored = recall("full_size", mode="stored", quick=full_size.quick, full=full_size.full)
    where = list(stored["grid_attention"]).index("softmax"), list(stored["grid_P"]).index(60)
    again = full_size.frozen("softmax", 60, 10_000, 2)
    for name in ("action", "loss", "c_G"):
        assert again[name] == pytest.approx(stored[f"grid_{name}"][*where, 0, 2], rel=1e-3, abs=1e-4), name
    assert stored["towards_d"].tolist() == list(full_size.DIMENSIONS)


def test_stored_runs_of_adam_end_at_the_exact_minima():
    """To 0.01 in the action, after the repair of signs."""
    stored = recall("full_size-adam", mode="stored", quick=full_size.quick_adam, full=full_size.full_adam)
    excess = stored["runs_repaired"][..., 0] - stored["exact_action"]
    assert np.abs(excess).max() < 0.01 and excess.shape == (2, 3, 2, 3)
