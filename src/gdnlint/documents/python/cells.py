"""What the evaluator of Python computes with: data that remembers where it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gdnlint.documents.python.calls import REST, SPREAD, Call, Written
from gdnlint.source import Span
from gdnlint.values import Data, Hole, Piece, Place, Text, Value

if TYPE_CHECKING:
    import libcst as cst

    from gdnlint.documents.python.syntax import Tree

LARGEST_TEXT = 1_000_000
"""Characters of a string that is computed."""
LARGEST_LIST = 10_000
LARGEST_VALUE = 20_000
"""Scalars in one value that is handed out."""
DEEPEST_VALUE = 40
LARGEST_NUMBER = 4096
"""Bits of an integer that is computed."""


class TooLarge(Exception):
    """A value that is not worked out because of its size."""


class NotPlain(Exception):
    """A value that is not wholly known; ``hole`` says what is missing."""

    def __init__(self, hole: Hole) -> None:
        super().__init__(hole.reason)
        self.hole = hole


@dataclass(frozen=True, slots=True)
class Spot:
    """A node of a tree; its span is worked out when somebody asks."""

    tree: Tree
    node: cst.CSTNode

    @property
    def span(self) -> Span:
        return self.tree.span(self.node)


@dataclass(frozen=True, slots=True)
class Hop:
    spot: Spot
    what: str

    @property
    def place(self) -> Place:
        return Place(self.spot.span, self.what)


@dataclass(frozen=True, slots=True)
class Strand:
    """A run of characters of a string. ``low`` is its distance from the start of its node, -1 if that is lost."""

    content: str | Hole
    spot: Spot | None = None
    low: int = -1
    hops: tuple[Hop, ...] = ()

    def cut(self, start: int, end: int) -> Strand:
        assert isinstance(self.content, str)
        return replace(self, content=self.content[start:end], low=self.low + start if self.low >= 0 else -1)

    @property
    def piece(self) -> Piece:
        span = None
        if self.spot is not None and self.low >= 0 and isinstance(self.content, str):
            span = self.spot.tree.span(self.spot.node, self.low, self.low + len(self.content))
        elif self.spot is not None:
            span = self.spot.span
        return Piece(self.content, span, tuple(h.place for h in self.hops))


class Str:
    """A string in strands."""

    __slots__ = ("known", "strands")

    def __init__(self, strands: tuple[Strand, ...]) -> None:
        self.strands = strands
        parts = [s.content for s in strands]
        self.known: str | None = None
        if not any(isinstance(p, Hole) for p in parts):
            self.known = "".join(parts)  # type: ignore[arg-type]

    @property
    def size(self) -> int:
        return sum(1 if isinstance(s.content, Hole) else len(s.content) for s in self.strands)

    @property
    def hole(self) -> Hole:
        return next(s.content for s in self.strands if isinstance(s.content, Hole))

    def cut(self, start: int, end: int) -> Str:
        """Characters ``start`` to ``end``; a hole counts as one."""
        out: list[Strand] = []
        at = 0
        for strand in self.strands:
            size = 1 if isinstance(strand.content, Hole) else len(strand.content)
            low, high = max(start - at, 0), min(end - at, size)
            if low < high:
                out.append(strand if isinstance(strand.content, Hole) else strand.cut(low, high))
            at += size
        return Str(tuple(out))


def string(content: str, spot: Spot | None = None) -> Str:
    return Str((Strand(content, spot),))


@dataclass(frozen=True, slots=True)
class Spread:
    """An item that stands for any number of items."""

    hole: Hole


@dataclass(slots=True)
class Seq:
    items: list[Cell]
    kind: str = "list"

    @property
    def spread(self) -> Hole | None:
        return next((i.data.hole for i in self.items if isinstance(i.data, Spread)), None)


@dataclass(frozen=True, slots=True)
class Entry:
    """A member and the text that set it."""

    cell: Cell
    spot: Spot | None


@dataclass(slots=True)
class Map:
    """A dictionary. ``open`` says why it may have entries that are not listed; those listed are certain."""

    entries: dict[Any, Entry] = field(default_factory=dict)
    open: str = ""

    def loosen(self, reason: str) -> None:
        """Something unknown was merged over it: nothing that it held is certain any more."""
        self.open = reason
        for key, entry in self.entries.items():
            self.entries[key] = Entry(Cell(Hole(reason), entry.spot), entry.spot)


@dataclass(slots=True)
class Obj:
    """An instance. ``open`` says why it may have attributes that are not listed."""

    label: str
    cls: Class | None = None
    attrs: dict[str, Entry] = field(default_factory=dict)
    open: str = ""
    call: Call | None = None
    """The reported call that made it (or the object that it is a part of)."""
    path: tuple[str, ...] = ()
    """Where it stands below the result of ``call``."""
    kind: str = ""
    """``enum`` (a member of an enumeration), ``member`` (one that is a string or number as well), ``mapping`` (an
    object that is a dictionary too), ``field`` (a default written as a call), ``super``, or empty."""

    @property
    def value(self) -> Cell | None:
        """What a ``member`` is as plain data."""
        return self.attrs["value"].cell if self.kind == "member" else None


@dataclass(slots=True)
class Function:
    node: Any
    scope: Scope
    name: str
    bound: Cell | None = None
    cls: Class | None = None
    kind: str = ""
    """``static``, ``class``, ``property`` or empty."""


@dataclass(slots=True)
class Class:
    node: Any
    scope: Scope
    """Of its body."""
    name: str
    bases: list[Cell]
    dataclass: bool = False
    enum: bool = False
    open: bool = False
    """A base is not in the files."""
    fields: list[str] = field(default_factory=list)
    instances: list[Cell] = field(default_factory=list)

    def mro(self) -> Iterator[Class]:
        """Itself and its known bases, near to far."""
        seen: set[int] = set()
        todo: list[Class] = [self]
        while todo:
            cls = todo.pop(0)
            if id(cls) in seen:
                continue
            seen.add(id(cls))
            yield cls
            todo.extend(b.data for b in cls.bases if isinstance(b.data, Class))


@dataclass(frozen=True, slots=True)
class Ext:
    """A name that comes from outside the file (an import, a builtin, nowhere)."""

    dotted: str
    imported: str = ""
    """The module or ``module:name`` to look for in the project; empty for a name that was not imported."""
    level: int = 0
    tree: Tree | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method of known data (``"a".join``)."""

    owner: Cell
    name: str


