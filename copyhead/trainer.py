"""A slider over P that trains: move it, train the network there, and see where it lands on the curves of the theory.

``training_figure`` is the only name to know.  With a kernel it returns an ipywidgets box (version 7.7.1 or newer) that
does nothing until a button is pressed.  In the built book, and wherever there is no kernel, it returns the same panels
as a static slider over runs that were made beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from copyhead.experiments import trainer as experiment
from copyhead.progress import in_page
from copyhead.reduced import Attention
from copyhead.results import Result, recall
from copyhead.setup import Setup
from copyhead.sliders import has_kernel, slider_figure
from copyhead.trainer_panels import Panels, Point, reading
from copyhead.trainer_widget import Trainer
from copyhead.validation import whole_number


def training_figure(*, d_model: int | None = None, values: Sequence[int] = experiment.GRID, seed: int = 0) -> Any:
    """Return the slider over P that trains; end a cell with it.

    Parameters
    ----------
    d_model : int, at least 1, optional
        Train the full network with embeddings of this dimension; without it the reduced one (infinite dimension).
        The static slider of the full network has the dimension of its stored runs, which the panels name.
    values : sequence of increasing integers of at least 1
        Numbers of training sequences on the slider, with a kernel.  The static slider has those of the stored runs.
    seed : int, at least 0
        Of the training sequences.  Each cold start draws new weights.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """
    values = [whole_number("values", P, minimum=1) for P in values]
    if not values or values != sorted(set(values)):
        raise ValueError(f"values must be a non-empty increasing sequence, got {values!r}")
    seed = whole_number("seed", seed, minimum=0)
    if d_model is not None:
        d_model = whole_number("d_model", d_model, minimum=1)
    if in_page() or not has_kernel():
        return static_figure(stored_runs(wide=d_model is not None))
    return Trainer(values, d_model=d_model, seed=seed).box


def stored_runs(wide: bool = False) -> Result:
    """Runs on the whole grid, cold and swept: of the reduced network, or of the full one."""
    if wide:
        return recall("trainer-wide", quick=experiment.quick_wide, full=experiment.full_wide)
    return recall("trainer", quick=experiment.quick, full=experiment.full)


# --- without a kernel ------------------------------------------------------------------------------------------------


def static_figure(runs: Result) -> Any:
    """A slider over the P of ``runs`` (arrays as ``experiments.trainer.runs`` makes them): both attentions at once."""
    values = [int(P) for P in runs["P"]]
    panels = Panels(Setup(L=25, V=5), values, float(runs["d_model"]))
    kinds: list[Attention] = runs["attention"].tolist()
    starts: list[str] = runs["start"].tolist()
    points = {(kind, P): [Point(P, start, float(runs["c1"][k, s, i]), float(runs["c_G"][k, s, i]))
                          for s, start in enumerate(starts)]
              for k, kind in enumerate(kinds) for i, P in enumerate(values)}
    steps = experiment.RECORD_EVERY * np.arange(runs["curve"].shape[-1])
    longest = int(steps[np.isfinite(runs["curve"]).any(axis=(0, 1, 2))].max())

    def draw(P: int) -> list[Any]:
        figures = []
        for k, kind in enumerate(kinds):
            curves = []
            for s, start in enumerate(starts):
                made = np.isfinite(curve := runs["curve"][k, s, values.index(P)])
                curves.append((start, steps[made], curve[made]))
            everywhere = [point for (other, _), ends in points.items() if other == kind for point in ends]
            figures += [panels.loss(kind, P, curves, longest), panels.order(kind, P, everywhere, points[kind, P])]
        return figures

    def alt(P: int) -> str:
        words = [f"{kind} attention: theory {panels.theory(kind, P)}; networks "
                 + ", ".join(f"{p.start}: {reading(kind, p)}" for p in points[kind, P]) for kind in kinds]
        return f"P = {P}. " + ". ".join(words) + "."

    start = min(values, key=lambda P: abs(P - 270))
    return slider_figure(values, draw, name="P", alt=alt, start=start)
