"""Dockerfiles as instructions, each argument mapped to its place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from gdnlint.source import Fragment, Source, Span

MOST = 1_000
"""Instructions of a file that are read."""

_MOST_HEREDOCS = 20

_START = re.compile(r"[ \t]*([A-Za-z]+)(?=[ \t]|\\?$)")
_HEREDOC = re.compile(r"<<-?([\"']?)([A-Za-z_]\w*)\1(?!\w)")


@dataclass(frozen=True, slots=True)
class Heredoc:
    """Lines behind an instruction that it reads as a file."""

    word: str
    """How the instruction names it: ``<<EOF``."""
    body: Fragment
    literal: bool
    """Whether its delimiter is quoted: nothing in it is replaced."""


@dataclass(frozen=True, slots=True)
class Instruction:
    name: str
    """In upper case."""
    body: Fragment
    """What follows the name, with continued lines joined by a blank and comments between them left out."""
    span: Span
    heredocs: tuple[Heredoc, ...] = ()


def instructions(source: Source) -> Iterator[Instruction]:
    """Every instruction of a file; what is none is skipped."""
    total = len(source.starts)
    number = 1
    count = 0
    escape = "`" if re.match(r"#\s*escape=`", source.text) else "\\"
    while number <= total and count < MOST:
        line = source.line(number)
        start = source.starts[number - 1]
        match = _START.match(line)
        number += 1
        if match is None or line.lstrip().startswith("#"):
            continue
        offsets = list(range(start + match.end(), start + len(line)))
        last = start + len(line.rstrip())
        while _continued(offsets, source, escape) and number <= total:
            line = source.line(number)
            begin = source.starts[number - 1]
            number += 1
            if line.lstrip().startswith("#") or not line.strip():
                # A comment between continued lines does not end the instruction.
                offsets.append(source.text.rindex(escape, start, begin))
                continue
            offsets.append(begin - 1)
            offsets += range(begin, begin + len(line))
            last = begin + len(line.rstrip())
        heredocs: list[Heredoc] = []
        if match.group(1).upper() in ("RUN", "COPY", "ADD"):
            for opened in islice(_HEREDOC.finditer("".join(source.text[at] for at in offsets)), _MOST_HEREDOCS):
                first = number
                while number <= total and source.line(number).strip() != opened.group(2):
                    number += 1
                body = _lines(source, first, number, opened.group().startswith("<<-"))
                heredocs.append(Heredoc(opened.group(), body, bool(opened.group(1))))
                number += 1
        count += 1
        text = "".join(" " if source.text[at] in "\r\n" else source.text[at] for at in offsets)
        shift = offsets[0] if offsets else start + match.end()
        yield Instruction(
            match.group(1).upper(), Fragment(text, source, offsets, shift), source.span(start, last), tuple(heredocs)
        )


def _lines(source: Source, first: int, end: int, indented: bool) -> Fragment:
    """Lines ``first`` to ``end`` (exclusive); ``indented``: without the tabs that they begin with."""
    offsets: list[int] = []
    for number in range(first, min(end, len(source.starts) + 1)):
        line, start = source.line(number), source.starts[number - 1]
        skipped = len(line) - len(line.lstrip("\t")) if indented else 0
        offsets += range(start + skipped, start + len(line))
        offsets.append(min(start + len(line), len(source.text) - 1))
    text = "".join("\n" if source.text[at] in "\r\n" else source.text[at] for at in offsets)
    return Fragment(text, source, offsets, source.starts[first - 1] if first <= len(source.starts) else 0)


def _continued(offsets: list[int], source: Source, escape: str) -> bool:
    """Whether a line goes on in the next one; takes the escape at its end away."""
    end = len(offsets)
    while end and source.text[offsets[end - 1]] in " \t\r":
        end -= 1
    if not end or source.text[offsets[end - 1]] != escape:
        return False
    del offsets[end - 1 :]
    return True
