"""Edits of YAML are only offered when the edited file still parses and differs in one place."""

from __future__ import annotations

import io

from gdnlint.results import Edit

LARGEST = 64_000
"""Characters of a file that is read by the second parser, which takes seconds for a megabyte."""


def only(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The edits, or none if the file with them does not parse or holds more than one difference."""
    if not edits or len(edits[0].span.source.text) > LARGEST:
        return ()
    source = edits[0].span.source
    after = source.text
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        after = after[: edit.span.start] + edit.text + after[edit.span.end :]
    before_data, after_data = _load(source.text), _load(after)
    if before_data is None or after_data is None:
        return ()
    return edits if differences(before_data, after_data) == 1 else ()


def _load(text: str) -> list[object] | None:
    """Every document of a YAML text, read by a second parser than the one that found the launch; None if it cannot."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    loader = YAML(typ="safe", pure=True)
    loader.allow_duplicate_keys = True
    try:
        return list(loader.load_all(io.StringIO(text)))
    except (YAMLError, ValueError, RecursionError):
        return None


def differences(before: object, after: object) -> int:
    """How many members differ: one that was added, removed or changed counts once, with all that is below it."""
    if isinstance(before, dict) and isinstance(after, dict):
        shared = before.keys() & after.keys()
        # A key that gives way to another is one difference.
        own = max(len(before.keys() - after.keys()), len(after.keys() - before.keys()))
        return own + sum(differences(before[key], after[key]) for key in shared)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return sum(differences(x, y) for x, y in zip(before, after, strict=True))
    return int(before != after)
