"""The pipeline: what a chapter depends on, one execution per change, the chapter header, and one public address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import nbformat
import pytest
import yaml
from book_extension import colab_address, cpu_time, gpu_minutes, pages_address, reading_minutes
from dependencies import code_without_magics, digest, fingerprint, reachable
from execute import documents
from jupyter_cache import get_cache
from myst_nb.core.read import read_myst_markdown_notebook
from visits import ROOT

# --- What a chapter depends on -------------------------------------------------------------------------------------

MODULES = {
    "__init__": "from copyhead.base import Base\n",
    "base": "class Base: ...\n",
    "one": "VALUE = 1\n",
    "two": "def two():\n    from copyhead.one import VALUE\n    return 2 * VALUE\n",
    "three": "from . import two\n",
    "four": "VALUE = 4\n",
    "figures.draw": "from ..four import VALUE\n",
    "figures.__init__": "",
}


def write_package(root: Path, modules: dict[str, str]) -> None:
    for name, text in modules.items():
        path = root / "copyhead" / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "requirements.txt").write_text("nothing==1\n")


def reached(root: Path, *sources: str) -> set[str]:
    return {path.relative_to(root / "copyhead").with_suffix("").as_posix() for path in reachable(sources, root)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import numpy", set()),
        ("import copyheadache", set()),
        ("from copyhead import Base", {"__init__", "base"}),
        ("import copyhead", {"__init__", "base"}),
        ("from copyhead.one import VALUE", {"__init__", "base", "one"}),
        ("from copyhead import two", {"__init__", "base", "one", "two"}),  # its import sits in a function
        ("import copyhead.three as t", {"__init__", "base", "one", "two", "three"}),  # relative import
        (
            "def f():\n    from copyhead.figures import draw",
            {"__init__", "base", "four", "figures/__init__", "figures/draw"},
        ),
        ("%matplotlib inline\nif True:\n    !ls\nfrom copyhead.one import VALUE", {"__init__", "base", "one"}),
        ("%%bash\nfrom copyhead.one", set()),
    ],
)
def test_imports_are_followed(tmp_path: Path, source: str, expected: set[str]) -> None:
    write_package(tmp_path, MODULES)
    assert reached(tmp_path, source) == expected


@pytest.mark.parametrize("hook", ["def __getattr__(name): ...\n", "import importlib\nimportlib.import_module('x')\n"])
def test_what_cannot_be_followed_counts_as_the_whole_package(tmp_path: Path, hook: str) -> None:
    write_package(tmp_path, MODULES | {"__init__": f"from copyhead.base import Base\n{hook}"})
    assert len(reached(tmp_path, "from copyhead import Later")) == len(MODULES)
    if "__getattr__" in hook:
        assert reached(tmp_path, "from copyhead import Base") == {"__init__", "base"}


def test_fingerprint_changes_with_what_matters_only(tmp_path: Path) -> None:
    write_package(tmp_path, MODULES)
    cells = ["from copyhead.two import two", "two()"]
    seen = {fingerprint(cells, tmp_path)}
    assert fingerprint(["from copyhead.two import two", "two() "], tmp_path) not in seen

    def change(path: str, text: str) -> str:
        (tmp_path / path).write_text(text)
        digest.cache_clear()
        return fingerprint(cells, tmp_path)

    assert change("copyhead/four.py", "VALUE = 5\n") in seen
    for path in ("copyhead/one.py", "copyhead/style.css", "requirements.txt", "copyhead/__init__.py"):
        key = change(path, "# changed\n")
        assert key not in seen, path
        seen.add(key)


RECALLS = {
    "__init__": "",
    "results": "def recall(name, quick, full):\n    return open(name)\n",
    "other": "VALUE = 1\n",
    "plots": "from copyhead.results import recall\n\ndef plot():\n    return recall('adam', quick=None, full=None)\n",
    "widget": "from copyhead import results\n\ndef widget(name):\n    return results.recall(name, quick=None, full=None)\n",
}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from copyhead.other import VALUE\nrecall('maps')", set()),  # cannot reach results.py
        ("from copyhead.results import recall\nmaps = 'adam'\nrecall('maps', quick=q, full=f)", {"maps"}),
        ("from copyhead import results\nresults.recall('maps', quick=q, full=f)", {"maps"}),
        ("from copyhead.plots import plot", {"adam"}),
        ("from copyhead.plots import plot\nfrom copyhead.results import recall\nrecall('maps')", {"adam", "maps"}),
        ("from copyhead.results import recall\nname = 'maps'\nrecall(name, quick=q, full=f)", {"adam", "maps", "sgld"}),
        ("from copyhead.results import recall\nrecall(name='maps', quick=q, full=f)", {"adam", "maps", "sgld"}),
        ("from copyhead.results import recall as get\nget('maps', quick=q, full=f)", {"adam", "maps", "sgld"}),
        ("from copyhead.results import recall\nget = recall\nget('maps', quick=q)", {"adam", "maps", "sgld"}),
        ("from copyhead.widget import widget\nwidget('maps')", {"adam", "maps", "sgld"}),
        ("from copyhead.results import recall\nrecall('missing', quick=q, full=f)", set()),
    ],
    ids=["no results", "literal", "attribute", "module", "both", "variable", "keyword", "renamed", "handed on", "computed",
         "missing"],
)
def test_a_stored_result_counts_for_the_chapters_that_ask_for_it(tmp_path: Path, source: str, expected: set[str]) -> None:
    write_package(tmp_path, RECALLS)
    (tmp_path / "copyhead" / "stored").mkdir()
    (tmp_path / "copyhead" / "slider.js").write_text("// it's no Python")
    keys = {}
    for name in ("adam", "maps", "sgld"):
        (tmp_path / f"copyhead/stored/{name}.npz").write_text("one")
    before = fingerprint([source], tmp_path)
    for name in ("adam", "maps", "sgld"):
        (tmp_path / f"copyhead/stored/{name}.npz").write_text("two")
        digest.cache_clear()
        keys[name] = fingerprint([source], tmp_path)
        (tmp_path / f"copyhead/stored/{name}.npz").write_text("one")
        digest.cache_clear()
    assert {name for name, key in keys.items() if key != before} == expected


def test_the_run_mode_counts_for_the_chapters_that_recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(tmp_path, RECALLS)
    keys: dict[str, list[str]] = {"other": [], "plots": []}
    for mode in ("", "stored", "quick"):
        monkeypatch.setenv("COPYHEAD_MODE", mode)
        for module, seen in keys.items():
            seen.append(fingerprint([f"import copyhead.{module}"], tmp_path))
    assert [len(set(seen)) for seen in keys.values()] == [1, 2]
    assert keys["plots"][0] == keys["plots"][1]


def test_magics_become_code_that_python_can_read() -> None:
    compile(code_without_magics("if x:\n    %pip install y\n!ls\ny = 7 % 3"), "cell", "exec")


# --- One execution per change --------------------------------------------------------------------------------------

CHAPTER = """---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---

