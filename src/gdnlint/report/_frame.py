"""Code frames: lines of a file with the places that matter underlined and labelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gdnlint.report._terminal import TAB, Style, cells, clean, harmless, width_of, wrap
from gdnlint.source import Span

CUT = "…"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to underline."""

    span: Span
    label: str
    role: str
    """``error``, ``warning``, ``note`` for the primary place, ``related`` for the others."""

    @property
    def pointer(self) -> str:
        return "-" if self.role == "related" else "^"


@dataclass(frozen=True, slots=True)
class _Under:
    """A mark on its line: 0-based columns ``start`` to ``end`` (exclusive, never empty)."""

    start: int
    end: int
    mark: Mark
    label: str


def frame(marks: Sequence[Mark], style: Style, gutter: int) -> list[str]:
    """The lines of one frame: the file of the first mark, then each other file under its own path."""
    marks = _joined(marks)
    by_path: dict[str, list[Mark]] = {}
    for mark in marks:
        by_path.setdefault(mark.span.source.path, []).append(mark)
    lines: list[str] = []
    for number, group in enumerate(by_path.values()):
        if number:
            lines += [edge(gutter, style), elsewhere(group[0].span, gutter, style)]
        lines.append(edge(gutter, style))
        lines += _file(group, gutter, style)
    return lines


def gutter_width(spans: Iterable[Span]) -> int:
    """Cells of the widest line number, at least 2, so that most frames line up."""
    return max([2, *(len(str(span.line)) for span in spans)])


def edge(gutter: int, style: Style) -> str:
    """An empty gutter."""
    return f"{' ' * gutter} {style.paint('|', 'gutter')}"


def elsewhere(span: Span, gutter: int, style: Style) -> str:
    """The header of a frame in another file."""
    return f"{' ' * gutter}{style.paint(':::', 'gutter')} {clean(span.source.path)}:{span.source.where(span.start)}"


def numbered(number: int, sign: str, gutter: int, style: Style) -> str:
    """A gutter with a line number and ``|``, ``+`` or ``-``."""
    return style.paint(f"{number:>{gutter}} {sign}", {"+": "added", "-": "removed"}.get(sign, "gutter"))


def excerpt(line: str, first: int, last: int, room: int) -> str:
    """A line as a terminal may get it, cut to ``room`` cells around columns ``first`` to ``last``."""
    shown, _ = _cut(line, first, last, room)
    return shown


def _joined(marks: Sequence[Mark]) -> list[Mark]:
    """Marks of the same place become one, with both labels."""
    found: dict[tuple[str, int, int], Mark] = {}
    for mark in marks:
        same = found.get(mark.span.key())
        if same is None:
            found[mark.span.key()] = mark
        elif mark.label not in same.label.split("; "):
            label = "; ".join(part for part in (same.label, mark.label) if part)
            found[mark.span.key()] = Mark(same.span, label, same.role)
    return list(found.values())


def _file(marks: Sequence[Mark], gutter: int, style: Style) -> Iterator[str]:
    source = marks[0].span.source
    by_line: dict[int, list[_Under]] = {}
    for mark in marks:
        by_line.setdefault(mark.span.line, []).append(_under(mark))
    room = style.width - gutter - 3
    before = 0
    for number in sorted(by_line):
        if before and number == before + 2:
            between = excerpt(source.line(number - 1), 0, 0, room)
            yield f"{numbered(number - 1, '|', gutter, style)} {between}".rstrip()
        elif before and number > before + 2:
            yield style.paint("...", "gutter")
        yield from _line(source.line(number), number, by_line[number], gutter, style)
        before = number


def _under(mark: Mark) -> _Under:
    span = mark.span
    start = span.column - 1
    if span.end_line == span.line:
        return _Under(start, max(span.end_column - 1, start + 1), mark, mark.label)
    length = len(span.source.line(span.line))
    tail = f"(to line {span.end_line})"
    return _Under(start, max(length, start + 1), mark, f"{mark.label} {tail}" if mark.label else tail)


