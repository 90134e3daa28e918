"""Split a MyST page into the constructs that the export has to translate.

The grammar is that of the book itself (tokens of myst-parser), so that what Sphinx takes for code is code
here too: directive-looking text inside code blocks, fences inside lists and quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

# Every option that the book may give to a directive; anything else is an error.
COMMON = {"label", "name", "class"}
OPTIONS = {
    "code-cell": {"tags", "mystnb", "name"},
    "chapter-header": {"reading", "gpu"},
    "figure": COMMON | {"alt", "width", "height", "align", "figclass", "figwidth", "scale"},
    "list-table": COMMON | {"header-rows", "widths", "width", "align"},
    "math": COMMON,
    "exercise": COMMON | {"nonumber"},
    "solution-start": COMMON,
    "solution-end": set[str](),
    "margin": COMMON,
    "glossary": {"sorted"},
    "quiz": set[str](),
}
ADMONITIONS = {
    "note": "Note",
    "tip": "Tip",
    "warning": "Warning",
    "important": "Important",
    "hint": "Hint",
    "seealso": "See also",
    "caution": "Caution",
    "attention": "Attention",
    "admonition": "",
    "dropdown": "",
}
PROOFS = (
    *(
        "theorem",
        "lemma",
        "definition",
        "proposition",
        "corollary",
        "remark",
        "conjecture",
        "proof",
        "example",
    ),
    *("observation", "assumption", "axiom", "criterion", "property", "algorithm"),
)
KINDS = {
    "fence": "code",
    "colon_fence": "code",
    "code_block": "code",
    "math_block": "math",
    "math_block_label": "math",
    "inline": "text",
    "html_block": "html",
    "myst_target": "target",
    "myst_line_comment": "comment",
    "myst_block_break": "break",
    "front_matter": "front matter",
}
UNSUPPORTED = {
    "amsmath": "bare amsmath environment",
    "substitution_block": "substitution",
    "footnote_reference_open": "footnote",
    "dl_open": "definition list",
    "field_list_open": "field list",
}


class ExportError(Exception):
    """A construct that cannot be exported: where it stands and what is wrong with it."""

    def __init__(self, path: Path | str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")


@dataclass(frozen=True)
class Block:
    """One construct: lines ``start`` to ``end`` (half-open, from 0, in the text that was split)."""

    kind: str
    start: int
    end: int
    line: int  # of the first line, from 1, in the file
    content: str = ""
    name: str = ""  # of a directive; "h1" ... "h6" for the text of a heading
    argument: str = ""  # of a directive; the label of an equation
    options: dict[str, object] = field(default_factory=dict)
    body_line: int = 0  # of the first line of ``content``, in the file
    prefix: str = ""  # list markers, quote marks and indentation before the construct

    def option(self, key: str) -> str:
        value = self.options.get(key)
        return "" if value is None else str(value).strip()

    @property
    def label(self) -> str:
        return self.argument if self.kind == "math" else self.option("label") or self.option("name")

    @property
    def tags(self) -> list[str]:
        value = self.options.get("tags")
        return [str(tag) for tag in value] if isinstance(value, list) else str(value or "").split()


def parser(extensions: frozenset[str]) -> MarkdownIt:
    """The Markdown parser that Sphinx uses with these extensions."""
    return create_md_parser(MdParserConfig(enable_extensions=set(extensions)), RendererHTML)


@dataclass(frozen=True)
class Grammar:
    """How to read one page: ``strict`` rejects what has no plain counterpart, else it is passed over."""

    path: Path
    extensions: frozenset[str]
    strict: bool = True

    def error(self, line: int, message: str) -> ExportError:
        return ExportError(self.path, line, message)


def blocks(text: str, grammar: Grammar, first_line: int = 1) -> list[Block]:
    """The constructs of ``text`` in order, without overlap; what lies between them is plain Markdown.

    Raises ExportError for unclosed fences, malformed options and constructs that have no plain counterpart.
    """
    environment: dict = {}
    tokens = parser(grammar.extensions).parse(text, environment)
    lines = text.split("\n")
    if grammar.strict and environment.get("references"):
        line = min(reference["map"][0] for reference in environment["references"].values())
        raise grammar.error(first_line + line, "unsupported construct: reference-style link")
    found: list[Block] = []
    heading = ""
    for token in tokens:
        if token.type == "heading_open":
            heading = token.tag
        elif token.type == "heading_close":
            heading = ""
        elif token.type in UNSUPPORTED and grammar.strict:
            line = token.map[0] if token.map else 0
            raise grammar.error(first_line + line, f"unsupported construct: {UNSUPPORTED[token.type]}")
        if token.type not in KINDS or not token.map:
            continue
        if found and token.map[0] < found[-1].end:  # a further cell of the same table row
            continue
        found.append(make_block(token, lines, grammar, first_line, heading))
    return found


def make_block(token: Token, lines: list[str], grammar: Grammar, first_line: int, heading: str) -> Block:
    assert token.map
    start, end = token.map
    line = first_line + start
    if token.type in ("fence", "colon_fence"):
        return fence(token, lines, grammar, line)
    if token.type.startswith("math_block"):
        prefix = lines[start][: lines[start].index("$$")]
        return Block("math", start, end, line, token.content, argument=token.info.strip(), prefix=prefix)
    if token.type == "inline":
        return Block("text", start, end, line, "\n".join(lines[start:end]), heading)
    return Block(KINDS[token.type], start, end, line, token.content)


def fence(token: Token, lines: list[str], grammar: Grammar, line: int) -> Block:
    """A fenced block: code as it stands, or a directive with its argument, options and body."""
    assert token.map
    start, end = token.map
    last = lines[end - 1].lstrip("> \t")
    mark = token.markup[0]
    info = token.info.strip()
    match = re.match(r"\{([^}]*)\}\s*(.*)", info)
    if end - start < 2 or not re.fullmatch(rf"{re.escape(mark)}{{{len(token.markup)},}}\s*", last):
        raise grammar.error(line, f"unclosed fence: {token.markup}{info}")
    prefix = lines[start][: lines[start].index(token.markup)]
    if not match:
        if token.type == "colon_fence":
            raise grammar.error(line, f"colon fence without a directive: {token.markup}{info}")
        return Block("code", start, end, line, token.content, prefix=prefix)
    name, argument = match[1].strip(), match[2].strip()
    if (
        grammar.strict
        and name not in OPTIONS
        and name not in ADMONITIONS
        and name.removeprefix("prf:") not in PROOFS
    ):
        raise grammar.error(line, f"unknown directive: {{{name}}}")
    options, body, skipped = split_options(token.content, name, grammar, line)
    return Block("directive", start, end, line, body, name, argument, options, line + 1 + skipped, prefix)


def split_options(content: str, name: str, grammar: Grammar, line: int) -> tuple[dict[str, object], str, int]:
    """Options (``:key: value`` lines or a YAML block), body, and the number of lines before the body."""
    lines = content.split("\n")
    if lines[0].strip() == "---":
        if "---" not in [text.strip() for text in lines[1:]]:
            raise grammar.error(line, f"unclosed option block of {{{name}}}")
        count = [text.strip() for text in lines[1:]].index("---") + 2
        source = "\n".join(lines[1 : count - 1])
        options = load_yaml(source, f"options of {{{name}}}", grammar, line)
    else:
        count = 0
        options = {}
        while count < len(lines) and (match := re.match(r"\s*:([\w-]+):(?:\s+(.*))?$", lines[count])):
            key, value = match[1], (match[2] or "").strip()
            if key == "tags":
                options.update(load_yaml(f"tags: {value}", "option tags", grammar, line + 1 + count))
            else:
                options[key] = value
            count += 1
    allowed = OPTIONS.get(name, COMMON | {"nonumber", "open", "icon"})
    for key in options:
        if grammar.strict and key not in allowed:
            raise grammar.error(line, f"unknown option of {{{name}}}: {key}")
    while count < len(lines) and not lines[count].strip():
        count += 1
    return options, "\n".join(lines[count:]).rstrip(), count


def load_yaml(source: str, what: str, grammar: Grammar, line: int) -> dict[str, object]:
    try:
        value = yaml.safe_load(source) or {}
    except (yaml.YAMLError, ValueError) as error:  # ValueError: impossible dates and the like
        raise grammar.error(line, f"malformed YAML in {what}: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict):
        raise grammar.error(line, f"{what} are not a mapping")
    return {str(key): item for key, item in value.items()}


def walk(text: str, grammar: Grammar, first_line: int = 1) -> Iterator[Block]:
    """All constructs of ``text``, those inside directives included, in the order of the source."""
    for block in blocks(text, grammar, first_line):
        yield block
        if block.kind == "directive" and block.name not in ("code-cell", "math", "solution-end"):
            yield from walk(block.content, grammar, block.body_line)