# {title}

```{{code-cell}} ipython3
from copyhead.{module} import VALUE
```

```{{code-cell}} ipython3
:tags: [hide-input]

VALUE
```
"""


def write_chapter(root: Path, name: str, module: str) -> None:
    (root / "book").mkdir(exist_ok=True)
    (root / "book" / f"{name}.md").write_text(CHAPTER.format(title=name, module=module))


def execute(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Export and execute the book under ``root``, which has a package of its own."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    tools = ROOT / "tools"
    subprocess.run([sys.executable, tools / "export_notebooks.py", "--root", root], check=True, env=environment)
    command = [sys.executable, str(tools / "execute.py"), "--root", str(root), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def shown(root: Path, name: str) -> str:
    """What the last cell of a chapter will show in the book."""
    path = root / "book" / f"{name}.md"
    chapter = read_myst_markdown_notebook(path.read_text("utf-8"), path=path)
    cache = get_cache(root / "_build" / ".jupyter_cache")
    assert cache.match_cache_notebook(chapter).data["execution_seconds"] > 0
    return cache.merge_match_into_notebook(chapter)[1].cells[-1].outputs[0].data["text/plain"]


def test_a_change_executes_what_depends_on_it_and_nothing_else(tmp_path: Path) -> None:
    write_package(tmp_path, {"__init__": "", "one": "VALUE = 1\n", "two": "VALUE = 2\n"})
    (tmp_path / "_config.yml").write_text("repository: {url: https://github.com/owner/name}\n")
    (tmp_path / "references.bib").write_text("")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/first\nchapters: [{file: book/second}]\n")
    write_chapter(tmp_path, "first", "one")
    write_chapter(tmp_path, "second", "two")

    result = execute(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "chapters: 2 executed, 0 unchanged, 0 failed" in result.stdout
    assert (shown(tmp_path, "first"), shown(tmp_path, "second")) == ("1", "2")

    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "_build" / "notebooks").rglob("*.ipynb")}
    assert "chapters: 0 executed, 2 unchanged, 0 failed" in execute(tmp_path).stdout
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps

    (tmp_path / "copyhead" / "two.py").write_text("VALUE = 22\n")
    assert "chapters: 1 executed, 1 unchanged, 0 failed" in execute(tmp_path).stdout
    assert (shown(tmp_path, "first"), shown(tmp_path, "second")) == ("1", "22")
    changed = {path.stem for path in stamps if path.stat().st_mtime_ns != stamps[path]}
    assert changed == {"second"}

    # A failing chapter fails the step, says where, is not recorded, and leaves the good ones alone.
    (tmp_path / "copyhead" / "one.py").write_text("raise RuntimeError('broken on purpose')\n")
    result = execute(tmp_path)
    assert result.returncode == 1
    assert "chapters: 0 executed, 1 unchanged, 1 failed" in result.stdout
    assert "broken on purpose" in result.stdout and "book/first" in result.stderr
    assert execute(tmp_path, "--list").stdout.split() == ["book/first"]


# --- The chapter header --------------------------------------------------------------------------------------------

CONF = """
import sys
sys.path.insert(0, {tools!r})
project = "test"
extensions = ["myst_nb", "sphinxext.opengraph", "book_extension"]
exclude_patterns = ["_build", "out"]
nb_execution_mode = "force"
myst_enable_extensions = ["dollarmath"]
html_theme = "sphinx_book_theme"
html_theme_options = {{"repository_url": "https://github.com/owner/name", "repository_branch": "main"}}
ogp_social_cards = {{"enable": False}}
"""


GOOD = "```{chapter-header}\n:reading: 7\n:gpu: 2 (estimated)\n\n**Question.** Is $x$ *small*?\n```"
BAD = {
    "no-reading": ("```{chapter-header}\n**Question.**\n```", "needs the option :reading:"),
    "not-a-number": ("```{chapter-header}\n:reading: soon\n\nx\n```", "invalid literal"),
    "too-long": ("```{chapter-header}\n:reading: 500\n\nx\n```", "between 1 and 120 minutes, got 500"),
    "bad-gpu": ("```{chapter-header}\n:reading: 5\n:gpu: fast\n\nx\n```", "(estimated)', got 'fast'"),
    "empty": ("```{chapter-header}\n:reading: 5\n```", "Content block expected"),
}


@pytest.fixture(scope="module")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Output folder of a book with one good page and several wrong ones, and what the build said."""
    root = tmp_path_factory.mktemp("headers")
    badge = root / "book" / "_static" / "colab.svg"
    badge.parent.mkdir(parents=True)
    badge.write_bytes((ROOT / "book" / "_static" / "colab.svg").read_bytes())
    (root / "conf.py").write_text(CONF.format(tools=str(ROOT / "tools")))
    front = CHAPTER.format(title="T", module="x").split("# T")[0]
    body = f"{GOOD}\n\nOf ($y$), $z$ and *$w$*.\n\n```{{code-cell}} ipython3\n1 + 1\n```\n"
    (root / "index.md").write_text(f"{front}# T\n\n{body}")
    for name, (header, _) in BAD.items():
        (root / f"{name}.md").write_text(f"---\norphan: true\n---\n# T\n\n{header}\n")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(root), str(root / "out")]
    return root / "out", subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_header_shows_times_badge_and_download(small_book: tuple[Path, str]) -> None:
    folder, warnings = small_book
    assert "index.md" not in "".join(line for line in warnings.splitlines() if "Execut" not in line)
    html = (folder / "index.html").read_text("utf-8")
    box = html[html.index('class="chapter-header') :].split("</div>")[0]
    assert "<em>small</em>" in box and "\\(x\\)" in box
    times = r"Reading 7 min · runs in (under 1|\d+) s of CPU \(measured in this build\) · T4: 2 min \(estimated\) ·"
    assert re.search(times, box)
    assert 'href="https://colab.research.google.com/github/owner/name/blob/main/index.ipynb"' in box
    assert 'href="index.ipynb"' in box and "_images/colab.svg" in box


