"""The equation registry: which equation of the paper stands where in the book, and what checks it; and what is new here.

One data file, ``book/reference/equations.yml``, feeds

* the directive ``{equation-registry}``: the table of the paper map, a row an equation;
* a small link under each registered equation in the chapters, back to its row;
* ``tests/test_registry.py``, which refuses a row without a label, a chapter or a check.

A row has ``paper`` (location), ``what``, ``label`` (of the equation or theorem in the book), ``status`` (see STATUS) and
``checks``: names of tests as pytest writes them, ``cells`` for assertions in the cells of the section that holds the label,
or ``cells at LABEL`` for those in the section of another one.  A row of status ``new`` also has ``evidence`` (see EVIDENCE);
its ``paper`` says to which part of the paper the claim relates.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

REGISTRY = "book/reference/equations.yml"
PAGE = "book/reference/paper-map"
STATUS = {
    "confirmed": "the derivation gives the printed form",
    "restored": "signs or terms lost in the text, form fixed by derivation",
    "slip": "the printed form is inconsistent, see the notes on the paper",
    "completed": "announced or missing in the text, derived here",
    "new": "not in the paper",
}
EVIDENCE = {
    "proved": "a proof is in the chapter",
    "computed": "a number that follows from the theory, to the stated digits",
    "observed": "seen in networks, with error bars",
}


@dataclass(frozen=True)
class Row:
    """One equation of the paper."""

    paper: str
    what: str
    label: str
    status: str
    checks: tuple[str, ...]
    evidence: str = ""

    @property
    def anchor(self) -> str:
        """Id of the row in the paper map."""
        return f"registry-{self.label.removeprefix('eq-')}"

    @property
    def standing(self) -> str:
        """Status, for a new claim with its evidence."""
        return f"{self.status}, {self.evidence}" if self.evidence else self.status


def load(root: Path) -> list[Row]:
    """Read the registry under ``root``; ValueError names the row and what is wrong with it."""
    rows = []
    for number, entry in enumerate(yaml.safe_load((root / REGISTRY).read_text("utf-8")), start=1):
        keys = {"paper", "what", "label", "status", "checks"}
        if isinstance(entry, dict) and entry.get("status") == "new":
            keys.add("evidence")
        if not isinstance(entry, dict) or set(entry) != keys:
            raise ValueError(f"{REGISTRY}, row {number}: the keys must be {sorted(keys)}, got {entry!r}")
        for name, allowed in (("status", STATUS), ("evidence", EVIDENCE)):
            if entry.get(name, "proved") not in allowed:
                raise ValueError(f"{REGISTRY}, row {number}: {name} must be one of {sorted(allowed)}, got {entry[name]!r}")
        rows.append(Row(**{**entry, "checks": tuple(entry["checks"])}))
    return rows


def chapter_of(root: Path, label: str) -> tuple[str, int] | None:
    """(document name, line) where the book's sources define the equation or theorem ``label``, or None."""
    definition = re.compile(rf"^(?:.*\$\$ \({re.escape(label)}\)|:label: {re.escape(label)})\s*$")
    for source in sorted(root.glob("book/**/*.md")):
        for line, text in enumerate(source.read_text("utf-8").splitlines(), start=1):
            if definition.match(text):
                return source.relative_to(root).with_suffix("").as_posix(), line
    return None


class EquationRegistry(SphinxDirective):
    """``{equation-registry}``: the table."""

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / REGISTRY))
        widths, heads = (16, 30, 26, 12, 16), ("Paper", "What", "In the book", "Status", "Checked by")
        group = nodes.tgroup("", *[nodes.colspec(colwidth=width) for width in widths], cols=len(heads))
        head = nodes.row("", *[nodes.entry("", nodes.paragraph("", text)) for text in heads])
        body = nodes.tbody()
        for row in load(root):
            place = chapter_of(root, row.label)
            if place is None:
                raise self.error(f"the registry names the label {row.label}, which no chapter defines")
            chapter = f"[{place[0].split('/')[-1]}](/{place[0]}.md), {_reference(row.label)}"
            cells = (row.paper, row.what, chapter, row.standing, ", ".join(self._check(check) for check in row.checks))
            line = nodes.row("", *[self._cell(text) for text in cells])
            line[0]["ids"].append(row.anchor)
            body += line
        group += [nodes.thead("", head), body]
        return [nodes.table("", group, classes=["equation-registry"])]

    def _cell(self, text: str) -> nodes.entry:
        entry = nodes.entry()
        self.state.nested_parse(StringList([text], source=REGISTRY), 0, entry)
        return entry

    def _check(self, check: str) -> str:
        if check == "cells":
            return "cells of the section"
        if check.startswith("cells at "):
            return f"cells at {_reference(check.removeprefix('cells at '))}"
        theme = self.config.html_theme_options
        path, _, name = check.partition("::")
        words = name.removeprefix("test_").replace("_", " ")  # words wrap in the narrow column, names do not
        return f"[{words}]({theme['repository_url']}/blob/{theme['repository_branch']}/{path})"


def _reference(label: str) -> str:
    return f"{{prf:ref}}`{label}`" if label.startswith("thm-") else f"{{eq}}`{label}`"


class LinkEquations(SphinxPostTransform):
    """Put a link to its row of the paper map under each registered equation."""

    default_priority = 7

    def run(self, **kwargs: object) -> None:
        rows = {row.label: row for row in load(Path(self.env.srcdir))}
        for block in list(self.document.findall(nodes.math_block)):
            row = rows.get(block.get("label", ""))
            if row is None or self.env.docname == PAGE:
                continue
            address = f"{self.app.builder.get_relative_uri(self.env.docname, PAGE)}#{row.anchor}"
            text = f"{row.standing}; compare the paper's {row.paper}" if row.evidence else f"paper: {row.paper}"
            link = nodes.reference("", text, refuri=address, internal=True)
            block.parent.insert(block.parent.index(block) + 1, nodes.paragraph("", "", link, classes=["in-the-paper"]))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("equation-registry", EquationRegistry)
    app.add_post_transform(LinkEquations)
    registry = Path(app.srcdir, REGISTRY)
    state = hashlib.sha256(Path(__file__).read_bytes() + registry.read_bytes()).hexdigest()
    app.add_config_value("equation_registry_hash", state, "env")  # a change makes Sphinx read every page again
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
