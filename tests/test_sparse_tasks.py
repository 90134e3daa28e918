"""The experiment's bookkeeping: what a cell trains, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from copyhead.encoder import Encoder
from copyhead.experiments.sparse_tasks import cells, experiment, seeds_of


def test_cells_differ_in_what_their_names_say() -> None:
    made = cells()
    assert made["order3"].student == Encoder() and made["told3"] == replace(made["order3"], student=Encoder(bias=4.0))
    assert made["heads2x16"].student == Encoder(heads=2, head_dim=16)
    assert made["rule110_32"].size == 32 and made["rule150_8"].order == 150
    assert seeds_of("order3", 16) == seeds_of("luck_map", 16) == 16 and seeds_of("order3_fast", 16) == 8


def test_one_map_means_one_pattern_and_one_start_one_first_loss() -> None:
    short = {name: replace(cell, steps=10) for name, cell in cells().items()}
    many, single = short["order3"].run(3), short["luck_init"].run(3)
    assert len({row.tobytes() for row in many.pattern}) == 3 and len({row.tobytes() for row in single.pattern}) == 1
    same = short["luck_data"].run(3)
    assert np.ptp(same.loss[:, 0]) == 0 and np.ptp(single.loss[:, 0]) > 0


def test_an_experiment_keeps_times_and_one_way() -> None:
    chosen = {name: replace(cell, steps=30) for name, cell in cells().items() if name in ("order2", "noise")}
    found = experiment(chosen, 2)
    assert found["order2_solved"].shape == (2,) and found["noise_solved"].shape == (1,)
    assert np.isinf(found["noise_solved"]).all() and found["noise_horizon"] == 30
    assert found["order2_map"].shape == (len(found["order2_step"]), 8, 8) and found["order2_rows"].shape == (2, 8)
