"""Every exercise of the book: the solution passes its checker, the stub fails, so do three plausible wrong answers,
and the stub is the solution with gaps.

The answers run in a namespace with what they use from the code cells before them: imports, definitions and
assignments, found by name and traced back, so that a test does not have to run a whole chapter.

Wrong answers stand in ``tests/data/wrong_answers/<checker>.py`` as a list ``ANSWERS``; each must be a mistake that a
reader could make.
"""

from __future__ import annotations

import ast
import builtins
import pkgutil
import re
import runpy
import symtable
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from copyhead import check

ROOT = Path(__file__).resolve().parent.parent
WRONG = Path(__file__).parent / "data/wrong_answers"
sys.path.insert(0, str(ROOT / "tools"))

from myst_blocks import Grammar, walk  # noqa: E402
from myst_book import load_book  # noqa: E402

EXTENSIONS = frozenset({"colon_fence", "dollarmath", "amsmath", "deflist", "tasklist"})


# --- taking exercises out of a chapter ---------------------------------------------------------------------------


@dataclass
class Exercise:
    """One exercise: its stub and solution cells, and the code cells of the chapter before the stub."""

    label: str
    before: list[str]
    stub: str = ""
    solution: str = ""
    checkers: list[str] = field(default_factory=list)


def exercises(text: str) -> list[Exercise]:
    """All exercises of a chapter that have a stub, in order."""
    found: list[Exercise] = []
    before: list[str] = []
    current: Exercise | None = None
    for block in walk(text, Grammar(Path("chapter.md"), EXTENSIONS, strict=False)):
        if block.kind != "directive":
            continue
        if block.name == "exercise":
            current = Exercise(block.label, list(before))
            found.append(current)
        elif block.name == "code-cell":
            role = next((tag for tag in block.tags if tag in ("exercise", "solution")), None)
            if role is None:
                before.append(block.content)
            elif current is None:
                raise ValueError(f"{role} cell before any exercise (line {block.line})")
            elif role == "exercise":
                current.before = list(before)
                current.stub += block.content + "\n"
            else:
                current.solution += block.content + "\n"
    stubs = [exercise for exercise in found if exercise.stub]
    for exercise in stubs:
        exercise.checkers = calls(exercise.stub)
    return stubs


def calls(source: str) -> list[str]:
    """Names x of the calls ``check.x(...)`` in the source, in order."""
    return [name for node in ast.walk(ast.parse(source)) if (name := called(node))]