@dataclass(frozen=True, slots=True)
class Partial:
    function: Cell
    arguments: Arguments


@dataclass(slots=True)
class Option:
    """One argument of a command line parser."""

    dest: str
    flags: tuple[str, ...]
    default: Cell | None
    required: bool
    witnesses: tuple[str, ...]
    convert: Cell | None
    boolean: bool
    spot: Spot


@dataclass(slots=True)
class Parser:
    options: dict[str, Option] = field(default_factory=dict)
    defaults: dict[str, Entry] = field(default_factory=dict)
    open: str = ""


@dataclass(slots=True)
class Package:
    """A module of the project."""

    scope: Scope


Payload = (
    None
    | bool
    | int
    | float
    | Str
    | Hole
    | Seq
    | Spread
    | Map
    | Obj
    | Function
    | Class
    | Ext
    | Method
    | Partial
    | Parser
    | Package
)


@dataclass(frozen=True, slots=True)
class Cell:
    data: Payload
    spot: Spot | None = None
    hops: tuple[Hop, ...] = ()
    asks: tuple[str, ...] = ()
    """The questions whose answer it is."""

    def through(self, hop: Hop | None) -> Cell:
        if hop is None or (self.hops and self.hops[0] == hop):
            return self
        return replace(self, hops=(hop, *self.hops)[:12])

    @property
    def strands(self) -> tuple[Strand, ...]:
        """As a part of a string: its characters with its own hops in front of theirs."""
        data = self.data
        if isinstance(data, Str):
            if not self.hops:
                return data.strands
            return tuple(replace(s, hops=(self.hops + s.hops)[:12]) for s in data.strands)
        shown = shown_as(data)
        return (Strand(shown, self.spot, -1, self.hops),)


