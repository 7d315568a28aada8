"""Flags of an argument parser that belongs to a program around the engine: ``--key value``, ``--a.b value``, ``--key``.

Each flag is a key of a tree: its dashes are underscores (what argparse makes of them), dots lead deeper. What types
the program gives its values is its own affair; here a value is what YAML makes of it, and a text that begins with a
brace or bracket is the JSON it holds. Later flags win; a flag without a value is true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gdnlint.documents import json_text
from gdnlint.documents.overrides import Applied, Refused, update
from gdnlint.documents.yaml import resolve_scalar
from gdnlint.source import Span
from gdnlint.values import Hole, Problem, Text, Value, Word, has_mark

_FLAG = re.compile(r"--?[A-Za-z]")
_NONE = frozenset({"None", "none"})


def apply(
    tree: Value,
    words: Sequence[Word],
    *,
    negative: str = "",
    merges: bool = False,
    positional: Sequence[str] = (),
    repeats: Sequence[str] = (),
) -> Applied:
    """``tree`` with the flags of ``words``.

    ``negative`` is what stands before the last part of a key that a flag makes false (``no_``); without it such a flag
    is a key like others. ``merges``: a mapping is merged into the one that is there. ``positional`` names
    the words in front of all flags; ``repeats`` are keys of which every flag counts, as the items of a list.
    """
    applied = Applied(tree)
    at = 0
    while at < min(len(words), len(positional)) and not words[at].spread and not _is_flag(words[at]):
        applied.tree = update(applied.tree, [positional[at]], _value(words[at], [words[at]], "", True), None)
        at += 1
    while at < len(words):
        word = words[at]
        at += 1
        text = word.text.marked()
        if word.spread:
            applied.unknown += tuple(word.text.holes[:1]) or (Hole("words that the files do not show"),)
            continue
        if not _FLAG.match(text):
            continue
        name, equals, _ = text.partition("=")
        if has_mark(name):
            applied.unknown += tuple(word.text.holes[:1])
            continue
        values: list[Word] = []
        if equals:
            values = [replace(word, text=word.text.cut(len(name) + 1))]
        else:
            while at < len(words) and not _is_flag(words[at]):
                values.append(words[at])
                at += 1
        open_end = next((value for value in values if value.spread), None)
        if open_end is not None:
            # It may hold this flag's value, more of its values, or flags of its own.
            applied.unknown += tuple(open_end.text.holes[:1]) or (Hole("words that the files do not show"),)
            values = [value for value in values if not value.spread] or [replace(open_end, spread=False)]
        _set(applied, name, word, values, negative, merges, repeats)
    applied.unknown = tuple(dict.fromkeys(applied.unknown))
    return applied


def _set(
    applied: Applied, name: str, word: Word, values: list[Word], negative: str, merges: bool, repeats: Sequence[str]
) -> None:
    key = name.lstrip("-").replace("-", "_")
    path = key.split(".")
    off = bool(negative) and not values and path[-1].startswith(negative)
    if off:
        path[-1] = path[-1][len(negative) :]
    made = _value(word, values, name, not off)
    if key in repeats and (before := applied.tree.at(path)) is not None:
        made = replace(made, data=[*_items(before), *_items(made)])
    try:
        base = applied.tree if merges else _without_mapping(applied.tree, path)
        applied.tree = update(base, path, made, made.span)
    except Refused as error:
        applied.problems.append(Problem("override", f"{name}: {error}", word.span))


def _items(value: Value) -> list[Value]:
    return value.data if isinstance(value.data, list) else [value]


def _without_mapping(tree: Value, path: list[str]) -> Value:
    """A mapping that a flag gives takes the place of the one before."""
    there = tree.at(path)
    return tree.without(path) if there is not None and isinstance(there.data, dict) else tree


def _value(word: Word, values: list[Word], name: str, truth: bool) -> Value:
    span = _whole(word, values)
    places = tuple(dict.fromkeys(place for part in (word, *values) for place in part.text.places))
    if not values:
        return Value(truth, span, places, "flag", name)
    if len(values) > 1:
        return Value([_scalar(value.text, value.span, name) for value in values], span, places, "flag", name)
    return replace(_scalar(values[0].text, span, name), places=places)


def _scalar(text: Text, span: Span | None, name: str) -> Value:
    marked = text.marked().strip()
    if marked[:1] in ("{", "["):
        parsed = json_text.parse(text, span, route="flag", name=name)
        if parsed is not None:
            return replace(parsed, span=span)
    known = text.known
    if known is None or known in _NONE:
        return Value(text if known is None else None, span, text.places, "flag", name)
    return Value(resolve_scalar(known, "pyyaml"), span, text.places, "flag", name)


def _is_flag(word: Word) -> bool:
    text = word.text.marked()
    return not word.spread and (_FLAG.match(text) is not None or text == "@") and " " not in text.partition("=")[0]


def _whole(word: Word, values: Sequence[Word]) -> Span:
    """The flag with its values: what a person would edit."""
    last = values[-1].span if values else word.span
    if last.source is not word.span.source or last.end < word.span.end:
        return word.span
    return Span(word.span.source, word.span.start, last.end)
