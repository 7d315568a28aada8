# ruff: noqa: ARG001 (the methods of a table share their signature)
"""Methods of strings, lists and dictionaries on cells."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gdnlint.documents.python import operators
from gdnlint.documents.python.cells import (
    LARGEST_LIST,
    Arguments,
    Cell,
    Entry,
    Map,
    Seq,
    Spot,
    Spread,
    Str,
    Strand,
    TooLarge,
    from_plain,
    plain,
)
from gdnlint.values import MARK_BASE, MARK_LIMIT, Hole

if TYPE_CHECKING:
    from gdnlint.documents.python.evaluate import Evaluator

_PLAIN = frozenset(
    ("capitalize", "title", "startswith", "endswith", "isdigit", "find", "count", "swapcase", "casefold", "isalpha")
)
_MUTATORS = frozenset(("sort", "reverse", "insert", "pop", "remove", "clear"))


def rewritten(cell: Cell, content: str, spot: Spot) -> Cell:
    """A known string that was changed; where its characters were is kept if it is a part of the old one."""
    data = cell.data
    assert isinstance(data, Str) and data.known is not None
    if content == data.known:
        return cell
    at = data.known.find(content)
    if at >= 0 and content:
        return Cell(data.cut(at, at + len(content)), spot, cell.hops, cell.asks)
    return Cell(Str((Strand(content, cell.spot or spot, -1, _hops(cell)),)), spot, (), cell.asks)


def _hops(cell: Cell) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(h for s in cell.strands for h in s.hops))[:12]


def of_text(ev: Evaluator, owner: Cell, name: str, arguments: Arguments, spot: Spot) -> Cell | None:
    data = owner.data
    assert isinstance(data, Str)
    ev.spend(data.size // 500)
    if name == "join":
        return _join(ev, owner, arguments, spot)
    if name == "format":
        return (
            None
            if arguments.open or arguments.spread
            else operators.format_text(owner, arguments.args, arguments.kwargs, spot)
        )
    if name == "split" and not arguments.args and not arguments.kwargs:
        return Cell(Seq(_split(owner, data, spot)), spot)
    if data.known is None:
        return _of_open_text(owner, data, name, arguments, spot)
    args = [plain(a) for a in arguments.args]
    kwargs = {k: plain(e.cell) for k, e in arguments.kwargs.items()}
    if arguments.open:
        return None
    if name in ("split", "rsplit", "splitlines", "partition", "rpartition"):
        return _pieces(owner, data, name, args, kwargs, spot)
    if name in ("strip", "lstrip", "rstrip", "lower", "upper", "removeprefix", "removesuffix"):
        return rewritten(owner, getattr(data.known, name)(*args, **kwargs), spot)
    if name == "replace":
        old, new = args[0], args[1]
        if not isinstance(old, str) or not isinstance(new, str) or len(data.known) * (len(new) + 1) > 4_000_000:
            raise TooLarge
        return rewritten(owner, data.known.replace(*args), spot)
    if name in _PLAIN:
        return replace(from_plain(getattr(data.known, name)(*args, **kwargs), spot), asks=owner.asks)
    return (
        owner
        if name in ("as_posix", "expanduser", "absolute", "resolve")
        and "~" not in data.known
        and data.known.startswith("/")
        else None
    )


def _of_open_text(owner: Cell, data: Str, name: str, arguments: Arguments, spot: Spot) -> Cell | None:
    """Methods whose result is known although a part of the string is not."""
    first, last = data.strands[0].content, data.strands[-1].content
    if name in ("startswith", "endswith") and len(arguments.args) == 1:
        end = first if name == "startswith" else last
        part = plain(arguments.args[0])
        if isinstance(end, str) and isinstance(part, str) and len(end) >= len(part):
            return from_plain(getattr(end, name)(part), spot)
        return None
    if name == "strip" and not arguments.args and isinstance(first, str) and isinstance(last, str):
        strands = list(data.strands)
        lead = len(first) - len(first.lstrip())
        strands[0] = strands[0].cut(lead, len(first))
        tail = strands[-1].content
        assert isinstance(tail, str)
        strands[-1] = strands[-1].cut(0, len(tail.rstrip()))
        return Cell(Str(tuple(strands)), spot, owner.hops)
    return None


def _join(ev: Evaluator, owner: Cell, arguments: Arguments, spot: Spot) -> Cell | None:
    from gdnlint.documents.python.library import iterate

    items = iterate(ev, arguments.args[0], spreads=True) if arguments.args else None
    if items is None:
        return None
    strands: list[Strand] = []
    for index, part in enumerate(items):
        if index:
            strands.extend(owner.strands)
        if isinstance(part.data, Spread):
            strands.append(Strand(part.data.hole, part.spot, -1, part.hops))
        elif isinstance(part.data, Str | Hole):
            strands.extend(part.strands)
        else:
            return None
    return operators.text(tuple(strands), spot)


def _split(owner: Cell, data: Str, spot: Spot) -> list[Cell]:
    """``split()``; a hole is taken for characters that are no white space."""
    marked = "".join("\ue000" if isinstance(s.content, Hole) else s.content for s in data.strands)
    words: list[Cell] = []
    at = 0
    for word in marked.split():
        start = marked.index(word, at)
        at = start + len(word)
        words.append(_word(owner, data.cut(start, at), spot))
        if len(words) > LARGEST_LIST:
            raise TooLarge
    return words


def _word(owner: Cell, text: Str, spot: Spot) -> Cell:
    """One word of a text. A word that is nothing but a hole may be any number of words."""
    if len(text.strands) == 1 and isinstance(text.strands[0].content, Hole):
        return Cell(Spread(text.strands[0].content), text.strands[0].spot or spot, owner.hops)
    return Cell(text, _spot_of(text) or spot, owner.hops)


def _spot_of(text: Str) -> Spot | None:
    return next((s.spot for s in text.strands if s.spot is not None), None)


def shell_words(ev: Evaluator, cell: Cell, spot: Spot) -> list[Cell]:
    """``shlex.split``; raises ValueError for a quote that is not closed."""
    data = cell.data
    assert isinstance(data, Str)
    ev.spend(data.size // 10)
    holes: list[Strand] = []
    marked = ""
    for strand in data.strands:
        if isinstance(strand.content, Hole):
            marked += chr(MARK_BASE + min(len(holes), MARK_LIMIT - 1))
            holes.append(strand)
        else:
            marked += strand.content
    words: list[Cell] = []
    at = 0
    for word in shlex.split(marked):
        start = marked.find(word, at) if word else -1
        if start >= 0 and word:
            at = start + len(word)
            words.append(_word(cell, data.cut(start, at), spot))
            continue
        strands: list[Strand] = []
        origin = _spot_of(data)
        for char in word:
            number = ord(char) - MARK_BASE
            if 0 <= number < len(holes):
                strands.append(holes[number])
            elif strands and isinstance(strands[-1].content, str):
                strands[-1] = replace(strands[-1], content=strands[-1].content + char)
            else:
                strands.append(Strand(char, origin, -1))
        words.append(Cell(Str(tuple(strands) or (Strand("", origin),)), origin or spot, cell.hops))
    return words


def _pieces(owner: Cell, data: Str, name: str, args: list[Any], kwargs: dict[str, Any], spot: Spot) -> Cell:
    assert data.known is not None
    parts = getattr(data.known, name)(*args, **kwargs)
    if len(parts) > LARGEST_LIST:
        raise TooLarge
    cells = []
    at = 0
    for part in parts:
        start = data.known.find(part, at)
        at = start + len(part)
        cells.append(Cell(data.cut(start, at), owner.spot, owner.hops) if part else from_plain("", spot))
    return Cell(Seq(cells, "tuple" if "partition" in name else "list"), spot)


def of_list(ev: Evaluator, owner: Cell, data: Seq, name: str, arguments: Arguments, spot: Spot) -> Cell | None:
    from gdnlint.documents.python.library import extend, iterate

    if name in ("append", "add"):
        if len(data.items) < LARGEST_LIST and arguments.args and not arguments.spread:
            data.items.append(arguments.args[0])
        else:
            data.items[:] = [Cell(Spread(Hole("a list that is too large to be worked out")))]
        return Cell(None, spot)
    if name in ("extend", "update"):
        for given in arguments.args:
            extend(data, given)
        return Cell(None, spot)
    if name == "copy":
        return Cell(Seq(operators.through(owner, data), data.kind), spot)
    if name in ("index", "count") and arguments.args:
        values = [plain(i) for i in data.items]
        return from_plain(getattr(values, name)(plain(arguments.args[0])), spot)
    if name in _MUTATORS:
        try:
            return _mutate(ev, data, name, arguments, spot, iterate)
        except Exception:
            data.items[:] = [Cell(Spread(Hole(f"`{name}()` changed the list")))]
            raise
    return None


def _mutate(ev: Evaluator, data: Seq, name: str, arguments: Arguments, spot: Spot, iterate: Any) -> Cell | None:
    if name == "clear":
        data.items.clear()
        return Cell(None, spot)
    if data.spread is not None and name == "insert" and arguments.args and plain(arguments.args[0]) == 0:
        data.items.insert(0, arguments.args[1])
        return Cell(None, spot)
    if data.spread is not None:
        raise ValueError
    if name == "insert":
        data.items.insert(plain(arguments.args[0]), arguments.args[1])
    elif name == "pop":
        return data.items.pop(plain(arguments.args[0]) if arguments.args else -1)
    elif name == "reverse":
        data.items.reverse()
    elif name == "remove":
        del data.items[[plain(i) for i in data.items].index(plain(arguments.args[0]))]
    elif arguments.kwargs:
        raise ValueError
    else:
        data.items.sort(key=plain)
    return Cell(None, spot)


def of_dict(ev: Evaluator, owner: Cell, data: Map, name: str, arguments: Arguments, spot: Spot) -> Cell | None:
    from gdnlint.documents.python.library import as_map, key_of, update

    if name in ("get", "pop", "setdefault") and arguments.args:
        key = key_of(arguments.args[0])
        if isinstance(key, Hole):
            if name != "get":
                data.loosen(f"`{name}()` has a key that is {key.reason}")
            return None
        entry = data.entries.get(key)
        default = arguments.args[1] if len(arguments.args) > 1 else Cell(None, spot)
        if name == "pop":
            data.entries.pop(key, None)
        if entry is not None:
            return replace(entry.cell, hops=(entry.cell.hops + owner.hops)[:12])
        if data.open:
            if name == "setdefault":
                data.entries[key] = Entry(Cell(Hole(data.open), spot), spot)
            return Cell(Hole(data.open), spot)
        if name == "setdefault":
            data.entries[key] = Entry(default, spot)
        return default
    if name == "update":
        for given in arguments.args:
            update(data, as_map(ev, given), spot)
        for key, entry in arguments.kwargs.items():
            data.entries[key] = entry
        if arguments.open:
            data.loosen(arguments.open)
        return Cell(None, spot)
    if name == "copy":
        return Cell(Map(dict(data.entries), data.open), spot, owner.hops)
    if name == "clear":
        data.entries.clear()
        data.open = ""
        return Cell(None, spot)
    if name in ("items", "keys", "values"):
        cells: list[Cell] = []
        for key, entry in data.entries.items():
            value = replace(entry.cell, hops=(entry.cell.hops + owner.hops)[:12])
            key_cell = from_plain(key, entry.spot)
            if name == "items":
                cells.append(Cell(Seq([key_cell, value], "tuple"), entry.spot))
            else:
                cells.append(key_cell if name == "keys" else value)
        if data.open:
            cells.append(Cell(Spread(Hole(data.open)), spot))
        return Cell(Seq(cells), spot)
    return None
