"""The directive ``{build-facts}``: on what machine, and with which versions, this copy of the book was built."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

PACKAGES = ("numpy", "scipy", "sympy", "torch", "matplotlib", "joblib", "arviz", "jupyter-book", "Sphinx", "myst-nb")


def processor() -> str:
    """The processor's name where the system tells it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def facts() -> list[tuple[str, str]]:
    """What a reader needs to judge the times, without the name of the machine."""
    from copyhead import __version__

    rows = [("copyhead", __version__), ("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            rows.append((package, version(package)))
        except PackageNotFoundError:
            rows.append((package, "not installed"))
    return [*rows, ("processor", processor()), ("cores", str(os.cpu_count())), ("system", platform.system())]


class BuildFacts(SphinxDirective):
    """Takes no argument and no body."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # every build states its own facts
        table = nodes.table(classes=["colwidths-auto"])
        group = nodes.tgroup(cols=2)
        group += [nodes.colspec(colwidth=1), nodes.colspec(colwidth=1)]
        head, body = nodes.thead(), nodes.tbody()
        for part, rows in ((head, [("what", "which")]), (body, facts())):
            for pair in rows:
                row = nodes.row()
                for text in pair:
                    row += nodes.entry("", nodes.paragraph("", text))
                part += row
        group += [head, body]
        table += group
        return [table]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("build-facts", BuildFacts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
