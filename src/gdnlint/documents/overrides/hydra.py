"""Hydra's override grammar (1.3): ``a.b=1``, ``+a={b:1}``, ``~a``, ``group@package=option``.

It differs from YAML: ``on`` and ``off`` are strings, ``{a:b}`` needs no blank, a value in quotes
is a string. Simple overrides take one regular expression, the rest a recursive descent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from gdnlint.documents.overrides import MANDATORY, Applied, Refused, find, update
from gdnlint.source import Span
from gdnlint.values import MARK_BASE, MARK_LIMIT, Data, Hole, Place, Problem, Text, Value, Word, has_mark

Kind = Literal["change", "add", "force", "delete"]

DEEPEST = 100
"""Levels of nesting in a value that are read."""
LONGEST = 100_000
"""Characters of an override that are read."""


@dataclass(frozen=True, slots=True)
class Override:
    """One override as written."""

    kind: Kind
    """``k=``, ``+k=``, ``++k=``, ``~k``."""
    key: str
    """A dotted path, or a config group (``db``, ``hydra/launcher``)."""
    package: str | None
    """What stands behind ``@``."""
    value: Value | None
    """None for ``~k`` without a value. A sweep is a hole."""
    sweep: bool = False
    """Whether the value is a sweep, which needs --multirun."""

    @property
    def element(self) -> str:
        """The key with its package, as a defaults list names it."""
        return self.key if self.package is None else f"{self.key}@{self.package}"


_ID = r"[A-Za-z_][A-Za-z0-9_-]*"
_SPECIAL = r"[A-Za-z_$][A-Za-z0-9_$-]*"
_UNSIGNED = r"(?:0|[1-9](?:_?[0-9])*)"
_DIGITS = r"[0-9](?:_?[0-9])*"
_PART = rf"(?:{_SPECIAL}|{_UNSIGNED})"
_PATH = rf"(?:{_PART}(?:\.{_PART})+|{_SPECIAL}|)"
_HEAD = re.compile(rf"(\+{{0,2}}|~)({_ID}(?:/{_ID})+|{_PATH})(?:@({_PATH}))?(=|$)")

_POINT = rf"{_UNSIGNED}?\.{_DIGITS}|{_UNSIGNED}\."
_FLOAT = re.compile(
    rf"[+-]?(?:(?:{_POINT}|{_UNSIGNED})[eE][+-]?{_DIGITS}|{_POINT}|[Ii][Nn][Ff]|[Nn][Aa][Nn])", re.ASCII
)
_INT = re.compile(rf"[+-]?{_UNSIGNED}", re.ASCII)
_BOOL = re.compile(r"[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]")
_NULL = re.compile(r"[Nn][Uu][Ll][Ll]")
_SIMPLE = re.compile(r"[A-Za-z0-9_/.:%*@?|+-]+")
"""Values without quotes, blanks, escapes, containers and interpolations: one primitive."""

_MARKS = f"{chr(MARK_BASE)}-{chr(MARK_BASE + MARK_LIMIT - 1)}"
_TOKENS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("(", re.compile(r"[ \t]*\([ \t]*")),
    (",", re.compile(r"[ \t]*,[ \t]*")),
    (")", re.compile(r"[ \t]*\)")),
    ("[", re.compile(r"\[[ \t]*")),
    ("]", re.compile(r"[ \t]*\]")),
    ("{", re.compile(r"\{[ \t]*")),
    ("}", re.compile(r"[ \t]*\}")),
    (":", re.compile(r"[ \t]*:[ \t]*")),
    ("=", re.compile(r"[ \t]*=[ \t]*")),
    ("float", _FLOAT),
    ("int", _INT),
    ("bool", _BOOL),
    ("null", _NULL),
    ("char", re.compile(r"[/\\+.$%*@?|-]")),
    ("id", re.compile(_ID)),
    ("escape", re.compile(r"(?:\\[\\()\[\]{}:=, \t])+")),
    ("blank", re.compile(r"[ \t]+")),
    ("interpolation", re.compile(r"\$\{[^}]+\}")),
    ("mark", re.compile(f"[{_MARKS}]+")),
)
"""Longest match wins, the first of equals."""
_PRIMITIVE = frozenset({"id", "null", "int", "float", "bool", "interpolation", "char", ":", "escape", "blank", "mark"})
_KEY = _PRIMITIVE - {":", "interpolation"}

_SWEEPS = frozenset({"choice", "range", "interval", "glob", "tag"})


class _Invalid(Exception):
    """Hydra rejects the text."""


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A value that is not computed here."""

    reason: str
    sweep: bool = False


