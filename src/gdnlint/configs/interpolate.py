"""OmegaConf interpolations over a tree of values: ``${a.b}``, ``${..x}``, ``${oc.env:NAME,default}``.

Nothing is resolved before it is asked for. What the files do not decide (a custom resolver, an
unset variable without default, ``???``) is a hole with its reason, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gdnlint.documents.overrides import MANDATORY, is_interpolation, split_key
from gdnlint.documents.overrides.hydra import parse_element
from gdnlint.values import Data, Hole, Piece, Place, Text, Value

DEEPEST = 64
"""Hops and levels of nesting that are followed for one value."""
LARGEST = 5_000
"""Nodes that are resolved for one tree."""
LONGEST = 100_000
"""Characters of a string made of parts."""

GIVEN_LATER = "a value that must be given on the command line"


def lookup(tree: Value, key: str | Sequence[str], env: Mapping[str, str]) -> Value | None:
    """The value at a dotted key (or a path of keys), its interpolations resolved; None if it is absent.

    ``env`` has the environment variables that are set; all others are unset.
    """
    return Lookup(tree, env).get(key)


def _selected(items: Sequence[Value], part: str) -> tuple[str, Value | None]:
    """The first item in which a member is so (``name=main``), as lists of named things are read, and its index."""
    key, _, wanted = part.partition("=")
    for number, item in enumerate(items):
        member = item.data.get(key) if isinstance(item.data, dict) else None
        if member is not None and member.data == wanted:
            return str(number), item
    return part, None


class Lookup:
    """Looks keys up in one tree; what was resolved once is kept."""

    def __init__(self, tree: Value, env: Mapping[str, str]) -> None:
        self.tree = tree
        self.env = env
        self.asked: dict[str, str | None] = {}
        """Environment variables that were read -> their default (None: there is none)."""
        self._done: dict[tuple[str, ...], tuple[Value, tuple[str, ...]]] = {}
        self._active: list[tuple[str, ...]] = []
        self._count = 0

    def get(self, key: str | Sequence[str]) -> Value | None:
        """See ``lookup``. A hole on the way to the key is returned as it is."""
        parts = split_key(key) if isinstance(key, str) else list(key)
        found, path = self._find(parts)
        if found is None:
            return None
        return self._deep(found, path, 0)

    def stands_for(self, text: str) -> Value | None:
        """What a string with interpolations stands for, its members left as they are.

        None for a scalar. A relative interpolation is a hole: where the string stands is not known.
        """
        if "${." in text.replace(" ", ""):
            return Value.unknown(f"the interpolation {text}")
        value = self._resolved(Value(text), ())[0]
        return value if isinstance(value.data, dict | list | Text) else None

    # Finding

    def _find(self, parts: Sequence[str]) -> tuple[Value | None, tuple[str, ...]]:
        """The node at a path, and where it really lies: interpolations on the way are followed."""
        node, path = self.tree, tuple[str, ...]()
        hops: list[Place] = []
        for part in parts:
            if isinstance(node.data, str) and node.span is not None:
                hops.append(Place(node.span, f"{node.name} is {node.data}"))
            node, path = self._followed(node, path)
            below: Value | None = None
            if isinstance(node.data, Text):
                return node, path
            if isinstance(node.data, dict):
                below = node.data.get(part)
            elif isinstance(node.data, list) and re.fullmatch(r"-?[0-9]{1,9}", part):
                index = int(part)
                below = node.data[index] if -len(node.data) <= index < len(node.data) else None
            elif isinstance(node.data, list) and "=" in part:
                part, below = _selected(node.data, part)
            if below is None:
                return None, path
            node, path = below, (*path, part)
        node, path = self._followed(node, path)
        return (replace(node, places=(*hops, *node.places)) if hops else node), path

    def _followed(self, node: Value, path: tuple[str, ...]) -> tuple[Value, tuple[str, ...]]:
        if not isinstance(node.data, str):
            return node, path
        if node.data == MANDATORY:
            return replace(node, data=Text.of(Hole(GIVEN_LATER), node.span)), path
        if not is_interpolation(node):
            return node, path
        if path not in self._done:
            found = self._resolved(node, path)
            if path in self._active or not path:
                return found
            self._done[path] = found
        return self._done[path]

    def _deep(self, node: Value, path: tuple[str, ...], depth: int) -> Value:
        """A node with everything below it resolved."""
        self._count += 1
        if depth > DEEPEST or self._count > LARGEST:
            return _unknown("an interpolation too deep to follow", node)
        node, path = self._followed(node, path)
        if not isinstance(node.data, dict | list):
            return node
        if path in self._active:
            return _unknown("an interpolation of itself", node)
        self._active.append(path)
        data: Data
        if isinstance(node.data, dict):
            data = {key: self._deep(member, (*path, key), depth + 1) for key, member in node.data.items()}
        else:
            data = [self._deep(item, (*path, str(number)), depth + 1) for number, item in enumerate(node.data)]
        self._active.pop()
        return replace(node, data=data)

    # Resolving

    def _resolved(self, node: Value, path: tuple[str, ...]) -> tuple[Value, tuple[str, ...]]:
        """What an interpolation stands for, and where that lies (``path`` itself for a string made of parts)."""
        assert isinstance(node.data, str)
        if path in self._active:
            return _unknown("an interpolation of itself", node), path
        self._count += 1
        if self._count > LARGEST or len(self._active) > DEEPEST:
            return _unknown("an interpolation too deep to follow", node), path
        try:
            parts = _Parser(node.data).text()
        except _Invalid:
            return _unknown(f"the interpolation {node.data}, which is not valid", node), path
        self._active.append(path)
        try:
            if len(parts) == 1 and not isinstance(parts[0], str):
                found, where = self._evaluated(parts[0], path)
                return _passed_on(found, node), where
            return replace(node, data=self._joined(parts, path)), path
        finally:
            self._active.pop()

    def _joined(self, parts: Sequence[str | _Interpolation], path: tuple[str, ...]) -> str | Text:
        pieces: list[Piece] = []
        size = 0
        for part in parts:
            more = self._pieces(part, path)
            # A hole counts too: strings of holes double as well as strings of characters.
            size += sum(len(piece.content) if isinstance(piece.content, str) else 100 for piece in more)
            if size > LONGEST:
                return Text.of(Hole("a string too long to follow"))
            pieces.extend(more)
        text = Text(tuple(pieces))
        known = text.known
        return text if known is None else known

    def _pieces(self, part: str | _Interpolation, path: tuple[str, ...]) -> tuple[Piece, ...]:
        """A part of a string as it is written into it."""
        if isinstance(part, str):
            return (Piece(part),)
        data = self._evaluated(part, path)[0].data
        if isinstance(data, Text):
            return data.pieces
        if isinstance(data, dict | list):
            return (Piece(Hole("a mapping or list inside a string")),)
        return (Piece(str(data)),)

    def _evaluated(self, part: _Interpolation, path: tuple[str, ...]) -> tuple[Value, tuple[str, ...]]:
        if part.resolver is not None:
            return self._called(part, path)
        keys: list[str] = []
        for key in part.keys:
            if isinstance(key, str):
                keys.append(key)
                continue
            found = self._evaluated(key, path)[0]
            if not isinstance(found.data, str):
                return (found if isinstance(found.data, Text) else Value.unknown("a key that is no string")), path
            keys.append(found.data)
        return self._target("." * part.dots + ".".join(keys), path)

    def _target(self, key: str, path: tuple[str, ...]) -> tuple[Value, tuple[str, ...]]:
        found, where = self._select(key, path)
        if found is None:
            return Value.unknown(f"the interpolation ${{{key}}}, whose key is not set"), path
        return found, where

    def _select(self, key: str, path: tuple[str, ...]) -> tuple[Value | None, tuple[str, ...]]:
        """The node that a key names, as seen from a path: leading dots count the parents."""
        dots = len(key) - len(key.lstrip("."))
        if dots > len(path):
            return None, path
        if not dots:
            return self._find(split_key(key))
        base = path[: len(path) - dots]
        rest = key[dots:]
        return self._find([*base, *(split_key(rest) if rest else ())])

    def _called(self, part: _Interpolation, path: tuple[str, ...]) -> tuple[Value, tuple[str, ...]]:
        name = part.resolver or ""
        if name not in ("oc.env", "oc.select", "oc.decode", "oc.deprecated"):
            return Value.unknown(f"the resolver {name}"), path
        args = [self._argument(raw, path) for raw in part.args]
        if not args or len(args) > 2:
            return Value.unknown(f"the resolver {name}, called with {len(args)} arguments"), path
        key = args[0].data
        if isinstance(key, Text):
            return args[0], path
        if name == "oc.decode":
            return _decoded(key), path
        if not isinstance(key, str):
            return Value.unknown(f"the resolver {name}, whose key is no string"), path
        if name == "oc.env":
            return self._variable(key, args[1] if len(args) > 1 else None), path
        if name == "oc.deprecated":
            return self._target(key, path)
        found, where = self._select(key, path)
        if found is None or _is_given_later(found):
            return (args[1] if len(args) > 1 else Value(None)), path
        return found, where

    def _variable(self, name: str, default: Value | None) -> Value:
        shown = None if default is None else default.data
        self.asked.setdefault(name, None if shown is None or isinstance(shown, dict | list | Text) else str(shown))
        if name in self.env:
            return Value(self.env[name])
        if default is None:
            return Value.unknown(f"the environment variable {name}", name=name)
        if default.data is None or isinstance(default.data, Text):
            return default
        if isinstance(default.data, dict | list):
            return Value.unknown("a mapping or list inside a string")
        return replace(default, data=str(default.data))

    def _argument(self, raw: str, path: tuple[str, ...]) -> Value:
        raw = raw.strip(" \t")
        if raw[:1] in ("'", '"') and len(raw) > 1 and raw[-1] == raw[0]:
            inner = re.sub(rf"\\({raw[0]})", r"\1", raw[1:-1])
            return Value(inner) if "${" not in inner else self._of_text(inner, path)
        if "${" in raw:
            return self._of_text(raw, path)
        if not raw:
            return Value("")
        return parse_element(raw) or Value.unknown(f"the argument {raw}, which is not valid")

    def _of_text(self, text: str, path: tuple[str, ...]) -> Value:
        if text[:1] in "[{":
            return Value.unknown("an interpolation inside a list or mapping")
        try:
            parts = _Parser(text).text()
        except _Invalid:
            return Value.unknown(f"the interpolation {text}, which is not valid")
        if len(parts) == 1 and not isinstance(parts[0], str):
            return self._evaluated(parts[0], path)[0]
        return Value(self._joined(parts, path))


def _unknown(reason: str, node: Value) -> Value:
    return replace(node, data=Text.of(Hole(reason), node.span))


def _is_given_later(value: Value) -> bool:
    return isinstance(value.data, Text) and any(hole.reason == GIVEN_LATER for hole in value.data.holes)


def _passed_on(found: Value, node: Value) -> Value:
    """A value taken over by a node that refers to it: the node is where it is set, with a hop to its origin."""
    hop = () if found.span is None else (Place(found.span, f"{found.name or 'the value'} is set here"),)
    return replace(node, data=found.data, places=(*node.places, *hop, *found.places))


def _decoded(data: Data) -> Value:
    if data is None:
        return Value(None)
    if not isinstance(data, str) or "${" in data:
        return Value.unknown("the resolver oc.decode")
    return parse_element(data) or Value.unknown(f"oc.decode of {data!r}, which is not valid")


# --- The grammar -------------------------------------------------------------------------------


class _Invalid(Exception):
    """OmegaConf rejects the text."""


@dataclass(frozen=True, slots=True)
class _Interpolation:
    """``${..a.b}`` or ``${resolver:args}``."""

    dots: int = 0
    keys: tuple[str | _Interpolation, ...] = ()
    resolver: str | None = None
    args: tuple[str, ...] = ()


_KEY = re.compile(r"(?:[^\\{}()\[\]:. \t'\"$]|\$(?!\{))+")
_RESOLVER = re.compile(r"[ \t]*([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)[ \t]*:")
_BLANK = re.compile(r"[ \t]*")


class _Parser:
    """Reads the interpolations in a string."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def text(self) -> list[str | _Interpolation]:
        """Strings and interpolations in turn. An odd number of backslashes keeps ``${`` from being one."""
        parts: list[str | _Interpolation] = []
        plain = ""
        while True:
            start = self.source.find("${", self.at)
            if start < 0:
                plain += self.source[self.at :]
                break
            before = self.source[self.at : start]
            stem = before.rstrip("\\")
            slashes = len(before) - len(stem)
            plain += stem + "\\" * (slashes // 2)
            self.at = start + 2
            if slashes % 2:
                plain += "${"
                continue
            if plain:
                parts.append(plain)
                plain = ""
            parts.append(self.interpolation(0))
        if plain or not parts:
            parts.append(plain)
        return parts

    def blank(self) -> None:
        match = _BLANK.match(self.source, self.at)
        self.at = match.end() if match else self.at

    def interpolation(self, depth: int) -> _Interpolation:
        """What stands behind ``${``, up to its ``}``."""
        if depth > DEEPEST:
            raise _Invalid
        named = _RESOLVER.match(self.source, self.at)
        if named is not None:
            self.at = named.end()
            return _Interpolation(resolver=named.group(1), args=tuple(self.arguments()))
        self.blank()
        dots = 0
        while self.source.startswith(".", self.at):
            dots += 1
            self.at += 1
        keys = [self.key(depth)]
        while True:
            self.blank()
            char = self.source[self.at : self.at + 1]
            if char == "}":
                self.at += 1
                return _Interpolation(dots, tuple(keys))
            if char == ".":
                self.at += 1
            elif char == ":":
                # The name of the resolver is itself interpolated.
                self.at += 1
                self.arguments()
                return _Interpolation(resolver="with an interpolated name")
            elif char != "[":
                raise _Invalid
            keys.append(self.key(depth))

    def key(self, depth: int) -> str | _Interpolation:
        bracket = self.source.startswith("[", self.at)
        self.at += bracket
        key: str | _Interpolation
        if self.source.startswith("${", self.at):
            self.at += 2
            key = self.interpolation(depth + 1)
        else:
            match = _KEY.match(self.source, self.at)
            if match is None:
                raise _Invalid
            key = match.group()
            self.at = match.end()
        if bracket:
            if not self.source.startswith("]", self.at):
                raise _Invalid
            self.at += 1
        return key

    def arguments(self) -> list[str]:
        """The arguments of a resolver as written, up to its ``}``."""
        args: list[str] = []
        start = self.at
        closers: list[str] = []
        while self.at < len(self.source):
            char = self.source[self.at]
            if char == "\\":
                self.at += 2
                continue
            if char in "'\"":
                self.at = self.quoted_end(char)
                continue
            if char in "{[(":
                closers.append({"{": "}", "[": "]", "(": ")"}[char])
            elif closers and char == closers[-1]:
                closers.pop()
            elif char == "}" and not closers:
                last = self.source[start : self.at]
                self.at += 1
                return [*args, last] if args or last.strip() else []
            elif char == "," and not closers:
                args.append(self.source[start : self.at])
                start = self.at + 1
            self.at += 1
        raise _Invalid

    def quoted_end(self, quote: str) -> int:
        at = self.at + 1
        while at < len(self.source):
            if self.source[at] == "\\":
                at += 2
                continue
            if self.source[at] == quote:
                return at + 1
            at += 1
        raise _Invalid
