"""Values that remember where they were written and admit what they do not know.

Text may have holes: parts that the linted files do not decide (an environment variable, the
output of a command). A grammar reads through a hole by its mark, one private-use character, so
``{"method": "mtp", "num_speculative_tokens": $N}`` still parses: only the number is unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gdnlint.source import Span

MARK_BASE = 0xF0000
"""Hole number i of a text is read as ``chr(MARK_BASE + i)`` (plane 15 is private use)."""
MARK_LIMIT = 0x1000

DEEPEST = 100
"""Parts of a dotted key that are followed."""
LARGEST_TEXT = 1 << 20
"""Characters of a text that is put together from others."""
MOST_PIECES = 20_000
"""Pieces of such a text."""


class Hole(NamedTuple):
    """A part of a text that the files do not decide."""

    reason: str
    """A noun phrase that completes "it depends on ...": ``the environment variable MODEL_PATH``."""
    name: str = ""
    """What ``--assume NAME=value`` calls it: a variable, ``arg:1``, ``param:function.name``; empty if nothing can."""
    one_word: bool = False
    """Whether it is part of one word whatever it stands for, even unquoted."""


class Place(NamedTuple):
    """A hop on a value's way: a span and what happened there (``MODEL_NAME is set``)."""

    span: Span
    what: str


class Piece(NamedTuple):
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

    def span(self) -> Span | None:
        """From its first place to its last one, if both are in one source; else its first."""
        spans = [piece.span for piece in self.pieces if piece.span is not None]
        if not spans or spans[0].source is not spans[-1].source:
            return spans[0] if spans else None
        return Span(spans[0].source, spans[0].start, max(spans[-1].end, spans[0].start))

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
        return Cuts(self).unmark(part) if has_mark(part) else part

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


class Cuts:
    """Many parts of one text: gives what ``Text.cut`` and ``unmark`` give, without a look at every piece each time."""

    __slots__ = ("_holes", "_pieces", "_starts", "size")

    def __init__(self, text: Text) -> None:
        self._pieces = text.pieces
        self._holes = [piece for piece in text.pieces if isinstance(piece.content, Hole)]
        self._starts: list[int] = []
        self.size = 0
        for piece in text.pieces:
            self._starts.append(self.size)
            self.size += 1 if isinstance(piece.content, Hole) else len(piece.content)

    def unmark(self, part: str) -> str | Text:
        """Without a hole in it, a part with a character that looks like a mark is only that string."""
        if not self._holes or not has_mark(part):
            return part
        pieces: list[Piece] = []
        plain: list[str] = []
        for char in part:
            number = ord(char) - MARK_BASE
            if not 0 <= number < min(MARK_LIMIT, len(self._holes)):
                plain.append(char)
                continue
            if plain:
                pieces.append(Piece("".join(plain)))
                plain.clear()
            pieces.append(self._holes[number])
        if plain:
            pieces.append(Piece("".join(plain)))
        made = Text(tuple(pieces))
        return made if made.holes else part

    def cut(self, start: int, end: int | None = None) -> Text:
        """Characters ``start`` to ``end`` of what ``marked()`` gives."""
        end = self.size if end is None else min(end, self.size)
        if start >= end:
            return Text()
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1)
        base = self._starts[first]
        return Text(self._pieces[first:last]).cut(start - base, end - base)


class Joined:
    """A text that is put together from pieces and does not grow without bounds."""

    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._size = 0

    def add(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            if self.is_full:
                return
            self._size += 1 if isinstance(piece.content, Hole) else len(piece.content)
            self._pieces.append(piece)

    @property
    def is_full(self) -> bool:
        return self._size > LARGEST_TEXT or len(self._pieces) > MOST_PIECES

    def text(self) -> Text:
        """What was added; a hole if that is too much."""
        if self.is_full:
            return Text.of(Hole("a text that grows too large"), self._pieces[0].span)
        return Text(tuple(self._pieces))


def has_mark(part: str) -> bool:
    return not part.isascii() and any(MARK_BASE <= ord(c) < MARK_BASE + MARK_LIMIT for c in part)


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
        """A copy in which ``member`` stands at a path; mappings are made on the way.

        At a path of more than ``DEEPEST`` keys stands a hole, at its first key.
        """
        if not path:
            return member
        if len(path) > DEEPEST:
            path, member = path[:1], Value.unknown(f"a key of more than {DEEPEST} parts", member.span)
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


def members_of(value: Value | None) -> dict[str, Value]:
    """What a mapping holds; nothing if it is none."""
    return value.data if value is not None and isinstance(value.data, dict) else {}


class Question(NamedTuple):
    """Something outside the files that a run of a script or module asked about."""

    name: str
    """``NAME`` (environment variable), ``arg:1``, ``param:function.name``, or ``guard:LINE:COLUMN`` for a
    condition that nothing in the files decides."""
    witnesses: tuple[str, ...]
    """Values worth trying instead of "unset", in the order of the text; ``true`` and ``false`` for a guard."""
    span: Span
    text: str = ""
    """For a guard: the condition as written."""
    required: bool = False
    """Whether there is no default: the script stops unless it is one of the witnesses."""


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


class Problem(NamedTuple):
    """A diagnostic about a file: something in it could not be read or followed."""

    code: str
    """A slug: ``unreadable``, ``syntax``, ``too-deep``, ``outside-root`` ..."""
    message: str
    span: Span | None = None
    path: str = ""
    """Set when there is no span."""
