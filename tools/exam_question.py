"""What a template of an exam question is, and how ``course/exam/*.py`` registers one.

A template draws its parameters from the generator that it is given and computes the answer with SymPy or the package.  Its
answers are verified by other routes in ``tests/test_exam.py``.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PARTS = ("landau", "prior", "data", "transitions", "experiments", "beyond")
FOLDER = "course/exam"


@dataclass(frozen=True)
class Question:
    """A drawn question.  ``values`` are the answers, named in ``asked``; ``working`` says how one gets there."""

    text: str
    asked: tuple[str, ...]
    values: tuple[float, ...]
    working: str
    parameters: dict[str, float]


@dataclass(frozen=True)
class Template:
    """A question before its parameters are drawn."""

    name: str
    part: str
    title: str
    minutes: int
    points: int
    draw: Callable[[np.random.Generator], Question]


_found: list[Template] = []


def template(part: str, title: str, minutes: int, points: int) -> Callable:
    """Register the decorated function ``draw(rng) -> Question``.  Raises ValueError for what an exam cannot use."""
    if part not in PARTS:
        raise ValueError(f"part must be one of {PARTS}, got {part!r}")
    if minutes < 1 or points < 1:
        raise ValueError(f"minutes and points must be at least 1, got {minutes} and {points}")

    def register(draw: Callable[[np.random.Generator], Question]) -> Callable[[np.random.Generator], Question]:
        _found.append(Template(draw.__name__, part, title, minutes, points, draw))
        return draw

    return register


def templates(root: Path) -> list[Template]:
    """All templates below ``root``, in the order of the parts.  Raises ValueError if two have the same name."""
    _found.clear()
    for path in sorted((root / FOLDER).glob("*.py")):
        runpy.run_path(str(path))
    names = [entry.name for entry in _found]
    if len(set(names)) < len(names):
        raise ValueError(f"two templates have the same name: {sorted(names)}")
    return sorted(_found, key=lambda entry: PARTS.index(entry.part))


def drawn(entry: Template, seed: int) -> Question:
    """The question that a template gives for a seed; other templates do not change it."""
    return entry.draw(np.random.default_rng([seed, *entry.name.encode()]))
