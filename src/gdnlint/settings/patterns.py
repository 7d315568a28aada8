"""Patterns of paths as ``.gitignore`` has them.

Part by part with ``fnmatch``, whose stars never backtrack into each other: a pattern may come from anyone, and none may
take long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

LONGEST = 512
"""Characters of a pattern."""
MOST = 1_000
"""Patterns of one list."""
MOST_PARTS = 32
"""Parts of a pattern between slashes."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    parts: tuple[str, ...]
    negated: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class Patterns:
    """A list of patterns, of which the last one that fits a path decides."""

    texts: tuple[str, ...]
    _parsed: tuple[_Pattern, ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Patterns:
        """Raises ValueError, which says what is wrong with which one."""
        if len(texts) > MOST:
            raise ValueError(f"more than {MOST:,} patterns")
        return cls(tuple(texts), tuple(map(_parse, texts)))

    def fits(self, path: str) -> bool:
        """Whether a file's path (POSIX, relative) or one of the folders on the way to it is meant."""
        parts = tuple(path.split("/"))
        # As in git: below a folder that is meant, nothing is taken out again.
        return any(self._meant(parts[:end], end < len(parts)) for end in range(1, len(parts) + 1))

    def _meant(self, parts: tuple[str, ...], folder: bool) -> bool:
        for pattern in reversed(self._parsed):
            if (folder or not pattern.folders_only) and _fits(pattern.parts, parts):
                return not pattern.negated
        return False


def _parse(text: str) -> _Pattern:
    if len(text) > LONGEST:
        raise ValueError(f"a pattern of {len(text):,} characters; {LONGEST} are read")
    negated = text.startswith("!")
    body = text[1:] if negated else text
    folders_only = body.endswith("/")
    body = body.rstrip("/")
    anchored = "/" in body
    parts = [part for part in body.lstrip("/").split("/") if part not in ("", ".")]
    if not parts:
        raise ValueError(f"{text!r} names nothing; `*` stands for every name")
    if ".." in parts:
        raise ValueError(f"{text!r} leads out of the folder of this file; patterns are relative to it")
    if len(parts) > MOST_PARTS:
        raise ValueError(f"{text[:40]!r}... has more than {MOST_PARTS} parts")
    return _Pattern(tuple(parts if anchored else ["**", *parts]), negated, folders_only)


def _fits(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Whether the parts of a path fit those of a pattern, in steps of their product at most."""
    # After each part of the pattern: how many parts of the path may be behind it.
    reached = {0}
    for number, piece in enumerate(pattern):
        if not reached:
            return False
        if piece == "**":
            # A last `**` stands for what lies below: one part at least.
            least = min(reached) + (number == len(pattern) - 1 and number > 0)
            reached = set(range(least, len(parts) + 1))
            continue
        reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], piece)}
    return len(parts) in reached
