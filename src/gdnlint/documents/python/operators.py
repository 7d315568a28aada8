"""Python's operators on cells. Each returns None for what is not known; sizes are bounded."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from gdnlint.documents.python.cells import (
    LARGEST_LIST,
    LARGEST_NUMBER,
    LARGEST_TEXT,
    Cell,
    Class,
    Entry,
    Ext,
    Function,
    Map,
    NotPlain,
    Obj,
    Payload,
    Seq,
    Spot,
    Spread,
    Str,
    Strand,
    TooLarge,
    hole_of,
    plain,
)

MOST_STRANDS = 4_000


def text(strands: tuple[Strand, ...], spot: Spot) -> Cell:
    """A string cell within the bounds on strings."""
    made = Str(strands)
    if made.size > LARGEST_TEXT or len(strands) > MOST_STRANDS:
        raise TooLarge
    return Cell(made, spot)


def formatted(value: object, spec: str) -> str:
    """``format(value, spec)`` without widths that would fill the memory."""
    if re.search(r"\d{4}", spec):
        raise TooLarge
    return format(value, spec)


def binary(name: str, left: Cell, right: Cell, spot: Spot) -> Cell | None:
    a, b = left.data, right.data
    if name == "Add" and (isinstance(a, Str) or isinstance(b, Str)):
        for data in (a, b):
            if not isinstance(data, Str) and hole_of(left if data is a else right) is None:
                return None
        return text((*left.strands, *right.strands), spot)
    if name == "Add" and isinstance(a, Seq) and isinstance(b, Seq):
        return _joined(left, right, a, b, spot)
    if name == "Add" and isinstance(a, Seq) and hole_of(right) is not None:
        hole = hole_of(right)
        assert hole is not None
        return Cell(Seq([*a.items, Cell(Spread(hole), right.spot, right.hops)], a.kind), spot, left.hops)
    if name == "Modulo" and isinstance(a, Str):
        return _percent(left, a, right, spot)
    if name == "Multiply" and isinstance(a, Seq | Str) and isinstance(b, int):
        return _repeated(left, b, spot)
    if name == "Multiply" and isinstance(b, Seq | Str) and isinstance(a, int):
        return _repeated(right, a, spot)
    if name == "Divide" and isinstance(a, Str) and isinstance(b, Str):
        return joined_path([left, right], spot)
    if name == "BitOr" and isinstance(a, Map) and isinstance(b, Map):
        out = Map(dict(a.entries), a.open)
        if b.open:
            out.loosen(b.open)
        out.entries.update(b.entries)
        return Cell(out, spot)
    if isinstance(a, int | float) and isinstance(b, int | float):
        return _arithmetic(name, a, b, spot, left, right)
    return None


def _joined(left: Cell, right: Cell, a: Seq, b: Seq, spot: Spot) -> Cell | None:
    if a.kind != b.kind or len(a.items) + len(b.items) > LARGEST_LIST:
        return None
    return Cell(Seq([*through(left, a), *through(right, b)], a.kind), spot)


def through(owner: Cell, seq: Seq) -> list[Cell]:
    """The items of a list, each with the hops of the list behind its own."""
    if not owner.hops:
        return list(seq.items)
    return [Cell(i.data, i.spot, (i.hops + owner.hops)[:12], i.asks) for i in seq.items]


def _repeated(cell: Cell, times: int, spot: Spot) -> Cell:
    times = max(times, 0)
    data = cell.data
    if isinstance(data, Seq):
        if len(data.items) * times > LARGEST_LIST:
            raise TooLarge
        return Cell(Seq(data.items * times, data.kind), spot, cell.hops)
    assert isinstance(data, Str)
    if data.size * times > LARGEST_TEXT or len(data.strands) * times > MOST_STRANDS * 10:
        raise TooLarge
    if data.known is not None and times > 1:
        return Cell(Str((Strand(data.known * times, spot, -1, cell.hops),)), spot)
    return text(cell.strands * times, spot)


def _arithmetic(name: str, a: Any, b: Any, spot: Spot, left: Cell, right: Cell) -> Cell | None:
    if isinstance(a, int) and isinstance(b, int):
        if name == "Power" and (abs(b) > LARGEST_NUMBER or a.bit_length() * abs(b) > LARGEST_NUMBER):
            raise TooLarge
        if name == "LeftShift" and (b > LARGEST_NUMBER or a.bit_length() + b > LARGEST_NUMBER):
            raise TooLarge
    operations: dict[str, Any] = {
        "Add": lambda: a + b,
        "Subtract": lambda: a - b,
        "Multiply": lambda: a * b,
        "Divide": lambda: a / b,
        "FloorDivide": lambda: a // b,
        "Modulo": lambda: a % b,
        "Power": lambda: a**b,
        "LeftShift": lambda: a << b,
        "RightShift": lambda: a >> b,
        "BitAnd": lambda: a & b,
        "BitOr": lambda: a | b,
        "BitXor": lambda: a ^ b,
    }
    if name not in operations:
        return None
    value = operations[name]()
    if isinstance(value, int) and value.bit_length() > LARGEST_NUMBER:
        raise TooLarge
    if not isinstance(value, int | float):
        return None
    hops = tuple(dict.fromkeys((*left.hops, *right.hops)))[:12]
    return Cell(value, spot, hops, tuple(dict.fromkeys((*left.asks, *right.asks)))[:8])


def _percent(left: Cell, template: Str, right: Cell, spot: Spot) -> Cell | None:
    if template.known is None:
        return None
    values = right.data.items if isinstance(right.data, Seq) and right.data.kind == "tuple" else [right]
    taken = 0
    strands: list[Strand] = []
    at = 0
    own = Cell(template, left.spot, left.hops)
    for match in re.finditer(r"%(\(\w+\))?([-+ 0#]*\d{0,3}(?:\.\d{1,3})?)([a-zA-Z%])", template.known):
        strands.extend(Cell(template.cut(at, match.start()), own.spot, own.hops).strands)
        at = match.end()
        name, spec, kind = match.groups()
        if kind == "%":
            strands.append(Strand("%", spot))
            continue
        if name:
            if not isinstance(right.data, Map) or name[1:-1] not in right.data.entries:
                return None
            value = right.data.entries[name[1:-1]].cell
        elif taken < len(values) and not isinstance(values[taken].data, Spread):
            value = values[taken]
            taken += 1
        else:
            return None
        if not spec and kind == "s" and not isinstance(value.data, Seq | Map | Obj):
            strands.extend(value.strands)
        else:
            strands.extend(_one(value, lambda v, f=f"%{spec}{kind}": f % (v,), spot))
    if taken < len(values) and not isinstance(right.data, Map):
        return None
    strands.extend(Cell(template.cut(at, len(template.known)), own.spot, own.hops).strands)
    return text(tuple(s for s in strands if s.content != ""), spot)


def _one(value: Cell, show: Any, spot: Spot) -> tuple[Strand, ...]:
    """One formatted value; a hole if it is not wholly known."""
    try:
        return (Strand(show(plain(value)), value.spot or spot, -1, value.hops),)
    except NotPlain as error:
        return (Strand(error.hole, value.spot or spot, -1, value.hops),)


def format_text(owner: Cell, args: list[Cell], kwargs: dict[str, Entry], spot: Spot) -> Cell | None:
    """``str.format``."""
    template = owner.data
    if not isinstance(template, Str) or template.known is None:
        return None
    strands: list[Strand] = []
    at = number = 0
    for match in re.finditer(r"\{\{|\}\}|\{([^{}]*)\}", template.known):
        strands.extend(Cell(template.cut(at, match.start()), owner.spot, owner.hops).strands)
        at = match.end()
        if match.group() in ("{{", "}}"):
            strands.append(Strand(match.group()[0], spot))
            continue
        name, _, spec = match.group(1).partition(":")
        name, _, conversion = name.partition("!")
        if name == "":
            name, number = str(number), number + 1
        if name.isdigit() and int(name) < len(args):
            value = args[int(name)]
        elif name in kwargs:
            value = kwargs[name].cell
        else:
            return None
        if isinstance(value.data, Spread):
            return None
        if not spec and conversion in ("", "s") and not isinstance(value.data, Seq | Map | Obj):
            strands.extend(value.strands)
        else:
            strands.extend(_one(value, lambda v, c=conversion, s=spec: formatted(repr(v) if c == "r" else v, s), spot))
    strands.extend(Cell(template.cut(at, len(template.known)), owner.spot, owner.hops).strands)
    return text(tuple(s for s in strands if s.content != ""), spot)


def joined_path(parts: list[Cell], spot: Spot) -> Cell | None:
    """``os.path.join`` and ``Path / Path``."""
    strands: list[Strand] = []
    for index, part in enumerate(parts):
        if isinstance(part.data, Str) and (part.data.known or "").startswith("/"):
            strands.clear()
        elif index and strands and not str(strands[-1].content).endswith("/"):
            strands.append(Strand("/", spot))
        strands.extend(part.strands)
    return text(tuple(strands), spot)


def path_text(cell: Cell, spot: Spot) -> Cell:
    """``Path(x)`` as text."""
    data = cell.data
    if isinstance(data, Str) and data.known is not None and str(PurePosixPath(data.known)) != data.known:
        return Cell(Str((Strand(str(PurePosixPath(data.known)), cell.spot or spot, -1, cell.hops),)), spot)
    return cell


def sliced(owner: Cell, part: slice, spot: Spot) -> Cell | None:
    data = owner.data
    if isinstance(data, Seq):
        if data.spread is not None:
            return _sliced_open(owner, data, part, spot)
        return Cell(Seq(through(owner, data)[part], data.kind), spot)
    if isinstance(data, Str) and data.known is not None:
        start, stop, step = part.indices(len(data.known))
        if step == 1:
            return Cell(Str(data.cut(start, max(start, stop)).strands), spot, owner.hops)
        return Cell(Str((Strand(data.known[part], spot, -1, owner.hops),)), spot)
    return None


def _sliced_open(owner: Cell, data: Seq, part: slice, spot: Spot) -> Cell | None:
    first = next(i for i, item in enumerate(data.items) if isinstance(item.data, Spread))
    start = part.start or 0
    if part.step not in (None, 1) or not 0 <= start <= first:
        return None
    items = through(owner, data)
    if part.stop is None:
        return Cell(Seq(items[start:], data.kind), spot)
    return Cell(Seq(items[start : part.stop], data.kind), spot) if 0 <= part.stop <= first else None


def compare(operator: str, left: Cell, right: Cell) -> bool | None:
    if operator in ("Is", "IsNot"):
        same = _same(left.data, right.data)
        return same if same is None or operator == "Is" else not same
    if operator in ("In", "NotIn"):
        found = _contains(right, left)
        return found if found is None or operator == "In" else not found
    if operator in ("Equal", "NotEqual"):
        equal = _equal(left, right)
        return equal if equal is None or operator == "Equal" else not equal
    a, b = plain(left), plain(right)
    if operator == "LessThan":
        return bool(a < b)
    if operator == "GreaterThan":
        return bool(a > b)
    if operator == "LessThanEqual":
        return bool(a <= b)
    return bool(a >= b) if operator == "GreaterThanEqual" else None


def _same(a: Payload, b: Payload) -> bool | None:
    for one, other in ((a, b), (b, a)):
        if one is None or isinstance(one, bool):
            if isinstance(other, bool) or other is None:
                return one is other
            if isinstance(other, int | float | Seq | Map | Function | Class | Obj):
                return False if not (isinstance(other, Obj) and other.kind) else None
            if isinstance(other, Str):
                return False
            return None
    return True if isinstance(a, Obj | Class) and a is b else None


def _equal(left: Cell, right: Cell) -> bool | None:
    a, b = left.data, right.data
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Obj) and one.value is not None:
            continue
        if isinstance(one, Obj) and one.kind == "enum":
            if isinstance(other, Obj) and other.kind == "enum":
                return one.label == other.label
            return None
        if isinstance(one, Obj | Class | Function | Ext):
            return False if other is None and not isinstance(one, Ext) else None
    if isinstance(a, Str) and isinstance(b, Str) and (a.known is None) != (b.known is None):
        open_, known = (a, b.known) if a.known is None else (b, a.known)
        first, last = open_.strands[0].content, open_.strands[-1].content
        assert known is not None
        if isinstance(first, str) and not known.startswith(first):
            return False
        if isinstance(last, str) and not known.endswith(last):
            return False
        return None
    try:
        return bool(plain(left) == plain(right))
    except NotPlain:
        return None


def _contains(container: Cell, member: Cell) -> bool | None:
    data = container.data
    if isinstance(data, Map):
        key = plain(member)
        if key in data.entries:
            return True
        return None if data.open else False
    if isinstance(data, Seq):
        results = [None if isinstance(i.data, Spread) else _equal(i, member) for i in data.items]
        if True in results:
            return True
        return None if None in results else False
    if isinstance(data, Str) and data.known is not None:
        inner = plain(member)
        return inner in data.known if isinstance(inner, str) else None
    return None


def witnesses(operator: str, other: Cell) -> tuple[str, ...]:
    """Values that would change a comparison with ``other``."""
    data = other.data
    if isinstance(data, Seq):
        return tuple(w for item in data.items[:8] for w in witnesses("Equal", item))
    if data is None or isinstance(data, bool):
        return ("true" if data else "false",) if data is not None else ()
    if isinstance(data, Str):
        return (data.known,) if data.known is not None else ()
    if isinstance(data, int):
        if operator in ("LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual"):
            return (str(data), str(data + 1), str(data - 1))
        return (str(data),)
    return (str(data),) if isinstance(data, float) else ()
