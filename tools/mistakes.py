"""Plausible wrong answers to the exercises, and what the checkers say of them.

They stand in ``tests/data/wrong_answers`` as tests of the checkers; a lecturer reads them as mistakes to expect.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import runpy
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

FOLDER = "tests/data/wrong_answers"


@dataclass(frozen=True)
class Mistake:
    """A wrong answer: its name, its source, and the verdict of the checker."""

    name: str
    source: str
    verdict: str


def described(path: Path) -> list[tuple[str, str]]:
    """Name and source of each entry of ``ANSWERS`` in a file of wrong answers."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    bound: dict[str, ast.stmt] = {}
    entries: list[ast.expr] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            bound[node.targets[0].id] = node
            if node.targets[0].id == "ANSWERS" and isinstance(node.value, ast.List | ast.Tuple):
                entries = node.value.elts
    found = []
    for number, entry in enumerate(entries, 1):
        name = entry.id if isinstance(entry, ast.Name) else ""
        source = ast.get_source_segment(text, bound[name] if name in bound else entry) or ast.unparse(entry)
        found.append((name.strip("_").replace("_", " ") or f"answer {number}", source))
    return found


def mistakes_of(root: Path, checker: str) -> list[Mistake]:
    """The wrong answers to one checker with its verdicts; where code makes the list, the first gets the whole source."""
    from copyhead import check

    path = root / FOLDER / f"{checker}.py"
    answers = runpy.run_path(str(path))["ANSWERS"]
    names = described(path)
    if len(names) != len(answers):
        names = [(f"answer {number}", "") for number in range(1, len(answers) + 1)]
        names[0] = ("answer 1", path.read_text("utf-8"))
    found = []
    for answer, (name, source) in zip(answers, names, strict=True):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            getattr(check, checker)(answer)
        found.append(Mistake(name, source, printed.getvalue().strip()))
    return found


def mistakes(root: Path, checkers: list[str], store: Path) -> dict[str, list[Mistake]]:
    """Checker -> wrong answers.  ``store`` keeps the verdicts until the package or the answers change."""
    package = hashlib.sha256()
    for path in sorted((root / "copyhead").rglob("*.py")):
        package.update(path.read_bytes())
    keys = {}
    for name in checkers:
        path = root / FOLDER / f"{name}.py"
        if path.exists():
            keys[name] = hashlib.sha256(package.digest() + path.read_bytes()).hexdigest()
    known = json.loads(store.read_text("utf-8")) if store.exists() else {}
    todo = [name for name, key in keys.items() if known.get(name, {}).get("key") != key]
    if todo:
        with ProcessPoolExecutor(2) as pool:
            for name, found in zip(todo, pool.map(partial(mistakes_of, root), todo), strict=True):
                known[name] = {"key": keys[name], "mistakes": [asdict(mistake) for mistake in found]}
        store.parent.mkdir(parents=True, exist_ok=True)
        store.write_text(json.dumps(known, indent=1), "utf-8")
    return {name: [Mistake(**entry) for entry in known[name]["mistakes"]] for name in keys}
