"""The course: the self-test, the lecturer's plans, and the notes on every chapter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache

import execute
import nbformat
import pytest
from myst_book import Page, load_book
from quiz_file import QuizError, load_quiz, quiz_path
from self_test import group
from test_contract import chapters, directives
from visits import ROOT

CHAPTERS = chapters()

# --- the self-test -----------------------------------------------------------------------------------------------


def test_groups_of_the_self_test_cover_the_quiz_once() -> None:
    page = load_book(ROOT).pages["book/start/self-test"]
    shown = directives(page.text, "self-test")
    questions = load_quiz(quiz_path(ROOT, page.name))
    numbers: list[int] = []
    for block in shown:
        first, last, enough = group(block.argument.split(), int(block.option("enough")), len(questions))
        numbers += range(first, last + 1)
        advice = [part for part in block.content.split("\n\n") if part.strip()]
        assert enough > (last - first + 1) / 2 and len(advice) == 2
        assert "](" in advice[0] and advice[0] != advice[1]
    assert len(shown) == 2 and numbers == list(range(1, len(questions) + 1))


@pytest.mark.parametrize(
    ("arguments", "enough", "complaint"),
    [
        (["1", "six"], 3, "must be whole numbers, got '1 six'"),
        (["0", "6"], 3, "must run upwards within 1 to 12, got 0 to 6"),
        (["5", "2"], 3, "must run upwards"),
        (["7", "13"], 3, "within 1 to 12"),
        (["1", "6"], None, "enough must be from 1 to 6"),
        (["1", "6"], 7, "enough must be from 1 to 6, the number of questions, got 7"),
    ],
)
def test_a_wrong_group_is_refused(arguments: list[str], enough: int | None, complaint: str) -> None:
    assert group(["1", "6"], 5, 12) == (1, 6, 5)
    with pytest.raises(QuizError, match=complaint):
        group(arguments, enough, 12)


# --- the plans ---------------------------------------------------------------------------------------------------

PLANS = ("workshop", "week", "semester")
HEADING = re.compile(r"^#{2,3} (.+) \((\d+) min\)$", re.MULTILINE)
ROW = re.compile(r"^\| (\d+) \| ([\w -]+) \| (.*) \|$", re.MULTILINE)
QUOTED = re.compile(r"\{ref\}`([^`<]*)<(ex-[\w-]+)>` \((\d+) min\)")
GRADE = re.compile(r"\*(warm-up|core|challenge|open) · (\d+) min")
LINK = re.compile(r"\]\(\.\./([\w/-]+)\.md\)")
SLIDER = re.compile(r"slider \*\*([^*]+)\*\*(?: at ((?:\*\*[^*]+\*\*(?:, )?)+))?")


@cache
def plan(name: str) -> str:
    return (ROOT / "book" / "reference" / f"{name}.md").read_text("utf-8")


def sessions(text: str) -> dict[str, tuple[int, str]]:
    """Heading of each session, the minutes it promises, and its text."""
    found = list(HEADING.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {m[1]: (int(m[2]), text[m.end() : end]) for m, end in zip(found, ends, strict=True)}


@cache
def exercises_of_book() -> dict[str, tuple[str, int]]:
    """Title and minutes of every exercise."""
    found = {}
    for page in CHAPTERS:
        for block in directives(page.text, "exercise"):
            grade = GRADE.search(block.content)
            assert grade, block.label
            found[block.label] = (block.argument, int(grade[2]))
    return found


@cache
def sliders_of(chapter: str) -> dict[str, set[str]]:
    """Names of a chapter's sliders, and their positions where the last build has left them (else none)."""
    text = (ROOT / "book" / f"{chapter}.md").read_text("utf-8")
    found: dict[str, set[str]] = {}
    for name in re.findall(r"slider_figure\(.*?name=\"([^\"]+)\"", text, re.DOTALL):
        found[name] = set()
    built = ROOT / execute.EXECUTED / "book" / f"{chapter}.ipynb"
    if not built.exists():
        return found
    outputs = [out for cell in nbformat.read(built, 4).cells for out in cell.get("outputs", [])]
    for html in (out.get("data", {}).get("text/html", "") for out in outputs):
        for payload in re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL):
            slider = json.loads(payload.replace("<\\/", "</"))
            if slider.get("name") in found:
                found[slider["name"]].update(slider["labels"])
    return found


def wrong_sums(text: str) -> list[str]:
    """Sessions whose blocks do not add up to their minutes, and lists of exercises that do not add up to theirs."""
    complaints = []
    for head, (minutes, body) in sessions(text).items():
        rows = [(int(m[1]), m[2], m[3]) for m in ROW.finditer(body)]
        if sum(row[0] for row in rows) != minutes:
            complaints.append(f"{head}: blocks of {sum(row[0] for row in rows)} min in {minutes} min")
        lists = [(length, what) for length, block, what in rows if block == "exercises"]
        lists += [(int(m[1]), m[2]) for m in re.finditer(r"^\*\*Homework, (\d+) min\.\*\* (.*)$", body, re.MULTILINE)]
        for length, what in lists:
            if sum(int(m[3]) for m in QUOTED.finditer(what)) != length:
                complaints.append(f"{head}: the exercises of {length} min do not add up: {what[:60]}")
    return complaints


