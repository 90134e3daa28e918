"""Find solutions in what is handed to students.

A leak shows itself in two ways.  *Markers* are what a solution leaves behind whatever it says: its directive, tag,
class, title or fold.  *Fingerprints* are its words: every eight words in a row, of prose or code, that stand in a
solution of the master and nowhere outside solutions; in a search index, which has no word order, the words of solutions
that are found on a page which does not show them.  Fingerprints are taken from the master by reading lines, not by the
parser that leaves solutions out, so that a mistake of the one does not blind the other.
"""

from __future__ import annotations

import html
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import snowballstemmer

LENGTH = 8
START, END = re.compile(r"^\s*[`:]{3,}\{solution(?:-start)?\}\s*(\S*)"), re.compile(r"^\s*[`:]{3,}\{solution-end\}")
ROLE = re.compile(r"\{[\w:.-]+\}`[^`]*`")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
TAG = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
WORD = re.compile(r"[^\W_]+")
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
TYPESET = re.compile(r"<mjx-container\b.*?</mjx-container>", re.DOTALL)
MARKERS = {
    ".html": (r'class="[^"]*\b(?:solution|tag_solution)\b', r'id="[^"]*\bsolution\b',
              r"\bSolution (?:to|of) [A-Z]", r"\{solution"),
    ".ipynb": (r"# @title Solution", r"<summary>Solution", r'"solution"\s*[,\]]',
               r"\bSolution (?:to|of) Exercise", r"\{solution"),
    ".md": (r"\{solution", r":tags: \[[^\]]*\bsolution\b"),
    ".js": (r"\bSolution (?:to|of) [A-Z]", r"solution[- ](?:to|of)[- ]ex"),
    ".inv": (r"\bsolution\b",),
}
MARKERS |= {".txt": MARKERS[".md"]}


@dataclass
class Fingerprints:
    """What gives solutions away: runs of words -> solution, and for each page stems that stand in its solutions only."""

    runs: dict[tuple[str, ...], str] = field(default_factory=dict)
    stems: dict[str, set[str]] = field(default_factory=dict)
    unmarked: list[str] = field(default_factory=list)  # solutions whose every word also stands outside solutions


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def runs(text: Iterable[str]) -> set[tuple[str, ...]]:
    """Every LENGTH words in a row, except where all are numbers."""
    sequence = list(text)
    every = zip(*(sequence[shift:] for shift in range(LENGTH)), strict=False)
    return {run for run in every if not all(word.isdigit() for word in run)}


def pieces(source: str) -> list[str]:
    """Markdown as the stretches of words that a page shows without interruption, with its formulas and without them.

    A built page shows formulas as they are set, in which there is no TeX to look for.
    """
    return [piece for text in (source, FORMULA.sub(" ", source)) for piece in stretches(text)]


def stretches(source: str) -> list[str]:
    source = re.sub(r"^\s*:[\w-]+:.*$|^\s*[`:]{3,}.*$", "\0", source, flags=re.MULTILINE)  # options and fences
    source = re.sub(r"^\$\$(?: \(.*\))?\s*$", " ", source, flags=re.MULTILINE)
    return re.split(r"\0", ROLE.sub("\0", LINK.sub(r"\1", source)))


def divide(text: str) -> tuple[str, dict[str, str]]:
    """A page's source as what stands outside solutions, and the text of each solution by its exercise."""
    outside: list[str] = []
    inside: dict[str, list[str]] = defaultdict(list)
    name = ""
    ending = False
    for line in text.split("\n"):
        if start := START.match(line):
            name = start[1] or "?"
        elif END.match(line):
            ending = True
        elif ending:  # the fence below {solution-end}
            name, ending = "", False
        elif name:
            inside[name].append(line)
        else:
            outside.append(line)
    return "\n".join(outside), {name: "\n".join(lines) for name, lines in inside.items()}


