"""A checker that is given the wrong type, the wrong shape or a NaN says what it expected, and never a bare exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from copyhead import check

ODD_SHAPE = np.ones((1, 3, 1, 5))  # what no exercise asks for

ANSWERS: dict[str, Any] = {
    "nothing": None,
    "gap": ...,
    "text": "text",
    "number that is none": float("nan"),
    "dictionary": {"answer": 1},
    "class": object,
    "function that returns nothing": lambda *_: None,
    "function that returns text": lambda *_: "text",
    "function that returns NaN": lambda *_: float("nan"),
    "function that returns a strange shape": lambda *_: ODD_SHAPE,
    "function that returns a pair of NaN": lambda *_: (float("nan"), float("nan")),
    "function without arguments that returns text": lambda: "text",
    "array of a strange shape": ODD_SHAPE,
    "array with a NaN": np.array([1.0, float("nan")]),
}
HELPFUL = ("expected ", "gap", "could not be called with (", "is not complete")


@pytest.mark.parametrize("name", dir(check))
def test_checker_says_what_it_expected(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, answer in ANSWERS.items():
        assert getattr(check, name)(answer) is False, kind
        printed = capsys.readouterr().out
        assert printed.startswith("Not yet: ") and printed.count("\n") == 1, kind
        assert any(word in printed for word in HELPFUL), f"{kind}: {printed}"
        assert "Error" not in printed or "could not be called with (" in printed, f"{kind}: {printed}"


def sample(answer: Callable[..., Any]) -> bool:
    return check.verdict(answer, check.function("x", (np.ones(3),), check.array((3,))), [("holds", lambda f: True)])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: "text", "expected an array of shape (3,), got str"),
        (lambda x: x[:2], "expected an array of shape (3,), got shape (2,)"),
        (lambda x: x * np.nan, "expected an array of shape (3,), got NaN or infinity"),
        (lambda x: None, "fill in the gap"),
        (lambda: 1, "could not be called with (x): "),
        (1.0, "expected a function of (x), got float"),
    ],
    ids=range(6),
)
def test_messages(answer: Any, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sample(answer) is False and message in capsys.readouterr().out
