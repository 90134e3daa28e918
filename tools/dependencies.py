"""What a chapter's outputs depend on: its code, the pinned environment, the modules and stored results it can reach.

Imports are followed by reading the source, never by running it, so that finding out costs milliseconds.  Whatever the
reader of imports cannot resolve counts as "depends on the whole package": too many executions are slow, too few wrong.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = "copyhead"


def code_without_magics(source: str) -> str:
    """Replace IPython magics and shell lines, which ``ast`` cannot read, by ``pass``."""
    return "" if source.startswith("%%") else re.sub(r"^(\s*)[%!].*", r"\1pass", source, flags=re.MULTILINE)


def package_modules(root: Path) -> dict[str, Path]:
    """Dotted name -> file, for every module of the package under ``root``."""
    modules = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imports(source: str, package: str = "") -> set[str]:
    """Dotted names that ``source`` imports anywhere, in functions too; ``from a import b`` gives ``a.b``.

    ``package`` is the package that the source belongs to, for relative imports.  An import by computed name
    (``import_module``, ``__import__``) gives ``"*"``: anything.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            # `import copyhead` makes every name of the package reachable as an attribute.
            names |= {f"{alias.name}.*" if alias.name == PACKAGE else alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            names |= {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Name | ast.Attribute):
            if (node.id if isinstance(node, ast.Name) else node.attr) in {"import_module", "__import__"}:
                names.add("*")
    return names


def bound_at_import(tree: ast.Module) -> set[str] | None:
    """Names that the package's ``__init__`` binds when it runs; None when it has no others (no ``__getattr__``)."""
    if not any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
        return None
    bound: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return bound


def reachable(sources: Iterable[str], root: Path) -> set[Path]:
    """Files of the package that running ``sources`` can load, directly or through other modules."""
    modules = package_modules(root)
    bound = bound_at_import(ast.parse(modules[PACKAGE].read_text("utf-8")))
    todo = {name for source in sources for name in imports(code_without_magics(source))}
    seen: set[str] = set()
    found: set[str] = set()
    while todo:
        name = todo.pop()
        seen.add(name)
        top, _, inner = name.partition(".")
        if name != "*" and top != PACKAGE:
            continue
        # A name that the package makes on first use may come from any module.
        lazy = bound is not None and "." not in inner and inner not in bound and name not in modules
        if name == "*" or (lazy and inner):
            return set(modules.values())
        # Importing a.b.c loads a, a.b and, where it is a module, a.b.c.
        parts = name.split(".")
        for module in {".".join(parts[:i]) for i in range(1, len(parts) + 1)} & modules.keys() - found:
            found.add(module)
            path = modules[module]
            home = module if path.name == "__init__.py" else module.rpartition(".")[0]
            todo |= imports(path.read_text("utf-8"), home) - seen
    return {modules[module] for module in found}


def stored(sources: Iterable[str], files: set[Path], root: Path) -> set[Path]:
    """Files of stored results that ``sources`` and the package's ``files`` can ask for.

    Only ``recall`` opens them, so without its module there are none.  Its first argument names the file; where that is
    no literal, or where ``recall`` is handed on, any file may be meant.
    """
    results = root / PACKAGE / "results.py"
    if results not in files:
        return set()
    names: set[str] = set()
    everything = False
    texts = [code_without_magics(source) for source in sources]
    for text in texts + [path.read_text("utf-8") for path in files - {results}]:
        nodes = list(ast.walk(ast.parse(text)))
        uses = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute) and _last_name(node) == "recall"]
        calls = [node for node in nodes if isinstance(node, ast.Call) and node.func in uses]
        literals = [node.args[0].value for node in calls if node.args and isinstance(node.args[0], ast.Constant)]
        # An import under another name hides its uses.
        renamed = any(isinstance(node, ast.alias) and node.name == "recall" and node.asname for node in nodes)
        everything |= renamed or len(literals) < len(uses)
        names |= {str(name) for name in literals}
    return {path for path in (root / PACKAGE / "stored").glob("*.npz") if everything or path.stem in names}


def _last_name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


@cache
def digest(path: Path) -> str:
    """SHA-256 of a file; files do not change while the tool runs."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fingerprint(cells: list[str], root: Path) -> str:
    """One hash of everything the outputs of a notebook with these code cells depend on."""
    files = reachable(cells, root)
    if files:
        files |= stored(cells, files, root)
        files |= {
            path
            for path in (root / PACKAGE).rglob("*")
            if path.is_file() and path.suffix not in {".py", ".pyc"}
            and not {"__pycache__", "stored"} & set(path.relative_to(root).parts)
        }
    # The run mode decides what `recall` gives, and so matters to the chapters that can call it.
    mode = os.environ.get("COPYHEAD_MODE") or "stored" if root / PACKAGE / "results.py" in files else ""
    files.add(root / "requirements.txt")
    state = {
        "cells": cells,
        "python": sys.version_info[:2],
        **({"mode": mode} if mode else {}),
        "files": {path.relative_to(root).as_posix(): digest(path) for path in sorted(files)},
    }
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()