def stems(text: str, shortest: int = 1) -> set[str]:
    """Stems as Sphinx's search index has them, of words of ``shortest`` letters and more."""
    stem = snowballstemmer.stemmer("english").stemWord
    return {stem(word) for word in words(text) if len(word) >= shortest and not word.isdigit()}


def fingerprints(pages: dict[str, str], allowed: Sequence[str] = ()) -> Fingerprints:
    """Of all solutions in ``pages`` (page name -> source of the master); ``allowed`` is other text that may be shown."""
    divided = {name: divide(text) for name, text in pages.items()}
    harmless = {run for outside, _ in divided.values() for piece in pieces(outside) for run in runs(words(piece))}
    harmless |= {run for text in allowed for run in runs(words(text))}
    shared = {stem for text in allowed for stem in stems(text)}
    found = Fingerprints()
    for page, (outside, inside) in divided.items():
        # Short words mean little, and an index also has words that a page takes from elsewhere, as from a bibliography.
        found.stems[page] = stems(" ".join(inside.values()), shortest=6) - stems(outside) - shared
        for exercise, text in inside.items():
            own = {run for piece in pieces(text) for run in runs(words(piece))} - harmless
            found.runs |= dict.fromkeys(own, exercise)
            if not own:
                found.unmarked.append(exercise)
    return found


def shown(path: Path) -> Iterator[str]:
    """The texts in a file that a reader can see or search."""
    if path.suffix == ".ipynb":
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            yield " ".join(LINK.sub(r"\1", "".join(cell["source"])).split("\n"))
            yield json.dumps([output.get("text") or output.get("data") for output in cell.get("outputs", [])])
    elif path.suffix == ".html":
        text = TYPESET.sub(" ", path.read_text("utf-8"))
        yield html.unescape(TAG.sub(" ", text))
        yield html.unescape(TAG.sub("", text))  # words that markup divides
        yield " ".join(re.findall(r'(?:content|alt|title)="([^"]*)"', text))
    elif path.suffix == ".inv":
        yield zlib.decompress(path.read_bytes().split(b"\n", 4)[4]).decode()
    elif path.suffix in (".md", ".txt", ".js", ".json", ".py", ".svg", ".csv", ".xml", ".yml"):
        yield path.read_text("utf-8", errors="replace")


def index_leaks(path: Path, secret: dict[str, set[str]]) -> Iterator[str]:
    """Words of solutions that a Sphinx search index finds on the pages of these solutions, where nobody sees them."""
    text = path.read_text("utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    suspect: dict[str, set[str]] = defaultdict(set)
    for kind in ("terms", "titleterms"):
        for term, places in index[kind].items():
            for place in [places] if isinstance(places, int) else places:
                if term in secret.get(index["docnames"][place], ()):
                    suspect[index["docnames"][place]].add(term)
    for page, terms in suspect.items():
        own = path.parent / f"{page}.html"
        seen = stems(" ".join(shown(own))) if own.exists() else set()
        for term in sorted(terms - seen):
            yield f"{path}: the index finds {term!r}, a word of solutions only, in {page}"


def leaks(folder: Path, known: Fingerprints) -> list[str]:
    """Every leak in the files below ``folder``, as sentences that name file and what was found."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or "vendor" in path.relative_to(folder).parts:
            continue
        texts = list(shown(path))
        raw = texts if path.suffix in (".inv", ".ipynb") or not texts else []
        if path.suffix != ".inv" and texts:
            raw = [path.read_text("utf-8", errors="replace")]
        markers = () if "_static" in path.parts else MARKERS.get(path.suffix, ())
        found += [f"{path}: marker {m[0]!r}" for pattern in markers for text in raw if (m := re.search(pattern, text))]
        for text in texts:
            sequence = words(text)
            hits = [run for run in zip(*(sequence[k:] for k in range(LENGTH)), strict=False) if run in known.runs]
            if hits:
                found.append(f"{path}: text of the solution of {known.runs[hits[0]]}: {' '.join(hits[0])!r}")
        if path.name == "searchindex.js":
            found += index_leaks(path, known.stems)
    return found
