"""Translate the inline parts of a MyST page: roles, links, images.  Code spans and formulas stay."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from myst_blocks import ExportError
from myst_book import Book, Page

ROLE = re.compile(r"\{([^{}`\s]+)\}(?=`)")
SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
FORMULA = re.compile(r"\$(?!\$)((?:\\.|[^\\$])+)\$(?!\$)", re.DOTALL)
DESTINATION = re.compile(r"""\(\s*(<[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*)(\s+(?:"[^"]*"|'[^']*'))?\s*\)""")
TAG = re.compile(r"<(/?[A-Za-z][^<>]*|!--.*?--)>", re.DOTALL)
ATTRIBUTE = re.compile(r"""\b(?:src|href)\s*=\s*["']?([^"'\s>]+)""")
ABSOLUTE = re.compile(r"(?:https?:|mailto:|data:)")
EXPLICIT = re.compile(r"(.*?)\s*<([^<>]+)>\s*", re.DOTALL)


class Inline:
    """Translator for one page."""

    def __init__(self, book: Book, page: Page) -> None:
        self.book = book
        self.page = page

    def error(self, line: int, message: str) -> ExportError:
        return self.page.grammar.error(line, message)

    def render(self, text: str, line: int) -> str:
        """Plain Markdown for MyST text whose first line is ``line`` of the file."""
        out: list[str] = []
        open_brackets: list[tuple[bool, int]] = []  # (of an image?, index in ``out`` after the bracket)
        position = 0
        while position < len(text):
            here = line + text.count("\n", 0, position)
            character = text[position]
            piece = character
            width = 1
            if character == "\\":
                piece = text[position : position + 2]
            elif character == "{":
                piece, width = self.brace(text, position, here)
            elif character == "`":
                match = SPAN.match(text, position)
                piece = match[0] if match else re.match("`+", text[position:])[0]  # type: ignore[index]
            elif character == "$":
                piece = self.formula(text, position, here)
            elif character == "<":
                match = TAG.match(text, position)
                if match and re.match(r"<(?:project|path|inv):", match[0]):
                    raise self.error(here, f"unsupported construct: {match[0]}")
                if match:
                    piece = match[0]
                    self.check_html(piece, here)
            elif text.startswith("[^", position):
                raise self.error(here, "unsupported construct: footnote")
            elif character == "[" or text.startswith("![", position):
                piece = "![" if character == "!" else "["
                open_brackets.append((character == "!", len(out) + 1))
            elif character == "]" and open_brackets:
                is_image, begin = open_brackets.pop()
                match = DESTINATION.match(text, position + 1)
                if match:
                    target = match[1].strip("<>")
                    address, title = self.image(target, here) if is_image else self.link(target, here)
                    if not is_image and not "".join(out[begin:]).strip():
                        out.append(title)
                    out.append(f"]({address}{match[2] or ''})")
                    position = match.end()
                    if text.startswith("{", position) and not ROLE.match(text, position):
                        raise self.error(here, "unsupported construct: attributes in braces")
                    continue
            out.append(piece)
            position += max(width, len(piece)) if width == 1 else width
        return "".join(out)

    def formula(self, text: str, position: int, line: int) -> str:
        if text.startswith("$$", position):
            raise self.error(line, "display formula inside a paragraph (it needs lines of its own)")
        match = FORMULA.match(text, position)
        return match[0] if match else "$"

    def brace(self, text: str, position: int, line: int) -> tuple[str, int]:
        """What stands for a role that begins here, and how much of the source it takes."""
        if text.startswith("{{", position):
            raise self.error(line, "unsupported construct: substitution")
        match = ROLE.match(text, position)
        if not match:
            return "{", 1
        span = SPAN.match(text, match.end())
        if not span:
            raise self.error(line, f"unclosed role: {{{match[1]}}}")
        return self.role(match[1], " ".join(span[2].split()), line), span.end() - position

    def role(self, name: str, content: str, line: int) -> str:
        explicit = EXPLICIT.fullmatch(content)
        text, target = (explicit[1], explicit[2].strip()) if explicit else ("", content)
        if name == "math":
            return f"${content}$"
        if name in ("cite:t", "cite:p"):
            return self.citation(name == "cite:t", content, line)
        if name == "doc":
            address, title = self.link(target + ".md", line)
            return f"[{text or title}]({address})"
        if name == "term":
            page = self.book.terms.get(target.lower())
            if page is None:
                raise self.error(line, f"unresolved term: {target}")
            return (
                f"**{text or target}**"
                if page is self.page
                else f"[{text or target}]({self.page_address(page)})"
            )
        if name in ("eq", "ref", "prf:ref"):
            return self.reference(name, text, target, line)
        raise self.error(line, f"unknown role: {{{name}}}")

    def reference(self, role: str, text: str, label: str, line: int) -> str:
        target = self.book.targets.get(label)
        fits = target is not None and (
            (role == "eq") == (target.kind == "equation") and (role != "prf:ref" or target.kind == "theorem")
        )
        if target is None or not fits:
            raise self.error(line, f"unresolved label: {label} in {{{role}}}")
        if not text and not target.text:
            raise self.error(line, f"label without a title: {label} (write {{ref}}`text <{label}>`)")
        shown = target.text if role == "eq" else text or target.text
        if ROLE.search(shown):
            raise self.error(line, f"label of a heading that contains a role: {label}")
        if target.page is self.page:
            return shown
        address = self.page_address(target.page)
        if role == "eq":
            return f"{shown} of [{target.page.title}]({address})"
        return f"[{shown}]({address})"

    def citation(self, textual: bool, content: str, line: int) -> str:
        links = []
        for key in content.split(","):
            link = self.book.cite(key.strip(), textual)
            if link is None:
                raise self.error(line, f"unresolved citation: {key.strip()}")
            links.append(link)
        return ", ".join(links) if textual else f"({'; '.join(links)})"

    def page_address(self, page: Page) -> str:
        """Address of a page as seen from this one: its notebook, or its source in the repository."""
        if page.is_notebook:
            return posixpath.relpath(page.name, self.page.folder or ".") + ".ipynb"
        return self.book.blob(f"{page.name}.md")

    def link(self, target: str, line: int) -> tuple[str, str]:
        """Address and default text of a link."""
        if ABSOLUTE.match(target):
            return target, target
        if target.startswith("#"):
            found = self.book.targets.get(target[1:])
            if found is None:
                raise self.error(line, f"unresolved label: {target[1:]}")
            return self.page_address(found.page), found.text or found.page.title
        path = self.local(target.partition("#")[0])
        page = self.book.pages.get(path.removesuffix(".md")) if path.endswith(".md") else None
        if page:
            return self.page_address(page), page.title
        if path.endswith((".md", ".ipynb")) or not self.exists(path):
            raise self.error(line, f"unresolved link: {target}")
        return self.book.blob(path), posixpath.basename(path)

    def image(self, target: str, line: int) -> tuple[str, str]:
        if ABSOLUTE.match(target):
            return target, ""
        path = self.local(target)
        if not self.exists(path):
            raise self.error(line, f"missing image: {target}")
        return self.book.raw(path), ""

    def local(self, target: str) -> str:
        """Path from the root of the book; a leading slash means the root, as in Sphinx."""
        folder = "" if target.startswith("/") else self.page.folder
        return posixpath.normpath(posixpath.join(folder, unquote(target).lstrip("/")))

    def exists(self, path: str) -> bool:
        try:
            return not path.startswith("..") and (self.book.root / path).is_file()
        except (OSError, ValueError):  # a name that the file system cannot hold
            return False

    def check_html(self, text: str, line: int) -> None:
        for address in ATTRIBUTE.findall(text):
            if not ABSOLUTE.match(address):
                raise self.error(line, f"relative address in HTML: {address}")
