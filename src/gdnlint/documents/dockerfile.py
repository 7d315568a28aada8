"""Dockerfiles as instructions, each argument mapped to its place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gdnlint.source import Fragment, Source, Span

MOST = 1_000
"""Instructions of a file that are read."""

_START = re.compile(r"[ \t]*([A-Za-z]+)(?=[ \t]|\\?$)")
_HEREDOC = re.compile(r"<<-?[\"']?([A-Za-z_]\w*)[\"']?")


@dataclass(frozen=True, slots=True)
class Instruction:
    name: str
    """In upper case."""
    body: Fragment
    """What follows the name, with continued lines joined by a blank and comments between them left out."""
    span: Span


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
        heredoc = _HEREDOC.search("".join(source.text[at] for at in offsets))
        if heredoc is not None and match.group(1).upper() in ("RUN", "COPY", "ADD"):
            while number <= total and source.line(number).strip() != heredoc.group(1):
                number += 1
            number += 1
        count += 1
        text = "".join(" " if source.text[at] in "\r\n" else source.text[at] for at in offsets)
        shift = offsets[0] if offsets else start + match.end()
        yield Instruction(match.group(1).upper(), Fragment(text, source, offsets, shift), source.span(start, last))


def _continued(offsets: list[int], source: Source, escape: str) -> bool:
    """Whether a line goes on in the next one; takes the escape at its end away."""
    end = len(offsets)
    while end and source.text[offsets[end - 1]] in " \t\r":
        end -= 1
    if not end or source.text[offsets[end - 1]] != escape:
        return False
    del offsets[end - 1 :]
    return True
