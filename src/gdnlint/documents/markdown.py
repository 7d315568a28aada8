"""Code fences of Markdown and MDX, each with its language and its place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gdnlint.source import Fragment

_OPEN = re.compile(r"([ \t>]*)(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n`]*$")


@dataclass(frozen=True, slots=True)
class Fence:
    language: str
    """The first word behind the fence, in lower case; empty if there is none."""
    body: Fragment
    """Without the indentation of the fence."""


def fences(fragment: Fragment) -> Iterator[Fence]:
    """Every fence of a text; one that is never closed runs to the end."""
    marker, language, indent = "", "", 0
    parts: list[str] = []
    offsets: list[int] = []
    at = 0
    for line in fragment.text.splitlines(keepends=True):
        start = at
        at += len(line)
        plain = line.rstrip("\r\n")
        if not marker:
            opened = _OPEN.match(plain)
            if opened:
                marker, language, indent = opened.group(2), opened.group(3).lower(), len(opened.group(1))
                parts, offsets = [], []
            continue
        stripped = plain.strip(" \t>")
        if stripped.startswith(marker) and not stripped.strip(marker[0]):
            yield Fence(language, Fragment("".join(parts), fragment.source, [fragment.offset(o) for o in offsets]))
            marker = ""
            continue
        cut = min(indent, len(plain) - len(plain.lstrip(" \t>")))
        parts.append(line[cut:])
        offsets.extend(range(start + cut, start + len(line)))
    if marker and parts:
        yield Fence(language, Fragment("".join(parts), fragment.source, [fragment.offset(o) for o in offsets]))
