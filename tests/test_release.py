"""The files of a release: equal contents give equal archives, and the PDF is a book whose links lead somewhere."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from execute import documents
from release import checksums, notebook_files, release, write_zip
from visits import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
EXCERPT = {
    "format": "jb-book",
    "root": "book/index",
    "parts": [
        {"caption": "Landau theory", "chapters": [{"file": "book/landau/second-order"}]},
        {"caption": "Transitions", "chapters": [{"file": "book/transitions/softmax"}]},
    ],
}


def test_equal_files_give_equal_archives_whatever_their_times(tmp_path: Path) -> None:
    files = []
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).write_text(name)
        files.append((tmp_path / name, f"folder/{name}"))
    write_zip(tmp_path / "one.zip", files, 1_700_000_000)
    (tmp_path / "a.txt").touch()
    write_zip(tmp_path / "two.zip", reversed(files), 1_700_000_000)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.namelist() == ["folder/a.txt", "folder/b.txt"]
        assert archive.read("folder/a.txt") == b"a.txt"
        assert archive.testzip() is None


def test_an_archive_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    with pytest.raises(FileNotFoundError):
        write_zip(tmp_path / "x.zip", [(tmp_path / "a", "a"), (tmp_path / "missing", "b")], 0)
    assert not (tmp_path / "x.zip").exists()


def test_checksums_are_those_that_sha256sum_reads(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"2")
    (tmp_path / "a").write_bytes(b"1")
    lines = checksums(tmp_path, ["b", "a"]).splitlines()
    assert lines == [f"{hashlib.sha256(b'1').hexdigest()}  a", f"{hashlib.sha256(b'2').hexdigest()}  b"]


def test_every_notebook_of_the_book_is_in_its_archive() -> None:
    names = {name for _, name in notebook_files(ROOT, "folder")}
    chapters = [d for d in documents(TOC) if (ROOT / f"{d}.ipynb").exists()]
    assert names == {f"folder/{d.removeprefix('book/')}.ipynb" for d in chapters}
    assert len(chapters) > 30


def test_a_release_without_pages_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="run `make book` first"):
        release(tmp_path, tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def links_of(pdf: Any) -> list[Any]:
    return [note for page in pdf.pages for note in page.get("/Annots", [])]


def check_book(path: Path, names: list[str]) -> None:
    """Bookmarks for every chapter, links that resolve, chapters that begin where the contents say."""
    import pikepdf  # installed by `make check` and `make release`

    with pikepdf.open(path) as pdf:
        targets = {str(name).lstrip("/"): target for name, target in pdf.Root.Dests.items()}
        assert {name.replace("/", "-") for name in names[1:]} <= set(targets)
        goals = [str(n["/Dest"]).lstrip("/") for n in links_of(pdf) if "/Dest" in n]
        assert len(goals) > 3 * len(names)
        assert [goal for goal in goals if goal not in targets] == []
        links = [str(n.A.URI) for n in links_of(pdf) if "/A" in n and "/URI" in n.A]
        assert [link for link in links if not link.startswith("https://")] == []
        with pdf.open_outline() as outline:
            titles = [item.title for item in outline.root]
            below = [child.title for item in outline.root for child in item.children]
        assert "Contents" in titles and titles[-1] == "Solutions"
        assert len(below) >= len(names) - 1
        assert pdf.Root.get("/StructTreeRoot") is not None and str(pdf.Root.Lang) == "en"


@pytest.mark.slow
@pytest.mark.browser
def test_a_printed_excerpt_has_bookmarks_links_frames_and_solutions(
    browser: Browser, site: Path, tmp_path: Path
) -> None:
    from pdf_book import document, formula_rules, page_numbers, read_pieces, write_pdf

    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(EXCERPT))
    (tmp_path / "_config.yml").write_text((ROOT / "_config.yml").read_text("utf-8"))
    target = tmp_path / "book.pdf"
    write_pdf(browser, site, target, "0", tmp_path)
    check_book(target, documents(EXCERPT))

    pieces, rules = read_pieces(browser, site, EXCERPT), formula_rules(site)
    chapter = pieces[1]
    sliders = (site / "book/landau/second-order.html").read_text("utf-8").count('class="copyhead-figure copyhead-slider"')
    assert sliders and 2 * sliders <= chapter.body.count('class="frame"') <= 3 * sliders
    assert "solution admonition" not in chapter.body and "solution admonition" in chapter.solutions
    assert "<script" not in chapter.body and "mjx-container" in chapter.body
    numbers = page_numbers(target)
    text = document(pieces, rules, numbers, {"title": "t", "author": "a", "version": "0", "copyright": "c"})
    printed = dict(re.findall(r'href="#([\w-]+)">[^<]*</a><span class="no">(\d+)', text))
    assert int(printed["book-landau-second-order"]) == numbers["book-landau-second-order"] > 2


@pytest.mark.slow
@pytest.mark.browser
def test_the_whole_release(browser: Browser, site: Path, tmp_path: Path) -> None:
    names = release(ROOT, tmp_path)
    kinds = ("-offline.zip", "-notebooks.zip", ".pdf", ".whl", ".tar.gz")
    assert all(any(name.endswith(kind) for name in names) for kind in kinds)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)
    check_book(next(tmp_path.glob("*.pdf")), documents(TOC))
    with zipfile.ZipFile(next(tmp_path.glob("*-offline.zip"))) as archive:
        archive.extractall(tmp_path / "stick")
    folder = next((tmp_path / "stick").iterdir())
    context = browser.new_context(offline=True)
    page = context.new_page()
    outside: list[str] = []
    own = ("file:", "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(own) else outside.append(r.url))
    for path in sorted(folder.rglob("*.html")):
        page.goto(path.as_uri(), wait_until="load")
    context.close()
    assert outside == []
    wheel = next(tmp_path.glob("*.whl"))
    code = "from copyhead import Setup, SoftmaxAction; print(SoftmaxAction(Setup(25, 5, 30.0)).minimum(300).m)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(wheel)!r}); {code}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and float(done.stdout) > 0.1, done.stderr
