"""Bash patterns (``*``, ``?``, ``[...]``) matched in bounded time, never by backtracking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

MOST_WORK = 120_000
"""Pattern elements times characters; beyond it the answer is not computed."""

_CLASSES: dict[str, Callable[[str], bool]] = {
    "alpha": str.isalpha, "digit": str.isdigit, "alnum": str.isalnum, "space": str.isspace, "upper": str.isupper,
    "lower": str.islower, "punct": lambda c: c.isprintable() and not c.isalnum() and not c.isspace(),
    "blank": lambda c: c in " \t", "xdigit": lambda c: c in "0123456789abcdefABCDEF", "print": str.isprintable,
    "graph": lambda c: c.isprintable() and not c.isspace(), "cntrl": lambda c: not c.isprintable(),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class One:
    """One character: a given one, any (``text`` empty, no ``members``), or one of a set."""

    text: str = ""
    members: tuple[tuple[str, str], ...] = ()
    """Ranges (first, last) or classes (name, "")."""
    negated: bool = False

    def matches(self, char: str) -> bool:
        if self.text:
            return char == self.text
        if not self.members:
            return True
        found = any(first <= char <= last if last else _CLASSES[first](char) for first, last in self.members)
        return found != self.negated


STAR = One("**")
"""Any number of characters."""

Pattern = Sequence[One]


MOST_KEPT = 200
"""Characters of a pattern that is remembered: the patterns of a ``case`` are asked for in every turn of a loop."""


def compile_pattern(parts: Sequence[tuple[str, bool]]) -> Pattern | None:
    """A pattern from runs of text, each quoted or not. None for what is not supported (``@(a|b)``)."""
    if sum(len(text) for text, _ in parts) > MOST_KEPT:
        return _compiled(tuple(parts))
    return _kept(tuple(parts))


@lru_cache(maxsize=2048)
def _kept(parts: tuple[tuple[str, bool], ...]) -> Pattern | None:
    return _compiled(parts)


def _compiled(parts: tuple[tuple[str, bool], ...]) -> Pattern | None:
    chars = [(char, quoted) for text, quoted in parts for char in text]
    out: list[One] = []
    at = 0
    while at < len(chars):
        char, quoted = chars[at]
        at += 1
        if quoted or char not in "*?[\\+@!":
            out.append(One(char))
        elif char in "?*+@!" and at < len(chars) and chars[at] == ("(", False):
            return None
        elif char == "*":
            if not out or out[-1] is not STAR:
                out.append(STAR)
        elif char == "?":
            out.append(One())
        elif char == "\\":
            if at < len(chars):
                out.append(One(chars[at][0]))
                at += 1
        elif char == "[":
            made, at = _bracket(chars, at)
            out.append(made)
        else:
            out.append(One(char))
    return tuple(out)


def _bracket(chars: Sequence[tuple[str, bool]], at: int) -> tuple[One, int]:
    """A set whose ``[`` stands before ``at``; a plain ``[`` if nothing closes it."""
    start = at
    negated = at < len(chars) and chars[at][0] in "!^" and not chars[at][1]
    at += negated
    members: list[tuple[str, str]] = []
    first = True
    while at < len(chars):
        char, quoted = chars[at]
        if char == "]" and not quoted and not first:
            return (One("", tuple(members), negated) if members else One()), at + 1
        first = False
        if char == "[" and at + 1 < len(chars) and chars[at + 1][0] == ":":
            name = "".join(c for c, _ in chars[at + 2 : at + 12])
            name, closed, _ = name.partition(":]")
            if closed and name in _CLASSES:
                members.append((name, ""))
                at += len(name) + 4
                continue
        if at + 2 < len(chars) and chars[at + 1] == ("-", False) and chars[at + 2] != ("]", False):
            members.append((char, chars[at + 2][0]))
            at += 3
            continue
        members.append((char, char))
        at += 1
    return One("["), start


def matches(pattern: Pattern, text: str) -> bool | None:
    """Whether a pattern matches the whole of a text; None if that would take too long."""
    if len(pattern) * len(text) > MOST_WORK:
        return None
    at = index = 0
    star, resume = -1, 0
    while at < len(text):
        if index < len(pattern) and pattern[index] is STAR:
            star, resume = index, at
            index += 1
        elif index < len(pattern) and ((one := pattern[index]).text == text[at] or one.matches(text[at])):
            index += 1
            at += 1
        elif star >= 0:
            resume += 1
            index, at = star + 1, resume
        else:
            return False
    return all(one is STAR for one in pattern[index:])


def prefix(pattern: Pattern, text: str, longest: bool) -> int | None:
    """The length of the shortest or longest start of a text that a pattern matches; -1 if none does.

    None if that would take too long.
    """
    if len(pattern) * len(text) > MOST_WORK:
        return None
    reached = _closure(pattern, {0})
    best = -1
    for at in range(len(text) + 1):
        if len(pattern) in reached:
            best = at
            if not longest:
                return best
        if at == len(text) or not reached:
            break
        following = set()
        for index in reached:
            if index < len(pattern):
                if pattern[index] is STAR:
                    following.add(index)
                elif pattern[index].matches(text[at]):
                    following.add(index + 1)
        reached = _closure(pattern, following)
    return best


def suffix(pattern: Pattern, text: str, longest: bool) -> int | None:
    """As ``prefix``, for the end of a text."""
    return prefix(pattern[::-1], text[::-1], longest)


def occurrences(pattern: Pattern, text: str, every: bool, anchor: str) -> list[tuple[int, int]] | None:
    """Where ``${text/pattern/...}`` replaces: (start, end) pairs. ``anchor``: ``#``, ``%`` or empty.

    None if that would take too long.
    """
    if anchor == "#":
        size = prefix(pattern, text, True)
        return None if size is None else [(0, size)] if size >= 0 else []
    if anchor == "%":
        size = suffix(pattern, text, True)
        return None if size is None else [(len(text) - size, len(text))] if size >= 0 else []
    if not pattern:
        return []
    if all(one.text and one is not STAR for one in pattern):
        plain = "".join(one.text for one in pattern)
        found: list[tuple[int, int]] = []
        at = text.find(plain)
        while at >= 0:
            found.append((at, at + len(plain)))
            if not every:
                break
            at = text.find(plain, at + len(plain))
        return found
    if len(pattern) * len(text) * len(text) > MOST_WORK:
        return None
    found = []
    at = 0
    while at < len(text):
        size = prefix(pattern, text[at:], True)
        if size is None:
            return None
        if size > 0:
            found.append((at, at + size))
            if not every:
                break
            at += size
        else:
            at += 1
    return found


def _closure(pattern: Pattern, reached: set[int]) -> set[int]:
    out = set(reached)
    for index in reached:
        while index < len(pattern) and pattern[index] is STAR:
            index += 1
            out.add(index)
    return out
