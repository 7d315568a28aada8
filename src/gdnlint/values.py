"""Values that remember where they were written and admit what they do not know.

Text may have holes: parts that the linted files do not decide (an environment variable, the
output of a command). A grammar reads through a hole by its mark, one private-use character, so
``{"method": "mtp", "num_speculative_tokens": $N}`` still parses: only the number is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gdnlint.source import Span

MARK_BASE = 0xF0000
"""Hole number i of a text is read as ``chr(MARK_BASE + i)`` (plane 15 is private use)."""
MARK_LIMIT = 0x1000


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a text that the files do not decide."""

    reason: str
    """A noun phrase that completes "it depends on ...": ``the environment variable MODEL_PATH``."""
    name: str = ""
    """What ``--assume NAME=value`` calls it: a variable, ``arg:1``, ``param:function.name``; empty if nothing can."""
    one_word: bool = False
    """Whether it is part of one word whatever it stands for, even unquoted."""


@dataclass(frozen=True, slots=True)
class Place:
    """A hop on a value's way: a span and what happened there (``MODEL_NAME is set``)."""

    span: Span
    what: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of one origin, or a hole."""

    content: str | Hole
    span: Span | None = None
    """Where these characters (or the expansion that is a hole) are written."""
    via: tuple[Place, ...] = ()
    """The hops through which they came, the nearest to the launch first."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string in pieces."""

    pieces: tuple[Piece, ...] = ()

    @classmethod
    def of(cls, content: str | Hole, span: Span | None = None) -> Text:
        return cls((Piece(content, span),))

    @property
    def known(self) -> str | None:
        """The whole string, or None if any part of it is a hole."""
        parts = []
        for piece in self.pieces:
            if isinstance(piece.content, Hole):
                return None
            parts.append(piece.content)
        return "".join(parts)

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(p.content for p in self.pieces if isinstance(p.content, Hole))

    @property
    def places(self) -> tuple[Place, ...]:
        """Every hop of every piece, once each, in order."""
        return tuple(dict.fromkeys(place for piece in self.pieces for place in piece.via))

    def show(self) -> str:
        """For people: holes as ``<...>``."""
        return "".join(
            f"<{p.content.name or p.content.reason}>" if isinstance(p.content, Hole) else p.content for p in self.pieces
        )

    def marked(self) -> str:
        """For grammars: each hole is one mark. ``unmark`` turns parts of it back into texts."""
        out, number = [], 0
        for piece in self.pieces:
            if isinstance(piece.content, Hole):
                out.append(chr(MARK_BASE + min(number, MARK_LIMIT - 1)))
                number += 1
            else:
                out.append(piece.content)
        return "".join(out)

    def unmark(self, part: str) -> str | Text:
        """A string that a grammar made from ``marked()``: plain if no mark is in it."""
        if not any(MARK_BASE <= ord(c) < MARK_BASE + MARK_LIMIT for c in part):
            return part
        holes = [p for p in self.pieces if isinstance(p.content, Hole)]
        pieces: list[Piece] = []
        plain = ""
        for char in part:
            number = ord(char) - MARK_BASE
            if 0 <= number < MARK_LIMIT and number < len(holes):
                if plain:
                    pieces.append(Piece(plain))
                    plain = ""
                pieces.append(holes[number])
            else:
                plain += char
        if plain:
            pieces.append(Piece(plain))
        return Text(tuple(pieces))

    def cut(self, start: int, end: int | None = None) -> Text:
        """Characters of ``marked()`` from ``start`` to ``end``, pieces and their places kept."""
        out: list[Piece] = []
        at = 0
        for piece in self.pieces:
            size = 1 if isinstance(piece.content, Hole) else len(piece.content)
            low, high = max(start - at, 0), size if end is None else min(end - at, size)
            if low < high:
                if isinstance(piece.content, Hole):
                    out.append(piece)
                else:
                    span = piece.span
                    if span is not None and span.end - span.start == size:
                        span = Span(span.source, span.start + low, span.start + high)
                    out.append(Piece(piece.content[low:high], span, piece.via))
            at += size
        return Text(tuple(out))

    def __add__(self, other: Text) -> Text:
        return Text(self.pieces + other.pieces)


