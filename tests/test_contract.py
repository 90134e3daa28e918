"""The chapter contract (CONTRIBUTING.md), enforced on every chapter of the book.

A rule is a function from a chapter's text to a list of complaints.  For each there is a sample that it must refuse, so
that no rule can go blind.  Every code cell counts for the length of cells: plots, stubs and solutions too; blank lines
do not.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import execute  # noqa: E402
from myst_blocks import Block, ExportError, Grammar, walk  # noqa: E402
from myst_book import Book, Page, load_book, make_page  # noqa: E402
from pybtex.database import BibliographyData  # noqa: E402
from quiz_file import load_quiz, quiz_path  # noqa: E402

EXTENSIONS = frozenset({"colon_fence", "dollarmath", "amsmath", "deflist", "tasklist"})
ENDING = ["Takeaways", "Symbols introduced", "Quiz", "Exercises", "Next"]
MOST_QUESTIONS = 6
GAIN = re.compile(r"\*(warm-up|core|challenge|open) · (\d+) min · you gain: [^*\n]+\*")
PICTURE = re.compile(r"\b(?:slider_figure|panel|figure|subplots|plot|imshow|heatmap|show)\s*\(")
PREFIXES = {"math": "eq-", "exercise": "ex-", "figure": "fig-"}
LONGEST_CELL, MEDIAN_CELL, NINE_OF_TEN = 15, 5, 12


@cache
def constructs(text: str) -> list[Block]:
    return list(walk(text, Grammar(Path("chapter.md"), EXTENSIONS, strict=False)))


def directives(text: str, name: str) -> list[Block]:
    return [block for block in constructs(text) if block.kind == "directive" and block.name == name]


def cell_lengths(text: str) -> list[int]:
    """Lines of every code cell that are not blank."""
    cells = directives(text, "code-cell")
    return [sum(bool(line.strip()) for line in cell.content.split("\n")) for cell in cells]


def sections(text: str) -> list[tuple[str, str]]:
    """Heading and text of every second-level section.  Headings are found by the grammar, not by their marks."""
    lines = text.split("\n")
    starts = [block for block in constructs(text) if block.name == "h2" and block.content == lines[block.line - 1]]
    ends = [block.line - 1 for block in starts[1:]] + [len(lines)]
    return [(block.content.strip("# "), "\n".join(lines[block.line : end])) for block, end in zip(starts, ends, strict=True)]


def header(text: str) -> list[str]:
    """One chapter-header before the first section, with reading time and the three bold labels in order."""
    found = directives(text, "chapter-header")
    if len(found) != 1:
        return [f"{len(found)} chapter-header directives"]
    box = found[0]
    complaints = []
    first = [block.line for block in constructs(text) if block.name == "h2"]
    if first and box.line > first[0]:
        complaints.append("chapter-header after the first section")
    if not re.fullmatch(r"[1-9]\d*", box.option("reading")):
        complaints.append("chapter-header without minutes of reading")
    if box.option("gpu") and not re.fullmatch(r"(under )?[\d.]+ \((measured|estimated)\)", box.option("gpu")):
        complaints.append("minutes on a GPU are not marked as measured or estimated")
    if re.search(r"\bCPU\b", box.content):
        complaints.append("CPU time typed in the header")
    labels = re.findall(r"^\*\*([^*]+?)\.?\*\*", box.content, re.MULTILINE)
    if labels != ["Question", "You need", "You will be able to"]:
        return [*complaints, f"labels of the header are {labels}"]
    _, question, need, _ = re.split(r"^\*\*[^*]+\*\*", box.content, flags=re.MULTILINE)
    if not question.strip().endswith("?") or question.count("?") > 1:
        complaints.append("the question is not one sentence that ends in a question mark")
    if not need.strip().startswith("Nothing") and not re.search(r"\]\([^)]+\.md[^)]*\)", need):
        complaints.append("prerequisites are neither links nor nothing")
    return complaints


def ending(text: str, last: bool = False) -> list[str]:
    """The last five sections; the last of them is one sentence with a link to the next chapter."""
    titles = [title for title, _ in sections(text)]
    if titles[-len(ENDING) :] != ENDING:
        return [f"the chapter ends with the sections {titles[-len(ENDING):]}"]
    if empty := [title for title, body in sections(text)[-len(ENDING) :] if not body.strip()]:
        return [f"empty sections: {empty}"]
    hand_over = sections(text)[-1][1].strip()
    plain = re.sub(r"\$[^$]*\$|`[^`]*`|\]\([^)]*\)", "", hand_over)
    complaints = []
    if len(re.findall(r"[.!?](?=\s|$)", plain)) != 1 or not plain.endswith((".", "!", "?")):
        complaints.append("Next is not one sentence")
    if not last and not re.search(r"\]\([^)]+\.md\)", hand_over):
        complaints.append("Next links no chapter")
    return complaints


def short_cells(text: str) -> list[str]:
    return [f"code cell of {length} lines" for length in cell_lengths(text) if length > LONGEST_CELL]


def picture(text: str) -> list[str]:
    shown = any(PICTURE.search(cell.content) for cell in directives(text, "code-cell"))
    return [] if shown else ["neither a slider nor a plot"]


def assertion(text: str) -> list[str]:
    """An assertion that runs: not one in a stub or a solution."""
    for cell in directives(text, "code-cell"):
        if {"exercise", "solution"} & set(cell.tags):
            continue
        source = re.sub(r"^\s*[%!].*$", "pass", cell.content, flags=re.MULTILINE)
        if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source))):
            return []
    return ["no assertion"]


def exercises(text: str) -> list[str]:
    """Three or more, two with a checker; each labelled, graded, and solved unless it is open."""
    found = directives(text, "exercise")
    solved = {block.argument for block in directives(text, "solution-start")}
    complaints = [] if len(found) >= 3 else [f"{len(found)} exercises"]
    stubs = [cell for cell in directives(text, "code-cell") if "exercise" in cell.tags and "check." in cell.content]
    if len(stubs) < 2:
        complaints.append(f"{len(stubs)} exercises with a checker")
    for exercise in found:
        grade = GAIN.match(exercise.content.strip())
        if not exercise.label:
            complaints.append(f"exercise without a label: {exercise.argument}")
        if not grade:
            complaints.append(f"exercise without difficulty, minutes and gain: {exercise.argument}")
        elif grade[1] != "open" and exercise.label not in solved:
            complaints.append(f"exercise without a solution: {exercise.argument}")
    return complaints


def quiz(text: str) -> list[str]:
    """The section Quiz holds the directive and nothing else, and no other section has one."""
    complaints = []
    for title, body in sections(text):
        found = len(directives(body, "quiz"))
        if title == "Quiz" and (found != 1 or len(constructs(body)) != 1):
            complaints.append("the section Quiz is not just the directive")
        if title != "Quiz" and found:
            complaints.append(f"a quiz in the section {title}")
    return complaints


def images(text: str) -> list[str]:
    """Alternative text says what is seen, in 20 characters or more."""
    alts = [block.option("alt") for block in directives(text, "figure")]
    alts += [
        match
        for block in constructs(text)
        if block.kind == "text"
        for match in re.findall(r"!\[([^\]]*)\]\(", re.sub(r"`[^`]*`", "", block.content))
    ]
    return [f"image with alternative text {alt!r}" for alt in alts if len(alt) < 20]


def labels(text: str) -> list[str]:
    """Prefixes tell the kind."""
    complaints = []
    for block in constructs(text):
        kind = block.kind if block.kind == "math" else block.name
        if kind in PREFIXES and block.label and not block.label.startswith(PREFIXES[kind]):
            complaints.append(f"label {block.label} does not start with {PREFIXES[kind]}")
    return complaints


RULES: list[Callable[[str], list[str]]] = [
    *(header, ending, short_cells, picture, assertion, exercises, quiz, images, labels),
]


def lengths_of_book(texts: list[str]) -> list[str]:
    """Over all chapters together."""
    lengths = [length for text in texts for length in cell_lengths(text)]
    complaints = []
    if statistics.median(lengths) > MEDIAN_CELL:
        complaints.append(f"median length of a cell is {statistics.median(lengths)}")
    share = sum(length <= NINE_OF_TEN for length in lengths) / len(lengths)
    if share < 0.9:
        complaints.append(f"only {share:.1%} of the cells have at most {NINE_OF_TEN} lines")
    return complaints


def too_slow(notebook: nbformat.NotebookNode) -> list[str]:
    """From the time stamps that the build left in the executed notebook."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if not cells or any("execution" not in cell.metadata for cell in cells):
        return ["no record of the execution"]
    time = execute.seconds(notebook)
    return [f"runs for {time:.0f} s"] if time > execute.BUDGET_S else []