def test_no_line_breaks_between_a_formula_and_punctuation(small_book: tuple[Path, str]) -> None:
    html = (small_book[0] / "index.html").read_text("utf-8")
    text = html[html.index("<p>Of ") :].split("</p>")[0]
    assert re.findall('<span class="unbroken">(.*?)</span>([^<]*)</span>', text) == [
        ('(<span class="math notranslate nohighlight">\\(y\\)', "),"),
    ]
    assert re.sub(r"<[^>]*>", "", text) == "Of (\\(y\\)), \\(z\\) and \\(w\\)."


@pytest.mark.parametrize("name", BAD)
def test_header_names_what_is_wrong(small_book: tuple[Path, str], name: str) -> None:
    said = [line for line in small_book[1].splitlines() if f"{name}.md" in line]
    assert any(BAD[name][1] in line for line in said), said


def test_options_and_wordings() -> None:
    assert reading_minutes("15") == 15
    assert gpu_minutes(" under 1 (measured)") == "under 1 (measured)"
    assert [cpu_time(t) for t in (0.4, 12.4, 99.4, 180.0)] == ["under 1 s", "12 s", "99 s", "3.0 min"]


def test_addresses_follow_from_the_repository() -> None:
    expected = "https://colab.research.google.com/github/a/b/blob/main/book/start/tour.ipynb"
    for repository in ("https://github.com/a/b", "https://github.com/a/b/", "https://github.com/a/b.git"):
        assert colab_address(repository, "main", "book/start/tour") == expected
        assert pages_address(repository) == "https://a.github.io/b/"
    for repository in ("https://example.org/a/b", "github.com/a/b", "https://github.com/a"):
        with pytest.raises(ValueError, match="repository.url must be"):
            colab_address(repository, "main", "book/start/tour")