_Raw = bool | int | float | str | Text | _Unknown | list["_Raw"] | dict[str, "_Raw"] | None


def parse(text: Text, span: Span | None = None) -> Override | None:
    """An override, or None where Hydra rejects the text or a hole stands in its key.

    Values are as Hydra's parser gives them; sweeps (``a=1,2``) and functions other than the casts
    and ``sort`` of a list are holes. Keys of mappings are their text.
    """
    marked = text.marked()
    if len(marked) > LONGEST:
        return None
    head = _HEAD.match(marked)
    if head is None:
        return None
    sign, key, package, equals = head.groups()
    kind: Kind = "delete" if sign == "~" else "force" if sign == "++" else "add" if sign == "+" else "change"
    if not equals:
        return Override(kind, key, package, None) if kind == "delete" and head.end() == len(marked) else None
    # Blanks behind = belong to it.
    rest = marked[head.end() :].lstrip(" \t")
    name = key if package is None else f"{key}@{package}"
    try:
        raw = _simple(rest) if _SIMPLE.fullmatch(rest) else _Parser(rest, text).whole()
    except (_Invalid, ValueError, RecursionError):
        return None
    sweep = isinstance(raw, _Unknown) and raw.sweep
    return Override(kind, key, package, _as_value(raw, span, text.places, name), sweep)


def parse_element(text: str) -> Value | None:
    """A value of the grammar by itself (``oc.decode`` reads the same); None if it is invalid."""
    try:
        raw = _simple(text) if _SIMPLE.fullmatch(text) else _Parser(text.strip(" \t"), Text.of(text)).whole()
    except (_Invalid, ValueError, RecursionError):
        return None
    return None if isinstance(raw, _Unknown) else _as_value(raw, None, (), "")


def _simple(word: str) -> _Raw:
    """The value of one token, or of several that make a string."""
    if _INT.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if _BOOL.fullmatch(word):
        return word.lower() == "true"
    return None if _NULL.fullmatch(word) else word


def _as_value(raw: _Raw, span: Span | None, places: tuple[Place, ...], name: str) -> Value:
    data: Data
    if isinstance(raw, _Unknown):
        data = Text.of(Hole(raw.reason), span)
    elif isinstance(raw, list):
        data = [_as_value(item, span, places, f"{name}[{number}]") for number, item in enumerate(raw)]
    elif isinstance(raw, dict):
        data = {key: _as_value(item, span, places, f"{name}.{key}") for key, item in raw.items()}
    else:
        data = raw
    return Value(data, span, places, "override", name)


# --- The grammar of values ---------------------------------------------------------------------


def _quoted_end(text: str, at: int) -> int:
    """Behind the quote that closes the one at an offset; -1 without one.

    A quote closes if an even number of backslashes stands before it.
    """
    quote = text[at]
    end = at
    while (end := text.find(quote, end + 1)) >= 0:
        slashes = 0
        while end - 1 - slashes > at and text[end - 1 - slashes] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            return end + 1
    return -1


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        kind, end = "", at
        for name, pattern in _TOKENS:
            match = pattern.match(text, at)
            if match is not None and match.end() > end:
                kind, end = name, match.end()
        if text[at] in "'\"":
            kind, end = "quoted", _quoted_end(text, at)
        if end <= at:
            raise _Invalid
        found.append((kind, text[at:end]))
        at = end
    return found


def _unquoted(token: str) -> str:
    """A quoted value without its quotes; backslashes before a quote are escapes, others are not."""
    quote, inner = token[0], token[1:]
    undone = re.sub(rf"(?<!\\)\\+{quote}", lambda match: match.group()[1::2], inner)
    # The closing quote went where backslashes stood before it.
    return undone if re.search(rf"\\{quote}$", inner) else undone[:-1]


