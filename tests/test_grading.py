"""Marking by nbgrader: the notebooks of the students, and a round trip with right, wrong and tampered submissions."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from edition import edition_book, settings, solutions
from environments import virtual_environment
from grading import POINTS, assignment, divide, exercises, write_course
from myst_book import Page, load_book
from student import student_notebooks, student_texts
from visits import ROOT

BOOK = load_book(ROOT)
CHAPTERS = [page for page in BOOK.pages.values() if page.is_notebook and exercises(page)]
REQUIREMENTS = ROOT / "requirements-grading.txt"
VENV = ROOT / "_build/grading-venv"
CHAPTER = "book/landau/second-order"


@pytest.fixture(scope="module")
def notebooks() -> dict[str, dict]:
    return student_notebooks(edition_book(BOOK, student_texts(BOOK), settings(ROOT)[0]), BOOK.repository)


def marked(notebook: dict) -> Iterator[tuple[dict, str]]:
    """Marks and source of the cells that nbgrader knows."""
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            yield cell["metadata"]["nbgrader"], "".join(cell["source"])


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.name)
def test_every_exercise_with_an_answer_is_graded(page: Page, notebooks: dict[str, dict]) -> None:
    notebook = notebooks[page.name]
    nbformat.validate(notebook)
    cells = list(marked(notebook))
    assert len({marks["grade_id"] for marks, _ in cells}) == len(cells)
    for exercise in exercises(page):
        own = [cell for cell in cells if cell[0]["grade_id"].startswith(f"{exercise.label}-")]
        tests = [(marks, source) for marks, source in own if marks["grade"]]
        if exercise.difficulty == "open" and not exercise.stubs:
            assert not tests
            continue
        assert sum(marks["points"] for marks, _ in tests) == pytest.approx(POINTS.get(exercise.difficulty, 0))
        assert [source.rpartition("assert check.")[2].split("(")[0] for _, source in tests] == exercise.checkers
        assert all(marks["locked"] and not marks["solution"] for marks, _ in tests)
    answers = [(marks, source) for marks, source in cells if not marks["grade"]]
    assert all(marks["solution"] and not marks["locked"] and "check." not in source for marks, source in answers)
    assert all("..." in source for _, source in answers)


def test_names_that_later_cells_need_are_not_lost_with_the_solutions() -> None:
    """A checker's argument is bound by the answer cell: its name stands in the stub."""
    for page in CHAPTERS:
        for exercise in exercises(page):
            for stub in exercise.stubs:
                answer, calls = divide(stub)
                for call in calls:
                    argument = call.partition("(")[2].rstrip(")").split(",")[0].strip()
                    assert not argument.isidentifier() or argument in answer, (exercise.label, call)


def test_checker_in_the_middle_of_a_stub_is_refused() -> None:
    assert divide("f = ...\n\ncheck.f(f)") == ("f = ...", ["check.f(f)"])
    assert divide("f = ...\ncheck.f(\n    f,\n)\ncheck.g(f)")[1] == ["check.f(\n    f,\n)", "check.g(f)"]
    with pytest.raises(ValueError, match="before the last statements"):
        divide("f = ...\ncheck.f(f)\nprint(f)")


def test_course_folder(tmp_path: Path, notebooks: dict[str, dict]) -> None:
    write_course(notebooks, tmp_path)
    compile((tmp_path / "nbgrader_config.py").read_text(), "nbgrader_config.py", "exec")
    found = sorted(path.relative_to(tmp_path / "source").as_posix() for path in tmp_path.rglob("*.ipynb"))
    assert found == sorted(f"{assignment(page.name)}/{page.name.rsplit('/', 1)[-1]}.ipynb" for page in CHAPTERS)


# --- the round trip --------------------------------------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """The variables that a command of nbgrader runs with: its own Python, the package from the working tree."""
    switches = ("COPYHEAD_", "MPL", "PYTHON", "JUPYTER")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(switches)}
    path = f"{VENV / 'bin'}{os.pathsep}{clean['PATH']}"
    return clean | {"PATH": path, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "COPYHEAD_STATIC": "1"}


def install_grader() -> None:
    command = [str(VENV / "bin/python"), "-m", "pip", "install", "--quiet", "--requirement", str(REQUIREMENTS)]
    subprocess.run(command, check=True)


def nbgrader(course: Path, *arguments: str) -> None:
    command = [str(VENV / "bin/nbgrader"), *arguments]
    result = subprocess.run(command, cwd=course, env=environment(), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]


def submit(course: Path, student: str, answers: dict[str, str], tests: str | None = None) -> None:
    """Hand in the released notebook with ``answers`` (grade id -> source), and other tests if the student has them."""
    name = assignment(CHAPTER)
    (released,) = (course / "release" / name).glob("*.ipynb")
    notebook = json.loads(released.read_text("utf-8"))
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("solution"):
            cell["source"] = answers.get(marks["grade_id"], cell["source"])
        elif marks.get("grade") and tests is not None:
            cell["source"] = tests
    target = course / "submitted" / student / name / released.name
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(notebook), "utf-8")


def right_answers(page: Page) -> dict[str, str]:
    found = {}
    for solution in solutions(page):
        cell = next(cell for cell in solution.cells if "solution" in cell.tags)
        found[solution.exercise] = divide(cell.content)[0]
    return found


@pytest.mark.slow
def test_round_trip(tmp_path: Path, notebooks: dict[str, dict]) -> None:
    """All points for the solutions, none for stubs whose tests were replaced, and the right ones for a mixture."""
    virtual_environment(VENV, [REQUIREMENTS.read_text("utf-8")], install_grader)
    name = assignment(CHAPTER)
    write_course({CHAPTER: notebooks[CHAPTER]}, tmp_path)
    nbgrader(tmp_path, "generate_assignment", name)
    page = BOOK.pages[CHAPTER]
    right = right_answers(page)
    submit(tmp_path, "ada", right)
    submit(tmp_path, "bob", {"ex-second-order-1": "def susceptibility(r, u):\n    return 1 / np.abs(r)"})
    mixed = right | {"ex-second-order-1": "def susceptibility(r, u)\n    a slip of the syntax", "ex-second-order-4": "pass"}
    submit(tmp_path, "cyd", mixed)
    submit(tmp_path, "dan", {}, tests="assert True")
    nbgrader(tmp_path, "autograde", name)
    nbgrader(tmp_path, "export")
    with (tmp_path / "grades.csv").open() as file:
        scores = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    points = {exercise.label: POINTS[exercise.difficulty] for exercise in exercises(page)}
    total = sum(points.values())
    assert scores["ada"] == (total, total)
    assert scores["bob"] == (0, total)
    assert scores["cyd"] == (points["ex-second-order-2"] + points["ex-second-order-3"], total)
    assert scores["dan"] == (0, total)
