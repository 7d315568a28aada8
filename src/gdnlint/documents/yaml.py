"""YAML as values with spans.

The scalars are resolved as the program that reads the file resolves them: ``on`` is true for
OmegaConf and PyYAML and a string in YAML 1.2, ``1e-6`` is a float for OmegaConf only. libyaml
gives the events; the tree is built here, without recursion, so nesting and aliases stay bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Data, Hole, Place, Problem, Text, Value

Scalars = Literal["omegaconf", "pyyaml", "yaml12"]

DEEPEST = 100
"""Levels of nesting that are read."""
LARGEST = 60_000
"""Nodes of one file that are visited, those behind aliases counted each time."""
LONGEST = 200_000
"""Characters of a scalar whose places in the file are worked out one by one."""
LONGEST_NUMBER = 400
"""Characters of a number; a longer one is kept as its text."""
MOST_HOPS = 8
"""Aliases of aliases that a value remembers."""
MERGE_TAGS = frozenset({"!reset", "!override"})
"""Tags that say how a value is merged and not what it is (YAML 1.2 files only)."""


@dataclass
class Loaded:
    """What a YAML text holds: its documents up to the first problem that ends the reading."""

    documents: list[Value]
    problems: list[Problem]
    text: Fragment
    """What was read (a byte order mark at its start is not part of it)."""
    nodes: int = 0
    """How many there are, those behind aliases counted each time."""
    scalars: dict[tuple[int, int], tuple[int, int, str]] = field(default_factory=dict, repr=False)
    """File offsets of a string's value -> where its scalar lies in ``text``, and its style."""
    fragments: dict[tuple[int, int, str], Fragment | None] = field(default_factory=dict, repr=False)
    """Scalars that were asked for."""
    merging: dict[tuple[int, int], str] = field(default_factory=dict, repr=False)
    """File offsets of a value -> the one of ``MERGE_TAGS`` that it bears."""

    def merge_tag(self, value: Value) -> str:
        """How the file says that a value is merged; empty if it does not."""
        if not self.merging or value.span is None or value.span.source is not self.text.source:
            return ""
        return self.merging.get((value.span.start, value.span.end), "")

    def fragment(self, value: Value) -> Fragment | None:
        """The characters of a string that was read here, each mapped to its place in the file.

        None if the value is no string, was not read here, is changed or very long.
        """
        if not isinstance(value.data, str) or len(value.data) > LONGEST or value.span is None:
            return None
        if value.span.source is not self.text.source:
            return None
        found = self.scalars.get((value.span.start, value.span.end))
        if found is None:
            return None
        if found not in self.fragments:
            # An alias may use a long text many times.
            self.fragments[found] = scalar_fragment(self.text, *found, value.data)
        return self.fragments[found]


def load(fragment: Fragment, scalars: Scalars) -> Loaded:
    """Every document of a YAML text.

    A mapping member's span runs from its key to the end of its value; a block collection's is
    the rest of the line on which it begins. ``name`` is the dotted path, ``route`` is ``key``.
    Keys are the text of their scalars. Dates and binaries are not made: a date is its text.
    Problems: ``syntax``, ``template``, ``too-deep``, ``too-large``, ``duplicate-key``.
    """
    if fragment.text.startswith("\ufeff"):
        fragment = fragment.cut(1, len(fragment.text))
    builder = _Builder(fragment, scalars)
    builder.read()
    return Loaded(
        builder.documents,
        builder.problems,
        fragment,
        builder.visited,
        scalars=builder.strings,
        merging=builder.merging,
    )


def load_text(text: str, scalars: Scalars) -> Loaded:
    """``load`` for a text that lies in no file; the spans mean nothing."""
    return load(Fragment.whole(Source("", text)), scalars)


# --- Scalars -----------------------------------------------------------------------------------

_WORDS_12: dict[str, bool | None] = {
    word: value
    for value, name in ((True, "true"), (False, "false"), (None, "null"))
    for word in (name, name.capitalize(), name.upper())
}
_WORDS_12.update({"": None, "~": None})
_WORDS_11: dict[str, bool | None] = dict(_WORDS_12)
_WORDS_11.update(
    {
        word: value
        for value, name in ((True, "yes"), (False, "no"), (True, "on"), (False, "off"))
        for word in (name, name.capitalize(), name.upper())
    }
)

