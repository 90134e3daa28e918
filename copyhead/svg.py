"""Small, self-contained SVG from matplotlib's verbose one.

A drawing becomes a list of *items* (strings of SVG, in painting order) and a table of definitions (glyphs,
markers, clip paths) keyed by their content, so that equal things in different drawings are equal strings.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import lru_cache
from html import escape

INK = "#7a7a7b"  # the colour of axes and text; like black, it becomes the colour of the page's own text
SMOOTH = "#smooth"  # the url of an image that the browser shall interpolate

_NUMBER = re.compile(r"-?\d*\.?\d+(?:e[-+]?\d+)?")
_AUTOMATIC_ID = re.compile(r"[A-Za-z.\d]+_\d+")
_ARGUMENTS = {"M": 2, "L": 2, "Q": 4, "C": 6, "Z": 0}


@dataclass
class Drawing:
    """One figure: size in points, items in painting order, definitions by content hash."""

    width: float
    height: float
    items: list[str]
    definitions: dict[str, str]


def minimise(text: str) -> Drawing:
    """Return the drawing in matplotlib's SVG ``text``: rounded, without metadata, with merged definitions."""
    root = ET.fromstring(text, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    for element in root.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
        for key in list(element.attrib):
            element.attrib[key.rpartition("}")[2]] = element.attrib.pop(key)
    sources = {e.attrib["id"]: e for defs in root.iter("defs") for e in defs if "id" in e.attrib}
    writer = _Writer(sources)
    width, height = (float(v) for v in root.attrib["viewBox"].split()[2:])
    return Drawing(width, height, writer.items(root), writer.definitions)


class _Writer:
    """Turns elements into strings; a reference to a definition is written as its content hash ``@...@``."""

    def __init__(self, sources: dict[str, ET.Element]) -> None:
        self.sources = sources
        self.definitions: dict[str, str] = {}
        self.keys: dict[str, str] = {}

    def items(self, parent: ET.Element) -> list[str]:
        found: list[str] = []
        comment = ""
        for element in parent:
            if element.tag is ET.Comment:  # matplotlib puts the source of a text before its glyphs
                comment = (element.text or "").strip()
                continue
            if element.tag in ("defs", "metadata", "style"):
                continue
            extra = {"data-text": comment} if comment else {}
            found += self.element(element, extra)
            comment = ""
        return found

    def element(self, element: ET.Element, attributes: dict[str, str], smooth: bool = False) -> list[str]:
        tag = str(element.tag)
        if tag == "a" and element.attrib.get("href") == SMOOTH:
            return [item for child in element for item in self.element(child, {}, smooth=True)]
        identifier = element.attrib.get("id", "")
        if tag == "g" and identifier and not _AUTOMATIC_ID.fullmatch(identifier):
            attributes["data-gid"] = identifier
        for key, value in element.attrib.items():
            if key != "id":
                attributes[key] = self.attribute(tag, key, value)
        if tag == "path":
            style = attributes.get("style", "")
            if not attributes.get("d") or (style.startswith("fill:none") and "stroke:" not in style):
                return []  # nothing to paint
        if tag == "use":
            _shorten_use(attributes)
        if smooth:
            attributes.pop("style", None)
            inner = [item for child in element for item in self.element(child, {}, smooth=True)]
        else:
            inner = self.items(element)
        if tag == "g":
            if not inner:
                return []
            if not attributes:
                return inner
        return [_tag(tag, attributes, "".join(inner))]

    def attribute(self, tag: str, key: str, value: str) -> str:
        if key == "d":
            return short_path(value)
        if key == "style":
            value = re.sub(r"\s*([:;,])\s*", r"\1", value.strip())
            value = re.sub(f":(?:{INK}|#000000)", ":currentColor", value)
            return re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{self.define(m[1])})", value)
        if key == "clip-path":
            return f"url(#{self.define(value[5:-1])})"
        if key == "href":
            if tag == "image":
                return _small_png(value)
            return "#" + self.define(value[1:]) if value[1:] in self.sources else value
        if key == "transform":
            return _short_transform(value)
        if key in ("x", "y", "width", "height"):
            return _number(float(value), 2)
        return value

    def define(self, identifier: str) -> str:
        if identifier not in self.keys:
            source = self.sources[identifier]
            bare = {k: v for k, v in source.attrib.items() if k != "id"}
            attributes = {k: self.attribute(str(source.tag), k, v) for k, v in bare.items()}
            text = _tag(str(source.tag), attributes, "".join(self.items(source)))
            key = hashlib.sha1(text.encode()).hexdigest()[:16]
            self.keys[identifier] = f"@{key}@"
            self.definitions[key] = text
        return self.keys[identifier]


