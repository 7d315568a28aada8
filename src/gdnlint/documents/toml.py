"""TOML files to values with positions.

The standard reader (``tomllib``) says what a file holds, and whether it is TOML at all; a scan beside it says where
each key stands. A table's place is its header, a key's is ``key = value``.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from gdnlint.source import Source, Span
from gdnlint.values import Data, Problem, Value

DEEPEST = 100
"""Levels of nesting that are read."""
MOST_DOTS = 500
"""Dots of one line: the reader's work grows with the square of a key's parts."""
MOST_VALUES = 60_000
"""Values of a file that are read."""

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_INLINE_BLANK = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRINGS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r'"""(?:\\.|[^\\])*?"{3,5}(?!")',
        r"'''.*?'{3,5}(?!')",
        r'"(?:\\.|[^"\\\n])*"',
        r"'[^'\n]*'",
    )
)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?")


def load(source: Source) -> tuple[Value | None, list[Problem]]:
    """The root table of a file; None with a problem where it is no TOML."""
    text = source.text
    if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
        return None, [Problem("too-deep", f"{source.path} has a line of more than {MOST_DOTS} dots", source.span(0, 0))]
    try:
        data = _parse(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        return None, [Problem("syntax", f"{source.path} is not TOML: {error}", source.span(0, 0))]
    scan = _Scan(text, 1 if text.startswith("\ufeff") else 0)
    # Where the reader takes a file and the scan does not follow it, places are the file's.
    with suppress(_Lost, RecursionError):
        scan.document()
    if _count(data) > MOST_VALUES:
        return None, [Problem("too-large", f"{source.path} holds more than {MOST_VALUES:,} values", source.span(0, 0))]
    return _value(data, (), scan.spans, source, 0), []


def _count(data: object) -> int:
    """How many values there are in all."""
    number, level = 0, [data]
    while level and number <= MOST_VALUES:
        number += len(level)
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
        ]
    return number


def _parse(text: str) -> dict[str, Any]:
    import importlib
    import sys

    # The standard library has it from Python 3.11 on; before, the package it came from stands in.
    reader = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    data: dict[str, Any] = reader.loads(text.replace("\r\n", "\n"))
    return data


def _value(data: object, path: Path, spans: dict[Path, tuple[int, int]], source: Source, depth: int) -> Value:
    place = spans.get(path)
    span = Span(source, *place) if place is not None else source.span(0, len(source.text.rstrip()))
    made: Data
    if depth > DEEPEST:
        return Value.unknown("a table nested too deeply", span)
    if isinstance(data, dict):
        made = {key: _value(member, (*path, key), spans, source, depth + 1) for key, member in data.items()}
    elif isinstance(data, list):
        made = [_value(item, (*path, number), spans, source, depth + 1) for number, item in enumerate(data)]
    elif isinstance(data, bool | int | float | str):
        made = data
    else:
        made = str(data)  # dates and times
    return Value(made, span, (), "key", _name(path))


def _name(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


class _Lost(Exception):
    """The scan does not understand the text."""


@dataclass(slots=True)
class _Scan:
    """Where keys and headers stand."""

    text: str
    at: int = 0
    spans: dict[Path, tuple[int, int]] = field(default_factory=dict)
    counts: dict[Path, int] = field(default_factory=dict)
    """Arrays of tables and how many of their tables have begun."""

    def document(self) -> None:
        prefix: Path = ()
        while True:
            self.blank()
            if self.at >= len(self.text):
                return
            if self.text[self.at] == "[":
                prefix = self.header()
            else:
                self.pair(prefix, 0)

    def blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def expect(self, text: str) -> None:
        match = _INLINE_BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        if not self.text.startswith(text, self.at):
            raise _Lost
        self.at += len(text)

    def header(self) -> Path:
        start = self.at
        double = self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        keys = self.keys()
        self.expect("]]" if double else "]")
        path: Path = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            if double and number == len(keys) - 1:
                count = self.counts.get(path, 0)
                self.counts[path] = count + 1
                self.spans.setdefault(path, (start, self.at))
                path = (*path, count)
            elif path in self.counts:
                path = (*path, self.counts[path] - 1)
            self.spans.setdefault(path, (start, self.at))
        self.spans[path] = (start, self.at)
        return path

    def keys(self) -> list[str]:
        """A dotted key."""
        found = [self.key()]
        while True:
            match = _INLINE_BLANK.match(self.text, self.at)
            after = match.end() if match else self.at
            if not self.text.startswith(".", after):
                return found
            self.at = after + 1
            found.append(self.key())
            if len(found) > DEEPEST:
                raise _Lost

    def key(self) -> str:
        match = _INLINE_BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        for pattern in (_BARE_KEY, *_STRINGS[2:]):
            match = pattern.match(self.text, self.at)
            if match is None:
                continue
            self.at = match.end()
            written = match.group()
            if written[0] not in "\"'":
                return written
            return str(_parse(f"key = {written}")["key"])
        raise _Lost

    def pair(self, prefix: Path, depth: int) -> None:
        start = self.at
        keys = self.keys()
        self.expect("=")
        match = _INLINE_BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        path = prefix
        for key in keys:
            path = (*path, key)
            self.spans.setdefault(path, (start, self.at))
        self.value(path, depth + 1)
        self.spans[path] = (start, self.at)

    def value(self, path: Path, depth: int) -> None:
        if depth > DEEPEST:
            raise _Lost
        char = self.text[self.at : self.at + 1]
        if char == "{":
            self.members(path, depth, "}")
            return
        if char == "[":
            self.members(path, depth, "]")
            return
        for pattern in (*_STRINGS, _SCALAR):
            match = pattern.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                return
        raise _Lost

    def members(self, path: Path, depth: int, closing: str) -> None:
        self.at += 1
        number = 0
        while True:
            self.blank()
            if self.text.startswith(closing, self.at):
                self.at += 1
                return
            if self.text.startswith(",", self.at):
                self.at += 1
                continue
            if self.at >= len(self.text):
                raise _Lost
            if closing == "}":
                self.pair(path, depth)
                continue
            start = self.at
            self.value((*path, number), depth + 1)
            self.spans[path + (number,)] = (start, self.at)  # noqa: RUF005 - no star in an index before Python 3.11
            number += 1