def called(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if isinstance(owner, ast.Name) and owner.id == "check":
            return node.func.attr
    return None


# --- stub = solution with gaps -----------------------------------------------------------------------------------


def has_gaps_of(stub: str, solution: str) -> bool:
    """Whether the lines of the stub are those of the solution, in order, with at least one gap.

    A line ``...`` stands for any lines; a longer line that ends in `` ...`` for any lines of which one begins like
    it.  Blank lines do not count.
    """
    have = [line.rstrip() for line in stub.split("\n") if line.strip()]
    want = [line.rstrip() for line in solution.split("\n") if line.strip()]

    @lru_cache(None)
    def fits(i: int, j: int) -> bool:
        if i == len(have):
            return j == len(want)
        line = have[i]
        if line.strip() == "...":
            return any(fits(i + 1, k) for k in range(j, len(want) + 1))
        if line.endswith(" ..."):
            begins = [k for k in range(j, len(want)) if want[k].startswith(line[:-3])]
            return any(fits(i + 1, k) for k in range(min(begins, default=len(want)) + 1, len(want) + 1))
        return j < len(want) and line == want[j] and fits(i + 1, j + 1)

    return any(re.search(r"(?:^|\s)\.\.\.$", line) for line in have) and fits(0, 0)


# --- running answers ---------------------------------------------------------------------------------------------


def needed(before: list[str], source: str) -> str:
    """The statements of earlier cells that bind or change what ``source`` uses, and what those use in turn."""
    statements = [node for cell in before for node in ast.parse(plain(cell)).body if not isinstance(node, ast.Assert)]
    wanted: set[str] = set()
    more = free_names(source)
    kept: set[int] = set()
    while more - wanted:
        wanted |= more
        for number, node in enumerate(statements):
            if number not in kept and bound_names(node) & wanted:
                kept.add(number)
                more |= free_names(ast.unparse(node))
    return "\n".join(ast.unparse(statements[number]) for number in sorted(kept))


def free_names(source: str) -> set[str]:
    """Names that ``source`` takes from the notebook: not the local variables of its functions."""
    found: set[str] = set()
    tables = [symtable.symtable(source, "cell", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        is_module = table.get_type() == "module"
        found |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (is_module or s.is_global())}
    return found - set(dir(builtins))


def bound_names(node: ast.stmt) -> set[str]:
    """Names that a statement binds in the notebook, or whose objects it changes."""
    table = symtable.symtable(ast.unparse(node), "cell", "exec")
    symbols = table.get_symbols()
    return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported() or s.is_namespace()} | changed(node)


def plain(cell: str) -> str:
    return re.sub(r"^(\s*)[%!].*$", r"\1pass", cell, flags=re.MULTILINE)


def changed(node: ast.AST) -> set[str]:
    """Names whose objects a statement changes: ``x[i] = ...``, ``x.y = ...``."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store):
            inner: ast.expr = part
            while isinstance(inner, ast.Subscript | ast.Attribute):
                inner = inner.value
            if isinstance(inner, ast.Name):
                found.add(inner.id)
    return found


class Record(ast.NodeTransformer):
    """Replace ``check.x(...)`` by a call that also notes the verdict."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not called(node):
            return node
        return ast.Call(ast.Name("__record__", ast.Load()), [node], [])


def namespace(before: list[str], source: str) -> dict[str, Any]:
    """What ``source`` finds when it runs after the cells ``before``."""
    space: dict[str, Any] = {"__name__": "exercise", "np": np, "check": check}
    exec(needed(before, source), space)
    return space


def verdicts(space: dict[str, Any], source: str) -> list[bool]:
    """What the checkers say about the answers in ``source``."""
    found: list[bool] = []

    def record(verdict: bool) -> bool:
        found.append(verdict)
        return verdict

    tree = ast.fix_missing_locations(Record().visit(ast.parse(source)))
    exec(compile(tree, "exercise", "exec"), space | {"__record__": record})
    return found


def complaints(exercise: Exercise) -> list[str]:
    """What is wrong with an exercise."""
    if not exercise.solution:
        return ["a stub without a solution"]
    found = [] if exercise.checkers else ["no checker is called"]
    if calls(exercise.solution) != exercise.checkers:
        found.append("stub and solution call different checkers")
    if not has_gaps_of(exercise.stub, exercise.solution):
        found.append("the stub is not the solution with gaps")
    if not found:
        space = namespace(exercise.before, exercise.stub + exercise.solution)
        if not all(verdicts(space, exercise.solution)):
            found.append("the solution does not pass")
        if any(verdicts(space, exercise.stub)):
            found.append("the stub passes")
    return found


# --- the book ----------------------------------------------------------------------------------------------------


def book_exercises() -> list[Exercise]:
    pages = [page for page in load_book(ROOT).pages.values() if page.is_notebook]
    return [exercise for page in pages for exercise in exercises(page.text)]


@pytest.mark.parametrize("exercise", book_exercises(), ids=lambda exercise: exercise.label)
def test_exercise_of_the_book(exercise: Exercise) -> None:
    assert complaints(exercise) == []


def wrong_answers(name: str) -> list[Any]:
    return runpy.run_path(str(WRONG / f"{name}.py"))["ANSWERS"]


@pytest.mark.parametrize("name", dir(check))
def test_checker_refuses_wrong_answers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (WRONG / f"{name}.py").exists(), f"no wrong answers for check.{name}"
    answers = wrong_answers(name)
    assert len(answers) >= 3, f"fewer than three wrong answers for check.{name}"
    assert len({id(answer) for answer in answers}) == len(answers)
    for number, answer in enumerate(answers):
        assert getattr(check, name)(answer) is False, f"check.{name} accepts wrong answer {number}"
        printed = capsys.readouterr().out
        assert printed.startswith("Not yet: ") and printed.count("\n") == 1
        assert "could not be called" not in printed, f"wrong answer {number} is not plausible: {printed}"


@pytest.mark.parametrize("name", dir(check))
def test_checker_refuses_what_is_nearly_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    nearly: list[Any] = [[], lambda: 1]
    for answer in nearly:  # other nonsense, and what a checker says of it: test_checker_messages.py
        assert getattr(check, name)(answer) is False
        assert capsys.readouterr().out.startswith("Not yet: ")


def test_every_checker_is_used_and_every_file_of_wrong_answers_has_a_checker() -> None:
    assert set(dir(check)) == {name for exercise in book_exercises() for name in exercise.checkers}
    assert {path.stem for path in WRONG.glob("*.py")} == set(dir(check))


def test_every_module_with_checkers_is_registered() -> None:
    present = {info.name for info in pkgutil.iter_modules(check.__path__) if not info.name.startswith("_")}
    assert {module.__name__.rpartition(".")[2] for module in check._modules()} == present


# --- the machinery, on a sample ----------------------------------------------------------------------------------

CHAPTER = """\
# Sample

```{code-cell} ipython3
import math
import sympy as sp
r = sp.Symbol("r", positive=True)
scale = {}
scale["one"] = 1.0
raise RuntimeError("a cell that no answer needs is not run")
```

```{exercise} Root
:label: ex-sample-1

*core · 5 min · you gain: nothing*
```

```{code-cell} ipython3
:tags: [exercise]

def root(x):
    start = scale["one"]
    ...
    return ...

check.sample_root(root)
```

```{solution-start} ex-sample-1
```

```{code-cell} ipython3
:tags: [solution]

def root(x):
    start = scale["one"]
    power = 0.5
    return start * x**power

check.sample_root(root)
```

```{solution-end}
```
"""


def sample_root(answer: Callable[..., Any]) -> bool:
    """The square root of a positive array."""
    x = np.array([0.25, 1.0, 4.0, 9.0])
    return check.verdict(
        answer,
        check.function("x", (x,), check.array((4,))),
        [
            ("the root of 1 is 1", lambda f: check.close(f(np.ones(1)), [1.0])),
            ("the root grows", lambda f: np.diff(f(x)) > 0),
            ("the square of the root is the argument", lambda f: check.close(np.square(f(x)), x)),
        ],
    )


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> Exercise:
    """The exercise of CHAPTER, with its checker in a module registered for this test."""
    module = ModuleType("copyhead.check.sample")
    monkeypatch.setattr(sample_root, "__module__", module.__name__)
    vars(module).update(sample_root=sample_root, helper=np.diff)
    monkeypatch.setattr(check, "_modules", lambda: (module,))
    (exercise,) = exercises(CHAPTER)
    return exercise


def test_sample_exercise_is_sound(sample: Exercise) -> None:
    assert sample.label == "ex-sample-1" and sample.checkers == ["sample_root"]
    assert dir(check) == ["sample_root"]
    assert complaints(sample) == []
    space = namespace(sample.before, sample.stub + sample.solution)
    assert verdicts(space, sample.solution) == [True] and verdicts(space, sample.stub) == [False]


def test_needed_statements() -> None:
    before = ["import math\nfrom os import path as p\na = 1\nb = a + 1", "for k in [1]:\n    c = k\nd = {}\nd['x'] = b"]
    before += ["def f(a, n):\n    z = a + b\n    return z", "e = [a for a in ()]\nassert b == 2\n%magic\nb = 5"]
    assert needed(before, "def g(a):\n    c = a\n    return c") == ""
    assert needed(before, "print(c)") == "for k in [1]:\n    c = k"
    assert needed(before, "f(1)").split("\n")[:2] == ["a = 1", "b = a + 1"] and "b = 5" in needed(before, "f(1)")
    assert "d['x'] = b" in needed(before, "d") and "import" not in needed(before, "d")
    assert needed(before, "lambda: math.pi") == "import math" and needed(before, "p") == "from os import path as p"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("    power = 0.5\n", "    power = 0.4\n", "the solution does not pass"),
        ("    ...\n    return ...\n", "    power = 0.5\n    return start * x**power\n", "not the solution with gaps"),
        ("    return ...\n", "    return 0 * ...\n", "not the solution with gaps"),
        ('    start = scale["one"]\n    ...', "    begin = 1\n    ...", "not the solution with gaps"),
        ("    ...\n    return ...\n\ncheck.sample_root(root)", "    ...\n    return ...", "no checker is called"),
        ("**power\n\ncheck.sample_root(root)", "**power", "different checkers"),
        (":tags: [solution]", ":tags: [hide-input]", "a stub without a solution"),
        ("    ...\n    return ...\n", "    ...\n    return start * x**0.5\n", "not the solution with gaps"),
    ],
)
def test_unsound_exercises_are_refused(sample: Exercise, old: str, new: str, complaint: str) -> None:
    assert old in CHAPTER
    (exercise,) = exercises(CHAPTER.replace(old, new))
    assert complaint in "\n".join(complaints(exercise))