def _tag(name: str, attributes: dict[str, str], inner: str) -> str:
    head = name + "".join(f' {k}="{escape(v, quote=True)}"' for k, v in attributes.items())
    return f"<{head}>{inner}</{name}>" if inner else f"<{head}/>"


def _number(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    text = "0" if text in ("-0", "") else text
    return re.sub(r"^(-?)0\.", r"\1.", text)


def _short_transform(value: str) -> str:
    def call(match: re.Match[str]) -> str:
        decimals = 2 if match[1] == "translate" else 6
        numbers = [_number(float(n), decimals) for n in _NUMBER.findall(match[2])]
        return f"{match[1]}({' '.join(numbers)})"

    return re.sub(r"(\w+)\(([^)]*)\)\s*", call, value)


def _shorten_use(attributes: dict[str, str]) -> None:
    """Write a pure shift of a glyph as x, y; glyphs live in hundredths of the font size, so integers do."""
    match = re.fullmatch(r"translate\(([^ ()]+) ([^ ()]+)\)", attributes.get("transform", ""))
    if match and "x" not in attributes and "y" not in attributes:
        del attributes["transform"]
        for key, value in zip("xy", match.groups(), strict=True):
            if _number(float(value), 0) != "0":
                attributes[key] = _number(float(value), 0)


@lru_cache(2048)  # glyphs come again in every figure
def short_path(data: str, decimals: int = 2) -> str:
    """Return SVG path ``data`` (absolute M, L, Q, C, Z), relative and on a grid of ``10**-decimals``.

    Points are rounded before they are subtracted, so rounding errors do not add up along the path.
    """
    scale = 10**decimals
    tokens = re.findall(r"[MLQCZz]|-?\d*\.?\d+(?:e[-+]?\d+)?", data)
    out: list[str] = []
    here = start = (0, 0)
    last = ""
    position = 0
    while position < len(tokens):
        command = tokens[position].upper()
        count = _ARGUMENTS[command]
        values = [round(float(t) * scale) for t in tokens[position + 1 : position + 1 + count]]
        position += 1 + count
        if command == "Z":
            out.append("z")
            here, last = start, "z"
            continue
        shifted = [v - here[i % 2] for i, v in enumerate(values)]
        here = (values[-2], values[-1])
        letter = command.lower()
        if letter == "m":
            start = here
        elif letter == "l":
            if shifted == [0, 0] and last in ("l", "h", "v"):
                continue
            if shifted[1] == 0:
                letter, shifted = "h", shifted[:1]
            elif shifted[0] == 0:
                letter, shifted = "v", shifted[1:]
        if letter != last or letter == "m":
            out.append(letter)
        for value in shifted:
            number = _number(value / scale, decimals)
            apart = out[-1].isalpha() or number[0] == "-" or (number[0] == "." and "." in out[-1])
            out.append(number if apart else " " + number)
        last = letter
    return "".join(out)


def _small_png(link: str) -> str:
    """Re-encode an embedded PNG with a palette where its colours allow that without loss."""
    from PIL import Image

    source = base64.b64decode(link.partition(",")[2])
    image: Image.Image = Image.open(io.BytesIO(source)).convert("RGBA")
    if image.getchannel("A").getextrema() == (255, 255):
        image = image.convert("RGB")
        data = image.tobytes()
        pixels = [data[i : i + 3] for i in range(0, len(data), 3)]
        table = sorted(set(pixels))
        if len(table) <= 256:
            index = {colour: i for i, colour in enumerate(table)}
            image = Image.frombytes("P", image.size, bytes(index[pixel] for pixel in pixels))
            image.putpalette(b"".join(table))
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
