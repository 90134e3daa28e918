"""Set every formula when the book is built, so that a reader's browser need not.

MathJax in the page would be a third of its weight, hold up a phone for seconds and move the text while it works.  The
same MathJax runs here once, in the node that Playwright brings along (or one on the path), and pages get its result:
the HTML of each formula with MathML for screen readers, and one style sheet for all.  Where there is no node, the
pages keep the script, which then sets formulas while one reads.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
MATHJAX = TOOLS.parent / "vendor" / "mathjax-node"
FONTS = "../vendor/mathjax/output/chtml/fonts/woff-v2"  # from _static, where the style sheet lies
SHEET = "mathjax.css"
SIZE = "\nmjx-container[jax=\"CHTML\"] { font-size: 118%; }\n"  # its fonts are smaller than those of the text
INLINE = re.compile(r'(<span class="math notranslate nohighlight">)\\\((.*?)\\\)(?=</span>)', re.DOTALL)
DISPLAY = re.compile(
    r'(<div class="(?:output text_latex )?math notranslate nohighlight[^>]*>\s*(?:<span class="eqno">.*?</span>)?)'
    r"\\\[(.*?)\\\]",
    re.DOTALL,
)
SCRIPT = re.compile(r'\s*<script>window\.MathJax = .*?</script>|\s*<script [^>]*src="[^"]*/mathjax/[^>]*></script>')
Formula = tuple[str, bool]  # TeX, and whether it stands in a display


def node() -> str | None:
    """Path of a node: the one that Playwright brings, else one on the path."""
    try:
        from playwright._impl._driver import compute_driver_executable

        return str(compute_driver_executable()[0])
    except (ImportError, AttributeError):
        return shutil.which("node")


def typeset(formulas: list[Formula], executable: str) -> tuple[list[str], str]:
    """HTML of each formula, and the style sheet for all.

    Raises
    ------
    ValueError
        If MathJax cannot read a formula; the message shows its TeX.
    """
    request = json.dumps({"folder": str(MATHJAX), "fonts": FONTS, "formulas": formulas})
    command = [executable, str(TOOLS / "prerender.js")]
    done = subprocess.run(command, input=request, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"MathJax stopped: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    wrong = [tex for (tex, _), html in zip(formulas, answer["html"], strict=True) if "data-mjx-error" in html]
    if wrong:
        raise ValueError(f"MathJax cannot read the formula {wrong[0]!r}")
    return answer["html"], answer["css"] + SIZE


def formulas_of(page: str) -> list[Formula]:
    """The formulas of a page that are still TeX."""
    return [(unescape(m[2]), False) for m in INLINE.finditer(page)] + [
        (unescape(m[2]), True) for m in DISPLAY.finditer(page)
    ]


def with_formulas(page: str, html: dict[Formula, str]) -> str:
    """``page`` with its formulas set and MathJax's script gone."""
    page = INLINE.sub(lambda m: m[1] + html[unescape(m[2]), False], page)
    page = DISPLAY.sub(lambda m: m[1] + html[unescape(m[2]), True], page)
    page = SCRIPT.sub("", page)
    root = re.search(r'data-content_root="([^"]*)"', page)
    link = f'<link rel="stylesheet" type="text/css" href="{root[1] if root else ""}_static/{SHEET}">\n'
    return page if link in page else page.replace("</head>", f"{link}</head>", 1)
