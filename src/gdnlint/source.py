"""Where text stands: files, spans in them, and fragments cut out of them.

All offsets count code points of the decoded text, start at 0 and exclude their end.
Lines and columns are what a person sees: both start at 1, columns count code points.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class Cells(Protocol):
    """The cells of a notebook."""

    def where(self, offset: int) -> str:
        """``cell 3:4:1``: cell, line and column of an offset of the file; empty outside of every cell."""


class Source:
    """The decoded text of one file (line ends and a BOM are kept as they are)."""

    __slots__ = ("_starts", "cells", "file", "path", "text")

    def __init__(self, path: str, text: str, file: Path | None = None) -> None:
        self.path = path
        """As reports print it: POSIX, relative to the current directory."""
        self.text = text
        self.file = file if file is not None else Path(path)
        """Where it lies on disk (real path)."""
        self._starts: list[int] | None = None
        self.cells: Cells | None = None
        """Of a notebook: what its readers see instead of lines."""

    def __repr__(self) -> str:
        return f"Source({self.path!r})"

    @property
    def starts(self) -> list[int]:
        """The offset of each line's first character. A byte order mark is none: editors and readers do not show it."""
        if self._starts is None:
            starts = [1 if self.text.startswith("\ufeff") else 0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based (line, column) of an offset."""
        line = max(bisect_right(self.starts, offset), 1)
        return line, max(offset - self.starts[line - 1], 0) + 1

    def where(self, offset: int) -> str:
        """A place for people: ``line:column``, in a notebook ``cell 3:line:column``."""
        line, column = self.position(offset)
        return (self.cells.where(offset) if self.cells is not None else "") or f"{line}:{column}"

    def line(self, number: int) -> str:
        """The text of a 1-based line without its line end; empty past the last line."""
        if not 1 <= number <= len(self.starts):
            return ""
        start = self.starts[number - 1]
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def span(self, start: int, end: int) -> Span:
        return Span(self, start, end)


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of one source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def end_line(self) -> int:
        return self.source.position(self.end)[0]

    @property
    def end_column(self) -> int:
        """1-based and exclusive, on ``end_line``."""
        return self.source.position(self.end)[1]

    def holds(self, other: Span) -> bool:
        """Whether another span of the same source lies in this one."""
        return other.source is self.source and self.start <= other.start and other.end <= self.end

    def key(self) -> tuple[str, int, int]:
        """Something to compare and sort spans by."""
        return self.source.path, self.start, self.end


class Fragment:
    """Text cut out of a source, each character mapped back to its place in the file.

    A whole file, the script in a YAML block scalar (indentation removed), the string after
    ``bash -c`` (quotes removed, escapes undone) and a JSON word are all fragments, so one
    parser serves them and every span it makes points into the file.
    """

    __slots__ = ("_offsets", "_shift", "source", "text")

    def __init__(self, text: str, source: Source, offsets: Sequence[int] | None = None, shift: int = 0) -> None:
        """``offsets`` has one file offset a character; without it the text lies at ``shift``, unbroken."""
        if offsets is not None and len(offsets) != len(text):
            raise ValueError("a fragment needs one offset a character")
        self.text = text
        self.source = source
        self._offsets = offsets
        self._shift = shift

    @classmethod
    def whole(cls, source: Source) -> Fragment:
        return cls(source.text, source)

    def offset(self, index: int) -> int:
        """The file offset of a character; an index past the end lies behind the last one."""
        if self._offsets is None:
            return self._shift + index
        if index < len(self._offsets):
            return self._offsets[index]
        return self._offsets[-1] + 1 if self._offsets else self._shift

    def span(self, start: int, end: int) -> Span:
        """The span in the file that covers characters ``start`` to ``end`` of this text."""
        if self._offsets is None:
            return Span(self.source, self._shift + start, self._shift + max(start, end))
        first = self.offset(start)
        last = self.offset(end - 1) + 1 if end > start else first
        return Span(self.source, first, max(first, last))

    def runs(self) -> Iterator[tuple[int, int]]:
        """The parts (start, end) of this text that lie unbroken in the file."""
        offsets = self._offsets
        if offsets is None:
            if self.text:
                yield 0, len(self.text)
            return
        first = 0
        for at in range(1, len(offsets) + 1):
            if at == len(offsets) or offsets[at] != offsets[at - 1] + 1:
                yield first, at
                first = at

    def cut(self, start: int, end: int) -> Fragment:
        """Characters ``start`` to ``end`` as a fragment of their own."""
        if self._offsets is None:
            return Fragment(self.text[start:end], self.source, None, self._shift + start)
        return Fragment(self.text[start:end], self.source, self._offsets[start:end], self.offset(start))
