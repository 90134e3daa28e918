"""Notebooks that nbgrader can mark, and the course folder that it marks them in.

An exercise of the book is a stub and, below it, calls of its checkers.  Here it becomes one cell for the answer, which
keeps the name of the exercise, and one locked cell a checker, which nbgrader puts back before it marks, so that a call
that a student changed counts for nothing.  Everything is cell metadata: students need no nbgrader, and the notebooks run on
Colab as before.  Open exercises, which have no single answer, are left to the lecturer.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from dependencies import code_without_magics
from myst_blocks import walk
from myst_book import Page

POINTS = {"warm-up": 1, "core": 2, "challenge": 3}
GRADE = re.compile(r"\*(warm-up|core|challenge|open) · (\d+) min · you gain: ([^*\n]+)\*")
CONFIG = '''\
"""Settings of nbgrader for this course folder; `nbgrader --help-all` lists the rest."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "copyhead"
c.ExecutePreprocessor.timeout = 300

# The notebooks already have their stubs.  ClearSolutions would replace a whole answer cell by one line.
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, ComputeChecksums, IncludeHeaderFooter  # noqa: E402
from nbgrader.preprocessors import LockCells, SaveCells  # noqa: E402

c.GenerateAssignment.preprocessors = [
    IncludeHeaderFooter, LockCells, ClearOutput, CheckCellMetadata, ComputeChecksums, SaveCells, CheckCellMetadata,
]
'''


@dataclass
class Exercise:
    """An exercise as a page announces it."""

    label: str
    title: str
    difficulty: str
    minutes: int
    gain: str
    line: int
    stubs: list[str] = field(default_factory=list)

    @property
    def checkers(self) -> list[str]:
        return [call.split("(")[0].removeprefix("check.") for stub in self.stubs for call in divide(stub)[1]]


def exercises(page: Page) -> list[Exercise]:
    """The exercises of a page, in order."""
    found: list[Exercise] = []
    for block in walk(page.text, page.grammar):
        if block.kind == "directive" and block.name == "exercise":
            grade = GRADE.match(block.content.strip())
            if grade is None:
                raise page.grammar.error(block.line, "an exercise without difficulty, minutes and gain")
            found.append(Exercise(block.label, block.argument, grade[1], int(grade[2]), grade[3], block.line))
        elif block.kind == "directive" and block.name == "code-cell" and "exercise" in block.tags:
            if not found:
                raise page.grammar.error(block.line, "a stub before any exercise")
            found[-1].stubs.append(block.content)
    return found


def divide(stub: str) -> tuple[str, list[str]]:
    """A stub as the part to be answered and the calls of checkers, which are its last statements."""
    tree = ast.parse(code_without_magics(stub))
    lines = stub.split("\n")
    calls: list[str] = []
    end = len(lines)
    for node in reversed(tree.body):
        if not (isinstance(node, ast.Expr) and ast.unparse(node).startswith("check.")):
            break
        calls.insert(0, "\n".join(lines[node.lineno - 1 : node.end_lineno]))
        end = node.lineno - 1
    answer = "\n".join(lines[:end]).rstrip()
    if "check." in answer:
        raise ValueError(f"a checker is called before the last statements of a stub:\n{stub}")
    return answer, calls


def cell(source: str, identity: str, points: float | None) -> dict:
    """A code cell as nbgrader wants it: an answer, or with ``points`` a locked test."""
    test = points is not None
    marks = {"schema_version": 3, "grade_id": identity, "grade": test, "solution": not test, "locked": test, "task": False}
    if test:
        marks["points"] = points
    tags = [] if test else ["exercise"]
    metadata = {"nbgrader": marks} | ({"tags": tags} if tags else {})
    made = {"cell_type": "code", "id": identity, "metadata": metadata, "source": source.splitlines(keepends=True)}
    return made | {"execution_count": None, "outputs": []}


def gradable(notebook: dict, page: Page) -> dict:
    """The exported notebook of a page without solutions, its exercises ready for nbgrader."""
    stubs = [(exercise, number) for exercise in exercises(page) for number in range(len(exercise.stubs))]
    waiting = iter(stubs)
    cells: list[dict] = []
    for old in notebook["cells"]:
        if "exercise" not in old["metadata"].get("tags", []):
            cells.append(old)
            continue
        exercise, number = next(waiting)
        answer, calls = divide("".join(old["source"]))
        name = exercise.label if len(exercise.stubs) == 1 else f"{exercise.label}-{number + 1}"
        cells.append(cell(answer, name, None))
        share = POINTS.get(exercise.difficulty, 0) / max(len(exercise.checkers), 1)
        for index, call in enumerate(calls, 1):
            source = f"from copyhead import check\n\nassert {call}"
            cells.append(cell(source, f"{name}-check-{index}", share))
    if next(waiting, None):
        raise ValueError(f"{page.name}: the notebook has fewer stubs than the chapter")
    return notebook | {"cells": cells}


def assignment(name: str) -> str:
    """Name of the assignment that the page ``name`` makes: "landau-second-order"."""
    return name.removeprefix("book/").replace("/", "-")


def as_file(notebook: dict) -> str:
    """A notebook as the text of an ``.ipynb`` file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def write_course(notebooks: dict[str, dict], folder: Path) -> None:
    """Write a course folder of nbgrader: its settings, and an assignment a chapter that has graded cells."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nbgrader_config.py").write_text(CONFIG, "utf-8")
    for name, notebook in notebooks.items():
        if any("nbgrader" in cell["metadata"] for cell in notebook["cells"]):
            path = folder / "source" / assignment(name) / f"{name.rsplit('/', 1)[-1]}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(as_file(notebook), "utf-8")
