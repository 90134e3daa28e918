"""Nothing runs that the book does not bring: no pickle, no code from data, and pages that refuse foreign scripts."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from content_policy import policy, quoted_hash, with_policy
from dependencies import code_without_magics
from execute import chapters
from visits import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "shelve", "marshal", "cloudpickle"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}


def sources() -> Iterator[tuple[str, str]]:
    """Name and code of the package's and the tools' modules, and of the cells of the exported notebooks."""
    for folder in ("copyhead", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    for name in chapters(ROOT):
        for cell in json.loads((ROOT / f"{name}.ipynb").read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield name, code_without_magics("".join(cell["source"]))


def dangers(code: str) -> list[str]:
    """What in ``code`` can run foreign code, or reads a file in a way that can."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in FORBIDDEN_MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            safe = {key: value.value for key, value in given.items() if isinstance(value, ast.Constant)}
            wrong = name in FORBIDDEN_CALLS
            wrong |= name == "torch.load" and safe.get("weights_only") is not True
            wrong |= name in ("np.load", "numpy.load") and safe.get("allow_pickle", False) is not False
            wrong |= name in ("yaml.load", "joblib.load", "os.system")
            wrong |= "shell" in given and safe.get("shell") is not False
            wrong |= "trust_remote_code" in given and safe.get("trust_remote_code") is not False
            if wrong:
                found.append(f"{name} in line {node.lineno}")
    return found


def test_no_module_and_no_cell_runs_foreign_code() -> None:
    seen = {f"{name}: {danger}" for name, code in sources() for danger in dangers(code)}
    assert seen == set()


@pytest.mark.parametrize(
    "code",
    ["import pickle", "from dill import load", "eval(x)", "torch.load(p)", "torch.load(p, weights_only=False)",
     "np.load(p, allow_pickle=True)", "yaml.load(t)", "run(c, shell=True)", "load(x, trust_remote_code=True)"],
)  # fmt: skip
def test_the_search_finds_each_danger(code: str) -> None:
    assert dangers(code)
    assert not dangers("torch.load(p, weights_only=True); np.load(p); run(c, shell=False); model.eval()")


def test_vendored_files_are_those_that_were_vendored() -> None:
    listed = {}
    for line in (ROOT / "vendor" / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ", 1)
        listed[name] = digest
    paths = {str(p.relative_to(ROOT / "vendor")): p for p in (ROOT / "vendor").rglob("*") if p.is_file()}
    paths.pop("SHA256SUMS")
    assert {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()} == listed
    for folder in [*(ROOT / "vendor" / "vendor").iterdir(), ROOT / "vendor" / "mathjax-node"]:
        assert (folder / "LICENSE").exists(), f"{folder.name} has no licence beside it"


# --- The policy of the pages ---------------------------------------------------------------------------------------

PAGE = """<!doctype html><html><head>
<meta charset="utf-8"></head><body><script>own()</script><script type="application/json">{"a": 1}</script>
<script src="x.js"></script><button onclick="press(&quot;a&quot;)">b</button></body></html>"""


def test_policy_names_scripts_and_handlers_by_their_hash() -> None:
    text = policy(PAGE)
    assert quoted_hash("own()") in text and quoted_hash('press("a")') in text
    assert quoted_hash('{"a": 1}') not in text and "unsafe-eval" not in text
    # The example of the W3C's recommendation.
    assert quoted_hash("alert('Hello, world.');") == "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    script = text.split("script-src")[1].split(";")[0]
    assert "'unsafe-inline'" not in script and "http" not in script


def test_policy_stands_first_and_once() -> None:
    once = with_policy(PAGE)
    assert with_policy(once) == once and once.count("Content-Security-Policy") == 1
    assert once.index("Content-Security-Policy") < once.index("charset")
    changed = with_policy(once.replace("own()", "other()"))
    assert quoted_hash("other()") in changed and quoted_hash("own()") not in changed


def test_every_built_page_has_its_policy(site: Path) -> None:
    pages = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    assert len(pages) > 30
    for path in pages:
        text = path.read_text("utf-8")
        assert with_policy(text) == text, f"{path.relative_to(site)} has no policy, or an old one"


@pytest.mark.browser
def test_a_page_refuses_what_is_not_its_own(browser: Browser, site: Path, tmp_path: Path) -> None:
    text = (site / "book" / "index.html").read_text("utf-8")
    intruder = "<script>window.foreign = true</script><img src='https://example.org/x.png' alt=''>"
    copy = site / "book" / "index-with-intruder.html"
    copy.write_text(text.replace("</article>", intruder + "</article>"), "utf-8")
    try:
        context = browser.new_context()
        page = context.new_page()
        answered: list[str] = []
        why: list[str] = []
        refused: list[str] = []
        page.on("response", lambda response: answered.append(response.url))
        page.on("requestfailed", lambda request: why.append(f"{request.url} {request.failure}"))
        page.on("console", lambda message: refused.append(message.text))
        page.goto(copy.as_uri(), wait_until="load")
        assert page.evaluate("() => window.foreign") is None
        assert [url for url in answered if url.startswith("http")] == []
        assert why == ["https://example.org/x.png csp"]
        assert any("Content Security Policy" in text for text in refused)
        context.close()
    finally:
        copy.unlink()