_INT_11 = re.compile(
    r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0|[1-9][0-9_]*(?::[0-5]?[0-9])*)",
)
_FLOAT_11 = re.compile(
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?"
    r"|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
# OmegaConf adds exponents without a sign and without a point (get_yaml_loader in omegaconf/_utils.py, 2.3).
_FLOAT_OMEGACONF = re.compile(
    r"[-+]?[0-9]+(?:_[0-9]+)*(?:\.[0-9_]*)?[eE][-+]?[0-9]+|\.[0-9]+(?:_[0-9]+)*[eE][-+][0-9]+"
)
_INT_12 = re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9_]+)")
_FLOAT_12 = re.compile(
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_MAYBE_NUMBER = frozenset("-+.0123456789")


def resolve_scalar(word: str, scalars: Scalars) -> bool | int | float | str | None:
    """What a plain scalar is to the reading program."""
    words = _WORDS_12 if scalars == "yaml12" else _WORDS_11
    if word in words:
        return words[word]
    if word[0] not in _MAYBE_NUMBER or len(word) > LONGEST_NUMBER:
        return word
    try:
        return _number(word, scalars)
    except ValueError:
        # ``0b_``, thousands of digits: the program would stop here or keep a string.
        return word


def _number(word: str, scalars: Scalars) -> int | float | str:
    if scalars == "yaml12":
        if _INT_12.fullmatch(word) and any(char.isdigit() for char in word):
            return _integer_12(word)
        return _float(word) if _FLOAT_12.fullmatch(word) else word
    if _FLOAT_11.fullmatch(word):
        return _float(word)
    if _INT_11.fullmatch(word):
        return _integer_11(word)
    if scalars == "omegaconf" and _FLOAT_OMEGACONF.fullmatch(word):
        return _float(word)
    return word


def _integer_11(word: str) -> int:
    word = word.replace("_", "")
    sign = -1 if word.startswith("-") else 1
    digits = word.lstrip("+-")
    if digits.startswith(("0b", "0x")):
        return sign * int(digits, 0)
    if digits.startswith("0"):
        return sign * int(digits, 8)
    total = 0
    for part in digits.split(":"):
        total = total * 60 + int(part)
    return sign * total


def _integer_12(word: str) -> int:
    word = word.replace("_", "")
    sign = -1 if word.startswith("-") else 1
    digits = word.lstrip("+-")
    return sign * int(digits, 0 if digits.startswith(("0b", "0x", "0o")) else 10)


def _float(word: str) -> float:
    word = word.replace("_", "").lower()
    sign = -1.0 if word.startswith("-") else 1.0
    digits = word.lstrip("+-")
    if digits == ".inf":
        return sign * float("inf")
    if digits == ".nan":
        return float("nan")
    if ":" not in digits:
        return sign * float(digits)
    total = 0.0
    for part in digits.split(":"):
        total = total * 60 + float(part)
    return sign * total


# --- The tree ----------------------------------------------------------------------------------

_TAG = "tag:yaml.org,2002:"
_COLLECTIONS = {_TAG + "map", _TAG + "seq", "!"}
_TEMPLATE = re.compile(r"\{\{|\{%")


class _Frame:
    """A collection that is being read."""

    __slots__ = (
        "anchor", "flow", "items", "key", "key_end", "key_start", "members", "merges", "merging", "path", "reason",
        "start",
    )  # fmt: skip

    def __init__(
        self, is_map: bool, path: str, start: int, flow: bool, anchor: str | None, reason: str, merging: str
    ) -> None:
        self.members: dict[str, Value] | None = {} if is_map else None
        self.items: list[Value] = []
        self.path = path
        self.start = start
        self.flow = flow
        self.anchor = anchor
        self.reason = reason
        """Why the collection is a hole; empty if it is none."""
        self.merging = merging
        self.key: str | None = None
        self.key_start = 0
        self.key_end = 0
        self.merges: list[Value] = []


class _Stop(Exception):
    """Reading ends here; the problem is noted."""


class _Builder:
    """Builds values from the events of a YAML parser."""

    def __init__(self, fragment: Fragment, scalars: Scalars) -> None:
        self.fragment = fragment
        self.source = fragment.source
        self.text = fragment.text
        self.flavour: Scalars = scalars
        self.words = _WORDS_12 if scalars == "yaml12" else _WORDS_11
        self.documents: list[Value] = []
        self.problems: list[Problem] = []
        self.strings: dict[tuple[int, int], tuple[int, int, str]] = {}
        self.merging: dict[tuple[int, int], str] = {}
        self.stack: list[_Frame] = []
        self.anchors: dict[str, Value | None] = {}
        """None while the node that bears it is still open."""
        self.visited = 0
        self.root: Value | None = None
        unbroken = next(fragment.runs(), (0, 0))[1] == len(self.text)
        self.shift: int | None = fragment.offset(0) if unbroken else None

    def span(self, start: int, end: int) -> Span:
        if self.shift is not None:
            return Span(self.source, self.shift + start, self.shift + end)
        return self.fragment.span(start, end)

    def problem(self, code: str, message: str, start: int, end: int | None = None) -> None:
        start = min(start, len(self.text))
        end = min(start + 1, len(self.text)) if end is None else end
        self.problems.append(Problem(code, message, self.span(start, max(start, end))))

    def broken(self, message: str, start: int) -> None:
        """Notes that the text is no YAML: a template of it, or wrong."""
        if _TEMPLATE.search(self.text):
            self.problem("template", f"this is a template, not YAML: {message}", start)
        else:
            self.problem("syntax", f"invalid YAML: {message}", start)

    def read(self) -> None:
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            parser = loader(self.text)
            try:
                self._read(parser.get_event)
            finally:
                parser.dispose()
        except _Stop:
            pass
        except yaml.reader.ReaderError as error:
            code = error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")
            self.broken(f"the character U+{code:04X} is not allowed", int(error.position))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            what = ", ".join(part for part in (error.context, error.problem) if part)
            self.broken(_placed(what, mark), mark.index if mark is not None else 0)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            self.broken(str(error) or type(error).__name__, 0)

    def _read(self, get_event: Callable[[], Any]) -> None:
        from yaml import events

        scalar, mapping, sequence = events.ScalarEvent, events.MappingStartEvent, events.SequenceStartEvent
        ends = (events.MappingEndEvent, events.SequenceEndEvent)
        while (event := get_event()) is not None:
            kind = type(event)
            if kind is scalar:
                self.scalar(event)
            elif kind is mapping or kind is sequence:
                self.open(event, kind is mapping)
            elif kind in ends:
                self.close(event)
            elif kind is events.AliasEvent:
                self.alias(event)
            elif kind is events.DocumentStartEvent:
                self.anchors = {}
                self.root = None
            elif kind is events.DocumentEndEvent:
                if self.root is not None:
                    self.documents.append(self.root)
            elif kind is events.StreamEndEvent:
                return

    def count(self, size: int, at: int) -> None:
        self.visited += size
        if self.visited > LARGEST:
            self.problem("too-large", f"more than {LARGEST:,} nodes; the rest was not read", at)
            raise _Stop

    def member_path(self) -> str:
        """The dotted path of the node that comes next."""
        if not self.stack:
            return ""
        frame = self.stack[-1]
        if frame.members is None:
            return f"{frame.path}[{len(frame.items)}]"
        if frame.key is None or frame.key == "<<":
            return frame.path
        return f"{frame.path}.{frame.key}" if frame.path else frame.key

    def scalar(self, event: Any) -> None:
        self.visited += 1
        if self.visited > LARGEST:
            self.count(0, event.start_mark.index)
        word: str = event.value
        start: int = event.start_mark.index
        end: int = event.end_mark.index
        frame = self.stack[-1] if self.stack else None
        is_key = frame is not None and frame.members is not None and frame.key is None
        data: Data
        merging = self.merge_tag(event.tag) if event.tag is not None else ""
        if event.tag is not None and event.tag != "!" and not merging:
            data = self.tagged(word, event.tag)
        elif event.implicit[0] or (merging and not event.style) or (event.tag == "!" and not word and not event.style):
            words = self.words
            if word in words:
                data = words[word]
            elif word[0] in _MAYBE_NUMBER:
                data = resolve_scalar(word, self.flavour)
            else:
                data = word
        else:
            data = word
        if is_key:
            assert frame is not None
            plain_merge = word == "<<" and event.implicit[0]
            self.begin_member(frame, word, start, end, isinstance(data, str), plain_merge)
            if event.anchor is not None:
                self.anchors[event.anchor] = Value(data, self.span(start, end), (), "key", word)
            return
        if event.style in ("|", ">"):
            # The parser's end lies behind the blank lines that follow.
            end = start + len(self.text[start:end].rstrip())
        value = self.add(data, start, end)
        if type(data) is str and value.span is not None:
            self.strings[value.span.start, value.span.end] = (start, end, event.style or "")
        self.note_merging(value, merging)
        if event.anchor is not None:
            self.anchors[event.anchor] = value

    def merge_tag(self, tag: str) -> str:
        return tag if tag in MERGE_TAGS and self.flavour == "yaml12" else ""

    def note_merging(self, value: Value, tag: str) -> None:
        if tag and value.span is not None:
            self.merging[value.span.start, value.span.end] = tag

    def tagged(self, word: str, tag: str) -> Data:
        kind = tag[len(_TAG) :] if tag.startswith(_TAG) else ""
        if tag == "!" or kind == "str":
            return word
        if kind in ("int", "float", "bool", "null") and word:
            found = resolve_scalar(word, self.flavour)
            if kind == "float" and isinstance(found, int) and not isinstance(found, bool):
                return float(found)
            if kind == "null" or type(found).__name__ == kind:
                return None if kind == "null" else found
        if kind == "null":
            return None
        return Text.of(Hole(f"the tag {'!!' + kind if kind else tag}"))

    def begin_member(self, frame: _Frame, key: str, start: int, end: int, is_text: bool, merge: bool) -> None:
        assert frame.members is not None
        if key in frame.members and self.flavour == "omegaconf" and is_text and not merge:
            self.problem("duplicate-key", f"the key {key!r} is set twice; the program stops at it", start, end)
        frame.key = "<<" if merge else key
        if key == "<<" and not merge:
            frame.key = key + " "
        frame.key_start = start
        frame.key_end = end

    def line_end(self, start: int) -> int:
        """Where the text of a line ends: before its comment and the blanks in front of it."""
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else len(self.text)]
        comment = re.search(r"\s#", line)
        return start + len((line[: comment.start()] if comment else line).rstrip())

    def add(self, data: Data, start: int, end: int, places: tuple[Place, ...] = ()) -> Value:
        """Puts a finished node into the collection that is being read."""
        if not self.stack:
            self.root = Value(data, self.span(start, end), places, "key", "")
            return self.root
        frame = self.stack[-1]
        if frame.members is None:
            value = Value(data, self.span(start, end), places, "key", f"{frame.path}[{len(frame.items)}]")
            frame.items.append(value)
            return value
        key = frame.key
        if key is None:
            self.complex_key(frame, start)
            return Value(data, self.span(start, end))
        frame.key = None
        if key == "<<":
            value = Value(data, self.span(start, end), places, "key", frame.path)
            self.merge(frame, value, start)
            return value
        if key == "<< ":
            key = "<<"
        path = f"{frame.path}.{key}" if frame.path else key
        value = Value(data, self.span(frame.key_start, max(end, frame.key_end)), places, "key", path)
        frame.members[key] = value
        return value

    def complex_key(self, frame: _Frame, start: int) -> None:
        line, column = self.source.position(self.fragment.offset(start))
        self.broken(f"line {line}, column {column}: a collection is no key here", start)
        frame.reason = "a key that is not a scalar"
        frame.key = ""
        frame.key_start = frame.key_end = start

    def merge(self, frame: _Frame, value: Value, start: int) -> None:
        sources = value.data if isinstance(value.data, list) else [value]
        for source in reversed(sources):
            if isinstance(source.data, dict):
                frame.merges.append(source)
            elif isinstance(source.data, Text):
                frame.reason = next((hole.reason for hole in source.data.holes), "a merge that is not known")
            else:
                self.broken("a merge key needs a mapping or a list of mappings", start)
                frame.reason = "a merge key without a mapping"

    def open(self, event: Any, is_map: bool) -> None:
        start: int = event.start_mark.index
        self.count(1, start)
        if len(self.stack) >= DEEPEST:
            self.problem("too-deep", f"nested more than {DEEPEST} levels deep; the rest was not read", start)
            raise _Stop
        tag = event.tag
        reason = ""
        merging = self.merge_tag(tag) if tag is not None else ""
        if tag is not None and tag not in _COLLECTIONS and tag != _TAG + "omap" and not merging:
            reason = f"the tag {'!!' + tag[len(_TAG) :] if tag.startswith(_TAG) else tag}"
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.stack.append(
            _Frame(is_map, self.member_path(), start, bool(event.flow_style), event.anchor, reason, merging)
        )

    def close(self, event: Any) -> None:
        frame = self.stack.pop()
        data: Data = frame.items if frame.members is None else frame.members
        if frame.merges and frame.members is not None:
            data = self.with_merges(frame)
        if frame.reason:
            data = Text.of(Hole(frame.reason))
        start = frame.start
        if frame.flow:
            value = self.add(data, start, event.end_mark.index)
        elif self.stack and self.stack[-1].members is not None and self.stack[-1].key is not None:
            # A member that is a block collection: the line of its key.
            value = self.add(data, start, self.line_end(self.stack[-1].key_end))
        elif self.stack:
            value = self.add(data, start, self.line_end(start))
        else:
            end = event.end_mark.index
            value = self.add(data, start, start + len(self.text[start:end].rstrip()))
        self.note_merging(value, frame.merging)
        if frame.anchor is not None:
            self.anchors[frame.anchor] = value

    def with_merges(self, frame: _Frame) -> dict[str, Value]:
        assert frame.members is not None
        members: dict[str, Value] = {}
        for source in frame.merges:
            assert isinstance(source.data, dict)
            for key, value in source.data.items():
                path = f"{frame.path}.{key}" if frame.path else key
                if key in members and self.flavour != "yaml12" and members[key].plain() != value.plain():
                    # Releases up to 6.0.3 let the first mapping of a list win, 6.0.4 the last.
                    value = replace(value, data=Text.of(Hole("the order of merges, which PyYAML releases differ in")))
                members[key] = value if value.name == path else _moved(value, path, None)
        members.update(frame.members)
        return members

    def alias(self, event: Any) -> None:
        start: int = event.start_mark.index
        end: int = event.end_mark.index
        self.count(1, start)
        if event.anchor not in self.anchors:
            line, column = self.source.position(self.fragment.offset(start))
            self.broken(f"line {line}, column {column}: the alias *{event.anchor} has no anchor before it", start)
            raise _Stop
        value = self.anchors[event.anchor]
        frame = self.stack[-1] if self.stack else None
        if frame is not None and frame.members is not None and frame.key is None:
            if value is None or not isinstance(value.data, str | int | float):
                self.complex_key(frame, start)
            else:
                self.begin_member(frame, str(value.data), start, end, True, False)
            return
        if value is None:
            self.add(Text.of(Hole("an alias inside its own anchor")), start, end)
            return
        size, depth = _measure(value)
        if depth + len(self.stack) > DEEPEST:
            self.problem("too-deep", f"nested more than {DEEPEST} levels deep; the rest was not read", start)
            raise _Stop
        self.count(size, start)
        place = Place(self.span(start, end), f"taken from anchor {event.anchor}")
        moved = _moved(value, self.member_path(), place)
        if not self.stack:
            self.root = moved
        elif frame is not None and frame.members is None:
            frame.items.append(moved)
        elif frame is not None and frame.members is not None:
            key, frame.key = frame.key or "", None
            if key == "<<":
                self.merge(frame, moved, start)
            else:
                frame.members["<<" if key == "<< " else key] = moved


