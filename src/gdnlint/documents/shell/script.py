"""A script that is parsed once and run in many worlds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from gdnlint.documents.shell.parse import parse
from gdnlint.project import Project
from gdnlint.source import Fragment, Source, Span
from gdnlint.values import MARK_BASE, MARK_LIMIT, Hole, Piece, Text, Word, World

if TYPE_CHECKING:
    from gdnlint.documents.shell.run import Run


class Script:
    """Bash text, parsed, with every character mapped back to where it is written.

    ``Script(fragment)`` serves files and block scalars; ``Script.of(text, span)`` a text that was put
    together by another script (``bash -c "$COMMAND"``): its holes stay holes, its pieces keep
    their spans and hops.
    """

    def __init__(self, fragment: Fragment, origin: Text | None = None) -> None:
        self.fragment = _with_plain_line_ends(fragment) if origin is None else fragment
        self.text = self.fragment.text
        self.origin = origin
        self._starts: list[int] = []
        if origin is not None:
            sizes = [1 if isinstance(p.content, Hole) else len(p.content) for p in origin.pieces]
            self._starts = [0, *accumulate(sizes)]
        self._unbroken = self.fragment.offset(len(self.text)) - self.fragment.offset(0) == len(self.text)
        parsed = parse(self.text)
        self.nodes = parsed.nodes
        self.broken = parsed.broken
        self.limit = parsed.limit

    @classmethod
    def of(cls, text: Text, span: Span) -> Script:
        """``span``: where the text is used; characters without a place of their own are given that one."""
        return cls(fragment_of(text, span), text)

    def run(
        self,
        world: World,
        *,
        project: Project | None = None,
        directory: Path | None = None,
        args: Sequence[Word] | None = None,
        name: str = "",
    ) -> Run:
        """See ``run.run_script``."""
        from gdnlint.documents.shell.run import run_script

        return run_script(self, world, project=project, directory=directory, args=args, name=name)

    def span(self, start: int, end: int) -> Span:
        return self.fragment.span(start, end)

    def pieces(self, start: int, end: int) -> tuple[Piece, ...]:
        """The characters ``start`` to ``end`` as they came."""
        if self.origin is None:
            if self._unbroken:
                return (Piece(self.text[start:end], self.fragment.span(start, end)),)
            return tuple(self._runs(start, end))
        first = bisect_right(self._starts, start) - 1
        out: list[Piece] = []
        for index in range(max(first, 0), len(self.origin.pieces)):
            at = self._starts[index]
            if at >= end:
                break
            piece = self.origin.pieces[index]
            if at >= start and self._starts[index + 1] <= end:
                out.append(piece)
            else:
                out.extend(Text((piece,)).cut(start - at if start > at else 0, end - at).pieces)
        return tuple(out)

    def _runs(self, start: int, end: int) -> Iterator[Piece]:
        """Pieces that are as long in the file as they are here (an indentation may be cut out in between)."""
        offset = self.fragment.offset
        if self._unbroken or start == end:
            yield Piece(self.text[start:end], self.fragment.span(start, end))
            return
        first = start
        for at in range(start + 1, end + 1):
            if at == end or offset(at) != offset(at - 1) + 1:
                yield Piece(self.text[first:at], self.fragment.span(first, at))
                first = at

    def has_hole(self, text: str) -> bool:
        return self.origin is not None and any(MARK_BASE <= ord(c) < MARK_BASE + MARK_LIMIT for c in text)


def fragment_of(text: Text, span: Span) -> Fragment:
    """A text as a fragment; a hole is its mark. Characters from another file lie at ``span``.

    Where some of the text is written in ``span`` itself, what was filled in from elsewhere lies where it was filled in.
    """
    marked = text.marked()
    source: Source = span.source
    counts: dict[int, int] = {}
    sources: dict[int, Source] = {}
    for piece in text.pieces:
        if piece.span is not None and not isinstance(piece.content, Hole):
            key = id(piece.span.source)
            sources[key] = piece.span.source
            counts[key] = counts.get(key, 0) + len(piece.content)
    if counts:
        source = sources[max(counts, key=lambda key: counts[key])]
    at_home = any(
        piece.span is not None and len(piece.content) > 0 and span.holds(piece.span)
        for piece in text.pieces
        if not isinstance(piece.content, Hole)
    )
    offsets: list[int] = []
    last = span.start if span.source is source else 0
    for piece in text.pieces:
        size = 1 if isinstance(piece.content, Hole) else len(piece.content)
        where = piece.span
        if where is None or where.source is not source or (at_home and not span.holds(where)):
            offsets.extend([last] * size)
        elif where.end - where.start == size:
            offsets.extend(range(where.start, where.end))
        else:
            offsets.extend([where.start] * size)
        if offsets:
            last = offsets[-1]
    return Fragment(marked, source, offsets, last)


def _with_plain_line_ends(fragment: Fragment) -> Fragment:
    """LF for CRLF, and no byte order mark."""
    text = fragment.text
    if text.startswith("\ufeff"):
        fragment = fragment.cut(1, len(text))
        text = fragment.text
    if "\r\n" not in text:
        return fragment
    kept: Sequence[int] = [i for i, c in enumerate(text) if c != "\r" or text[i + 1 : i + 2] != "\n"]
    return Fragment("".join(text[i] for i in kept), fragment.source, [fragment.offset(i) for i in kept])
