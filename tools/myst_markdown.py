"""Translate the block constructs of a MyST page into Markdown that Colab, Jupyter and GitHub render alike."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from myst_blocks import ADMONITIONS, Block, ExportError, blocks
from myst_book import Book, Page
from myst_inline import Inline
from quiz_file import QuizError, load_quiz, markdown, quiz_path

ENVIRONMENT = re.compile(r"\\begin\{([a-z]+\*?)\}(?:(?!\\begin\{).)*?\\end\{\1\}", re.DOTALL)
GROUP = re.compile(r"(?<!\\)\{[^{}]*\}")
NUMBERED = re.compile(
    r"\\begin\{(?:align|equation|gather|multline|eqnarray|alignat|flalign)\*?\}|\\tag\b|\\label\b"
)


class Markdown:
    """Translator for the text of one page; code cells and gates are not its business."""

    def __init__(self, book: Book, page: Page) -> None:
        self.book = book
        self.page = page
        self.inline = Inline(book, page)

    def error(self, line: int, message: str) -> ExportError:
        return self.page.grammar.error(line, message)

    def render(self, text: str, first_line: int, quoted: bool = False) -> str:
        """Plain Markdown for a body of text; ``quoted`` if it will stand in a blockquote."""
        lines = text.split("\n")
        out: list[str] = []
        position = 0
        for block in blocks(text, self.page.grammar, first_line):
            out += lines[position : block.start]
            out += self.block(block, lines, quoted)
            position = block.end
        return "\n".join(out + lines[position:]).strip("\n")

    def block(self, block: Block, lines: list[str], quoted: bool) -> list[str]:
        """The lines that replace one construct, with the list and quote marks that stood before it."""
        if block.kind in ("comment", "target", "front matter"):
            return []
        if block.kind == "break":
            return [""]
        if block.kind == "text":
            return self.inline.render(block.content, block.line).split("\n")
        if block.kind == "html":
            self.inline.check_html(block.content, block.line)
        if block.kind in ("html", "code"):
            return lines[block.start : block.end]
        if block.kind == "math":
            new = self.math(block, quoted or bool(block.prefix.strip()))
        else:
            new = self.directive(block, quoted or ">" in block.prefix)
        rest = re.sub(r"[^>\s]", " ", block.prefix)
        # In a list or a quote, whatever follows the construct must not be swallowed by it.
        first, *others = new.split("\n")
        return [block.prefix + first, *((rest + line).rstrip() for line in others)]

    def math(self, block: Block, one_line: bool) -> str:
        """A display formula; its number is a tag.

        Jupyter takes formulas out before it reads Markdown, so in a quote the marks of the lines would become
        part of the formula: there it is set on one line.
        """
        tex = dedent("\n".join(line.rstrip() for line in block.content.split("\n"))).strip()
        if "\n\n" in tex or not tex:
            raise self.error(block.line, "empty formula, or blank line in a formula")
        if match := NUMBERED.search(tex):
            raise self.error(block.line, f"unsupported in a formula: {match[0]} (use aligned and a label)")
        tex = re.sub(r"(?<!\\)%.*", "", tex).strip() if one_line else tex
        outer = tex
        for pattern in (ENVIRONMENT, GROUP):
            while pattern.search(outer):
                outer = pattern.sub("", outer)
        if "\\\\" in outer:  # Sphinx splits such a formula by itself
            tex = f"\\begin{{split}}{tex}\\end{{split}}"
        number = self.book.numbers.get((self.page.name, block.line))
        tag = f"\\tag{{{number}}}" if number else ""
        if one_line:
            return "$$" + " ".join(f"{tex} {tag}".split()) + "$$"
        return "\n".join(["$$", tex, *([tag] if tag else []), "$$"])

    def directive(self, block: Block, quoted: bool) -> str:
        name = block.name
        if name == "math":
            content = "\n".join(part for part in (block.argument, block.content) if part)
            return self.math(replace(block, content=content), quoted or bool(block.prefix))
        if name == "figure":
            return self.figure(block, quoted)
        if name == "list-table":
            return self.table(block)
        if name in ("code-cell", "solution-start", "solution-end", "chapter-header"):
            raise self.error(block.line, f"{{{name}}} must stand at the top level of the page")
        if name == "exercise" or name.startswith("prf:"):
            return quote(self.statement(block))
        if name == "margin":
            return quote(self.titled(block, block.argument, quoted=True))
        if name == "quiz":
            return self.quiz(block)
        if name in ADMONITIONS:
            return self.admonition(block, quoted)
        raise self.error(block.line, f"cannot be exported: {{{name}}}")

    def quiz(self, block: Block) -> str:
        """The questions of the page's quiz file, with folded answers."""
        if block.argument or block.content.strip():
            raise self.error(block.line, "{quiz} has neither argument nor body: it shows the quiz file of the page")
        try:
            questions = load_quiz(quiz_path(self.book.root, self.page.name))
        except QuizError as error:
            raise self.error(block.line, str(error)) from None
        return self.inline.render(markdown(questions), block.line)

    def body(self, block: Block, quoted: bool) -> str:
        return self.render(block.content, block.body_line, quoted)

    def text(self, source: str, block: Block) -> str:
        return self.inline.render(source, block.line)

    def titled(self, block: Block, title: str, quoted: bool) -> str:
        """Bold title, then the body."""
        head = f"**{self.text(title, block)}**" if title else ""
        return "\n\n".join(part for part in (head, self.body(block, quoted)) if part)

    def statement(self, block: Block) -> str:
        name = block.name.removeprefix("prf:").capitalize()
        number = self.book.numbers.get((self.page.name, block.line))
        title = f"{name} {number}" if number else name
        title += f" ({block.argument})" if block.argument else ""
        return self.titled(block, title + ".", quoted=True)

    def admonition(self, block: Block, quoted: bool) -> str:
        """A blockquote, or a fold for hints and whatever is a dropdown in the book."""
        has_title = block.name in ("admonition", "dropdown")
        title = block.argument if has_title else ADMONITIONS[block.name]
        lead = self.text(block.argument, block) if not has_title else ""
        folded = block.name in ("hint", "dropdown") or "dropdown" in block.option("class").split()
        inside = "\n\n".join(part for part in (lead, self.body(block, quoted or not folded)) if part)
        if folded:
            return details(self.text(title, block), inside)
        head = f"**{self.text(title, block)}**" if title else ""
        return quote("\n\n".join(part for part in (head, inside) if part))

    def figure(self, block: Block, quoted: bool) -> str:
        address, _ = self.inline.image(block.argument, block.line)
        alt = self.text(block.option("alt"), block).replace("[", "(").replace("]", ")")
        number = self.book.numbers.get((self.page.name, block.line))
        caption = self.body(block, quoted)
        if caption:
            caption = f"**Figure {number}.** {caption}"
        return "\n\n".join(part for part in (f"![{alt}]({address})", caption) if part)

    def table(self, block: Block) -> str:
        """A pipe table from a list of lists."""
        tree = SyntaxTreeNode(MarkdownIt().parse(block.content))
        rows: list[list[str]] = []
        for listing in tree.children:
            for item in listing.children:
                inner = item.children[0] if item.children else None
                if (
                    listing.type != "bullet_list"
                    or inner is None
                    or inner.type != "bullet_list"
                    or len(item.children) > 1
                ):
                    raise self.error(block.body_line, "malformed {list-table}: not a list of lists")
                rows.append([self.cell(entry, block) for entry in inner.children])
        widths = {len(row) for row in rows}
        if len(widths) != 1:
            raise self.error(block.line, "malformed {list-table}: rows differ in length or are missing")
        header = rows.pop(0) if block.option("header-rows") == "1" else [""] * widths.pop()
        lines = [header, ["---"] * len(header), *rows]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        number = self.book.numbers.get((self.page.name, block.line))
        return f"**Table {number}.** {self.text(block.argument, block)}\n\n{table}" if number else table

    def cell(self, entry: SyntaxTreeNode, block: Block) -> str:
        """One cell on one line; bars in formulas are spelled out, since a bare one would end the cell."""
        if len(entry.children) > 1 or (entry.children and entry.children[0].type != "paragraph"):
            raise self.error(block.body_line, "malformed {list-table}: a cell holds more than one paragraph")
        source = entry.children[0].children[0].content if entry.children else ""
        line = block.body_line + (entry.map[0] if entry.map else 0)
        parts = re.split(r"((?<!\\)\$[^$]*\$)", self.inline.render(source, line).replace("\n", " "))
        for index, part in enumerate(parts):
            if index % 2:
                parts[index] = re.sub(r"(?<!\\)\|", r"\\vert ", part.replace(r"\|", r"\Vert "))
            else:
                parts[index] = re.sub(r"(?<!\\)\|", r"\|", part)
        return "".join(parts)


def quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def details(summary: str, body: str) -> str:
    """A fold.  The blank lines make what is inside Markdown again; code marks become HTML in the summary."""
    summary = re.sub(r"`([^`]*)`", r"<code>\1</code>", summary)
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"