def _placed(what: str, mark: Any) -> str:
    return what if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: {what}"


def _measure(value: Value) -> tuple[int, int]:
    """How many nodes a value has and how deep they lie."""
    if not isinstance(value.data, dict | list):
        return 1, 1
    below = [_measure(v) for v in (value.data.values() if isinstance(value.data, dict) else value.data)]
    return 1 + sum(size for size, _ in below), 1 + max((depth for _, depth in below), default=0)


def _moved(value: Value, path: str, place: Place | None) -> Value:
    """A value under another dotted path, with one more hop behind it."""
    data = value.data
    if isinstance(data, dict):
        data = {key: _moved(v, f"{path}.{key}" if path else key, place) for key, v in data.items()}
    elif isinstance(data, list):
        data = [_moved(v, f"{path}[{number}]", place) for number, v in enumerate(data)]
    places = value.places if place is None or len(value.places) >= MOST_HOPS else (place, *value.places)
    return replace(value, data=data, name=path, places=places)


# --- The text inside scalars ---------------------------------------------------------------------

_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX = {"x": 2, "u": 4, "U": 8}

_Chars = list[tuple[str, int]]
"""Characters of a scalar and their offsets in the text."""


def scalar_fragment(text: Fragment, start: int, end: int, style: str, expected: str) -> Fragment | None:
    """The characters ``expected`` of the scalar at ``start``..``end`` of ``text``, mapped to the file.

    ``style`` is how it is written: ``|``, ``>``, ``'``, ``"`` or nothing. None where the scalar
    does not decode to ``expected``.
    """
    raw = text.text
    start = _behind_properties(raw, start, end)
    if style in ("|", ">"):
        return _block_fragment(text, start, style, expected)
    if style == "'":
        chars = _folded(raw, start + 1, end - 1, single=True)
    elif style == '"':
        chars = _double(raw, start + 1, end - 1)
    else:
        chars = _folded(raw, start, end, single=False)
    return _fragment_of(text, chars, expected)