# --- the rules refuse what they should ---------------------------------------------------------------------------

GOOD = """\
---
kernelspec:
  name: python3
---

# A chapter

```{chapter-header}
:reading: 10
:gpu: 2 (estimated)

**Question.** Is $1 = 1$?

**You need.** [Another chapter](other.md).

**You will be able to** see.
```

## Body

![A line that rises to the right](a.png)

$$
x
$$ (eq-good-x)

```{code-cell} ipython3
assert 1 == 1
slider_figure([1], draw)
```

## Takeaways

- One.

## Symbols introduced

None.

## Quiz

```{quiz}
```

## Exercises

```{exercise} First
:label: ex-good-1

*core · 10 min · you gain: something*

Do.
```

```{code-cell} ipython3
:tags: [exercise]

check.first(...)
```

```{solution-start} ex-good-1
```
```{code-cell} ipython3
:tags: [solution]

assert 2 == 2
```
```{solution-end}
```

```{exercise} Another
:label: ex-good-3

*open · 60 min · you gain: still more*
```

```{code-cell} ipython3
:tags: [exercise]

check.another(...)
```

```{exercise} Second
:label: ex-good-2

*open · 60 min · you gain: more*

Do.
```

## Next

Now to $a. b$ and [another chapter](other.md).
"""
SIXTEEN = "\n".join(f"x{i} = {i}\n" for i in range(16))
REFUSED: list[tuple[Callable[[str], list[str]], str, str, str]] = [
    (header, "{chapter-header}", "{note}", "0 chapter-header"),
    (header, "## Body\n", "## Body\n```{chapter-header}\n:reading: 1\n```\n", "2 chapter-header"),
    (header, "# A chapter\n", "# A chapter\n\n## Early\n", "after the first section"),
    (header, ":reading: 10", ":reading: long", "minutes of reading"),
    (header, ":reading: 10\n", "", "minutes of reading"),
    (header, "2 (estimated)", "2", "measured or estimated"),
    (header, "**You will be able to** see", "See", "labels of the header"),
    (header, "**You need.**", "**Needs.**", "labels of the header"),
    (header, "Is $1 = 1$?", "What is 1.", "question mark"),
    (header, "Is $1 = 1$?", "Is it? Or is it not?", "question mark"),
    (header, "[Another chapter](other.md).", "Another chapter.", "prerequisites"),
    (header, "see.\n", "see, in 3 CPU minutes.\n", "CPU time"),
    (ending, "## Takeaways", "## Summary", "ends with the sections"),
    (ending, "## Symbols introduced", "## Symbols", "ends with the sections"),
    (ending, "## Quiz", "## Questions", "ends with the sections"),
    (ending, "## Next", "## Outlook\n\n## Next", "ends with the sections"),
    (ending, "## Takeaways\n\n- One.\n", "## Takeaways\n", "empty sections"),
    (ending, "(other.md).\n", "(other.md). And more.\n", "one sentence"),
    (ending, "(other.md).\n", "(other.md)\n", "one sentence"),
    (ending, "[another chapter](other.md).\n", "another chapter.\n", "links no chapter"),
    (short_cells, "assert 1 == 1\n", SIXTEEN, "code cell of 17 lines"),
    (short_cells, "assert 2 == 2\n", SIXTEEN, "code cell of 16 lines"),
    (picture, "slider_figure([1], draw)\n", "", "neither a slider nor a plot"),
    (assertion, "assert 1 == 1\n", "print(1 == 1)  # assert\n", "no assertion"),
    (exercises, "```{exercise} Second", "```{note} Second", "2 exercises"),
    (exercises, "check.another(...)", "another = ...", "1 exercises with a checker"),
    (exercises, ":label: ex-good-2\n", "", "without a label"),
    (exercises, "*core · 10 min ·", "*easy · 10 min ·", "difficulty, minutes and gain: First"),
    (exercises, "· 60 min ·", "·", "difficulty, minutes and gain: Second"),
    (exercises, "you gain: more", "", "difficulty, minutes and gain: Second"),
    (exercises, "{solution-start} ex-good-1", "{solution-start} ex-good-2", "without a solution: First"),
    (quiz, "## Quiz\n", "## Quiz\n\nText.\n", "not just the directive"),
    (quiz, "```{quiz}\n```\n", "Later.\n", "not just the directive"),
    (quiz, "None.\n", "```{quiz}\n```\n", "a quiz in the section Symbols introduced"),
    (images, "A line that rises to the right", "a.png", "alternative text 'a.png'"),
    (images, "## Body\n", "## Body\n\n```{figure} a.png\n```\n", "alternative text ''"),
    (labels, "(eq-good-x)", "(good-x)", "good-x does not start with eq-"),
    (labels, "ex-good-2", "good-2", "good-2 does not start with ex-"),
]