def shown_as(data: Payload) -> str | Hole:
    """``str()`` of a scalar."""
    if data is None or isinstance(data, bool | int | float):
        return str(data)
    if isinstance(data, Str):
        return data.known if data.known is not None else data.hole
    if isinstance(data, Hole):
        return data
    if isinstance(data, Ext):
        return Hole(f"the value of `{data.dotted[:40]}`")
    return Hole("the text of an object")


def hole_of(cell: Cell) -> Hole | None:
    """What is missing in a scalar; None if it is known (or a container)."""
    data = cell.data
    if isinstance(data, Hole):
        return data
    if isinstance(data, Spread):
        return data.hole
    if isinstance(data, Ext):
        return Hole(f"the value of `{data.dotted[:40]}`")
    if isinstance(data, Str) and data.known is None:
        return data.hole
    return None


@dataclass(slots=True)
class Arguments:
    args: list[Cell]
    kwargs: dict[str, Entry]
    spots: list[Spot | None]
    """The text of each positional argument."""
    open: str = ""

    @property
    def spread(self) -> bool:
        return any(isinstance(a.data, Spread) for a in self.args)

    def get(self, index: int, name: str) -> Cell | None:
        """The argument at a position or with a name."""
        if name in self.kwargs:
            return self.kwargs[name].cell
        if 0 <= index < len(self.args) and not any(isinstance(a.data, Spread) for a in self.args[: index + 1]):
            return self.args[index]
        return None


@dataclass(slots=True)
class Binding:
    cell: Cell
    hop: Hop | None = None


class Scope:
    """Names of a module, class or function."""

    def __init__(self, tree: Tree, kind: str, name: str, parent: Scope | None = None) -> None:
        self.tree = tree
        self.kind = kind
        self.name = name
        self.parent = parent
        self.names: dict[str, Binding] = {}
        self.outer: dict[str, Scope] = {}
        """Names declared ``global`` or ``nonlocal``."""
        self.stars: list[Ext] = []
        self.function: Function | None = None
        self.directory: Any = None

    @property
    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


class Exporter:
    """Turns cells into values, within a bound on their size."""

    def __init__(self, used: Callable[[Cell], None]) -> None:
        self._used = used
        self._left = LARGEST_VALUE

    def value(self, cell: Cell, span: Span | None = None, route: str = "", name: str = "") -> Value:
        self._left = LARGEST_VALUE
        try:
            value = self._value(cell, 0)
        except TooLarge:
            value = Value.unknown("a value that is too large to be worked out")
        if span is None:
            span = value.span
        return replace(value, span=span, route=route or value.route, name=name)

    def _value(self, cell: Cell, depth: int) -> Value:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST_VALUE:
            raise TooLarge
        self._used(cell)
        span = cell.spot.span if cell.spot is not None else None
        places = tuple(h.place for h in cell.hops)
        data = cell.data
        if isinstance(data, Str):
            text = Text(tuple(s.piece for s in data.strands))
            places = tuple(dict.fromkeys((*places, *text.places)))
            return Value(Written.of(data.known, text) if data.known is not None else text, span, places)
        if isinstance(data, Seq):
            return Value([self._value(item, depth + 1) for item in data.items], span, places)
        if isinstance(data, Map):
            return Value(self._mapping(data, depth), span, places)
        if isinstance(data, Spread):
            return Value(Text.of(data.hole, span), span, places, SPREAD)
        if isinstance(data, Obj) and data.value is not None:
            return self._value(data.value, depth + 1)
        if isinstance(data, Obj) and data.kind == "mapping":
            return Value(self._mapping(Map(dict(data.attrs), data.open), depth), span, places)
        if isinstance(data, Obj) and data.call is not None and not data.path:
            made = f"{data.label}() is called"
            reason = f"the object that {data.label}() makes"
            return Value(Text.of(Hole(reason), span), span, (*places, Place(data.call.span, made)))
        if data is None or isinstance(data, bool | int | float):
            return Value(data, span, places)
        return Value(Text.of(self.reason(data), span), span, places)

    def _mapping(self, data: Map, depth: int) -> Data:
        out: dict[str, Value] = {}
        for key, entry in data.entries.items():
            value = self._value(entry.cell, depth + 1)
            if entry.spot is not None:
                value = replace(value, span=entry.spot.span)
            out[key_text(key)] = value
        if data.open:
            out[REST] = Value.unknown(data.open)
        return out

    @staticmethod
    def reason(data: Payload) -> Hole:
        if isinstance(data, Hole):
            return data
        if isinstance(data, Obj):
            return Hole(f"an object of {data.label}")
        if isinstance(data, Class | Function):
            return Hole(f"{data.name} itself")
        if isinstance(data, Ext):
            return Hole(f"the value of `{data.dotted[:40]}`")
        return Hole("a value that is no plain data")