_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:[ \t]+|\r?\n[ \t]*))+")


def _behind_properties(raw: str, start: int, end: int) -> int:
    """Where the text of a scalar begins that bears an anchor or a tag."""
    match = _PROPERTIES.match(raw, start, end) if raw[start : start + 1] in ("&", "!") else None
    return match.end() if match is not None else start


def _fragment_of(text: Fragment, chars: _Chars, expected: str) -> Fragment | None:
    made = "".join(char for char, _ in chars)
    if made != expected:
        return None
    return Fragment(made, text.source, [text.offset(at) for _, at in chars], text.offset(chars[0][1] if chars else 0))


def _fold(raw: str, at: int, end: int) -> tuple[_Chars, int]:
    """The line breaks at an offset (and the blanks around them) as the characters they fold to."""
    breaks: _Chars = []
    while at < end:
        match = _BREAK.match(raw, at)
        if match is None:
            if raw[at] not in " \t":
                break
            at += 1
            continue
        char = match.group() if match.group() in "\u2028\u2029" else "\n"
        breaks.append((char, match.end() - 1))
        at = match.end()
    if not breaks:
        return [], at
    if breaks[0][0] != "\n":
        return breaks, at
    return ([(" ", breaks[0][1])] if len(breaks) == 1 else breaks[1:]), at


