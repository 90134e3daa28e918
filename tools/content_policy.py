"""A Content-Security-Policy in every page: a page runs the book's own scripts and asks nothing of anybody else.

The policy stands in the page itself, so that it also holds for copies opened from a file.  Scripts within a page are
named by their hash: one that somebody slips into the text, or into an output, does not run.  Styles within a page are
allowed, because MathJax and figures make them.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape, unescape

SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
HANDLER = re.compile(r"""<[a-z][^<>]*?\son[a-z]+\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
KIND = re.compile(r"""\btype\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
META = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n?')
RUN = {"text/javascript", "application/javascript", "module"}
OWN = "'self' file:"  # a page opened from a file has no origin of its own that 'self' could name


def quoted_hash(text: str) -> str:
    """``text`` as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(html: str) -> str:
    """The strictest policy under which the page ``html`` works."""
    inline = set()
    for attributes, body in SCRIPT.findall(html):
        kind = KIND.search(attributes)
        if not re.search(r"\bsrc\s*=", attributes) and (kind is None or kind[1].lower() in RUN):
            inline.add(quoted_hash(body))
    handlers = {quoted_hash(unescape(double or single)) for double, single in HANDLER.findall(SCRIPT.sub("", html))}
    scripts = " ".join([OWN, *sorted(inline | handlers), *(["'unsafe-hashes'"] if handlers else [])])
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {scripts}",
            f"style-src {OWN} 'unsafe-inline'",
            f"img-src {OWN} data:",
            f"font-src {OWN}",
            f"connect-src {OWN}",
            f"form-action {OWN}",
            "base-uri 'none'",
        ]
    )


def with_policy(html: str) -> str:
    """``html`` with its policy first in the head; one that stood there before is replaced."""
    bare = META.sub("", html)
    tag = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(bare), quote=False)}">\n'
    return re.sub(r"(<head\b[^>]*>\s*)", lambda match: match[1] + tag, bare, count=1)