def test_good_sample_passes() -> None:
    assert [complaint for rule in RULES for complaint in rule(GOOD)] == []
    assert lengths_of_book([GOOD]) == []
    without_link = GOOD.replace("[another chapter](other.md).\n", "the end.\n")
    assert ending(without_link, last=True) == [] and ending(without_link) != []


@pytest.mark.parametrize(("rule", "old", "new", "complaint"), REFUSED)
def test_rule_refuses_bad_sample(rule: Callable[[str], list[str]], old: str, new: str, complaint: str) -> None:
    assert GOOD.count(old) >= 1
    assert complaint in "\n".join(rule(GOOD.replace(old, new)))


def test_every_rule_has_a_bad_sample() -> None:
    assert {rule for rule, *_ in REFUSED} == set(RULES)


def test_lengths_of_book_refuse_long_cells() -> None:
    def book(*lengths: int) -> list[str]:
        return ["".join("```{code-cell} ipython3\n" + "1\n" * length + "```\n" for length in lengths)]

    assert lengths_of_book(book(*[5] * 9, 13)) == []
    assert "median length of a cell is 6" in lengths_of_book(book(1, 6, 7))[0]
    assert "only 80.0%" in lengths_of_book(book(*[5] * 8, 13, 13))[0]


def test_labels_of_two_chapters_must_differ() -> None:
    pages = [make_page(name, Path(f"{name}.md"), GOOD, EXTENSIONS) for name in ("one", "two")]
    with pytest.raises(ExportError, match=r"two\.md:\d+: duplicate label: eq-good-x"):
        Book(Path(), {"repository": {"url": "https://github.com/a/b"}}, pages, BibliographyData())


