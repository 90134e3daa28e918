"""The stored table of sampled points: what a cell must hold, and Langevin steps that cannot move the attention."""

from __future__ import annotations

import numpy as np

from copyhead import Setup
from copyhead.experiments import posterior
from copyhead.log_determinant import thermal_loss
from copyhead.results import recall

NAMES = ("c1", "c_G", "loss", "coverage", "potential")


def test_every_sampled_number_carries_its_diagnostics() -> None:
    cell = posterior.sampled("softmax", 40, ("zero", "zero"), 60, 50, L=6)
    for name in NAMES:
        assert {f"{x}_{name}" for x in ("mean", "sd", "error", "rhat", "ess", "kept")} <= set(cell)
        assert np.isclose(cell[f"kept_{name}"].mean(), cell[f"mean_{name}"], rtol=1e-5)    # all draws are kept here
        assert 0 < cell[f"error_{name}"] < cell[f"sd_{name}"]


def test_table_of_the_posterior_meets_its_standard() -> None:
    """R-hat below 1.01 and 300 effective draws for the order parameters of every stored point, both starts agreeing."""
    data = recall("posterior", mode="stored", quick=posterior.quick, full=posterior.full)
    for name in ("c1", "c_G"):
        assert data[f"table_rhat_{name}"].max() < 1.01 and data[f"table_ess_{name}"].min() > 300
    assert len(data["table_P"]) >= 9 and np.isfinite(data["table_mean_loss"]).all()


def test_steps_of_the_paper_heat_the_readout_and_leave_the_attention() -> None:
    """At d = 32: a_G keeps within a hundredth of its start, the loss rises by about the thermal part of infinite width."""
    found = posterior.langevin("paper", 32, 2000)
    assert np.abs(found["kept_a_G"] - found["map_a_G"]).max() < 0.01
    heat = found["kept_loss"][:, 100:].mean() - found["map_loss"]
    a = float(found["map_a_G"])
    expected = thermal_loss(Setup(25, 5, sigma2=10.0), 1 - a / 5, a, 133, posterior.CHI)
    assert 0.6 * expected < heat < 1.6 * expected