class _Parser:
    """A recursive descent over the tokens of a value."""

    def __init__(self, text: str, whole: Text) -> None:
        self.tokens = _tokens(text)
        self.text = whole
        self.at = 0

    def kind(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at][0] if at < len(self.tokens) else ""

    def eat(self, kind: str) -> None:
        if self.kind() != kind:
            raise _Invalid
        self.at += 1

    def whole(self) -> _Raw:
        """``value?`` of the grammar: nothing is the empty string."""
        if not self.tokens:
            return ""
        first = self.element(0)
        sweep = self.kind() == ","
        while self.kind() == ",":
            self.at += 1
            self.element(0)
        if self.kind():
            raise _Invalid
        return _Unknown("a sweep", True) if sweep else first

    def element(self, depth: int) -> _Raw:
        if depth > DEEPEST:
            raise _Invalid
        kind = self.kind()
        if kind == "[":
            return self.sequence(depth)
        if kind == "{":
            return self.mapping(depth)
        if kind == "id" and self.kind(1) == "(":
            return self.function(depth)
        if kind == "quoted":
            self.at += 1
            return self.text.unmark(_unquoted(self.tokens[self.at - 1][1]))
        return self.primitive(_PRIMITIVE)

    def primitive(self, allowed: frozenset[str]) -> _Raw:
        start = self.at
        while self.kind() in allowed:
            self.at += 1
        parts = self.tokens[start : self.at]
        if parts and parts[0][0] == "blank":
            parts = parts[1:]
        if parts and parts[-1][0] == "blank":
            parts = parts[:-1]
        if not parts:
            raise _Invalid
        joined = "".join(part[1::2] if kind == "escape" else part for kind, part in parts)
        if len(parts) == 1 and parts[0][0] in ("int", "float", "bool", "null"):
            return _simple(joined)
        return self.text.unmark(joined)

    def sequence(self, depth: int) -> _Raw:
        self.eat("[")
        items: list[_Raw] = []
        while self.kind() != "]":
            if items:
                self.eat(",")
            items.append(self.element(depth + 1))
        self.eat("]")
        return items

    def mapping(self, depth: int) -> _Raw:
        self.eat("{")
        members: dict[str, _Raw] = {}
        open_keys = False
        more = False
        while self.kind() != "}":
            if more:
                self.eat(",")
            more = True
            start = self.at
            key = self.primitive(_KEY)
            if isinstance(key, Text):
                open_keys = True
            name = key if isinstance(key, str) else "".join(part for _, part in self.tokens[start : self.at]).strip()
            self.eat(":")
            members[name] = self.element(depth + 1)
        self.eat("}")
        if open_keys:
            return _Unknown("the keys of a mapping")
        return members

    def function(self, depth: int) -> _Raw:
        name = self.tokens[self.at][1]
        self.at += 1
        self.eat("(")
        args: list[_Raw] = []
        named: dict[str, _Raw] = {}
        while self.kind() != ")":
            if args or named:
                self.eat(",")
            if self.kind() == "id" and self.kind(1) == "=":
                key = self.tokens[self.at][1]
                self.at += 2
                named[key] = self.element(depth + 1)
            elif named:
                raise _Invalid
            else:
                args.append(self.element(depth + 1))
        self.eat(")")
        return _call(name, args, named)


# --- Functions ---------------------------------------------------------------------------------


def _call(name: str, args: list[_Raw], named: dict[str, _Raw]) -> _Raw:
    if name in _SWEEPS:
        return _Unknown("a sweep", True)
    everything = [*args, *named.values()]
    swept = any(isinstance(arg, _Unknown) and arg.sweep for arg in everything)
    if name in _CASTS:
        if len(everything) > 1 and not named:
            return _Unknown("a sweep", True)
        if len(everything) != 1 or (named and "value" not in named):
            raise _Invalid
        return _cast(_CASTS[name], everything[0])
    if name == "sort":
        return _Unknown("a sweep", True) if swept else _sorted(args, named)
    return _Unknown(f"the function {name}", swept or (name == "shuffle" and len(args) > 1))


def _cast(cast: Callable[[bool | int | float | str], _Raw], value: _Raw) -> _Raw:
    if isinstance(value, dict):
        return {key: _cast(cast, member) for key, member in value.items()}
    if isinstance(value, list):
        return [_cast(cast, item) for item in value]
    if isinstance(value, _Unknown):
        return value
    if isinstance(value, Text):
        return value
    if value is None:
        raise _Invalid
    try:
        return cast(value)
    except (ValueError, OverflowError) as error:
        raise _Invalid from error


