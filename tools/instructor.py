"""Write the instructor edition: pages with solutions, notes, keys and timings, and a course folder for nbgrader.

    python tools/instructor.py [--root DIR]

To every chapter a section "For the instructor" is added: its times, the teaching notes of ``course/notes``, the key of its
quiz, and wrong answers with what the checkers say.  A page of keys and one of times stand at the end of the book.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

from book_extension import cpu_time
from edition import build_pages, edition_book, fill_cache, publish, settings, solutions, write_tree
from grading import POINTS, Exercise, exercises, write_course
from mistakes import Mistake, mistakes
from myst_blocks import Block, ExportError, walk
from myst_book import Book, Page, load_book
from quiz_file import LETTERS, Question, load_quiz, quiz_path
from quiz_file import solution as number_answer
from student import student_notebooks, student_texts

KEY, TIMES = "book/instructor/key", "book/instructor/times"


def notes_path(root: Path, page: str) -> Path:
    return root / "course/notes" / f"{page.removeprefix('book/')}.md"


def opened(text: str) -> str:
    """Solutions without their fold."""
    return re.sub(r"(\{solution-start\}[^\n]*\n):class: dropdown\n", r"\1", text)


def reading(page: Page) -> int:
    header = next((block for block in walk(page.text, page.grammar) if block.name == "chapter-header"), None)
    return int(header.option("reading")) if header else 0


def quiz(root: Path, page: str) -> list[Question]:
    path = quiz_path(root, page)
    return load_quiz(path) if path.exists() else []


def times_line(page: Page, found: list[Exercise], seconds: float) -> str:
    minutes = sum(exercise.minutes for exercise in found if exercise.difficulty != "open")
    return (f"Reading {reading(page)} min; exercises without the open ones {minutes} min; "
            f"the notebook ran in {cpu_time(seconds)} in this build.")


def exercise_table(found: list[Exercise]) -> str:
    rows = ["| Exercise | Difficulty | Minutes | Points | Checkers |", "| --- | --- | --- | --- | --- |"]
    for exercise in found:
        checkers = ", ".join(f"`{name}`" for name in exercise.checkers) or "none"
        points = POINTS.get(exercise.difficulty, 0)
        rows.append(f"| {{ref}}`{exercise.title or exercise.label} <{exercise.label}>` | {exercise.difficulty} "
                    f"| {exercise.minutes} | {points} | {checkers} |")
    return "\n".join(rows)


def quiz_key(questions: list[Question]) -> str:
    """One line a question: what is right."""
    lines = []
    for number, asked in enumerate(questions, 1):
        if asked.kind == "number":
            lines.append(f"{number}. {number_answer(asked)}")
        else:
            right = [f"**{LETTERS[i]}** {option.text}" for i, option in enumerate(asked.options) if option.correct]
            lines.append(f"{number}. {'; '.join(right)}")
    return "\n".join(lines)


def mistake_list(checker: str, found: list[Mistake]) -> str:
    parts = [f"**`check.{checker}`**"]
    for mistake in found:
        verdict = mistake.verdict.replace("`", "'")
        parts.append(f"- *{mistake.name}*. The checker: `{verdict}`")
        if mistake.source:
            parts.append(indented(f"```python\n{mistake.source.rstrip()}\n```", "  "))
    return "\n\n".join(parts)


def indented(text: str, prefix: str) -> str:
    return "\n".join(prefix + line if line else line for line in text.split("\n"))


def notes(root: Path, page: str) -> str:
    """The teaching notes of a chapter, headings two levels down, without their title."""
    path = notes_path(root, page)
    if not path.exists():
        return "There are no teaching notes on this chapter yet."
    text = re.sub(r"\A\s*# .*\n", "", path.read_text("utf-8"))
    return re.sub(r"^## ", "### ", text, flags=re.MULTILINE).strip()


def instructor_section(root: Path, page: Page, seconds: float, wrong: dict[str, list[Mistake]]) -> str:
    """What is added to the end of a chapter."""
    found = exercises(page)
    parts = ["## For the instructor", times_line(page, found, seconds)]
    if found:
        parts.append(exercise_table(found))
    parts.append(notes(root, page.name))
    if questions := quiz(root, page.name):
        parts += ["### Key of the quiz", quiz_key(questions)]
    checkers = [name for exercise in found for name in exercise.checkers if name in wrong]
    if checkers:
        parts.append("### Wrong answers, and what the checkers say")
        parts += [mistake_list(name, wrong[name]) for name in dict.fromkeys(checkers)]
    return "\n\n".join(parts) + "\n"


def code_of(cell: Block) -> str:
    return f"```python\n{cell.content.strip()}\n```"


def key_page(root: Path, book: Book) -> str:
    """Quizzes and exercises of all chapters, each with its answer."""
    parts = ["# Answer key", "Code that solves each exercise; the reasoning stands in the chapter, one click away."]
    for page in book.pages.values():
        found = exercises(page) if page.is_notebook else []
        questions = quiz(root, page.name) if page.name.startswith("book/") else []
        if not found and not questions:
            continue
        parts.append(f"## {page.title}")
        if questions:
            parts += ["**Quiz**", quiz_key(questions)]
        solved = {solution.exercise: solution for solution in solutions(page)}
        for exercise in found:
            link = f"{{ref}}`{exercise.title or exercise.label} <{exercise.label}>`"
            parts.append(f"{link} ({exercise.difficulty}, {exercise.minutes} min)")
            cells = solved[exercise.label].cells if exercise.label in solved else []
            inside = [code_of(cell) for cell in cells if "solution" in cell.tags]
            parts += inside or ["In words, in the chapter." if exercise.label in solved else "Open."]
    return "\n\n".join(parts) + "\n"


def times_page(root: Path, book: Book, seconds: dict[str, float]) -> str:
    """Minutes of every chapter, and which teaching notes are missing."""
    head = ["Chapter", "Reading (min)", "Exercises (min)", "Open (min)", "Points", "Quiz", "Notebook", "Notes"]
    rows = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for page in book.pages.values():
        if not page.is_notebook or not (found := exercises(page)):
            continue
        closed = [exercise for exercise in found if exercise.difficulty != "open"]
        cells = [f"[{page.title}](/{page.name}.md)", reading(page), sum(e.minutes for e in closed)]
        cells += [sum(e.minutes for e in found) - sum(e.minutes for e in closed)]
        cells += [sum(POINTS[e.difficulty] for e in closed), len(quiz(root, page.name)), cpu_time(seconds[page.name])]
        cells += ["yes" if notes_path(root, page.name).exists() else "missing"]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    return "# Times\n\nAs the chapters announce them, and as the notebooks ran in this build.\n\n" + "\n".join(rows) + "\n"


def stage(root: Path) -> tuple[Path, list[str]]:
    """Build the edition below ``_build/instructor``; the folder to publish, and the chapters without notes."""
    book = load_book(root)
    tree, staged = root / "_build/instructor/src", root / "_build/instructor/staged"
    chapters = [page for page in book.pages.values() if page.is_notebook and exercises(page)]
    checkers = [name for page in chapters for exercise in exercises(page) for name in exercise.checkers]
    wrong = mistakes(root, checkers, root / "_build/instructor/mistakes.json")
    texts = {page.name: opened(page.text) for page in book.pages.values()}
    config, toc = settings(root)
    toc["parts"].append({"caption": "For the instructor", "chapters": [{"file": KEY}, {"file": TIMES}]})
    (tree / "tools").mkdir(parents=True, exist_ok=True)
    seconds = fill_cache(root, tree, book, texts)
    for page in chapters:
        texts[page.name] = f"{texts[page.name].rstrip()}\n\n{instructor_section(root, page, seconds[page.name], wrong)}"
    texts |= {KEY: key_page(root, book), TIMES: times_page(root, book, seconds)}
    write_tree(root, tree, texts, config, toc)
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(build_pages(tree), staged / "html")
    students = student_notebooks(edition_book(book, student_texts(book), settings(root)[0]), book.repository)
    write_course(students, staged / "nbgrader")
    return staged, [page.name for page in chapters if not notes_path(root, page.name).exists()]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the instructor edition to dist/instructor/.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args(arguments).root.resolve()
    try:
        staged, missing = stage(root)
    except (ExportError, OSError, RuntimeError, ValueError) as error:
        print(f"instructor edition: {error}", file=sys.stderr)
        return 1
    publish(staged, root / "dist/instructor")
    print(f"instructor edition: {root / 'dist/instructor'}")
    if missing:
        print("no teaching notes yet on: " + ", ".join(missing))
    return 0


if __name__ == "__main__":
    sys.exit(main())
