"""The edits of a fix as a small diff with line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdnlint.report._frame import elsewhere, excerpt, numbered
from gdnlint.report._terminal import Style
from gdnlint.results import Edit
from gdnlint.source import Source

MOST = 12
"""Changed lines of one hunk that are shown."""

MOST_COMPARED = 250_000
"""Old lines times new lines that are compared one by one; more are shown as replaced."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines ``number`` and on: what they are, what they become."""

    source: Source
    number: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def hunks(edits: Sequence[Edit]) -> list[Hunk]:
    """The changed lines, file by file in the order of the edits, from top to bottom."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.span.source.path, []).append(edit)
    found: list[Hunk] = []
    for group in by_path.values():
        group.sort(key=lambda edit: (edit.span.start, edit.span.end))
        for cluster in _clusters(group):
            found += _changes(cluster)
    return found


def diff(edits: Sequence[Edit], path: str, gutter: int, style: Style) -> list[str]:
    """The lines of the diff; files other than ``path`` get a header."""
    lines: list[str] = []
    for hunk in hunks(edits):
        if hunk.source.path != path:
            path = hunk.source.path
            first = next(edit.span for edit in edits if edit.span.source.path == path)
            lines.append(elsewhere(first, gutter, style))
        lines += _lines(hunk, gutter, style)
    return lines


def _clusters(edits: list[Edit]) -> Iterator[list[Edit]]:
    """Edits on the same or on neighbouring lines belong together."""
    cluster: list[Edit] = []
    for edit in edits:
        if cluster and edit.span.line > cluster[-1].span.end_line + 1:
            yield cluster
            cluster = []
        cluster.append(edit)
    yield cluster


def _changes(edits: list[Edit]) -> Iterator[Hunk]:
    source = edits[0].span.source
    first, last = edits[0].span.line, max(edit.span.end_line for edit in edits)
    start = source.starts[first - 1]
    end = source.starts[last] if last < len(source.starts) else len(source.text)
    changed, at = "", start
    for edit in edits:
        changed += source.text[at : edit.span.start] + edit.text
        at = max(at, edit.span.end)
    changed += source.text[at:end]
    old, new = _split(source.text[start:end]), _split(changed)
    if len(old) * len(new) > MOST_COMPARED:
        yield Hunk(source, first, tuple(old), tuple(new))
        return
    from difflib import SequenceMatcher

    for tag, low, high, new_low, new_high in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Hunk(source, first + low, tuple(old[low:high]), tuple(new[new_low:new_high]))


def _split(text: str) -> list[str]:
    """Lines as editors count them (``str.splitlines`` also ends a line at a form feed)."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _lines(hunk: Hunk, gutter: int, style: Style) -> Iterator[str]:
    room = style.width - gutter - 3
    place = _first_difference(hunk)
    for sign, role, lines in (("-", "removed", hunk.old), ("+", "added", hunk.new)):
        for index, line in enumerate(lines[:MOST]):
            shown = excerpt(line, place, place + 1, room)
            yield f"{numbered(hunk.number + index, sign, gutter, style)} {style.paint(shown.rstrip(), role)}".rstrip()
        if len(lines) > MOST:
            yield style.paint(f"... {len(lines) - MOST} more lines", "gutter")


def _first_difference(hunk: Hunk) -> int:
    """Where a line changes, if one line becomes one other: long lines are cut around it."""
    if len(hunk.old) != 1 or len(hunk.new) != 1:
        return 0
    old, new = hunk.old[0], hunk.new[0]
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return same