# --- The repository as a whole -------------------------------------------------------------------------------------


def own_files() -> list[Path]:
    """Text files that people write: no outputs, environments, vendored or exported files."""
    skipped = {"_build", "vendor", "__pycache__", ".git"}
    found = []
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if skipped & set(parts) or parts[0].startswith((".venv", ".mypy", ".ruff", ".pytest", ".hypothesis")):
            continue
        if path.is_file() and path.suffix in {".md", ".yml", ".toml", ".py", ".txt", ".cff", ".js", ".css", ".bib", ""}:
            found.append(path)
    return found


def test_public_address_stands_once() -> None:
    url = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]["url"]
    owner_and_name = url.removeprefix("https://github.com/")
    places = [path.relative_to(ROOT).as_posix() for path in own_files() if owner_and_name in path.read_text("utf-8")]
    assert places == ["_config.yml"]
    assert (ROOT / "_config.yml").read_text("utf-8").count(owner_and_name) == 1


def test_table_of_contents_and_book_agree() -> None:
    names = documents(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
    files = {path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "book").rglob("*.md")}
    assert len(names) == len(set(names))
    assert set(names) == files


def test_environment_is_the_pinned_one() -> None:
    pins = {}
    for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([\w.-]+)==([\w.]+)", line)
            assert match, f"not an exact pin: {line}"
            pins[re.sub(r"[-_.]+", "-", match[1]).lower()] = match[2]
    installed = {
        re.sub(r"[-_.]+", "-", str(d.metadata["Name"])).lower(): d.version.partition("+")[0] for d in distributions()
    }
    assert {name: installed.get(name) for name in pins} == pins


def test_one_version_everywhere() -> None:
    import copyhead

    version = copyhead.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'\nversion = "{version}"\n' in (ROOT / "pyproject.toml").read_text("utf-8")
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1] == version  # type: ignore[index]


def test_exported_notebooks_carry_no_outputs() -> None:
    paths = [p for p in (ROOT / "book").rglob("*.ipynb") if not any(x.startswith(".") for x in p.parts)]
    assert paths
    for path in paths:
        cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        assert not any(cell.outputs or cell.execution_count for cell in cells), path


# --- Pages that were published ---------------------------------------------------------------------------------------


def test_every_page_ever_published_is_there_or_leads_on() -> None:
    """Links to the book from elsewhere go on working; a page that moves needs an entry in ``redirects``."""
    published = (ROOT / "tests" / "data" / "published-pages.txt").read_text("utf-8").split()
    there = documents(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    assert [page for page in published if page not in there and page not in config["redirects"]] == []
    assert sorted(set(there) - set(published)) == [], "add new pages to tests/data/published-pages.txt"
    assert published == sorted(set(published))


def test_first_page_names_every_part() -> None:
    parts = [part["caption"] for part in yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]]
    index = (ROOT / "book" / "index.md").read_text("utf-8")
    assert re.findall(r"^\| ([A-Z][^|]*?) \|", index, re.MULTILINE) == parts
