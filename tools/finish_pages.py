"""The last step of the build: every page that Sphinx wrote is read once, made lighter, given its formulas and its policy.

* hints to load fonts early go, because from ``file://`` each is an error in the console;
* the script of Font Awesome goes, more than half the weight of a page: its style sheet draws the same icons;
* the role "list" leaves bibliographies, whose entries are no list items to a screen reader;
* formulas are set (prerender.py), where there is a node to run MathJax in;
* the content security policy (content_policy.py) comes last, because it names the scripts that are left.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from content_policy import with_policy
from prerender import SHEET, formulas_of, node, typeset, with_formulas
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)
PRELOAD = re.compile(r'[ \t]*<link rel="preload" as="font"[^>]*>\n?')
ICON_SCRIPT = re.compile(
    r'[ \t]*<(?:script src|link rel="preload" as="script" href)="[^"]*/fontawesome/[^>]*>(?:</script>)?\n?'
)


def lighter(html: str) -> str:
    """``html`` without what no reader needs."""
    html = ICON_SCRIPT.sub("", PRELOAD.sub("", html))
    return html.replace('<div role="list" class="citation-list">', '<div class="citation-list">')


def finish(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    before = {p: p.read_text("utf-8") for p in out.rglob("*.html") if "_static" not in p.relative_to(out).parts}
    after = {path: lighter(text) for path, text in before.items()}
    if executable := node():
        todo = sorted({formula for text in after.values() for formula in formulas_of(text)})
        html, css = typeset(todo, executable)
        table = dict(zip(todo, html, strict=True))
        after = {path: with_formulas(text, table) for path, text in after.items()}
        (out / "_static" / SHEET).write_text(css, "utf-8")
    else:
        logger.info("no node here: formulas will be set in the reader's browser")
    for path, text in after.items():
        if (final := with_policy(text)) != before[path]:
            path.write_text(final, "utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("build-finished", finish, priority=900)  # when the pages are otherwise final
    # A change of these files makes Sphinx write every page again.
    names = ("finish_pages.py", "prerender.py", "prerender.js", "content_policy.py")
    own = b"".join(Path(__file__).with_name(name).read_bytes() for name in names)
    app.add_config_value("finish_pages_hash", hashlib.sha256(own).hexdigest(), "env")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