def _to_str(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _to_bool(value: bool | int | float | str) -> bool:
    if not isinstance(value, str):
        return bool(value)
    if value.lower() not in ("true", "false"):
        raise _Invalid
    return value.lower() == "true"


_CASTS: dict[str, Callable[[bool | int | float | str], _Raw]] = {
    "int": int,
    "float": float,
    "str": _to_str,
    "bool": _to_bool,
}


def _sorted(args: list[_Raw], named: dict[str, _Raw]) -> _Raw:
    """``sort`` of a list; of several values it is a sweep."""
    items = named.get("list", args[0] if args else None)
    backwards = named.get("reverse", False)
    if len(args) > 1:
        return _Unknown("a sweep", True)
    if items is None or not isinstance(backwards, bool) or not set(named) <= {"list", "reverse"}:
        raise _Invalid
    if not isinstance(items, list):
        return items
    if any(not isinstance(item, bool | int | float | str) for item in items):
        return _Unknown("the function sort")
    try:
        return sorted(items, reverse=backwards)  # type: ignore[type-var]
    except TypeError as error:
        raise _Invalid from error


# --- Applying ----------------------------------------------------------------------------------


def is_open(word: Word) -> bool:
    """Whether the files do not decide which key a word sets, if any."""
    return word.spread or (bool(word.text.holes) and has_mark(word.text.marked().partition("=")[0]))


def apply(tree: Value, words: Sequence[Word], *, is_group: Callable[[str], bool] | None = None) -> Applied:
    """``tree`` with the overrides of ``words``, in their order.

    Choices of config groups (keys for which ``is_group`` is true) are no matter of the tree and
    are left out. What Hydra refuses is a problem; a changed key that is absent is in ``missing``
    and is set (the caller knows whether the tree is complete and closed).
    """
    applied = Applied(tree)
    unknown: list[Hole] = []
    for word in words:
        if is_open(word):
            unknown.extend(word.text.holes)
            continue
        override = parse(word.text, word.span)
        try:
            if override is None:
                raise Refused("Hydra cannot read this override")
            if is_group is None or not is_group(override.key) or _is_mapping(override):
                applied.tree = _applied(applied, override, word)
        except Refused as error:
            applied.problems.append(Problem("override", f"{word.text.show()}: {error}", word.span))
    applied.unknown = tuple(dict.fromkeys(unknown))
    return applied


def _is_mapping(override: Override) -> bool:
    return override.value is not None and isinstance(override.value.data, dict)


def _applied(applied: Applied, override: Override, word: Word) -> Value:
    tree = applied.tree
    if override.package is not None or "/" in override.key:
        raise Refused(f"there is no config group {override.key}")
    if override.sweep:
        applied.problems.append(
            Problem("override", f"{word.text.show()}: a sweep needs --multirun; a list is written [...]", word.span)
        )
    parts = override.key.split(".")
    there = find(tree, parts)
    if override.kind == "delete":
        return _deleted(tree, parts, there, override)
    value = override.value or Value(None)
    if override.kind == "add" and _is_set(there) and not isinstance(value.data, dict | list):
        applied.problems.append(
            Problem("override", f"{word.text.show()}: {override.key} exists; use {override.key}= or ++", word.span)
        )
    if override.kind == "change":
        applied.missing.extend(_absent(there, value, override.key))
    return update(tree, parts, value, word.span)


def _is_set(value: Value | None) -> bool:
    return value is not None and value.data is not None and value.data != MANDATORY and not isinstance(value.data, Text)


def _absent(there: Value | None, value: Value, key: str) -> list[str]:
    """The keys that a change would add."""
    if there is None:
        return [key]
    if not isinstance(there.data, dict) or not isinstance(value.data, dict):
        return []
    return [name for member, v in value.data.items() for name in _absent(there.data.get(member), v, f"{key}.{member}")]


def _deleted(tree: Value, parts: list[str], there: Value | None, override: Override) -> Value:
    if there is None or there.data in (None, MANDATORY):
        raise Refused(f"{override.key} is not there to be deleted")
    if isinstance(there.data, Text):
        return tree
    expected = override.value
    if expected is None or expected.data is None or not there.is_known or not expected.is_known:
        return tree.without(parts)
    if expected.plain() != there.plain():
        raise Refused(f"the value of {override.key} is another")
    return tree.without(parts)
