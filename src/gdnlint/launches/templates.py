"""Text that another program or a reader fills in: ``{{ x }}``, ``${{ x }}``, ``{x}``, ``<x>``, ``[x]``."""

from __future__ import annotations

import re
from collections.abc import Callable

from gdnlint.source import Span
from gdnlint.values import Cuts, Hole, Joined, Piece, Text, has_mark

_BRACES = re.compile(r"\{\{|\}\}|(?<![$\\])\{([A-Za-z_]\w*)\}")
_WORKFLOW = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{-?(.*?)-?\}\}", re.DOTALL)
_STATEMENT = re.compile(r"\{%-?(.*?)-?%\}", re.DOTALL)
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_PLACEHOLDER = re.compile(r"(?<!<)<([A-Za-z](?:[^<>\n\"'$|;&]{0,100}[^<>\s\"'$|;&])?)>")
_OPTIONAL = re.compile(r"(?<!\S)\[([A-Za-z][\w .:|-]{0,60})\](?!\S)")
_DOTS = re.compile(r"(?<![\w./\"'])(?:\.\.\.|\u2026)(?![\w./\"'])")

Default = Callable[[str], "Text | None"]
"""The value that stands beside a template for one of its fields."""


def is_format(text: str) -> bool:
    """Whether a text has fields in single braces, so that its double braces are literal ones."""
    return any(match.group(1) for match in _BRACES.finditer(text))


def filled(text: Text, default: Default | None = None, expression: Default | None = None) -> Text:
    """A template with its fields replaced by their defaults, or by holes where nothing is known of them.

    ``expression`` gives the value of what stands in ``${{ }}``.
    """
    marked = text.marked()
    if "{{" not in marked and "{%" not in marked and "{#" not in marked and not is_format(marked):
        return text
    text = replaced(text, _WORKFLOW, lambda inner: _expression(inner.strip(), expression), "}}")
    if is_format(text.marked()):
        return _formatted(text, default)
    for pattern, end in ((_COMMENT, "#}"), (_STATEMENT, "%}")):
        text = replaced(text, pattern, lambda _: hole("what the template leaves in or out"), end)
    if re.search(r"\{\{\s*\\?[\"']", text.marked()):
        return _formatted(text, default)
    return replaced(text, _EXPRESSION, lambda inner: _looked_up(inner, default), "}}")


def _expression(inner: str, known: Default | None) -> Text:
    found = known(inner) if known is not None else None
    return found if found is not None else hole(f"the expression {_short(inner)}", inner)


def _looked_up(inner: str, default: Default | None) -> Text:
    name = inner.strip()
    found = default(name) if default is not None and re.fullmatch(r"[A-Za-z_]\w*", name) else None
    return found or hole(f"the template value {_short(name)}", name)


def _field(name: str) -> Text:
    return hole(f"the field {name} of the template", name)


_SEVERAL = re.compile(r"flags?|arg(?:ument)?s?|opt(?:ion)?s?|extra|params|parameters|\s", re.IGNORECASE)
"""In the name of a field that may stand for several words."""


def hole(reason: str, name: str = "") -> Text:
    """A field of a template; its name says whether it may stand for several words."""
    return Text.of(Hole(reason, one_word=bool(name) and not _SEVERAL.search(name)))


def _short(text: str, limit: int = 50) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "\u2026"


def without_placeholders(text: Text) -> Text:
    """``<NAME>``, ``[OPTIONS]`` and ``...`` as holes: examples leave them to the reader."""
    marked = text.marked()
    if "<" in marked:
        text = replaced(text, _PLACEHOLDER, lambda name: hole(f"what <{_short(name)}> stands for in the example", name))
    if "[" in marked:
        text = replaced(text, _OPTIONAL, lambda name: hole(f"what [{_short(name)}] stands for in the example"))
    if "..." in marked or "\u2026" in marked:
        text = replaced(text, _DOTS, lambda _: hole("what ... stands for in the example"))
    return text


def _formatted(text: Text, default: Default | None) -> Text:
    """Fields in single braces filled in, doubled braces as single ones."""
    made, cuts = Joined(), Cuts(text)
    plain = 0
    for match in _BRACES.finditer(text.marked()):
        if made.is_full:
            break
        made.add(cuts.cut(plain, match.start()).pieces)
        plain = match.end()
        name = match.group(1)
        if name is None:
            made.add(cuts.cut(match.start(), match.start() + 1).pieces)
            continue
        span = _place(cuts.cut(match.start(), match.end()))
        value = (default(name) if default else None) or _field(name)
        made.add(Piece(p.content, p.span or span, p.via) for p in value.pieces)
    made.add(cuts.cut(plain).pieces)
    return made.text()


def _place(text: Text) -> Span | None:
    spans = [p.span for p in text.pieces if p.span is not None]
    return Span(spans[0].source, spans[0].start, max(spans[-1].end, spans[0].start)) if spans else None


def replaced(text: Text, pattern: re.Pattern[str], make: Callable[[str], Text], end: str = "") -> Text:
    """Every match replaced by what its first group makes; the place of the match stays.

    ``end`` is how every match ends: behind the last one there is nothing to look for (what opens again and again
    and never closes would be searched from each opening to the end).
    """
    marked = text.marked()
    made, cuts = Joined(), Cuts(text)
    plain = 0
    for match in pattern.finditer(marked, 0, marked.rfind(end) + len(end) if end else len(marked)):
        if has_mark(match.group()):
            continue
        if made.is_full:
            break
        made.add(cuts.cut(plain, match.start()).pieces)
        span = _place(cuts.cut(match.start(), match.end()))
        inner = match.group(1) if match.groups() and match.group(1) is not None else ""
        made.add(Piece(piece.content, piece.span or span, piece.via) for piece in make(inner).pieces)
        plain = match.end()
    if not plain:
        return text
    made.add(cuts.cut(plain).pieces)
    return made.text()
