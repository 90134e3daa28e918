"""Write the files of a release into ``dist/``: offline site, PDF, notebooks, wheel, source distribution, checksums.

    python tools/release.py [--no-pdf]

The pages must be built (``make release`` does that first).  Archives hold their files in order of name, with the time
of the last commit, so that equal contents give equal archives.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path

import yaml
from execute import documents
from pdf_book import chromium, write_pdf

from copyhead import __version__

ROOT = Path(__file__).resolve().parent.parent
CHECKSUMS = "SHA256SUMS"


def commit_time(root: Path) -> int:
    """Seconds since 1970 of the last commit; 1980, the first time that a zip can hold, where there is no history."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else 315532800


def write_zip(target: Path, files: Iterable[tuple[Path, str]], seconds: int) -> None:
    """Zip ``files`` (path, name in the archive), all with the same time, into ``target`` at once."""
    stamp = time.gmtime(max(seconds, 315532800))[:6]
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, name in sorted(files, key=lambda pair: pair[1]):
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    part.replace(target)


def site_files(site: Path, folder: str) -> list[tuple[Path, str]]:
    """The built pages and all they need."""
    return [(p, f"{folder}/{p.relative_to(site).as_posix()}") for p in site.rglob("*") if p.is_file()]


def notebook_files(root: Path, folder: str) -> list[tuple[Path, str]]:
    """The exported notebooks of the chapters in the table of contents."""
    names = documents(yaml.safe_load((root / "_toc.yml").read_text("utf-8")))
    paths = (root / f"{name}.ipynb" for name in names)
    return [(p, f"{folder}/{p.relative_to(root / 'book').as_posix()}") for p in paths if p.exists()]


def build_package(root: Path, target: Path, seconds: int) -> None:
    """Wheel and source distribution, by the standard front end, with the tools that are installed."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(root)],
        env=os.environ | {"SOURCE_DATE_EPOCH": str(seconds)}, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def checksums(folder: Path, names: Iterable[str]) -> str:
    """Lines as ``sha256sum --check`` reads them."""
    return "".join(f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in sorted(names))


def release(root: Path, dist: Path, pdf: bool = True) -> list[str]:
    """Write all files of the release; returns their names."""
    site = root / "_build" / "html"
    if not (site / "index.html").exists():
        raise FileNotFoundError(f"there are no built pages in {site}: run `make book` first")
    dist.mkdir(parents=True, exist_ok=True)
    base, seconds = f"copyhead-{__version__}", commit_time(root)
    for old in dist.glob("copyhead-*"):
        if old.is_file():
            old.unlink()
    write_zip(dist / f"{base}-offline.zip", site_files(site, base), seconds)
    write_zip(dist / f"{base}-notebooks.zip", notebook_files(root, f"{base}-notebooks"), seconds)
    build_package(root, dist, seconds)
    if pdf:
        with chromium() as browser:
            write_pdf(browser, site, dist / f"{base}.pdf", __version__, root)
    names = [path.name for path in dist.glob("copyhead-*") if path.is_file()]
    (dist / CHECKSUMS).write_text(checksums(dist, names), "utf-8")
    return sorted(names)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the files of a release into dist/.")
    parser.add_argument("--no-pdf", action="store_true", help="leave out the PDF, which needs Chromium and minutes")
    options = parser.parse_args()
    dist = ROOT / "dist"
    try:
        names = release(ROOT, dist, pdf=not options.no_pdf)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    for name in [*names, CHECKSUMS]:
        print(f"{(dist / name).stat().st_size / 1e6:8.2f} MB  dist/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
