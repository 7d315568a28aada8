"""Edits of command lines and calls: a word replaced or added, in the style around it."""

from __future__ import annotations

import re

from gdnlint.knowledge.schema import FixText
from gdnlint.launches.model import Insertion
from gdnlint.results import Edit
from gdnlint.source import Span
from gdnlint.values import Value


def command(fix: FixText, now: Value | None, place: Insertion, launch: Span) -> tuple[Edit, ...]:
    """A flag or override: the word that sets it replaced where it stands in the launch itself, else one added behind.

    What a variable or array holds is not touched: other launches may use it too, and the last word wins.
    """
    written = _unquoted(now.span) if now is not None and now.span is not None else None
    if written is not None and launch.holds(written) and _is_literal(fix, written):
        return (Edit(written, fix.text),)
    span = place.span
    at = Span(span.source, span.end, span.end)
    if place.style == "list":
        quote = span.text[:1] if span.text[:1] in "'\"" else '"'
        return (Edit(at, f", {quote}{fix.text}{quote}"),)
    if place.style == "item":
        return (_item(fix.text, span),)
    return (Edit(at, _separator(span, launch) + fix.text),)


def _item(text: str, last: Span) -> Edit:
    """One more item of a YAML list, on a line below the last one."""
    source = last.source
    line, _ = source.position(last.end - 1)
    start = source.starts[line - 1]
    end = start + len(source.line(line))
    before = source.line(source.position(last.start)[0])
    newline = "\r\n" if source.text[end : end + 1] == "\r" else "\n"
    return Edit(Span(source, end, end), f"{newline}{before[: before.index('-') + 1]} {text}")


def _unquoted(span: Span) -> Span:
    """A word without the quotes around it, which stay."""
    text = span.text
    quoted = len(text) > 2 and text[0] in "'\"" and text[-1] == text[0]
    return Span(span.source, span.start + 1, span.end - 1) if quoted else span


def _is_literal(fix: FixText, span: Span) -> bool:
    """Whether the words that set it now are in the file as they are, and nothing else with them."""
    text = span.text
    return any(
        text == name or re.fullmatch(rf"[+~]*{re.escape(name)}=[\w.-]+", text) is not None for name in fix.replaces
    )


def _separator(last: Span, launch: Span) -> str:
    """A blank, or a continued line where the command has one word a line."""
    source = launch.source
    line = source.position(last.start)[0]
    text = source.line(line)
    previous = source.line(line - 1)
    if launch.line == line or not previous.rstrip().endswith("\\"):
        return " "
    indent = text[: len(text) - len(text.lstrip())]
    end = "\r\n" if source.text[max(source.starts[line - 1] - 2, 0) : source.starts[line - 1]] == "\r\n" else "\n"
    return f" \\{end}{indent}"


def keyword(fix: FixText, now: Value | None, call: Span, tree: Value | None) -> tuple[Edit, ...]:
    """A keyword argument, or an entry of the mapping that one holds: replaced where it is written, else added last."""
    source = call.source
    if now is not None and now.span is not None and now.span.source is source:
        return _replaced(fix, now.span)
    if not fix.at:
        return _into(call, ")", fix.text)
    mapping = tree.at([fix.at]) if tree is not None else None
    if mapping is None or mapping.span is None or mapping.span.source is not source:
        return ()
    return _into(mapping.span, "}", fix.text)


def _replaced(fix: FixText, span: Span) -> tuple[Edit, ...]:
    """``name=True`` and ``"name": True`` with the other value; anything else is left to a person."""
    for name in fix.replaces:
        match = re.match(rf"([\"']?){re.escape(name)}\1(\s*[=:]\s*)", span.text)
        if match is not None:
            return (Edit(Span(span.source, span.start + match.end(), span.end), str(fix.value)),)
    return ()


def _into(around: Span, closing: str, text: str) -> tuple[Edit, ...]:
    """One more item before the bracket that ends a call or mapping, on a line of its own where the others are."""
    source = around.source
    end = around.end - 1
    if source.text[end : around.end] != closing:
        return ()
    inside = source.text[around.start : end].rstrip()
    at = around.start + len(inside)
    if inside.endswith(("(", "{")):
        return (Edit(Span(source, at, at), text),)
    comma = "" if inside.endswith(",") else ","
    last = source.position(at - 1)[0]
    if source.position(around.start)[0] == last:
        return (Edit(Span(source, at, at), f"{comma} {text}"),)
    line = source.line(last)
    indent = line[: len(line) - len(line.lstrip())]
    trailing = "," if inside.endswith(",") else ""
    return (Edit(Span(source, at, at), f"{comma}\n{indent}{text}{trailing}"),)