def _line(text: str, number: int, unders: list[_Under], gutter: int, style: Style) -> Iterator[str]:
    """A line with its underlines. Places too far apart for one terminal line get an excerpt each."""
    room = style.width - gutter - 3
    unders = sorted(unders, key=lambda under: (under.start, under.end))
    for group in _groups(text, unders, room):
        shown, stops = _cut(text, group[0].start, max(under.end for under in group), room)
        yield f"{numbered(number, '|', gutter, style)} {shown}".rstrip()
        for under in group:
            yield from _underline(under, stops, room, gutter, style)


def _groups(text: str, unders: list[_Under], room: int) -> list[list[_Under]]:
    groups: list[list[_Under]] = []
    for under in unders:
        if groups:
            reach = max([under.end, *(other.end for other in groups[-1])])
            if _fits(text, groups[-1][0].start, reach, room):
                groups[-1].append(under)
                continue
        groups.append([under])
    return groups


def _fits(text: str, start: int, end: int, room: int) -> bool:
    if _short(text, room):
        return True
    return end - start <= room and sum(map(_size, text[start:end])) <= room - 2 * len(CUT)


def _short(text: str, room: int) -> bool:
    return len(text) <= 4 * room and sum(size for _, size in _glyphs(text, 0)) <= room


def _glyphs(text: str, column: int) -> Iterator[tuple[str, int]]:
    """Each character as (what is shown, cells)."""
    for char in text:
        if char == "\t":
            size = TAB - column % TAB
            glyph = " " * size
        elif char == "\ufeff" and not column:
            glyph, size = "", 0
        else:
            glyph = harmless(char)
            size = cells(glyph) if len(glyph) == 1 else len(glyph)
        column += size
        yield glyph, size


def _cut(text: str, first: int, last: int, room: int) -> tuple[str, dict[int, int]]:
    """The shown part of a line and the cell at which each of its columns starts (one past the end included)."""
    start, end = 0, len(text)
    if not _short(text, room):
        start, end = _window(text, first, last, room - 2)
    shown = CUT if start else ""
    column = len(shown)
    stops: dict[int, int] = {}
    for index, (glyph, size) in enumerate(_glyphs(text[start:end], column)):
        stops[start + index] = column
        shown += glyph
        column += size
    stops[end] = column
    return (shown + CUT if end < len(text) else shown), stops


def _window(text: str, first: int, last: int, room: int) -> tuple[int, int]:
    """The columns to show of a line that is too long: all of the place if it fits, and what stands before it."""
    first, last = min(first, len(text)), min(last, len(text))
    left = max(0, room - sum(map(_size, text[first : min(last, first + room)]))) // 2
    start, used = first, 0
    while start > 0 and used + _size(text[start - 1]) <= left:
        start -= 1
        used += _size(text[start])
    end, used = start, 0
    while end < len(text) and used + _size(text[end]) <= room:
        used += _size(text[end])
        end += 1
    while end == len(text) and start > 0 and used + _size(text[start - 1]) <= room:
        start -= 1
        used += _size(text[start])
    return start, end


def _size(char: str) -> int:
    """The most cells that a character can take; 1 for combining marks, so that a line of them has an end."""
    return TAB if char == "\t" else max(1, next(_glyphs(char, 1))[1])


def _underline(under: _Under, stops: dict[int, int], room: int, gutter: int, style: Style) -> Iterator[str]:
    low, high = min(stops), max(stops)
    start = stops[min(max(under.start, low), high)]
    start += max(0, under.start - high)
    end = max(stops[min(max(under.end, low), high)], start + 1)
    pointers = style.paint(under.mark.pointer * (end - start), under.mark.role)
    row = f"{edge(gutter, style)} {' ' * start}{pointers}"
    label = clean(" ".join(under.label.split()))
    if not label:
        yield row
        return
    if end + 1 + width_of(label) <= room:
        yield f"{row} {style.paint(label, under.mark.role)}"
        return
    yield row
    indent = min(start, room // 2)
    for line in wrap(under.label, room - indent):
        yield f"{edge(gutter, style)} {' ' * indent}{style.paint(line, under.mark.role)}"
