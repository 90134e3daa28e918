"""Phase diagrams: the grid, the lines on it, and the end of the softmax line, against the theory by other routes."""

from __future__ import annotations

import numpy as np
import pytest

from copyhead import LinearAction, Setup, SoftmaxAction, fit_map
from copyhead.diagrams import boundaries, diagram, model_at, softmax_endpoint, steepest, theory_loss
from copyhead.experiments import phase_diagrams


def test_the_axes_are_those_of_the_figures():
    P = phase_diagrams.sample_numbers(20)
    assert (len(P), P[0], P[-1]) == (20, 5, 1000) and len(set(P)) == 20
    assert np.ptp(np.diff(np.log(P[8:]))) < 0.05                          # rounding hurts the smallest only
    L = phase_diagrams.evenly(6, 60, 20)
    assert (len(L), L[0], L[-1]) == (20, 6, 60) and set(np.diff(L)) <= {2, 3}
    assert phase_diagrams.evenly(2, 20, 20) == list(range(2, 21))


def test_a_cell_is_a_fit():
    cell = phase_diagrams.fitted("softmax", P=40, L=8, V=3, seed=2)
    fit = fit_map(Setup(8, 3, 30.0), "softmax", 40, 2)
    assert cell.keys() == {"loss", "action", "a_G"}
    assert cell["action"] == pytest.approx(fit.action, abs=2e-3) and cell["loss"] == pytest.approx(fit.loss, abs=2e-3)
    assert phase_diagrams.fitted("linear", P=60, L=8, V=3, seed=2).keys() == {"loss", "action", "c1", "c_G"}


def test_panels_have_the_axes_in_order_and_resume(tmp_path, monkeypatch):
    monkeypatch.setenv("COPYHEAD_CACHE", str(tmp_path))
    monkeypatch.setenv("COPYHEAD_STATIC", "1")
    first = phase_diagrams.panels([5, 9], [4, 6, 7], [2, 3], seeds=2, keep=True)
    assert {name: part["loss"].shape for name, part in first.items()} == {
        "linear_L": (2, 3, 2), "softmax_L": (2, 3, 2), "linear_V": (2, 2, 2), "softmax_V": (2, 2, 2)}
    cell = phase_diagrams.fitted("softmax", P=9, L=25, V=3, seed=1)
    assert first["softmax_V"]["loss"][1, 1, 1] == cell["loss"]
    monkeypatch.setattr(phase_diagrams, "fit_map", None)                  # a second run must not need it
    again = phase_diagrams.panels([5, 9], [4, 6, 7], [2, 3], seeds=2, keep=True)
    assert all(np.array_equal(again[name]["loss"], part["loss"]) for name, part in first.items())


def test_two_starts_differ_where_theory_has_two_minima_only():
    inside, outside = (phase_diagrams.two_starts(L=L, seed=0, points=5) for L in (25, 10))
    gap = {L: np.subtract(x["uniform_loss"], x["copy_loss"]) for L, x in ((25, inside), (10, outside))}
    assert gap[25].max() > 0.3 and abs(gap[25][-1]) < 0.01                # at the last P the uniform state is gone
    assert np.abs(gap[10]).max() < 0.01
    P_star = SoftmaxAction(Setup(25, 5)).first_order_transition().P
    assert inside["P"][0] == round(0.92 * P_star) and inside["P"][-1] == round(1.06 * P_star)


def test_theory_on_a_grid_is_theory_at_its_points():
    values = theory_loss("linear", [20, 300], "V", [3, 7])
    assert values.shape == (2, 2)
    assert values[1, 0] == pytest.approx(LinearAction(Setup(25, 3)).minimum(300.0).loss, rel=1e-12)
    assert theory_loss("softmax", [300], "L", [30])[0, 0] == SoftmaxAction(Setup(30, 5)).minimum(300.0).loss


def test_lines_exist_where_they_should():
    soft = boundaries("softmax", "L", [14, 15, 16, 25])
    assert np.isnan(soft["transition"]).tolist() == [True, True, False, False]
    assert np.isnan(soft["crossover"]).tolist() == [False, False, True, True]
    assert np.all(soft["lower"][2:] < soft["transition"][2:]) and np.all(soft["transition"][2:] < soft["upper"][2:])
    linear = boundaries("linear", "V", [2, 5, 20])
    assert linear["onset"][1] == pytest.approx(22.760943, abs=1e-6) and np.all(linear["onset"] < linear["copy"])


def test_the_steepest_fall_is_steepest():
    model = model_at("softmax", "L", 12)
    at = steepest(model)
    fall = [model.minimum(P * 0.99).loss - model.minimum(P * 1.01).loss for P in (0.95 * at, at, 1.05 * at)]
    assert fall[1] == max(fall)


@pytest.mark.parametrize(("V", "expected"), [(2, 19.4806), (3, 17.7546), (5, 15.5799), (10, 12.9552), (20, 10.9191)])
def test_endpoint_agrees_with_an_independent_calculation_and_with_the_two_integers_beside_it(V, expected):
    """Expected lengths: a continuation of the folds in L, in theory worked out apart from this package."""
    L_c, P_c = softmax_endpoint(V)
    assert L_c == pytest.approx(expected, abs=2e-4)
    below, above = (SoftmaxAction(Setup(L, V)).first_order_transition() for L in (int(L_c), int(L_c) + 1))
    assert below is None and above is not None
    assert steepest(SoftmaxAction(Setup(int(L_c), V))) < P_c * 1.02 and P_c < above.P * 1.02


def test_a_diagram_puts_squares_lines_and_the_end_in_their_places():
    P, L = [5, 50, 500], [10, 20, 40]
    fig, ax = diagram(P, "L", L, np.arange(9).reshape(3, 3) / 8, lines={"onset": np.array([5.0, 50.0, 2000.0])},
                      end=(15, np.sqrt(5 * 50)))
    image = ax.images[0]
    assert image.get_array()[-1, 0] == 0 and image.get_array()[0, -1] == 1        # smallest P and L at the lower left
    line, end = ax.lines[:2]
    np.testing.assert_allclose(line.get_xydata()[:2], [[0, 0], [1, 1]])
    assert np.isnan(line.get_ydata()[2])                                           # beyond the grid: not drawn at its edge
    np.testing.assert_allclose(end.get_xydata(), [[0.5, 0.5]])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["5", "10", "20", "50", "100", "200", "500"]
    fig.clear()
