"""Every equation of the paper has a row in the registry, with a label in a chapter and a check that runs."""

import re
import subprocess
import sys

import pytest
from equation_registry import chapter_of, load
from visits import ROOT

ROWS = load(ROOT)
NUMBERED = [f"({n})" for n in (*range(10, 23), 350)]  # the numbered equations that the text refers to


def section_around(source: str, line: int) -> str:
    """The text of the second-level section that holds ``line``."""
    lines = source.splitlines()
    start = max(i for i in range(line) if lines[i].startswith("## ") or i == 0)
    ends = [i for i in range(line, len(lines)) if lines[i].startswith("## ")]
    return "\n".join(lines[start : ends[0] if ends else len(lines)])


@pytest.fixture(scope="module")
def collected():
    """Names of all tests, without parameters."""
    out = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout
    return {line.split("[")[0] for line in out.splitlines() if "::" in line}


def test_new_claims_say_how_well_they_are_known(tmp_path):
    assert all(bool(row.evidence) == (row.status == "new") for row in ROWS)
    (tmp_path / "book" / "reference").mkdir(parents=True)
    file = tmp_path / "book" / "reference" / "equations.yml"
    row = '- {paper: "Sec. 5", what: "w", label: eq-x, status: new, checks: [cells]'
    for text, complaint in ((row + "}", "the keys must be"), (row + ", evidence: felt}", "evidence must be one of")):
        file.write_text(text)
        with pytest.raises(ValueError, match=complaint):
            load(tmp_path)
    file.write_text(row + ", evidence: observed}")
    assert load(tmp_path)[0].standing == "new, observed"


def test_labels_are_unique():
    labels = [row.label for row in ROWS]
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("number", NUMBERED)
def test_every_numbered_equation_is_there(number):
    assert any(number in re.findall(r"\(\d+\)", row.paper) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_row_has_chapter_and_check(row, collected):
    place = chapter_of(ROOT, row.label)
    assert place is not None, f"no chapter defines {row.label}"
    assert place[0] in (ROOT / "_toc.yml").read_text("utf-8"), f"{place[0]} is not in the book"
    assert row.checks, f"{row.label} has no check"
    for check in row.checks:
        if check.startswith("cells"):
            where = chapter_of(ROOT, check.removeprefix("cells at ")) if check != "cells" else place
            assert where is not None, f"no chapter defines the label in {check!r}"
            section = section_around((ROOT / f"{where[0]}.md").read_text("utf-8"), where[1])
            cells = re.findall(r"```\{code-cell\}.*?```", section, re.S)
            assert any("assert" in cell for cell in cells), f"no cell in the section of {row.label} asserts anything"
        else:
            assert check in collected, f"{check} is not among the tests"


def test_a_section_ends_at_the_next_heading():
    text = "# T\n## A\nx\n```{code-cell} p\nassert 1\n```\n## B\ny"
    assert "assert" in section_around(text, 3) and "assert" not in section_around(text, 8)
