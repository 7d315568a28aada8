"""Overrides: words such as ``a.b=1`` that change a tree of settings. One module a grammar.

The trees follow OmegaConf's rules for merging, which both grammars end in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gdnlint.source import Span
from gdnlint.values import DEEPEST, Hole, Problem, Text, Value

_LONGEST_KEY = 4_096

MANDATORY = "???"
"""What stands for a value that must be given later (OmegaConf)."""

Follow = Callable[[str], "Value | None"]
"""Finds what an interpolation (``${a.b}``) stands for; None if it stands for no mapping."""


@dataclass
class Applied:
    """A tree after its overrides."""

    tree: Value
    problems: list[Problem] = field(default_factory=list)
    unknown: tuple[Hole, ...] = ()
    """Words, or keys in words, that the files do not decide: any key may have been set by them."""
    missing: list[str] = field(default_factory=list)
    """Keys that were changed, not added, and were not in the tree."""


class Refused(Exception):
    """The reading program stops at this override; the message says why."""


def split_key(key: str) -> list[str]:
    """The parts of a dotted key: ``a.b`` and ``a[b]`` are ``a``, ``b``. A very long one is one part."""
    if len(key) > _LONGEST_KEY:
        return [key]
    head = re.match(r"\.*[^.\[]*", key)
    stop = head.end() if head else 0
    parts = key[:stop].split(".")
    if stop == len(key):
        return parts
    if key[stop] == "[" and not parts[-1]:
        parts.pop()
    for match in re.finditer(r"\.([^.\[]*)|\[(.*?)\]", key[stop:]):
        parts.append(match.group(1) or match.group(2) or "")
    return parts


def is_interpolation(value: Value) -> bool:
    return isinstance(value.data, str) and "${" in value.data


def merge(base: Value, over: Value, follow: Follow | None = None, problems: list[Problem] | None = None) -> Value:
    """``base`` with ``over`` merged into it, as OmegaConf.merge does.

    Mappings merge at every depth; a list or scalar is replaced; ``???`` in ``over`` keeps what is
    there. A mapping that meets an interpolation merges into what that stands for (``follow``);
    where nobody says what that is, the result is a hole, as it is for a mapping over a hole.
    A list over a mapping (or the reverse) is refused by the program: a problem, and ``over`` wins.
    """
    if isinstance(base.data, Text) and isinstance(over.data, dict):
        return base
    if not isinstance(base.data, dict) or not isinstance(over.data, dict):
        return over
    data = dict(base.data)
    for key, new in over.data.items():
        old = data.get(key)
        if old is None:
            data[key] = new
        elif new.data != MANDATORY:
            data[key] = _merged(old, new, follow, problems)
    return replace(base, data=data)


def _merged(old: Value, new: Value, follow: Follow | None, problems: list[Problem] | None) -> Value:
    if isinstance(new.data, dict) and is_interpolation(old):
        unknown = Value.unknown(f"the interpolation {old.data}", old.span)
        found = unknown if follow is None else follow(str(old.data))
        return new if found is None or not isinstance(found.data, dict | Text) else merge(found, new, follow, problems)
    clash = (isinstance(old.data, dict) and isinstance(new.data, list)) or (
        isinstance(old.data, list) and isinstance(new.data, dict)
    )
    if clash and problems is not None:
        kinds = ("a list", "a mapping") if isinstance(new.data, list) else ("a mapping", "a list")
        problems.append(Problem("override", f"{new.name}: {kinds[0]} cannot be merged into {kinds[1]}", new.span))
    return merge(old, new, follow, problems)


def find(tree: Value, parts: Sequence[str]) -> Value | None:
    """The member at a path of keys and indices; a hole on the way is returned as it is."""
    for part in parts:
        below: Value | None = None
        if isinstance(tree.data, Text):
            return tree
        if isinstance(tree.data, dict):
            below = tree.data.get(part)
        elif isinstance(tree.data, list) and re.fullmatch(r"[0-9]{1,9}", part) and int(part) < len(tree.data):
            below = tree.data[int(part)]
        if below is None:
            return None
        tree = below
    return tree


def update(tree: Value, parts: Sequence[str], value: Value, span: Span | None, done: int = 0) -> Value:
    """``tree`` with ``value`` at a path; mappings merge, and what is no mapping on the way becomes one.

    Raises Refused: an index outside a list, a mapping into a list.
    """
    if isinstance(tree.data, Text):
        # Something unknown stays unknown: what else is in it, nobody knows.
        return tree
    if not done and len(parts) > DEEPEST:
        parts, value = parts[:1], Value.unknown(f"a key of more than {DEEPEST} parts", span)
    if done == len(parts):
        if isinstance(tree.data, dict) and isinstance(value.data, dict):
            return merge(tree, value)
        if isinstance(tree.data, dict) and isinstance(value.data, list):
            raise Refused("a list cannot be merged into a mapping")
        if isinstance(tree.data, list) and isinstance(value.data, dict):
            raise Refused("a mapping cannot be merged into a list")
        return value
    if isinstance(tree.data, list):
        return _update_item(tree, parts, value, span, done)
    data = dict(tree.data) if isinstance(tree.data, dict) else {}
    key = parts[done]
    old = data.get(key)
    if old is None:
        old = Value(None, span, value.places, value.route, ".".join(parts[: done + 1]))
    data[key] = update(old, parts, value, span, done + 1)
    if isinstance(tree.data, dict):
        return replace(tree, data=data)
    return Value(data, span, value.places, value.route, ".".join(parts[:done]))


def _update_item(tree: Value, parts: Sequence[str], value: Value, span: Span | None, done: int) -> Value:
    assert isinstance(tree.data, list)
    if not re.fullmatch(r"[-+]?[0-9]{1,9}", parts[done]):
        raise Refused(f"{parts[done]!r} is no index of a list")
    index = int(parts[done])
    if not -len(tree.data) <= index < len(tree.data):
        raise Refused(f"the list has no item {index}")
    items = list(tree.data)
    if index < 0 and done + 1 < len(parts):
        # Looked up, an index from the end finds nothing; assigned, it does.
        items[index] = Value(None, span, value.places, value.route, ".".join(parts[: done + 1]))
    items[index] = update(items[index], parts, value, span, done + 1)
    return replace(tree, data=items)