def _folded(raw: str, at: int, end: int, *, single: bool) -> _Chars:
    """A plain or single-quoted scalar over any number of lines."""
    chars: _Chars = []
    while at < end:
        char = raw[at]
        if char in " \t\r\n\x85\u2028\u2029":
            breaks, after = _fold(raw, at, end)
            chars.extend(breaks or [(raw[i], i) for i in range(at, after)])
            at = after
            continue
        chars.append((char, at))
        at += 2 if single and char == "'" else 1
    return chars


def _double(raw: str, at: int, end: int) -> _Chars:
    chars: _Chars = []
    while at < end:
        char = raw[at]
        if char in " \t\r\n\x85\u2028\u2029":
            breaks, after = _fold(raw, at, end)
            chars.extend(breaks or [(raw[i], i) for i in range(at, after)])
            at = after
        elif char != "\\":
            chars.append((char, at))
            at += 1
        else:
            at = _escape(raw, at, end, chars)
    return chars


def _escape(raw: str, at: int, end: int, chars: _Chars) -> int:
    match = _BREAK.match(raw, at + 1)
    if match is not None:
        # An escaped line break joins the lines; blank lines after it count as breaks.
        at = match.end()
        while at < end:
            match = _BREAK.match(raw, at)
            if match is not None:
                chars.append(("\n", match.end() - 1))
                at = match.end()
            elif raw[at] in " \t":
                at += 1
            else:
                break
        return at
    code = raw[at + 1 : at + 2]
    if code in _HEX:
        digits = raw[at + 2 : at + 2 + _HEX[code]]
        try:
            chars.append((chr(int(digits, 16)), at))
        except (ValueError, OverflowError):
            chars.append(("\ufffd", at))
        return at + 2 + _HEX[code]
    chars.append((_ESCAPES.get(code, code), at))
    return at + 2


