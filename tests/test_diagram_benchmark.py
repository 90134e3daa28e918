# mypy: allow-untyped-defs
"""Time of the four phase-diagram panels: one row of the benchmark table, in CPU seconds of one process."""

import time

import pytest

from copyhead.experiments.phase_diagrams import evenly, panels, sample_numbers


@pytest.mark.slow
def test_four_panels_of_twenty_by_twenty():
    """20 P x 20 L and 20 P x 19 V (there are 19 whole numbers from 2 to 20) for both attentions in 180 CPU seconds."""
    began = time.process_time()
    made = panels(sample_numbers(20), evenly(6, 60, 20), evenly(2, 20, 20), 1)
    seconds = time.process_time() - began
    fits = sum(part["loss"].size for part in made.values())
    print(f"\n| four 20 x 20 phase-diagram panels, one seed ({fits} fits) | <= 180 CPU s | {seconds:.0f} CPU s |")
    assert seconds <= 180