def test_slow_and_unrecorded_chapters_are_refused() -> None:
    def executed(seconds: int) -> nbformat.NotebookNode:
        cell = nbformat.v4.new_code_cell("1")
        stamp = f"2026-01-01T00:{seconds // 60:02d}:{seconds % 60:02d}.000000Z"
        cell.metadata["execution"] = {
            "iopub.execute_input": "2026-01-01T00:00:00.000000Z",
            "shell.execute_reply": stamp,
        }
        return nbformat.v4.new_notebook(cells=[cell])

    assert too_slow(executed(45)) == []
    assert too_slow(executed(46)) == ["runs for 46 s"]
    assert too_slow(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])) != []


# --- the chapters keep it ----------------------------------------------------------------------------------------


def chapters() -> list[Page]:
    pages = [page for page in load_book(ROOT).pages.values() if page.is_notebook]
    return [page for page in pages if page.name != "book/index" and not page.name.startswith("book/reference/")]


@pytest.mark.parametrize("page", chapters(), ids=lambda page: page.name)
def test_chapter_keeps_the_contract(page: Page) -> None:
    last = page.name == chapters()[-1].name
    complaints = [
        complaint for rule in RULES for complaint in (ending(page.text, last) if rule is ending else rule(page.text))
    ]
    assert complaints == []


@pytest.mark.parametrize("page", chapters(), ids=lambda page: page.name)
def test_chapter_has_three_to_six_questions(page: Page) -> None:
    assert 3 <= len(load_quiz(quiz_path(ROOT, page.name))) <= MOST_QUESTIONS


def test_cells_of_the_book_are_short() -> None:
    assert chapters()
    assert lengths_of_book([page.text for page in chapters()]) == []


@pytest.mark.parametrize("page", chapters(), ids=lambda page: page.name)
def test_chapter_runs_in_time(page: Page) -> None:
    path = ROOT / execute.EXECUTED / f"{page.name}.ipynb"
    if not (ROOT / execute.EXECUTED).exists():
        pytest.skip("nothing was built: run `make book`")
    assert path.exists(), f"{page.name} was not executed by the last build"
    assert too_slow(nbformat.read(path, 4)) == []


def stray(notebook: nbformat.NotebookNode) -> list[str]:
    """Results that are only the name and the address of an object: a call left at the end of a cell."""
    found = []
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        data = output.get("data", {})
        if " at 0x" in data.get("text/plain", "") and set(data) == {"text/plain"}:
            found.append(data["text/plain"])
    return found


@pytest.mark.parametrize("page", chapters(), ids=lambda page: page.name)
def test_no_cell_shows_an_address(page: Page) -> None:
    assert stray(nbformat.read(ROOT / execute.EXECUTED / f"{page.name}.ipynb", 4)) == []


def test_an_address_is_noticed() -> None:
    result = nbformat.v4.new_output("execute_result", {"text/plain": "<Legend at 0x7f00>"})
    cell = nbformat.v4.new_code_cell("ax.legend()", outputs=[result])
    assert stray(nbformat.v4.new_notebook(cells=[cell])) == ["<Legend at 0x7f00>"]