def _block_fragment(text: Fragment, start: int, style: str, expected: str) -> Fragment | None:
    """A literal or folded block scalar.

    The indent of the parent, from which an indicator counts, is not known here: the indent
    that gives ``expected`` is the right one.
    """
    raw = text.text
    header = re.compile(r"[|>]([-+]?)([1-9]?)([-+]?)[^\n\r\x85\u2028\u2029]*").match(raw, start)
    if header is None:
        return None
    match = _BREAK.match(raw, header.end())
    at = match.end() if match else header.end()
    chomp = header.group(1) or header.group(3)
    if not header.group(2):
        return _fragment_of(text, _block(raw, at, style, chomp, _block_indent(raw, at)), expected)
    for indent in range(int(header.group(2)), _block_indent(raw, at) + 10):
        made = _fragment_of(text, _block(raw, at, style, chomp, indent), expected)
        if made is not None:
            return made
    return None


def _block_indent(raw: str, at: int) -> int:
    """The indent of the first line that is not blank."""
    deepest = 0
    while at < len(raw):
        first = at
        while at < len(raw) and raw[at] == " ":
            at += 1
        match = _BREAK.match(raw, at)
        if match is None:
            return max(at - first, 1)
        deepest = max(deepest, at - first)
        at = match.end()
    return max(deepest, 1)


