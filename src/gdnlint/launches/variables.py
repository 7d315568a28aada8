"""``$NAME`` and ``${NAME:-default}`` as Compose and the builder of images replace them."""

from __future__ import annotations

import re
from collections.abc import Callable

from gdnlint.source import Span
from gdnlint.values import Cuts, Hole, Joined, Piece, Text

_DEEPEST = 8
"""Defaults inside of defaults."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Variable = Callable[[str, "Span | None", "Text | None"], "Text | None"]
"""(name, where, default) -> the variable's value; None if it is unset."""


def interpolate(text: Text, variable: Variable, depth: int = 0) -> Text:
    """``$X``, ``${X}``, ``${X:-default}``, ``${X-default}``, ``${X:?message}``, ``${X:+other}``; ``$$`` is ``$``.

    As the Compose specification has it; what is unset and has no default is a hole.
    """
    marked = text.marked()
    if "$" not in marked:
        return text
    made, cuts, closing = Joined(), Cuts(text), _closing(marked)
    at, plain = 0, 0
    while (at := marked.find("$", at)) >= 0 and not made.is_full:
        made.add(cuts.cut(plain, at).pieces)
        end = at + 1
        if marked[end : end + 1] == "$":
            made.add(cuts.cut(end, end + 1).pieces)
            end += 1
        elif (match := _NAME.match(marked, end)) is not None:
            end = match.end()
            made.add(_value(match.group(), "", None, cuts.cut(at, end).span(), variable, depth))
        elif marked[end : end + 1] == "{" and end in closing:
            close = closing[end]
            inner = _NAME.match(marked, end + 1)
            if inner is None:
                made.add(cuts.cut(at, close + 1).pieces)
            else:
                operator = re.compile(r":?[-?+]?").match(marked, inner.end(), close)
                used = operator.group() if operator else ""
                argument = cuts.cut(inner.end() + len(used), close)
                made.add(_value(inner.group(), used, argument, cuts.cut(at, close + 1).span(), variable, depth))
            end = close + 1
        else:
            made.add(cuts.cut(at, end).pieces)
        at = plain = end
    made.add(cuts.cut(plain).pieces)
    return made.text()


def _closing(marked: str) -> dict[int, int]:
    """Each brace that opens -> the one that closes it, where one does."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"[{}]", marked):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.start()
    return found


def _value(
    name: str, operator: str, argument: Text | None, span: Span | None, variable: Variable, depth: int
) -> tuple[Piece, ...]:
    default = argument if operator in (":-", "-") else None
    found = variable(name, span, default)
    missing = found is None or (operator.startswith(":") and found.known == "")
    if operator in (":+", "+"):
        return _inner(argument, variable, depth) if not missing else ()
    if not missing:
        assert found is not None
        return found.pieces
    if default is not None:
        return _inner(default, variable, depth)
    return (Piece(Hole(f"the environment variable {name}", name), span),)


def _inner(argument: Text | None, variable: Variable, depth: int) -> tuple[Piece, ...]:
    if argument is None:
        return ()
    return interpolate(argument, variable, depth + 1).pieces if depth < _DEEPEST else argument.pieces
