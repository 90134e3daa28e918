"""The export to Colab: a page with every construct, errors that name file and line, and the notebooks of the book."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).parent / "data"
sys.path.insert(0, str(ROOT / "tools"))

import export_notebooks  # noqa: E402
from myst_blocks import ExportError  # noqa: E402
from myst_book import Book, load_book, make_page  # noqa: E402

EXTENSIONS = frozenset({"colon_fence", "dollarmath", "amsmath", "deflist", "tasklist"})
HEAD = "---\nkernelspec:\n  name: python3\n---\n\n"
FILES = {
    "_config.yml": """\
title: Test
author: Test
execute: {execute_notebooks: "off"}
repository: {url: "https://github.com/owner/name", branch: main}
parse: {myst_enable_extensions: [colon_fence, dollarmath, amsmath, deflist, tasklist]}
sphinx:
  extra_extensions: [sphinx_proof, sphinx_exercise, sphinxcontrib.bibtex]
  config: {project: test, math_numfig: false, bibtex_bibfiles: [references.bib]}
""",
    "_toc.yml": """\
format: jb-book
root: book/index
parts:
  - caption: Part
    chapters:
      - file: book/part/other
        sections:
          - file: book/part/torture
  - caption: Reference
    chapters:
      - file: book/reference/glossary
""",
    "references.bib": r"""