def _block(raw: str, at: int, style: str, chomp: str, indent: int) -> _Chars:
    chars: _Chars = []
    pending: _Chars = []
    leading: _Chars = []
    blank_before = False
    at, pending = _blank_lines(raw, at, indent)
    while at < len(raw) and raw[at - indent : at] == " " * indent and _starts_line(raw, at - indent):
        blank = raw[at] in " \t"
        if style == ">" and leading and leading[0][0] == "\n" and not blank_before and not blank:
            if not pending:
                chars.append((" ", leading[0][1]))
        else:
            chars.extend(leading)
        chars.extend(pending)
        leading, blank_before = [], blank
        line = re.compile(r"[^\n\r\x85\u2028\u2029]*").match(raw, at)
        stop = line.end() if line else at
        chars.extend((raw[i], i) for i in range(at, stop))
        match = _BREAK.match(raw, stop)
        if match is None:
            at = stop
            pending = []
            break
        char = match.group() if match.group() in "\u2028\u2029" else "\n"
        leading = [(char, match.end() - 1)]
        at, pending = _blank_lines(raw, match.end(), indent)
    if chomp != "-":
        chars.extend(leading)
    if chomp == "+":
        chars.extend(pending)
    return chars


def _starts_line(raw: str, at: int) -> bool:
    return at == 0 or raw[at - 1] in "\n\r\x85\u2028\u2029"


def _blank_lines(raw: str, at: int, indent: int) -> tuple[int, _Chars]:
    """Behind the blank lines at an offset and the indent of the line that follows; their breaks."""
    breaks: _Chars = []
    while True:
        column = 0
        while column < indent and raw[at : at + 1] == " ":
            at += 1
            column += 1
        match = _BREAK.match(raw, at)
        if match is None:
            return at, breaks
        char = match.group() if match.group() in "\u2028\u2029" else "\n"
        breaks.append((char, match.end() - 1))
        at = match.end()
