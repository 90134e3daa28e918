"""Several frames of a figure as one drawing that holds what they share once.

What is the same in all frames stays in its place in the painting order; the rest gets groups that name the
frames they belong to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

_REFERENCE = re.compile(r"@([0-9a-f]{16})@")  # how copyhead.svg writes a reference to a definition
_GROUP_COST = 36  # characters of a group that belongs to one frame


def merge(frames: Sequence[Sequence[str]], shown: int) -> str:
    """Return one string of SVG for all ``frames`` (lists of items), with frame ``shown`` visible.

    What differs between frames stands in ``<g data-f="i j ...">`` (the frames it belongs to), hidden by the
    attribute ``display="none"`` unless ``shown`` is among them.
    """
    common = list(frames[0])
    for frame in frames[1:]:
        blocks = SequenceMatcher(None, common, frame, autojunk=False).get_matching_blocks()
        common = [item for block in blocks for item in common[block.a : block.a + block.size]]
    positions = [_find(common, frame) for frame in frames]
    slots: list[list[str]] = []  # per slot: one string per frame
    cursor = [0] * len(frames)
    for step in range(len(common) + 1):
        runs = [list(f[c : p[step]]) for f, c, p in zip(frames, cursor, positions, strict=True)]
        if len({len(run) for run in runs}) == 1:
            slots += [list(column) for column in zip(*runs, strict=True)]
        else:
            slots.append(["".join(run) for run in runs])
        if step < len(common):
            slots.append([common[step]] * len(frames))
        cursor = [p[step] + 1 for p in positions]
    joined: list[list[str]] = []
    for slot in slots:
        if joined:
            both = [a + b for a, b in zip(joined[-1], slot, strict=True)]
            if _cost(both) <= _cost(joined[-1]) + _cost(slot):
                joined[-1] = both
                continue
        joined.append(slot)
    return "".join(_write_slot(slot, shown) for slot in joined)


def _find(items: Sequence[str], frame: Sequence[str]) -> list[int]:
    """Return the first places at which ``items`` occur in order in ``frame``, then its length."""
    places: list[int] = []
    for item in items:
        places.append(frame.index(item, places[-1] + 1 if places else 0))
    return [*places, len(frame)]


def _cost(slot: list[str]) -> int:
    variants = set(slot)
    return len(slot[0]) if len(variants) == 1 else sum(len(v) + _GROUP_COST for v in variants)


def _write_slot(slot: list[str], shown: int) -> str:
    variants: dict[str, list[int]] = {}
    for frame, text in enumerate(slot):
        variants.setdefault(text, []).append(frame)
    if len(variants) == 1:
        return slot[0]
    out = []
    for text, members in variants.items():
        if text:
            hidden = "" if shown in members else ' display="none"'
            out.append(f'<g data-f="{" ".join(map(str, members))}"{hidden}>{text}</g>')
    return "".join(out)


def resolve(text: str, definitions: dict[str, str], prefix: str) -> tuple[str, str]:
    """Return ``text`` and the used definitions with content hashes replaced by ids ``prefix`` + number."""
    names: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        return names.setdefault(match[1], f"{prefix}-{len(names)}")

    text = _REFERENCE.sub(name, text)
    written: list[str] = []
    while len(written) < len(names):  # a definition may refer to another one, which then joins the queue
        key = list(names)[len(written)]
        body = _REFERENCE.sub(name, definitions[key])
        written.append(re.sub(r"^<(\w+)", rf'<\1 id="{names[key]}"', body, count=1))
    return text, "".join(written)