@article{one2020, author = {One, A.}, year = {2020}, doi = {10.1/a(b)}, title = {T}, journal = {J}}
@article{two2021, author = {Two, A. and M{\"u}ller, B.}, year = 2021, url = {https://example.org/two},
  title = {T}, journal = {J}}
@misc{three2022, author = {Three, A. and X, B. and Y, C.}, year = {2022}, eprint = {2201.00001}, title = {T}}
@book{four2023, author = {van Four, A.}, year = {2023}, title = {T}, publisher = {P}}
""",
    "book/index.md": "# Index\n\n[A chapter](part/torture.md)\n\n```{bibliography}\n```\n",
    "book/reference/glossary.md": "# Glossary\n\n```{glossary}\norder parameter\n  Text.\n\nminimum\n  Text.\n```\n",
    "book/part/other.md": HEAD
    + "(sec-other)=\n# Other chapter\n\n$$\nq\n$$ (eq-other-one)\n\n```{exercise}\n:label: ex-other-1\n\nText.\n```\n",
    "book/img/a.png": "",
    "book/img/a b.png": "",
    "data.txt": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small book with two chapters, a glossary and a bibliography."""
    files = FILES | {"book/part/torture.md": (DATA / "torture.md").read_text("utf-8")}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def run(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/export_notebooks.py"), "--root", str(root), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def readable(notebook: dict) -> str:
    """The form of ``torture.expected.md``: a line that tells the kind of each cell, then its source."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        kind = cell["cell_type"]
        if cell["metadata"].get("cellView") == "form":
            title, _, source = source.partition("\n")
            assert title.startswith("# @title ") and cell["metadata"]["jupyter"] == {"source_hidden": True}
            kind = "hidden: " + title.removeprefix("# @title ")
        parts.append(f"=== {kind}\n{source}\n")
    return "".join(parts)


def torture(root: Path) -> dict:
    result = run(root)
    assert result.returncode == 0, result.stderr
    return json.loads((root / "book/part/torture.ipynb").read_text("utf-8"))


def test_torture_page_gives_the_expected_cells(root: Path) -> None:
    assert readable(torture(root)) == (DATA / "torture.expected.md").read_text("utf-8")


def test_torture_notebook_is_valid_and_deterministic(root: Path) -> None:
    notebook = torture(root)
    nbformat.validate(notebook)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert notebook["metadata"]["accelerator"] == "GPU"  # the header announces minutes on a T4
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert [cell["metadata"].get("tags") for cell in code] == [
        None,
        None,
        ["hide-input"],
        ["remove-input", "keep"],
        ["exercise"],
        ["solution"],
    ]
    before = (root / "book/part/torture.ipynb").read_bytes()
    torture(root)
    assert (root / "book/part/torture.ipynb").read_bytes() == before


def test_numbers_agree_with_sphinx(root: Path) -> None:
    """Sphinx itself builds the same page: its equation, theorem, exercise, figure and table numbers are ours."""
    torture(root)
    path = root / "book/part/torture.md"
    page = path.read_text("utf-8").replace("chapter-header", "note")  # our own directive, tested elsewhere
    path.write_text(re.sub(r"^:(reading|gpu):.*\n", "", page, flags=re.MULTILINE), "utf-8")
    (root / "book/part/torture.ipynb").unlink()
    (root / "book/part/other.ipynb").unlink()
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(root)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    built = root / "_build/html/book/part/torture.html"
    assert built.exists(), result.stdout + result.stderr
    article = built.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
    ours = (DATA / "torture.expected.md").read_text("utf-8")
    theirs = re.findall(r'class="eqno">\((\d+)\)', article)
    assert theirs == re.findall(r"\\tag\{(\d+)\}", ours) == ["1", "2", "3", "4", "5"]
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", article)).split())
    for kind, number in re.findall(r"\*\*(Theorem|Exercise|Figure|Table) (\d+)", ours):
        assert f"{kind.replace('Figure', 'Fig.')} {number} " in text
    # References: the sentence under "Inline", and a theorem and an exercise.
    assert "(3) , (1) , Torture, with x , there , Other chapter , this , Order parameter , minima , Theorem 1" in text
    assert "Clear from Theorem 1 ." in text and "Refer back to Exercise 2 ." in text


def test_formulas_in_folds_and_quotes_stay_whole(root: Path) -> None:
    """Jupyter takes out formulas before Markdown is read: no formula may contain quote marks or blank lines."""
    for cell in torture(root)["cells"]:
        source = re.sub(r"(?ms)^( *)(`{3,}|~{3,}).*?^ *\2$|`[^`\n]+`", "", "".join(cell["source"]))
        if cell["cell_type"] == "markdown":
            for formula in re.findall(r"\$\$(.*?)\$\$", source, re.DOTALL):
                assert "\n\n" not in formula and not re.search(r"\n\s*>", formula)


def test_folds_hold_markdown(root: Path) -> None:
    """A fold is three HTML blocks with Markdown between them."""
    folds = 0
    for cell in torture(root)["cells"]:
        tokens = MarkdownIt().parse("".join(cell["source"]))
        source = [token.content for token in tokens if token.type == "html_block"]
        folds += sum("<details>" in text for text in source)
        for text in source:
            assert "details" not in text or text.strip() in ("</details>",) or text.count("\n") == 2
    assert folds == 5


def test_check_tells_missing_changed_and_stray_notebooks(root: Path) -> None:
    missing = run(root, "--check")
    assert missing.returncode == 1 and missing.stderr.count(": missing") == 2
    assert not (root / "book/part/torture.ipynb").exists()
    torture(root)
    assert run(root, "--check").returncode == 0
    notebook = root / "book/part/torture.ipynb"
    notebook.write_text(notebook.read_text("utf-8") + " ", "utf-8")
    (root / "book/part/old.ipynb").write_text("{}")
    changed = run(root, "--check")
    assert changed.returncode == 1
    assert "torture.ipynb: differs" in changed.stderr and "old.ipynb: has no chapter" in changed.stderr


@pytest.mark.parametrize("url", ["", "owner/name", "https://gitlab.com/owner/name", "https://github.com/a b/c"])
def test_malformed_address_is_an_error(root: Path, url: str) -> None:
    config = FILES["_config.yml"].replace("https://github.com/owner/name", url)
    (root / "_config.yml").write_text(config, "utf-8")
    result = run(root)
    assert result.returncode == 1 and "repository.url must be https://github.com/" in result.stderr


def test_forked_address_reaches_install_cell_badge_and_images(root: Path) -> None:
    config = FILES["_config.yml"].replace("owner/name", "fork/copy.git").replace("main", "lecture-2")
    (root / "_config.yml").write_text(config, "utf-8")
    text = json.dumps(torture(root))
    assert "owner" not in text
    assert "git+https://github.com/fork/copy.git@lecture-2" in text
    assert "colab.research.google.com/github/fork/copy/blob/lecture-2/book/part/torture.ipynb" in text
    assert "raw.githubusercontent.com/fork/copy/lecture-2/book/img/a.png" in text


BAD = {
    "unknown directive": ("```{raw} html\n```\n", 1, "unknown directive: {raw}"),
    "unknown nested directive": (":::{note}\n\n```{mystery}\n```\n:::\n", 3, "unknown directive: {mystery}"),
    "unknown directive in a list": ("- a\n\n  ```{mystery}\n  ```\n", 3, "unknown directive: {mystery}"),
    "unknown option": ("```{note}\n:colour: red\n\nx\n```\n", 1, "unknown option of {note}: colour"),
    "malformed option": ("```{code-cell} ipython3\n:tags: [a\n\n1\n```\n", 2, "malformed YAML in option tags"),
    "malformed option block": ("```{code-cell} ipython3\n---\na: [\n---\n```\n", 1, "malformed YAML"),
    "unclosed option block": ("```{code-cell} ipython3\n---\na: b\n```\n", 1, "unclosed option block"),
    "other language": ("```{code-cell} julia\n1\n```\n", 1, "unknown language of a code cell: 'julia'"),
    "nested code cell": (":::{note}\n```{code-cell} ipython3\n1\n```\n:::\n", 2, "top level"),
    "code cell in a list": ("- a\n\n  ```{code-cell} ipython3\n  1\n  ```\n", 3, "top level"),
    "hidden magic": ("```{code-cell} ipython3\n:tags: [hide-input]\n%%time\n1\n```\n", 1, "cell magic"),
    "unclosed fence": ("a\n\n```python\nx\n", 3, "unclosed fence: ```python"),
    "unclosed colon fence": ("a\n\n:::{note}\nx\n", 3, "unclosed fence: :::{note}"),
    "fence closed by a shorter one": ("````{note}\nx\n```\n", 1, "unclosed fence: ````{note}"),
    "colon fence without name": (":::\nx\n:::\n", 1, "colon fence without a directive"),
    "unknown role": ("a\nb {abbr}`x`\n", 2, "unknown role: {abbr}"),
    "unknown role in a table": ("| a |\n|---|\n| {abbr}`x` |\n", 3, "unknown role: {abbr}"),
    "unknown role in a heading": ("## A {abbr}`x`\n", 1, "unknown role: {abbr}"),
    "unknown role in a header": ("```{chapter-header}\n:reading: 5\n\n{abbr}`x`\n```\n", 4, "unknown role"),
    "unclosed role": ("a {eq}`x\n", 1, "unclosed role: {eq}"),
    "unresolved equation": ("a {eq}`nowhere`\n", 1, "unresolved label: nowhere in {eq}"),
    "equation by ref": ("$$\nx\n$$ (eq-x)\n\n{ref}`eq-x`\n", 5, "unresolved label: eq-x in {ref}"),
    "exercise by eq": ("a {eq}`ex-other-1`\n", 1, "unresolved label: ex-other-1 in {eq}"),
    "exercise by prf": ("a {prf:ref}`ex-other-1`\n", 1, "unresolved label: ex-other-1 in {prf:ref}"),
    "label without title": ("(here)=\nText.\n\n{ref}`here`\n", 4, "label without a title: here"),
    "unresolved link label": ("[a](#nowhere)\n", 1, "unresolved label: nowhere"),
    "unresolved citation": ("a {cite:p}`one2020,nobody`\n", 1, "unresolved citation: nobody"),
    "unresolved term": ("a {term}`nothing`\n", 1, "unresolved term: nothing"),
    "unresolved link": ("[a](nowhere.md)\n", 1, "unresolved link: nowhere.md"),
    "link to a notebook": ("[a](other.ipynb)\n", 1, "unresolved link: other.ipynb"),
    "link out of the book": ("[a](../../../../etc/passwd)\n", 1, "unresolved link"),
    "missing image": ("![alt](nowhere.png)\n", 1, "missing image: nowhere.png"),
    "missing figure": ("```{figure} nowhere.png\n```\n", 1, "missing image: nowhere.png"),
    "relative address in HTML": ('<img src="a.png">\n', 1, "relative address in HTML: a.png"),
    "relative address in inline HTML": ('a <a href="b.md">b</a>\n', 1, "relative address in HTML: b.md"),
    "duplicate label": ("$$\nx\n$$ (eq-x)\n\n$$\ny\n$$ (eq-x)\n", 5, "duplicate label: eq-x"),
    "label of another chapter": ("$$\nx\n$$ (eq-other-one)\n", 1, "duplicate label: eq-other-one"),
    "unopened solution": ("```{solution-end}\n```\n", 1, "{solution-end} without {solution-start}"),
    "unclosed solution": ("```{solution-start} ex-t\n```\n", 1, "{solution-start} without {solution-end}"),
    "solution of nothing": ("```{solution-start} ex-none\n```\n", 1, "unresolved label: ex-none"),
    "solution of another chapter": ("```{solution-start} ex-other-1\n```\n", 1, "unresolved label: ex-other-1"),
    "bare environment": ("\\begin{align}\na\n\\end{align}\n", 1, "amsmath"),
    "numbered environment": ("$$\n\\begin{align}\na\n\\end{align}\n$$\n", 1, "unsupported in a formula"),
    "own tag": ("$$\na \\tag{1}\n$$\n", 1, "unsupported in a formula: \\tag"),
    "blank line in a formula": ("$$\na\n\nb\n$$\n", 1, "blank line in a formula"),
    "inline display": ("a $$x$$ b\n", 1, "display formula inside a paragraph"),
    "footnote": ("a[^1]\n\n[^1]: b\n", 3, "footnote"),
    "reference link": ("[a][b]\n\n[b]: other.md\n", 3, "reference-style link"),
    "definition list": ("a\n: b\n", 1, "definition list"),
    "substitution": ("a {{ b }}\n", 1, "substitution"),
    "attributes": ("![a](../img/a.png){width=50%}\n", 1, "attributes"),
    "project link": ("<project:#sec-other>\n", 1, "unsupported construct: <project:#sec-other>"),
    "uneven table": ("```{list-table}\n* - a\n  - b\n* - c\n```\n", 1, "malformed {list-table}"),
    "no table": ("```{list-table}\ntext\n```\n", 2, "malformed {list-table}"),
    "list in a table cell": ("```{list-table}\n* - a\n\n    - b\n```\n", 2, "more than one paragraph"),
}


def page_with(body: str) -> str:
    exercise = "" if "ex-t" not in body else "```{exercise}\n:label: ex-t\n\nx\n```\n"
    return HEAD + "# Title\n\n" + body + exercise


@pytest.mark.parametrize("case", BAD)
def test_unknown_or_broken_constructs_name_file_line_and_construct(root: Path, case: str) -> None:
    body, line, message = BAD[case]
    text = page_with(body)
    (root / "book/part/torture.md").write_text(text, "utf-8")
    result = run_in_process(root)
    assert "torture.md" in result and message in result, result
    assert f":{line + 7}: " in result


def run_in_process(root: Path) -> str:
    """What the exporter complains about, without starting another interpreter."""
    try:
        _, errors = export_notebooks.exported(load_book(root))
    except ExportError as error:
        return str(error)
    return "\n".join(map(str, errors))


def test_error_leaves_no_traceback_and_writes_nothing(root: Path) -> None:
    (root / "book/part/torture.md").write_text(page_with("{abbr}`x`\n"), "utf-8")
    result = run(root)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert "torture.md:8: unknown role: {abbr}" in result.stderr
    assert not list(root.rglob("*.ipynb"))


@pytest.mark.parametrize("name", ["_toc.yml", "_config.yml", "references.bib"])
@pytest.mark.parametrize("text", ["a: [", "[1, 2]", "@misc{x", "file: nowhere"])
def test_broken_set_up_files_are_errors(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text, "utf-8")
    result = run(root)
    assert result.returncode == 1 and result.stderr and "Traceback" not in result.stderr


SNIPPETS = [body for body, _, _ in BAD.values()] + [
    *("```", "````", ":::", "~~~", "$$", "$", "`", "{", "}", "[", "](", "![", "<", ">", "|", "---", "***"),
    *("{eq}`", "{cite:p}`one2020`", "(x)=", "% c", "+++", "- ", "1. ", "> ", "    ", "\n", "\n\n", "\t", "\\", "\x00"),
    *("```{note}\n", "```{code-cell} ipython3\n", ":tags: ", "```{list-table}\n* - a\n", "<!--", "é", "\u2028"),
    *re.split(r"\n\n", (DATA / "torture.md").read_text("utf-8")),
]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    root = tmp_path_factory.mktemp("book")
    for name, text in (FILES | {"book/part/torture.md": HEAD + "# T\n"}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return load_book(root)


@settings(max_examples=300, deadline=5000, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(
    parts=st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=12)), max_size=12),
    glue=st.sampled_from(["", "\n", "\n\n"]),
)
def test_any_text_is_exported_or_refused_but_never_crashes(book: Book, parts: list[str], glue: str) -> None:
    text = HEAD + "# Title\n\n" + glue.join(parts)
    pages = [page for page in book.pages.values() if page.name != "book/part/torture"]
    page = make_page("book/part/torture", book.root / "book/part/torture.md", text, EXTENSIONS)
    config = {"repository": {"url": "https://github.com/owner/name"}, "sphinx": {"config": {"math_numfig": False}}}
    try:
        notebook = export_notebooks.export_page(Book(book.root, config, [*pages, page], book.bibliography), page)
    except ExportError as error:
        assert re.match(r".*torture\.md:\d+: .", str(error), re.DOTALL)
        return
    nbformat.validate(nbformat.reads(notebook, 4))


# --- the book itself ---------------------------------------------------------------------------------------------


def book_notebooks() -> list[Path]:
    return sorted(path for path in (ROOT / "book").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def prose(notebook: Path) -> str:
    """Markdown of a notebook without code blocks, code spans and formulas."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    text = re.sub(r"(?ms)^[> ]*(`{3,}|~{3,}).*?^[> ]*\1\s*$", "", text)
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)
    return re.sub(r"\$\$.*?\$\$|\$[^$]+\$", "", text, flags=re.DOTALL)


def test_book_notebooks_are_what_their_chapters_give() -> None:
    result = run(ROOT, "--check")
    assert result.returncode == 0, result.stderr


def test_every_notebook_of_the_book_is_exported() -> None:
    notebooks = {page.path.with_suffix(".ipynb") for page in load_book(ROOT).pages.values() if page.is_notebook}
    assert notebooks and notebooks == set(book_notebooks())


@pytest.mark.parametrize("notebook", book_notebooks(), ids=lambda path: path.stem)
def test_book_notebook_has_no_raw_markup(notebook: Path) -> None:
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = prose(notebook)
    assert not re.search(r"\{[\w:.+-]+\}(?=`|\s|$)|^:{3,}|^\(\S+\)=$|\{\{", text, re.MULTILINE)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code and all(not cell["outputs"] for cell in code)
    assert "%pip install --quiet --no-deps" in "".join(code[0]["source"])


@pytest.mark.parametrize("notebook", book_notebooks(), ids=lambda path: path.stem)
def test_links_of_book_notebook_lead_somewhere(notebook: Path) -> None:
    book = load_book(ROOT)
    for target in re.findall(r"\]\(([^\s()]*(?:\([^\s()]*\)[^\s()]*)*)", prose(notebook)):
        for prefix in (book.blob(""), book.raw("")):
            if target.startswith(prefix):
                assert (ROOT / target.removeprefix(prefix)).exists(), target
        if not re.match(r"https?://|mailto:", target):
            assert target.endswith(".ipynb") and (notebook.parent / target).exists(), target


@pytest.mark.parametrize("notebook", book_notebooks(), ids=lambda path: path.stem)
def test_equation_numbers_are_those_of_the_built_page(notebook: Path) -> None:
    name = notebook.relative_to(ROOT).with_suffix("")
    page = ROOT / "_build/html" / f"{name}.html"
    if not page.exists():
        pytest.skip("the book is not built: run `make book`")
    if page.stat().st_mtime < (ROOT / f"{name}.md").stat().st_mtime:
        pytest.skip("the chapter is newer than its page: run `make book`")
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    ours = re.findall(r"\\tag\{(\d+)\}", "".join("".join(cell["source"]) for cell in cells))
    assert re.findall(r'class="eqno">\((\d+)\)', page.read_text("utf-8")) == ours