def key_text(key: object) -> str:
    """A key as JSON writes it."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)


def plain(cell: Cell) -> Any:
    """Python data of a wholly known cell. Raises NotPlain, TooLarge."""
    budget = [LARGEST_VALUE]

    def walk(cell: Cell, depth: int) -> Any:
        budget[0] -= 1
        if budget[0] < 0 or depth > DEEPEST_VALUE:
            raise TooLarge
        data = cell.data
        hole = hole_of(cell)
        if hole is not None:
            raise NotPlain(hole)
        if isinstance(data, Str):
            return data.known
        if isinstance(data, Seq):
            items = [walk(item, depth + 1) for item in data.items]
            return tuple(items) if data.kind == "tuple" else items
        if isinstance(data, Map):
            if data.open:
                raise NotPlain(Hole(data.open))
            return {key: walk(entry.cell, depth + 1) for key, entry in data.entries.items()}
        if isinstance(data, Obj) and data.value is not None:
            return walk(data.value, depth + 1)
        if data is None or isinstance(data, bool | int | float):
            return data
        raise NotPlain(Exporter.reason(data))

    return walk(cell, 0)


def from_plain(data: Any, spot: Spot | None = None) -> Cell:
    """A cell of JSON-like data."""
    if isinstance(data, str):
        return Cell(string(data, spot), spot)
    if isinstance(data, list | tuple):
        kind = "tuple" if isinstance(data, tuple) else "list"
        return Cell(Seq([from_plain(item, spot) for item in data], kind), spot)
    if isinstance(data, dict):
        return Cell(Map({key: Entry(from_plain(item, spot), spot) for key, item in data.items()}), spot)
    if data is None or isinstance(data, bool | int | float):
        return Cell(data, spot)
    return Cell(Hole("a value that is no plain data"), spot)


def truth(cell: Cell) -> bool | None:
    """As in ``if``; None if not known."""
    data = cell.data
    if data is None or isinstance(data, bool | int | float):
        return bool(data)
    if isinstance(data, Str):
        if data.known is not None:
            return bool(data.known)
        return True if any(isinstance(s.content, str) and s.content for s in data.strands) else None
    if isinstance(data, Seq):
        if any(not isinstance(i.data, Spread) for i in data.items):
            return True
        return None if data.items else False
    if isinstance(data, Map):
        if data.entries:
            return True
        return None if data.open else False
    if isinstance(data, Obj):
        if data.value is not None:
            return truth(data.value)
        if data.kind == "mapping":
            return truth(Cell(Map(dict(data.attrs), data.open)))
        return True if not data.open and data.cls is not None and not data.cls.open else None
    if isinstance(data, Function | Class | Method | Partial | Parser | Package):
        return True
    return None
