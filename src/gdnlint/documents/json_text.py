"""JSON whose parts may be holes: ``{"method": "mtp", "num_speculative_tokens": $N}``.

The grammar is that of Python's ``json`` (NaN and Infinity included, the last of duplicate keys
wins). A hole may stand inside a string, for a value, or for part of a bare word.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from json.decoder import scanstring  # type: ignore[attr-defined]

from gdnlint.source import Span
from gdnlint.values import Cuts, Data, Hole, Place, Text, Value, has_mark

DEEPEST = 100
"""Levels of nesting that are read; a deeper text is a hole."""
MOST_VALUES = 2_000
"""Values of one text that are read; a larger text is a hole."""

_SPACE = re.compile(r"[ \t\n\r]*")
_BARE = re.compile(r"[^\s,:\]}\[{\"]+")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, Data] = {
    "null": None,
    "true": True,
    "false": False,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


class _Invalid(Exception):
    """The text is no JSON, whatever its holes stand for."""


class _TooLarge(Exception):
    """The text may be JSON, but is not read."""


def parse(text: Text, span: Span | None = None, *, route: str = "key", name: str = "") -> Value | None:
    """The value that a JSON text holds, or None where it is not JSON; a hole where it is too large or too deep.

    Members are named by their dotted path below ``name``. Each has the span of its own
    characters (a member's begins at its key) where the pieces of ``text`` say where these are
    written, else ``span``. A mapping with a key that is not known is a hole as a whole.
    """
    reader = _Reader(text, span, route)
    try:
        value, end = reader.value(reader.skip(0), name, 0, None)
    except _TooLarge:
        return Value.unknown("a JSON text that is too large or nested too deeply", span, name)
    except (_Invalid, ValueError, RecursionError):
        # ValueError: a string with a bad escape, an integer of thousands of digits.
        return None
    if reader.skip(end) != len(reader.marked):
        return None
    return value


def locator(text: Text, span: Span | None) -> Callable[[int, int], Span | None]:
    """Maps characters of ``text.marked()`` to their span in a file, or to ``span`` where that is not known."""
    ends: list[tuple[int, int, Span | None]] = []
    starts: list[int] = []
    at = 0
    for piece in text.pieces:
        size = 1 if isinstance(piece.content, Hole) else len(piece.content)
        where = piece.span
        exact = where is not None and (isinstance(piece.content, Hole) or where.end - where.start == size)
        if size:
            ends.append((at, at + size, where if exact else None))
            starts.append(at)
        at += size

    def locate(start: int, end: int) -> Span | None:
        if not 0 <= start < at or not 0 < end <= at:
            return span
        first, last = ends[bisect_right(starts, start) - 1], ends[bisect_right(starts, end - 1) - 1]
        if first[2] is None or last[2] is None:
            return span
        if first[2].source is not last[2].source:
            return span
        whole = first[1] - first[0] == 1
        low = first[2].start if whole else first[2].start + start - first[0]
        high = last[2].end if end == last[1] else last[2].start + end - last[0]
        return Span(first[2].source, low, high) if low <= high else span

    return locate


class _Reader:
    """A recursive descent over the marked text."""

    def __init__(self, text: Text, span: Span | None, route: str) -> None:
        self.text = text
        self.cuts = Cuts(text)
        self.marked = text.marked()
        self.route = route
        self.values = 0
        self.holes = bool(text.holes)
        """Without holes, a character that looks like a mark is only that character."""
        self.locate = locator(text, span)
        self.shared: tuple[Place, ...] | None = text.places if len(text.pieces) == 1 else None

    def skip(self, at: int) -> int:
        match = _SPACE.match(self.marked, at)
        return match.end() if match else at

    def made(self, data: Data, start: int, end: int, name: str) -> Value:
        places = self.shared if self.shared is not None else self.cuts.cut(start, end).places
        return Value(data, self.locate(start, end), places, self.route, name)

    def value(self, at: int, name: str, depth: int, key_start: int | None) -> tuple[Value, int]:
        """The value at an offset and the offset behind it; its span begins at ``key_start`` where there is one."""
        self.values += 1
        if depth > DEEPEST or self.values > MOST_VALUES:
            raise _TooLarge
        data, end = self.data(at, name, depth)
        return self.made(data, at if key_start is None else key_start, end, name), end

    def data(self, at: int, name: str, depth: int) -> tuple[Data, int]:
        char = self.marked[at : at + 1]
        if char == "{":
            return self.mapping(at, name, depth)
        if char == "[":
            return self.sequence(at, name, depth)
        if char == '"':
            string, end = scanstring(self.marked, at + 1, True)
            return self.cuts.unmark(string), end
        return self.bare(at)

    def bare(self, at: int) -> tuple[Data, int]:
        match = _BARE.match(self.marked, at)
        if match is None:
            raise _Invalid
        word = match.group()
        if self.holes and has_mark(word):
            return self.cuts.cut(at, match.end()), match.end()
        if word in _CONSTANTS:
            return _CONSTANTS[word], match.end()
        number = _NUMBER.fullmatch(word)
        if number is None:
            raise _Invalid
        if number.group(2) or number.group(3):
            return float(word), match.end()
        return int(word), match.end()

    def sequence(self, at: int, name: str, depth: int) -> tuple[Data, int]:
        items: list[Value] = []
        at = self.skip(at + 1)
        if self.marked[at : at + 1] == "]":
            return items, at + 1
        while True:
            item, at = self.value(at, f"{name}[{len(items)}]", depth + 1, None)
            items.append(item)
            at = self.skip(at)
            char = self.marked[at : at + 1]
            if char == "]":
                return items, at + 1
            if char != ",":
                raise _Invalid
            at = self.skip(at + 1)

    def mapping(self, start: int, name: str, depth: int) -> tuple[Data, int]:
        members: dict[str, Value] = {}
        open_keys = False
        at = self.skip(start + 1)
        if self.marked[at : at + 1] == "}":
            return members, at + 1
        while True:
            key_start = at
            if self.marked[at : at + 1] == '"':
                key, at = scanstring(self.marked, at + 1, True)
                open_keys = open_keys or (self.holes and has_mark(key))
            else:
                key, at = self.bare_key(at)
                open_keys = True
            at = self.skip(at)
            if self.marked[at : at + 1] == ":":
                member = f"{name}.{key}" if name else key
                members[key], at = self.value(self.skip(at + 1), member, depth + 1, key_start)
                at = self.skip(at)
            elif not (self.holes and has_mark(key)):
                raise _Invalid
            char = self.marked[at : at + 1]
            if char == "}":
                break
            if char != ",":
                raise _Invalid
            at = self.skip(at + 1)
        if open_keys:
            return self.cuts.cut(start, at + 1), at + 1
        return members, at + 1

    def bare_key(self, at: int) -> tuple[str, int]:
        """A hole where a key belongs: it stands for a key or for whole members."""
        match = _BARE.match(self.marked, at)
        if match is None or not (self.holes and has_mark(match.group())):
            raise _Invalid
        return match.group(), match.end()
