"""Brace expansion: ``{a,b}`` and ``{1..3}``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gdnlint.documents.shell.syntax import Literal, Part

MOST_OPENERS = 64
"""Braces in one word that are looked at; the rest is taken literally."""

_RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})(?:\.\.(-?\d{1,9}))?|([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?")


class TooMany(Exception):
    """More words than the limit."""


@dataclass(frozen=True, slots=True)
class _Char:
    """An unquoted character."""

    text: str
    start: int
    end: int


_Item = Part | _Char


def expand_braces(parts: Sequence[Part], limit: int) -> list[list[Part]]:
    """The words that brace expansion makes of one, as parts. Raises TooMany."""
    items: list[_Item] = []
    openers = 0
    for part in parts:
        if isinstance(part, Literal) and not part.quoted and len(part.text) == part.end - part.start:
            items.extend(_Char(c, part.start + i, part.start + i + 1) for i, c in enumerate(part.text))
            openers += part.text.count("{")
        else:
            items.append(part)
    if openers > MOST_OPENERS:
        return [list(parts)]
    return [_joined(items) for items in _expand(items, limit, 0)]


def has_braces(parts: Sequence[Part]) -> bool:
    return any(isinstance(p, Literal) and not p.quoted and "{" in p.text for p in parts)


def _expand(items: list[_Item], limit: int, depth: int) -> list[list[_Item]]:
    if depth > 20:
        return [items]
    for at, item in enumerate(items):
        if not (isinstance(item, _Char) and item.text == "{"):
            continue
        found = _alternatives(items, at, limit)
        if found is None:
            continue
        alternatives, after = found
        middles = [made for one in alternatives for made in _expand(one, limit, depth + 1)]
        tails = _expand(items[after:], limit, depth + 1)
        if len(middles) * len(tails) > limit:
            raise TooMany
        return [items[:at] + middle + tail for middle in middles for tail in tails]
    return [items]


def _alternatives(items: list[_Item], at: int, limit: int) -> tuple[list[list[_Item]], int] | None:
    """The members of the brace at ``at`` and the index behind it; None if it is a plain character."""
    level = 0
    commas: list[int] = []
    for index in range(at, len(items)):
        item = items[index]
        if not isinstance(item, _Char):
            continue
        if item.text == "{":
            level += 1
        elif item.text == "," and level == 1:
            commas.append(index)
        elif item.text == "}":
            level -= 1
            if level == 0:
                if commas:
                    edges = [at, *commas, index]
                    return [items[a + 1 : b] for a, b in itertools.pairwise(edges)], index + 1
                return _sequence(items, at, index, limit)
    return None


def _sequence(items: list[_Item], at: int, end: int, limit: int) -> tuple[list[list[_Item]], int] | None:
    inner = items[at + 1 : end]
    if not all(isinstance(item, _Char) for item in inner) or len(inner) > 60:
        return None
    text = "".join(item.text for item in inner if isinstance(item, _Char))
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    opening, closing = items[at], items[end]
    if found.group(1) is not None:
        first, last = int(found.group(1)), int(found.group(2))
        step = abs(int(found.group(3) or 1)) or 1
        width = max((len(g) for g in found.group(1, 2) if re.match(r"-?0\d", g)), default=0)
    else:
        first, last = ord(found.group(4)), ord(found.group(5))
        step = abs(int(found.group(6) or 1)) or 1
        width = -1
    if abs(last - first) // step + 1 > limit:
        raise TooMany
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    texts = [chr(n) if width < 0 else f"{n:0{width}d}" for n in numbers]
    return [[_Char(t, opening.start, closing.end)] for t in texts], end + 1


def _joined(items: Sequence[_Item]) -> list[Part]:
    """Characters that stand side by side become one literal again."""
    out: list[Part] = []
    run: list[_Char] = []
    for item in [*items, None]:
        if isinstance(item, _Char) and (not run or (run[-1].end == item.start and len(item.text) == 1)):
            run.append(item)
            continue
        if run:
            out.append(Literal(run[0].start, run[-1].end, "".join(c.text for c in run), False))
            run = []
        if isinstance(item, _Char):
            run.append(item)
        elif item is not None:
            out.append(item)
    return out
