"""What the outputs of a chapter depend on: its code, the pinned environment, and the modules it can reach.

Imports are followed by reading the source, never by running it, so that finding out costs milliseconds.  Whatever the
reader of imports cannot resolve counts as "depends on the whole package": too many executions are slow, too few wrong.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

PACKAGE = "copyhead"


def code_without_magics(source: str) -> str:
    """Blank out IPython magics and shell lines, which ``ast`` cannot read."""
    lines = source.splitlines()
    if lines and lines[0].startswith("%%"):
        return ""
    return "\n".join("pass" if line.lstrip().startswith(("%", "!")) else line for line in lines)


def package_modules(root: Path) -> dict[str, Path]:
    """Dotted name -> file, for every module of the package under ``root``."""
    modules = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imports(source: str, package: str | None = None) -> set[str]:
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
            base = node.module or ""
            if node.level:
                parents = (package or "").split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *([base] if base else [])])
            names |= {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in {"import_module", "__import__"}:
                names.add("*")
    return names


def reachable(sources: Iterable[str], root: Path) -> set[Path]:
    """Files of the package that running ``sources`` can load, directly or through other modules."""
    modules = package_modules(root)
    lazy = any(
        isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
        for node in ast.walk(ast.parse(modules[PACKAGE].read_text("utf-8")))
    )
    todo = {name for source in sources for name in imports(code_without_magics(source))}
    found: set[str] = set()
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name != "*" and name.split(".")[0] != PACKAGE:
            continue
        if name == "*" or (name == f"{PACKAGE}.*" and lazy):
            return set(modules.values())
        # Importing a.b.c loads a, a.b and, where it is a module, a.b.c.
        parts = name.split(".")
        loaded = {".".join(parts[:i]) for i in range(1, len(parts) + 1)} & modules.keys()
        if lazy and parts[:1] == [PACKAGE] and len(parts) == 2 and name not in modules and not eager(name, root):
            return set(modules.values())
        for module in loaded - found:
            found.add(module)
            path = modules[module]
            home = module if path.name == "__init__.py" else module.rpartition(".")[0]
            todo |= imports(path.read_text("utf-8"), home)
    return {modules[module] for module in found}


def eager(name: str, root: Path) -> bool:
    """Whether ``copyhead.<x>`` is bound in the package's ``__init__`` itself, rather than on first use."""
    tree = ast.parse((root / PACKAGE / "__init__.py").read_text("utf-8"))
    bound = {alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return name.rpartition(".")[2] in bound


@lru_cache(maxsize=None)
def digest(path: Path) -> str:
    """SHA-256 of a file; files do not change while the tool runs."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fingerprint(cells: list[str], root: Path) -> str:
    """One hash of everything the outputs of a notebook with these code cells depend on."""
    files = reachable(cells, root)
    if files:
        files |= {
            path
            for path in (root / PACKAGE).rglob("*")
            if path.is_file() and path.suffix not in {".py", ".pyc"} and "__pycache__" not in path.parts
        }
    files.add(root / "requirements.txt")
    state = {
        "cells": cells,
        "python": sys.version_info[:2],
        "files": {path.relative_to(root).as_posix(): digest(path) for path in sorted(files)},
    }
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()