def test_stub_that_passes_is_refused(sample: Exercise) -> None:
    sample.stub = sample.stub.replace("start = ", "...\n    start = ").replace("    return ...", "    return x**0.5")
    sample.solution = sample.solution.replace("    return start * x**power", "    return x**0.5")
    assert complaints(sample) == ["the stub passes"]


def test_wrong_answers_of_sample_fail_each_with_its_reason(sample: Exercise, capsys: pytest.CaptureFixture[str]) -> None:
    for answer, reason in [
        (lambda x: x / 2, "the root of 1 is 1"),
        (lambda x: np.ones_like(x), "the root grows"),
        (lambda x: x, "the square of the root is the argument"),
        (lambda x: x.tolist() ** 2, "could not be called"),
        (lambda x: x[:2], "expected an array of shape (4,), got shape (2,)"),
        (lambda x: np.sqrt(-x), "NaN or infinity"),
        (lambda x: None, "fill in the gap"),
        (lambda x: undefined, "not complete"),  # type: ignore[name-defined]  # noqa: F821
        (lambda: 1, "could not be called"),
        (..., "still a gap"),
        (None, "still a gap"),
        (2.0, "expected a function of (x), got float"),
    ]:
        assert check.sample_root(answer) is False
        printed = capsys.readouterr().out
        assert reason in printed and printed.startswith("Not yet: ")
    assert check.sample_root(np.sqrt) is True
    assert capsys.readouterr().out == "All 3 properties hold.\n"


