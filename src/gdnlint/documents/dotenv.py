"""``.env`` files and their kin: the variables they set, with their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from gdnlint.source import Source
from gdnlint.values import Piece, Place, Text

MOST = 2_000
"""Variables of a file that are read."""

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*", re.ASCII)
_RAW = re.compile(r"[ \t]*([A-Za-z_][\w.-]*)=", re.ASCII)
_UNIT = re.compile(r"[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*", re.ASCII)
_UNIT_QUOTED = re.compile(r"[ \t]*(?:'([^']*)'|\"([^\"\\]*(?:\\.[^\"\\]*)*)\")", re.DOTALL)
_UNIT_PLAIN = re.compile(r"(?:[^\\\n]|\\.)*", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$$"}
_UNIT_ESCAPES = {"\n": "", '"': '"', "\\": "\\", "$": "$", "`": "`"}

Style = Literal["compose", "raw", "unit"]
"""Who reads a file: Compose; ``docker run --env-file``, which takes each line as it is; systemd (EnvironmentFile=)."""


class Variable(NamedTuple):
    """What a file says of a variable."""

    text: Text
    """As written, quotes and escapes undone; nothing in it is replaced. A ``$`` that is escaped is ``$$``."""
    literal: bool
    """Whether a ``$`` in it is only a character."""


def read(source: Source, style: Style = "compose") -> dict[str, Variable]:
    """Every variable of a file, the last one of a name.

    For Compose, single quotes are literal, double quotes know escapes, both may hold line ends, and a comment stands
    behind a blank. For systemd, quotes stand one behind the other and in front of what is plain, a backslash takes
    the meaning of what follows it, no comment stands behind a value and every ``$`` is only a character.
    """
    found: dict[str, Variable] = {}
    number, count = 1, 0
    while number <= len(source.starts) and count < MOST:
        line, start = source.line(number), source.starts[number - 1]
        match = _STARTS[style].match(line)
        number += 1
        if match is None:
            continue
        count += 1
        name, first = match.group(1), start + match.end()
        value, end = _VALUES[style](source, first, start + len(line))
        number = max(number, source.position(max(end - 1, first))[0] + 1)
        place = (Place(source.span(start + match.start(1), max(end, first)), f"{name} is set here"),)
        pieces = tuple(Piece(text, source.span(at, upto), place) for text, at, upto in value[0])
        found[name] = Variable(Text(pieces or (Piece("", source.span(first, first), place),)), value[1])
    return found


_Parts = list[tuple[str, int, int]]
"""Characters and where in the file they stand."""


def _raw(source: Source, first: int, line_end: int) -> tuple[tuple[_Parts, bool], int]:
    return ([(source.text[first:line_end], first, line_end)] if first < line_end else [], True), line_end


def _unit(source: Source, first: int, line_end: int) -> tuple[tuple[_Parts, bool], int]:
    """As systemd's ``parse_env_file`` reads a value (basic/env-file.c)."""
    text, at = source.text, first
    parts: _Parts = []
    while (quoted := _UNIT_QUOTED.match(text, at)) is not None:
        if quoted.group(2) is None:
            parts.append((quoted[1], quoted.start(1), quoted.end(1)))
        else:
            parts += _unescaped(text, quoted.start(2), quoted.end(2), _UNIT_ESCAPES.get)
        at = quoted.end()
    plain = _UNIT_PLAIN.match(text, at)
    end = plain.end() if plain is not None else max(at, line_end)
    at += len(text[at:end]) - len(text[at:end].lstrip(" \t"))
    upto = at + len(text[at:end].rstrip())
    parts += _unescaped(text, at, upto, lambda letter: "" if letter == "\n" else letter)
    return (parts, True), end


def _value(source: Source, first: int, line_end: int) -> tuple[tuple[_Parts, bool], int]:
    """The parts of a value, whether it is literal, and where it ends."""
    text = source.text
    quote = text[first : first + 1]
    if quote == "'":
        end = text.find("'", first + 1)
        if end > 0:
            return ([(text[first + 1 : end], first + 1, end)], True), end + 1
    if quote == '"':
        end = _closing(text, first + 1)
        if end > 0:
            return (list(_unescaped(text, first + 1, end, _ESCAPES.get)), False), end + 1
    plain = text[first:line_end]
    plain = re.split(r"\s#|^#", plain, maxsplit=1)[0].rstrip()
    return ([(plain, first, first + len(plain))] if plain else [], False), first + len(plain)


def _closing(text: str, at: int) -> int:
    """Where a double quote that is not escaped stands; -1 if nowhere."""
    match = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL).match(text, at)
    return match.end() - 1 if match is not None else -1


def _unescaped(text: str, start: int, end: int, escape: Callable[[str], str | None]) -> Iterator[tuple[str, int, int]]:
    """The parts of a text; ``escape`` says what a letter behind a backslash is, None if the backslash stays."""
    plain = start
    for match in re.compile(r"\\(.)", re.DOTALL).finditer(text, start, end):
        made = escape(match.group(1))
        if made is None:
            continue
        if plain < match.start():
            yield text[plain : match.start()], plain, match.start()
        yield made, match.start(), match.end()
        plain = match.end()
    if plain < end:
        yield text[plain:end], plain, end


def first_bad_line(source: Source) -> int | None:
    """The number of the first line that is neither empty, nor a comment, nor of a variable; None if all are good."""
    number = 1
    while number <= len(source.starts):
        line, start = source.line(number), source.starts[number - 1]
        match = _LINE.match(line)
        if match is None and line.strip("\ufeff \t\r\n") and not line.lstrip("\ufeff \t").startswith("#"):
            return number
        number += 1
        if match is not None:
            first = start + match.end()
            end = _value(source, first, start + len(line))[1]
            number = max(number, source.position(max(end - 1, first))[0] + 1)
    return None


_STARTS = {"compose": _LINE, "raw": _RAW, "unit": _UNIT}
_VALUES = {"compose": _value, "raw": _raw, "unit": _unit}
