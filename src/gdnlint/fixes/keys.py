"""Edits of YAML files: a key's value replaced, or the key added in the style around it."""

from __future__ import annotations

import re

from gdnlint.knowledge.schema import FixText
from gdnlint.results import Edit
from gdnlint.source import Source, Span
from gdnlint.values import Value


def edit(fix: FixText, tree: Value | None, now: Value | None, source: Source) -> tuple[Edit, ...]:
    """The edit for a recipe or configuration file; only the launch's own file is ever changed."""
    if fix.text.startswith("--"):
        return _item(fix, now, source)
    name, _, literal = fix.text.partition(": ")
    if now is not None and now.span is not None and now.span.source is source and now.route == "key":
        return _replaced(fix, name, literal, now.span)
    if tree is None:
        return ()
    written = _written(name, fix, tree, source)
    if written is not None:
        return _replaced(fix, name, literal, written)
    return _added(name.split(".") if "." in name else [name], literal, tree, source)


def _item(fix: FixText, now: Value | None, source: Source) -> tuple[Edit, ...]:
    """A word in a list of words, replaced; where another one belongs in the file, a person has to say."""
    if now is None or now.span is None or now.span.source is not source:
        return ()
    text = now.span.text
    quote = text[:1] if text[:1] in ("'", '"') and text.endswith(text[:1]) else ""
    if text.strip(quote or None) not in fix.replaces:
        return ()
    return (Edit(now.span, f"{quote}{fix.text}{quote}"),)


def _written(name: str, fix: FixText, tree: Value, source: Source) -> Span | None:
    """Where the file has the key already, with a value that does not count (a null, a false that is dropped)."""
    for key in (name, *fix.replaces):
        found = (tree.data.get(key) if isinstance(tree.data, dict) else None) or tree.at(key.split("."))
        if found is not None and found.span is not None and found.span.source is source and found.route == "key":
            return found.span
    return None


def _replaced(fix: FixText, name: str, literal: str, span: Span) -> tuple[Edit, ...]:
    match = re.match(r"([\"']?)([\w.-]+)\1\s*:\s*", span.text)
    if match is None or "\n" in span.text:
        return ()
    if match.group(2) == name.rpartition(".")[2]:
        return (Edit(Span(span.source, span.start + match.end(), span.end), literal),)
    if match.group(2) in fix.replaces:
        return (Edit(span, f"{name}: {literal}"),)
    return ()


def _added(path: list[str], literal: str, tree: Value, source: Source) -> tuple[Edit, ...]:
    """A new line behind the key of the deepest mapping on the path that stands in this file."""
    depth, parent = 0, tree
    for number in range(1, len(path)):
        found = tree.at(path[:number])
        if found is None or not isinstance(found.data, dict) or found.span is None or found.span.source is not source:
            break
        depth, parent = number, found
    children = [
        v for v in (parent.data.values() if isinstance(parent.data, dict) else []) if v.span and v.span.source is source
    ]
    if not children or parent.span is None:
        return ()
    first = min(children, key=lambda value: value.span.start if value.span else 0).span
    assert first is not None
    line, column = source.position(first.start)
    if source.line(line)[: column - 1].strip():
        # A flow mapping, or a child on its parent's line: there is no line to add.
        return ()
    indent = " " * (column - 1)
    end = "\r\n" if source.text[first.start : first.end + 2].endswith("\r\n") or "\r\n" in source.text[:400] else "\n"
    lines = [f"{indent}{'  ' * i}{key}:" for i, key in enumerate(path[depth:])]
    lines[-1] += f" {literal}"
    at = source.starts[line - 1]
    return (Edit(Span(source, at, at), end.join(lines) + end),)