def test_gaps() -> None:
    whole = "def f(x):\n    a = (x +\n         1)\n    b = 2\n\n    return a + b\n"
    for stub in [
        "def f(x):\n    ...\n",
        "def f(x):\n    a = ...\n    b = 2\n    return ...\n",
        "...",
        "def f(x):\n    ...\n    return a + b",
        "def f(x):\n    ...\n    return a + ...",
        "def f(x):\n    b = ...\n    return a + b",
    ]:
        assert has_gaps_of(stub, whole), stub
    for stub in [
        whole,
        "def f(y):\n    ...",
        "def f(x):\n    b = 2\n    ...",
        "def f(x):\n    ...\n    c = ...",
        "def f(x):\n    a = ...\n    return a + b\n    b = ...",
        "def f(x):\n    ...\n    return b + ...",
        "",
        "def f(x):",
    ]:
        assert not has_gaps_of(stub, whole), stub


def test_kinds_say_what_was_expected(capsys: pytest.CaptureFixture[str]) -> None:
    import sympy as sp

    r, s = sp.symbols("r s")
    positive = sp.Symbol("r", positive=True)
    squared: list[check.Property] = [("it is r^2", lambda e: check.same_expression(e, positive**2, {"r": (0.1, 3)}))]
    for answer, kind, said in [
        (r * r, check.expression("r"), "The one property holds."),
        (sp.cos(0) * positive**2, check.expression("r"), "The one property holds."),
        (r**3, check.expression("r"), "it is r^2"),
        (r * s, check.expression("r"), "the answer also contains s"),
        ("r**2", check.expression("r"), "expected a SymPy expression in r, got str"),
        (sp.Eq(r, 1), check.expression("r"), "got Equality"),
        (sp.zoo, check.expression("r"), "got NaN or infinity"),
    ]:
        check.verdict(answer, kind, squared)
        assert said in capsys.readouterr().out
    for value, said in [
        (sp.Rational(1, 3), "All 0 properties hold."),
        (np.float64(2), "All 0 properties hold."),
        (True, "expected a number, got bool"),
        ([1.0], "got shape (1,)"),
        (np.inf, "NaN or infinity"),
        (r, "expected a number, got Symbol"),
        ((1, ...), "still a gap"),
    ]:
        check.verdict(value, check.number(), [])
        assert said in capsys.readouterr().out


def test_property_must_be_true_not_merely_truthy(capsys: pytest.CaptureFixture[str]) -> None:
    for result in (float("nan"), None, "yes", 1, [True, False], np.array([1.0])):
        assert check.verdict(1.0, check.number(), [("p", partial(lambda result, _: result, result))]) is False
    assert check.verdict(1.0, check.number(), [("p", lambda _: np.True_)]) is True


def test_unknown_and_doubled_checkers(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttributeError, match="no checker 'nothing'"):
        check.nothing  # noqa: B018
    modules = []
    for name in ("copyhead.check.a", "copyhead.check.b"):
        module = ModuleType(name)
        exec("def same(answer): ...", vars(module))
        modules.append(module)
    monkeypatch.setattr(check, "_modules", lambda: tuple(modules))
    with pytest.raises(ImportError, match="two checkers are called same"):
        dir(check)


def test_importing_the_checkers_loads_no_sympy() -> None:
    import subprocess

    code = (
        "import sys; from copyhead import check; dir(check); assert not {'sympy', 'torch', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