def has_mark(part: str) -> bool:
    return any(MARK_BASE <= ord(c) < MARK_BASE + MARK_LIMIT for c in part)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command line."""

    text: Text
    span: Span
    """Where it is written in the command (``"$X"``, not where X was set)."""
    spread: bool = False
    """Stands for any number of words that the files do not decide (``"$@"``, ``$EXTRA_ARGS``)."""

    @property
    def known(self) -> str | None:
        return None if self.spread else self.text.known


Data = None | bool | int | float | str | Text | dict[str, "Value"] | list["Value"]
"""What a value holds: JSON, with a Text where a scalar is not (wholly) known."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value, where it is written, and how it came to the place that counts."""

    data: Data
    span: Span | None = None
    """Where it is set: the word, key or keyword that a person would edit. None for defaults of a program."""
    places: tuple[Place, ...] = ()
    """Hops behind it (the variable that the word expands, the parent file)."""
    route: str = ""
    """How it is set: ``flag``, ``override``, ``key``, ``keyword``, ``default``, ``rule``."""
    name: str = ""
    """What it is called there: ``--enable-prefix-caching``, ``trainer.mtp.enabled``."""

    @classmethod
    def unknown(cls, reason: str, span: Span | None = None, name: str = "") -> Value:
        return cls(Text.of(Hole(reason, name), span), span)

    @property
    def is_known(self) -> bool:
        """Whether no part of it, at any depth, is a hole."""
        if isinstance(self.data, Text):
            return self.data.known is not None
        if isinstance(self.data, dict):
            return all(v.is_known for v in self.data.values())
        if isinstance(self.data, list):
            return all(v.is_known for v in self.data)
        return True

    @property
    def scalar(self) -> bool | int | float | str | Text | None:
        """The data of a scalar; a mapping or list is an error of the caller."""
        assert not isinstance(self.data, dict | list)
        return self.data

    def holes(self) -> Iterator[Hole]:
        if isinstance(self.data, Text):
            yield from self.data.holes
        elif isinstance(self.data, dict):
            for value in self.data.values():
                yield from value.holes()
        elif isinstance(self.data, list):
            for value in self.data:
                yield from value.holes()

    def plain(self) -> object:
        """As JSON; what is not known is None."""
        if isinstance(self.data, Text):
            return self.data.known
        if isinstance(self.data, dict):
            return {key: value.plain() for key, value in self.data.items()}
        if isinstance(self.data, list):
            return [value.plain() for value in self.data]
        return self.data

    def at(self, path: Sequence[str]) -> Value | None:
        """The member at a path of keys; None if it is absent. A hole on the way is returned as it is."""
        value: Value = self
        for key in path:
            if isinstance(value.data, Text):
                return value
            if not isinstance(value.data, dict) or key not in value.data:
                return None
            value = value.data[key]
        return value

    def with_(self, path: Sequence[str], member: Value) -> Value:
        """A copy in which ``member`` stands at a path; mappings are made on the way."""
        if not path:
            return member
        data = dict(self.data) if isinstance(self.data, dict) else {}
        below = data.get(path[0], Value({}))
        data[path[0]] = below.with_(path[1:], member)
        return replace(self, data=data)

    def without(self, path: Sequence[str]) -> Value:
        """A copy from which the member at a path is gone."""
        if not isinstance(self.data, dict) or path[0] not in self.data:
            return self
        data = dict(self.data)
        if len(path) == 1:
            del data[path[0]]
        else:
            data[path[0]] = data[path[0]].without(path[1:])
        return replace(self, data=data)

    def merged(self, over: Value) -> Value:
        """Mappings merge key by key at every depth, ``over`` wins; anything else is replaced."""
        if not isinstance(self.data, dict) or not isinstance(over.data, dict):
            return over
        data = dict(self.data)
        for key, value in over.data.items():
            data[key] = data[key].merged(value) if key in data else value
        return replace(over, data=data)

    def map_places(self, change: Callable[[Value], Value]) -> Value:
        """A copy with ``change`` applied to every value, the innermost first."""
        data = self.data
        if isinstance(data, dict):
            data = {key: value.map_places(change) for key, value in data.items()}
        elif isinstance(data, list):
            data = [value.map_places(change) for value in data]
        return change(replace(self, data=data))


@dataclass(frozen=True, slots=True)
class Question:
    """Something outside the files that a run of a script or module asked about."""

    name: str
    """``NAME`` (environment variable), ``arg:1``, ``param:function.name``, or ``guard:LINE:COLUMN`` for a
    condition that nothing in the files decides."""
    witnesses: tuple[str, ...]
    """Values worth trying instead of "unset", in the order of the text; ``true`` and ``false`` for a guard."""
    span: Span
    text: str = ""
    """For a guard: the condition as written."""


@dataclass(frozen=True, slots=True)
class World:
    """What is taken as given while a script or module is read."""

    env: dict[str, str] = field(default_factory=dict)
    """Environment variables that are set. All others are unset."""
    answers: dict[str, str] = field(default_factory=dict)
    """Answers to other questions by their name (``arg:1``, ``param:...``, ``guard:...``)."""
    texts: dict[str, Text] = field(default_factory=dict)
    """Environment variables that another part of the files sets (a service's ``environment:``), with their places.
    They beat ``env``: what is set there does not come from outside."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A diagnostic about a file: something in it could not be read or followed."""

    code: str
    """A slug: ``unreadable``, ``syntax``, ``too-deep``, ``outside-root`` ..."""
    message: str
    span: Span | None = None
    path: str = ""
    """Set when there is no span."""