def wrong_exercises(text: str) -> list[str]:
    """Exercises that do not exist, are called otherwise, or take another time."""
    known = exercises_of_book()
    return [
        f"{label}: {title.strip()!r}, {minutes} min, but the chapter has {known.get(label)}"
        for title, label, minutes in QUOTED.findall(text)
        if known.get(label) != (title.strip(), int(minutes))
    ] + [f"{label} does not exist" for label in re.findall(r"\bex-[\w-]+\d", text) if label not in known]


def wrong_sliders(text: str) -> list[str]:
    """Sliders that the chapter named last before them does not have, and positions that they do not have."""
    complaints = []
    for line in text.split("\n"):
        for match in SLIDER.finditer(line):
            before = LINK.findall(line[: match.start()])
            sliders = sliders_of(before[-1]) if before else {}
            if match[1] not in sliders:
                complaints.append(f"no slider {match[1]!r} in {before[-1:]}")
                continue
            positions = sliders[match[1]]
            named = set(re.findall(r"\*\*([^*]+)\*\*", match[2] or ""))
            if positions and not named <= positions:
                complaints.append(f"slider {match[1]!r} of {before[-1]} has no {sorted(named - positions)}")
    return complaints


@pytest.mark.parametrize("name", PLANS)
def test_minutes_of_a_plan_add_up(name: str) -> None:
    assert sessions(plan(name))
    assert wrong_sums(plan(name)) == []


@pytest.mark.parametrize("name", PLANS)
def test_exercises_of_a_plan_are_those_of_the_chapters(name: str) -> None:
    assert QUOTED.search(plan(name))
    assert wrong_exercises(plan(name)) == []


@pytest.mark.parametrize("name", PLANS)
def test_sliders_of_a_plan_exist(name: str) -> None:
    assert SLIDER.search(plan(name))
    assert wrong_sliders(plan(name)) == []


@pytest.mark.parametrize("name", PLANS)
def test_a_session_says_goals_and_chapters(name: str) -> None:
    for head, (_, body) in sessions(plan(name)).items():
        assert "**By the end they can**" in body and "**Chapters.**" in body, head
        assert all((ROOT / "book" / f"{chapter}.md").exists() for chapter in LINK.findall(body)), head


def test_commands_that_lecturers_are_told_exist() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = {command for name in (*PLANS, "teaching") for command in re.findall(r"`make ([a-z]+)[^`]*`", plan(name))}
    assert {"book", "slides", "student", "instructor", "exam"} <= named <= set(targets)
    files = re.findall(r"requirements[\w-]*\.txt", plan("teaching"))
    assert files and all((ROOT / file).exists() for file in files)


def test_lengths_of_the_plans() -> None:
    assert [minutes for minutes, _ in sessions(plan("workshop")).values()] == [90] * 4
    assert [minutes for minutes, _ in sessions(plan("week")).values()] == [180] * 5
    assert [minutes for minutes, _ in sessions(plan("semester")).values()] == [90] * 24
    assert len(re.findall(r"^## Week \d+: ", plan("semester"), re.MULTILINE)) == 12


def test_every_chapter_is_in_the_twelve_weeks() -> None:
    """Named in the line of chapters of some session."""
    lines = "".join(re.findall(r"^\*\*Chapters\.\*\* (.*)$", plan("semester"), re.MULTILINE))
    assert {f"book/{name}" for name in LINK.findall(lines)} >= {page.name for page in CHAPTERS}


@pytest.mark.parametrize(
    ("rule", "old", "new", "complaint"),
    [
        (wrong_sums, "| 25 | lecture", "| 30 | lecture", "blocks of 185 min in 180"),
        (wrong_sums, "Homework, 30 min", "Homework, 35 min", "do not add up"),
        (wrong_exercises, "<ex-tour-1>` (5 min)", "<ex-tour-1>` (10 min)", "ex-tour-1"),
        (wrong_exercises, "<ex-tour-1>", "<ex-tour-9>", "ex-tour-9 does not exist"),
        (wrong_exercises, "Which variance counts?", "Which variance?", "ex-how-to-use-1"),
        (wrong_sliders, "slider **P** at **20**, **100**, **275**", "slider **Q** at **20**", "no slider 'Q'"),
        (wrong_sliders, "](../start/tour.md), slider", "](../landau/crossover.md), slider", "no slider 'P'"),
    ],
)
def test_a_wrong_plan_is_refused(rule: Callable[[str], list[str]], old: str, new: str, complaint: str) -> None:
    text = plan("week")
    assert old in text and rule(text) == []
    assert complaint in "\n".join(rule(text.replace(old, new, 1)))


# --- the notes ---------------------------------------------------------------------------------------------------

SECTIONS = ["Timing", "Show", "Common mistakes", "If they ask"]


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.name)
def test_every_chapter_has_notes(page: Page) -> None:
    """Four sections that say something; the sliders that they name exist."""
    path = ROOT / "course" / "notes" / f"{page.name.removeprefix('book/')}.md"
    assert path.exists(), f"no teaching notes: {path.relative_to(ROOT)}"
    text = path.read_text("utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    assert parts[1::2] == SECTIONS
    assert all(len(part.split()) >= 20 for part in parts[2::2])
    for name in re.findall(r"^- .*?\*\*([^*]+)\*\* at ", parts[4], re.MULTILINE):
        assert name in sliders_of(page.name.removeprefix("book/")), f"no slider {name!r}"


def test_every_note_has_a_chapter() -> None:
    notes = ROOT / "course" / "notes"
    names = {f"book/{path.relative_to(notes).with_suffix('').as_posix()}" for path in notes.rglob("*.md")}
    assert names <= {page.name for page in CHAPTERS}
