"""systemd unit files: their entries, and the words of a command line as systemd splits it (``systemd.syntax``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gdnlint.source import Fragment, Source, Span

MOST = 2_000
"""Entries of a file that are read."""
MOST_WORDS = 4_096
"""Words of a value."""

_SECTION = re.compile(r"[ \t]*\[([^\]\n]+)\]")
_ENTRY = re.compile(r"[ \t]*([A-Za-z][\w-]*)[ \t]*=[ \t]*")
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " ", "\\": "\\", '"': '"',
    "'": "'",
}  # fmt: skip
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([0-3][0-7]{2})")


@dataclass(frozen=True, slots=True)
class Entry:
    section: str
    name: str
    value: Fragment
    """Continued lines joined by a blank, comments between them left out."""
    span: Span
    """From the name to the end of the value."""


def entries(source: Source) -> Iterator[Entry]:
    """Every entry of a unit file, in order; what is none is skipped."""
    section, number, count = "", 1, 0
    total = len(source.starts)
    while number <= total and count < MOST:
        line, start = source.line(number), source.starts[number - 1]
        number += 1
        if _is_comment(line):
            continue
        header = _SECTION.match(line)
        if header is not None:
            section = header.group(1)
            continue
        entry = _ENTRY.match(line)
        if entry is None:
            continue
        count += 1
        begin = start + len(line) - len(line.lstrip())
        offsets = list(range(start + entry.end(), start + len(line)))
        chars = list(line[entry.end() :])
        last = start + len(line.rstrip())
        while chars and chars[-1] == "\\" and number <= total:
            line, start = source.line(number), source.starts[number - 1]
            number += 1
            if _is_comment(line):
                continue
            chars[-1] = " "
            chars += line
            offsets += range(start, start + len(line))
            last = start + len(line.rstrip())
        size = len("".join(chars).rstrip())
        value = Fragment("".join(chars[:size]), source, offsets[:size], start + entry.end())
        yield Entry(section, entry.group(1), value, source.span(begin, last))


def words(value: Fragment) -> Iterator[tuple[Fragment, Span]]:
    """The words of a value, quotes removed and C escapes undone, each with its span, quotes included.

    Quotes may begin anywhere in a word. An escape that is unknown stays as it is written, as systemd leaves it
    (with a warning); a quote that is never closed ends with the value.
    """
    text = value.text
    at = count = 0
    while count < MOST_WORDS:
        while at < len(text) and text[at] in " \t":
            at += 1
        if at >= len(text):
            return
        start, quote = at, ""
        chars: list[str] = []
        offsets: list[int] = []
        while at < len(text) and (quote or text[at] not in " \t"):
            char, size = text[at], 1
            if char == "\\":
                char, size = _escape(text, at)
            elif quote and char == quote:
                char, quote = "", ""
            elif not quote and char in "\"'":
                char, quote = "", char
            chars += char
            offsets += [value.offset(at)] * len(char)
            at += size
        count += 1
        yield Fragment("".join(chars), value.source, offsets, value.offset(start)), value.span(start, at)


def _escape(text: str, at: int) -> tuple[str, int]:
    """What stands for the escape at an offset, and how many characters it takes."""
    following = text[at + 1 : at + 2]
    if following in _ESCAPES:
        return _ESCAPES[following], 2
    code = _CODE.match(text, at + 1)
    if code is not None:
        number = int(code.group(3), 8) if code.group(3) else int(code.group(1) or code.group(2), 16)
        return chr(number) if number and not 0xD800 <= number < 0xE000 else "", 1 + len(code.group())
    return "\\" + following, 1 + len(following)


def _is_comment(line: str) -> bool:
    return line.lstrip()[:1] in ("#", ";")
