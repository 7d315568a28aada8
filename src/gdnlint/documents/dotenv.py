"""``.env`` files: the variables they set, with their places."""

from __future__ import annotations

import re

from gdnlint.source import Source
from gdnlint.values import Piece, Place, Text

MOST = 2_000
"""Lines of a file that are read."""

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*(.*)$")


def read(source: Source) -> dict[str, Text]:
    """Every variable of a file, the last one of a name. Values are as written: quotes undone, nothing expanded."""
    found: dict[str, Text] = {}
    for number in range(1, min(len(source.starts), MOST) + 1):
        line = source.line(number)
        match = _LINE.match(line)
        if match is None:
            continue
        start = source.starts[number - 1]
        first, value = match.start(2), match.group(2)
        quote = value[:1]
        if quote and quote in "'\"":
            end = value.find(quote, 1)
            first, value = first + 1, value[1 : end if end > 0 else len(value)]
        else:
            value = re.split(r"\s#|^#", value, maxsplit=1)[0].rstrip()
        span = source.span(start + first, start + first + len(value))
        name = match.group(1)
        whole = source.span(start + match.start(1), start + max(match.end(1), first + len(value)))
        found[name] = Text((Piece(value, span, (Place(whole, f"{name} is set here"),)),))
    return found
