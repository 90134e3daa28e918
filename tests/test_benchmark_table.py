"""The tool that prints the benchmark table, at small sizes: its rows measure what they say, and a miss is not hidden."""

import sys

import benchmark as table
import pytest

from copyhead import LinearAction, Setup
from copyhead.experiments.order_parameters import fitted


def test_rows_of_the_grid_hold_the_distance_from_theory():
    rows = list(table.grid(seeds=1, P=(60, 300)))
    assert [row.work.split(",")[0] for row in rows] == [
        "Figs. 3 + 4 left: 2 P x 1 seeds x 2 attentions", "largest distance of c1 from theory",
        *2 * ["largest distance of a_G from theory"]]
    theory = LinearAction(Setup(25, 5)).minimum([60.0, 300.0]).c1
    fits = [fitted("linear", P, 0)["c1"] for P in (60, 300)]
    distance = max(abs(fit / exact - 1) for fit, exact in zip(fits, theory, strict=True))
    assert rows[1].measured == f"{100 * distance:.2f} %" and rows[1].met == (distance <= 0.02)


def test_a_missed_target_is_marked_and_fails(monkeypatch, capsys):
    rows = {"good": lambda: iter([table.Row("a", "1 s", "0.5 s", True), table.Row("b", "none", "2 s", None)]),
            "bad": lambda: iter([table.Row("c", "1 s", "3 s", False)])}
    monkeypatch.setattr(table, "ROWS", rows)
    monkeypatch.setattr(sys, "argv", ["benchmark.py"])
    assert table.main() == 1
    assert "| c | 1 s | 3 s (missed) |" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["benchmark.py", "good"])
    assert table.main() == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["| a | 1 s | 0.5 s |", "| b | none | 2 s |"]
    monkeypatch.setattr(sys, "argv", ["benchmark.py", "unknown"])
    with pytest.raises(SystemExit):
        table.main()


def test_estimates_are_marked_as_such():
    assert all("estimated" in row.measured and row.met is None for row in table.gpu())
