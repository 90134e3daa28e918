"""What the outputs of a chapter depend on: its code, the pinned environment, and the modules it can reach.

Imports are followed by reading the source, never by running it, so that finding out costs milliseconds.  Whatever the
reader of imports cannot resolve counts as "depends on the whole package": too many executions are slow, too few wrong.
"""

from __future__ import annotations

import ast
import hashlib
import json
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


@cache
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
