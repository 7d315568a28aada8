"""Edits of TOML files: a key's value replaced, or the key added to its table."""

from __future__ import annotations

import re

from gdnlint.fixes.proof import differences
from gdnlint.knowledge.schema import FixText
from gdnlint.results import Edit
from gdnlint.source import Source, Span
from gdnlint.values import Value


def edit(fix: FixText, tree: Value | None, now: Value | None, source: Source) -> tuple[Edit, ...]:
    """The edit for a recipe; none where the edited file is no TOML or differs in more than one place."""
    name, _, literal = fix.text.partition(": ")
    if now is not None and now.span is not None and now.span.source is source and now.route == "key":
        made = _replaced(name, literal, now.span)
    else:
        made = _added(name.split("."), literal, tree, source)
    return made if made and _proved(made, source) else ()


def _replaced(name: str, literal: str, span: Span) -> tuple[Edit, ...]:
    match = re.match(r"([\"']?)([\w.-]+)\1\s*=\s*", span.text)
    if match is None or "\n" in span.text or match.group(2).rpartition(".")[2] != name.rpartition(".")[2]:
        return ()
    return (Edit(Span(span.source, span.start + match.end(), span.end), literal),)


def _added(path: list[str], literal: str, tree: Value | None, source: Source) -> tuple[Edit, ...]:
    """A line behind the header of the deepest table on the path, or a new table at the end."""
    newline = "\r\n" if "\r\n" in source.text[:400] else "\n"
    for depth in range(len(path) - 1, 0, -1):
        table = tree.at(path[:depth]) if tree is not None else None
        if table is None or table.span is None or not re.match(r"\[(?!\[)", table.span.text):
            continue
        written = re.sub(r"[\s\"'\[\]]", "", table.span.text).split(".")
        if written != path[:depth]:
            # The header is of a table below this one.
            continue
        end = table.span.start + len(source.line(table.span.line))
        return (Edit(Span(source, end, end), f"{newline}{'.'.join(path[depth:])} = {literal}"),)
    end = len(source.text)
    gap = newline if source.text.endswith("\n") else newline * 2
    text = f"{gap}[{'.'.join(path[:-1])}]{newline}{path[-1]} = {literal}{newline}"
    return (Edit(Span(source, end, end), text),)


def _proved(edits: tuple[Edit, ...], source: Source) -> bool:
    from gdnlint.documents import toml

    after = source.text
    for one in edits:
        after = after[: one.span.start] + one.text + after[one.span.end :]
    before_tree, _ = toml.load(source)
    after_tree, _ = toml.load(Source(source.path, after, source.file))
    if before_tree is None or after_tree is None:
        return False
    return differences(before_tree.plain(), after_tree.plain()) == 1
