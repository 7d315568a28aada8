# ruff: noqa: ARG001, ARG005 (the functions of a table share their signature)
"""What the evaluator knows about Python's own functions, and about those that make settings.

Every function here takes and returns cells; None means that the result is not known.
"""

from __future__ import annotations

import json
import posixpath
import shlex
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from gdnlint.documents.python import commandline, methods, operators
from gdnlint.documents.python.cells import (
    LARGEST_LIST,
    Arguments,
    Cell,
    Class,
    Entry,
    Exporter,
    Ext,
    Function,
    Map,
    Method,
    NotPlain,
    Obj,
    Parser,
    Partial,
    Scope,
    Seq,
    Spot,
    Spread,
    Str,
    Strand,
    TooLarge,
    from_plain,
    hole_of,
    plain,
    truth,
)
from gdnlint.documents.python.outline import dotted_of
from gdnlint.values import Hole

if TYPE_CHECKING:
    from gdnlint.documents.python.evaluate import Evaluator

SAME_CALL = frozenset(("remote", "bind", "local", "spawn", "remote_gen", "delay"))
"""Attributes of a function or class whose call is a call of it, elsewhere."""


def is_known(dotted: str) -> bool:
    """Whether what a function does is worked out here."""
    return dotted in _FUNCTIONS or dotted in _ALIASES


# --- reading containers


def iterate(ev: Evaluator, cell: Cell, spreads: bool = False) -> list[Cell] | None:
    """The items that a loop over it sees; None if unknown. ``spreads``: stretches of unknown items may stay in."""
    data = ev.force(cell).data
    if isinstance(data, Seq):
        if data.spread is not None and not spreads:
            return None
        return operators.through(cell, data)
    if isinstance(data, Map):
        return None if data.open else [from_plain(k, e.spot) for k, e in data.entries.items()]
    if isinstance(data, Str) and data.known is not None and len(data.known) <= LARGEST_LIST:
        return [from_plain(c, cell.spot) for c in data.known]
    if isinstance(data, Obj) and data.kind == "mapping" and not data.open:
        return [from_plain(k, e.spot) for k, e in data.attrs.items()]
    if isinstance(data, Class) and data.enum:
        names = [
            n for n, b in data.scope.names.items() if not isinstance(b.cell.data, Function) and not n.startswith("_")
        ]
        return [member(data, n, data.scope.names[n].cell) for n in names]
    return None


def as_map(ev: Evaluator, cell: Cell) -> Cell:
    """``dict(x)``, ``vars(x)`` and ``**x`` of a mapping or object; other cells as they are."""
    data = ev.force(cell).data
    if isinstance(data, Map):
        return cell
    if isinstance(data, Obj) and data.kind in ("", "mapping"):
        return Cell(Map(dict(data.attrs), data.open), cell.spot, cell.hops)
    if isinstance(data, Ext) and data.dotted == "os.environ":
        entries = {name: Entry(from_plain(value), None) for name, value in ev.world.env.items()}
        entries.update(ev.environment)
        return Cell(Map(dict(entries), "the environment"), cell.spot)
    if isinstance(data, Seq) and data.spread is None:
        out = Map()
        for item in data.items:
            if not isinstance(item.data, Seq) or len(item.data.items) != 2:
                return Cell(Hole("its pairs are not known"), cell.spot)
            key = key_of(item.data.items[0])
            if isinstance(key, Hole):
                out.loosen(f"a key of it is {key.reason}")
            else:
                out.entries[key] = Entry(item.data.items[1], item.spot)
        return Cell(out, cell.spot)
    return cell


def key_of(cell: Cell) -> Any:
    """A key as plain data; a Hole if it is not known."""
    data = cell.data
    if isinstance(data, Obj) and data.kind == "enum":
        return Hole("a member of an enumeration")
    try:
        key = plain(cell)
        hash(key)
    except NotPlain as error:
        return error.hole
    except TooLarge:
        return Hole("a key that is too large")
    except TypeError:
        return Hole("a key that cannot be one")
    return key


def extend(seq: Seq, cell: Cell) -> None:
    """``seq += cell``."""
    data = cell.data
    if len(seq.items) > LARGEST_LIST:
        seq.items[:] = [Cell(Spread(Hole("a list that is too large to be worked out")))]
    elif isinstance(data, Seq):
        seq.items.extend(operators.through(cell, data))
    elif isinstance(data, Str) and data.known is not None:
        seq.items.extend(from_plain(c, cell.spot) for c in data.known[:LARGEST_LIST])
    elif isinstance(data, Map) and not data.open:
        seq.items.extend(from_plain(k, e.spot) for k, e in data.entries.items())
    else:
        seq.items.append(Cell(Spread(hole_of(cell) or Hole("the items of an unknown value")), cell.spot, cell.hops))


def update(target: Map, cell: Cell, spot: Spot) -> None:
    """``target.update(cell)``."""
    data = cell.data
    if isinstance(data, Map):
        if data.open:
            target.loosen(data.open)
        for key, entry in data.entries.items():
            inner = replace(entry.cell, hops=(entry.cell.hops + cell.hops)[:12]) if cell.hops else entry.cell
            target.entries[key] = Entry(inner, entry.spot or spot)
    else:
        hole = hole_of(cell)
        target.loosen(f"{hole.reason if hole else 'an unknown mapping'} may add or replace entries")
    if len(target.entries) > LARGEST_LIST:
        target.entries.clear()
        target.open = "it has too many entries"


def delete(ev: Evaluator, owner: Cell, key: object) -> None:
    data = owner.data
    if isinstance(data, Map):
        if isinstance(key, Hole):
            data.loosen(f"an entry is removed whose key is {key.reason}")
        else:
            data.entries.pop(key, None)
    elif isinstance(data, Seq):
        if isinstance(key, int) and data.spread is None and -len(data.items) <= key < len(data.items):
            del data.items[key]
        else:
            data.items[:] = [Cell(Spread(Hole("an item of it is removed")))]
    elif isinstance(data, Ext) and data.dotted == "os.environ" and isinstance(key, str):
        ev.environment.pop(key, None)


def item(ev: Evaluator, owner: Cell, index: Cell, spot: Spot) -> Cell | None:
    """``owner[index]``."""
    data = owner.data
    key = key_of(index)
    ev.used(index)
    if isinstance(data, Ext) and data.dotted == "os.environ":
        return environment(ev, key, None, spot, True) if isinstance(key, str) else None
    if isinstance(data, Ext) and data.dotted == "sys.argv":
        return commandline.argument(ev, key, spot) if isinstance(key, int) else None
    if isinstance(key, Hole):
        return None
    if isinstance(data, Map):
        entry = data.entries.get(key)
        if entry is not None:
            return replace(entry.cell, hops=(entry.cell.hops + owner.hops)[:12])
        return Cell(Hole(data.open), spot) if data.open else None
    if isinstance(data, Seq) and isinstance(key, int):
        items = operators.through(owner, data)
        before = items[: key + 1] if key >= 0 else items[key:]
        if any(isinstance(i.data, Spread) for i in before) or not -len(items) <= key < len(items):
            return None
        return items[key]
    if isinstance(data, Str) and data.known is not None and isinstance(key, int):
        return from_plain(data.known[key], owner.spot)
    if isinstance(data, Obj) and isinstance(key, str):
        return data.attrs[key].cell if key in data.attrs else None
    if isinstance(data, Class) and data.enum and isinstance(key, str) and key in data.scope.names:
        return member(data, key, data.scope.names[key].cell)
    return None


def member(cls: Class, name: str, value: Cell) -> Cell:
    """A member of an enumeration. Those of ``class E(str, Enum)`` are strings as well."""
    obj = Obj(f"{cls.name}.{name}", cls, {}, "", None, (), "enum")
    obj.attrs["name"] = Entry(from_plain(name), value.spot)
    obj.attrs["value"] = Entry(value, value.spot)
    bases = {b.data.dotted.split(".")[-1] for each in cls.mro() for b in each.bases if isinstance(b.data, Ext)}
    plain_too = bases & {"str", "int", "StrEnum", "IntEnum"}
    if plain_too and isinstance(value.data, Str | int):
        obj.kind = "member"
    return Cell(obj, value.spot)


# --- the environment


def environment(ev: Evaluator, name: str, default: Cell | None, spot: Spot, strict: bool) -> Cell:
    """A variable of the environment; ``strict`` fails without it."""
    if name in ev.environment:
        return ev.environment[name].cell
    ev.propose(name, spot, ask=True)
    if name in ev.world.env:
        return replace(from_plain(ev.world.env[name], spot), asks=(name,))
    if strict:
        return Cell(Hole(f"the environment variable {name}", name), spot, (), (name,))
    if default is None:
        return Cell(None, spot, (), (name,))
    return replace(default, asks=(name, *default.asks)[:8])


def in_environ(ev: Evaluator, name: Cell, positive: bool) -> Cell:
    key = key_of(name)
    if not isinstance(key, str) or name.spot is None:
        return Cell(Hole("a name in the environment"))
    found = key in ev.environment or key in ev.world.env
    if key not in ev.environment:
        ev.propose(key, name.spot, ("1",), ask=True)
    return Cell(found == positive, name.spot)


# --- defaults that are written as calls


def field_default(ev: Evaluator, cell: Cell) -> Cell | None:
    """The value of a class attribute: what ``field(default=...)`` or ``Field(...)`` says, None if nothing."""
    data = cell.data
    if not isinstance(data, Obj) or data.kind != "field":
        return cell
    if "default" in data.attrs:
        default = data.attrs["default"].cell
        return default.through(cell.hops[0]) if cell.hops else default
    if "default_factory" in data.attrs:
        factory = data.attrs["default_factory"].cell
        if factory.spot is None and cell.spot is None:
            return None
        made = ev.call(ev.force(factory), Arguments([], {}, []), factory.spot or cell.spot, None, ev_scope(ev, factory))  # type: ignore[arg-type]
        return made.through(cell.hops[0]) if made is not None and cell.hops else made
    return None


def ev_scope(ev: Evaluator, cell: Cell) -> Scope:
    data = cell.data
    if isinstance(data, Function | Class):
        return data.scope
    return Scope(ev.tree, "module", "")


def option_default(ev: Evaluator, cell: Cell | None) -> Cell | None:
    """The default of a parameter, ``typer.Option("x")`` opened; None if it must be given."""
    if cell is None or not isinstance(cell.data, Obj) or cell.data.kind != "field":
        return cell
    return field_default(ev, cell)


def decorated_default(ev: Evaluator, function: Function, name: str) -> Cell | None:
    """What ``@click.option("--name", default=...)`` says of a parameter."""
    for decorator in getattr(function.node, "decorators", ()):
        call = decorator.decorator
        if not isinstance(call, cst.Call) or dotted_of(call.func).split(".")[-1] != "option":
            continue
        arguments = ev.arguments(call, function.scope)
        flags = [a.data.known for a in arguments.args if isinstance(a.data, Str) and a.data.known]
        own = [f for f in flags if not f.startswith("-")]
        dest = own[0] if own else max(flags, key=len, default="").lstrip("-").split("/")[0].replace("-", "_")
        if dest != name:
            continue
        default = arguments.kwargs.get("default")
        if default is not None:
            return default.cell
        required = arguments.kwargs.get("required")
        if required is not None and truth(required.cell) is not False:
            return None
        flag = arguments.kwargs.get("is_flag")
        spot = Spot(function.scope.tree, call)
        return Cell(False if (flag is not None and truth(flag.cell)) or "/" in "".join(flags) else None, spot)
    return None


# --- objects that calls make


def made_by(ev: Evaluator, name: str, arguments: Arguments) -> dict[str, Entry]:
    """The attributes that an object surely has, from the call that makes it."""
    last = name.split(".")[-1]
    if name.endswith("OmegaConf.create"):
        first = arguments.get(0, "obj")
        mapping = as_map(ev, first) if first is not None else Cell(None)
        return dict(mapping.data.entries) if isinstance(mapping.data, Map) else {}
    if last.endswith(("Args", "Config", "Namespace")):
        return dict(arguments.kwargs)
    return {}


def adopt(obj: Obj, depth: int = 0) -> None:
    """Let writes on the parts of a call's result count for the call."""
    if depth > 8:
        return
    for name, entry in list(obj.attrs.items()):
        data = entry.cell.data
        if isinstance(data, Map) and obj.label.endswith("OmegaConf.create"):
            child = Obj(
                "OmegaConf.create", None, dict(data.entries), data.open or obj.open, obj.call, (*obj.path, name), ""
            )
            obj.attrs[name] = Entry(replace(entry.cell, data=child), entry.spot)
            adopt(child, depth + 1)
        elif isinstance(data, Obj) and data.call is None and not data.kind:
            data.call, data.path = obj.call, (*obj.path, name)
            adopt(data, depth + 1)


def namespace(label: str, mapping: Map, spot: Spot, kind: str = "") -> Cell:
    attrs = {key: entry for key, entry in mapping.entries.items() if isinstance(key, str)}
    return Cell(Obj(label, None, attrs, mapping.open, None, (), kind), spot)


def nested(label: str, mapping: Map, spot: Spot, depth: int = 0) -> Cell:
    """``OmegaConf.create``: mappings become objects at every depth."""
    cell = namespace(label, mapping, spot, "mapping")
    obj = cell.data
    assert isinstance(obj, Obj)
    for key, entry in list(obj.attrs.items()):
        data = entry.cell.data
        if isinstance(data, Map) and depth < 20:
            obj.attrs[key] = Entry(replace(nested(label, data, spot, depth + 1), spot=entry.cell.spot), entry.spot)
    return cell


def unnested(cell: Cell, depth: int = 0) -> Cell:
    """``OmegaConf.to_container`` and ``asdict``: objects become dictionaries at every depth."""
    data = cell.data
    if depth > 20:
        return cell
    if isinstance(data, Obj) and data.kind in ("", "mapping"):
        data = Map(dict(data.attrs), data.open)
    if isinstance(data, Map):
        entries = {k: Entry(unnested(e.cell, depth + 1), e.spot) for k, e in data.entries.items()}
        return replace(cell, data=Map(entries, data.open))
    if isinstance(data, Seq):
        return replace(cell, data=Seq([unnested(i, depth + 1) for i in data.items], data.kind))
    return cell


def copied(cell: Cell, depth: int = 0) -> Cell:
    data = cell.data
    if depth > 20:
        return cell
    if isinstance(data, Seq):
        return replace(cell, data=Seq([copied(i, depth + 1) for i in data.items], data.kind))
    if isinstance(data, Map):
        return replace(
            cell, data=Map({k: Entry(copied(e.cell, depth + 1), e.spot) for k, e in data.entries.items()}, data.open)
        )
    if isinstance(data, Obj):
        attrs = {k: Entry(copied(e.cell, depth + 1), e.spot) for k, e in data.attrs.items()}
        return replace(cell, data=replace(data, attrs=attrs, call=None, path=()))
    return cell


# --- methods


def method(ev: Evaluator, data: Method, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    owner = ev.force(data.owner)
    inner = owner.data
    if data.name == "options" and isinstance(inner, Function | Class):
        return owner
    if isinstance(inner, Str):
        return methods.of_text(ev, owner, data.name, arguments, spot)
    if isinstance(inner, Seq):
        return methods.of_list(ev, owner, inner, data.name, arguments, spot)
    if isinstance(inner, Map):
        return methods.of_dict(ev, owner, inner, data.name, arguments, spot)
    if isinstance(inner, Parser):
        return commandline.method(ev, owner, inner, data.name, arguments, spot, scope)
    if isinstance(inner, Obj):
        return _of_object(ev, owner, inner, data.name, arguments, spot)
    return None


def _of_object(ev: Evaluator, owner: Cell, obj: Obj, name: str, arguments: Arguments, spot: Spot) -> Cell | None:
    if obj.kind == "super":
        return None
    if name in ("update", "setdefault") and obj.call is not None and not obj.path:
        first = arguments.get(0, "")
        mapping = as_map(ev, first).data if first is not None else Map()
        entries = dict(mapping.entries) if isinstance(mapping, Map) else {}
        entries.update(arguments.kwargs)
        if not isinstance(mapping, Map) or mapping.open or arguments.open:
            ev.loosen(obj, f"`update()` of {obj.label} may set anything")
        for key, entry in entries.items():
            if isinstance(key, str):
                ev.set_attribute(owner, key, entry.cell, entry.spot or spot)
        return Cell(None, spot)
    if name in ("model_dump", "dict", "to_dict", "_asdict") and not arguments.kwargs and obj.cls is not None:
        return unnested(owner)
    if name in ("copy", "model_copy") and not arguments.kwargs:
        return copied(owner)
    if obj.kind == "mapping":
        view = as_map(ev, owner)
        if isinstance(view.data, Map) and name in ("get", "items", "keys", "values"):
            return methods.of_dict(ev, view, view.data, name, arguments, spot)
    return None


# --- functions

Known = Callable[["Evaluator", Arguments, Spot, Scope], "Cell | None"]


def function(ev: Evaluator, dotted: str, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    """A call of a name from outside the file."""
    known = _FUNCTIONS.get(dotted) or _FUNCTIONS.get(_ALIASES.get(dotted, ""))
    if known is not None:
        return known(ev, arguments, spot, scope)
    last = dotted.split(".")[-1]
    if last.endswith("ArgumentParser"):
        return Cell(Parser(), spot)
    if last in ("Option", "Argument", "Field", "field"):
        return _field(ev, arguments, spot, scope)
    if dotted.endswith("OmegaConf.create"):
        first = arguments.get(0, "obj")
        mapping = as_map(ev, first).data if first is not None else Map()
        return nested("OmegaConf.create", mapping, spot) if isinstance(mapping, Map) else None
    if dotted.endswith(("OmegaConf.to_container", "OmegaConf.to_object")):
        first = arguments.get(0, "cfg")
        return unnested(first) if first is not None else None
    if dotted.endswith("OmegaConf.update"):
        return _omegaconf_update(ev, arguments, spot)
    if last in ("from_cli_args", "add_cli_args"):
        first = arguments.get(0, "parser")
        if first is not None and isinstance(first.data, Parser):
            first.data.open = f"{dotted}() adds options"
            return first
    return None


def _field(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    attrs = {k: e for k, e in arguments.kwargs.items() if k in ("default", "default_factory")}
    if arguments.args and not isinstance(arguments.args[0].data, Hole | Spread):
        attrs["default"] = Entry(arguments.args[0], arguments.spots[0])
    return Cell(Obj("field", None, attrs, "", None, (), "field"), spot)


def _omegaconf_update(ev: Evaluator, arguments: Arguments, spot: Spot) -> Cell | None:
    owner, key, value = (arguments.get(i, n) for i, n in enumerate(("cfg", "key", "value")))
    if owner is None or key is None or value is None:
        return None
    path = key_of(key)
    if not isinstance(path, str):
        if isinstance(owner.data, Obj):
            ev.loosen(owner.data, "a key of it is set that is not known")
        return Cell(None, spot)
    *above, last = path.split(".")
    for part in above:
        if not isinstance(owner.data, Obj):
            return None
        if part not in owner.data.attrs:
            obj = owner.data
            child = Obj(obj.label, None, {}, obj.open, obj.call, (*obj.path, part), obj.kind)
            obj.attrs[part] = Entry(Cell(child), None)
        owner = owner.data.attrs[part].cell
    ev.set_attribute(owner, last, value, spot, path)
    return Cell(None, spot)


def _dict(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    out = Map()
    for given in arguments.args:
        update(out, as_map(ev, given), spot)
    for key, entry in arguments.kwargs.items():
        out.entries[key] = entry
    if arguments.open:
        out.open = arguments.open
    return Cell(out, spot)


def _sequence(kind: str) -> Known:
    def make(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
        if not arguments.args:
            return Cell(Seq([], kind), spot)
        items = iterate(ev, arguments.args[0], spreads=kind != "set")
        if items is None:
            hole = hole_of(arguments.args[0]) or Hole("the items of an unknown value")
            items = [Cell(Spread(hole), spot)]
        return Cell(Seq(items, kind), spot)

    return make


def _str(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    if not arguments.args:
        return from_plain("", spot)
    cell = arguments.args[0]
    ev.used(cell)
    if isinstance(cell.data, Seq | Map):
        return from_plain(str(plain(cell)), spot)
    if isinstance(cell.data, Str | Hole | bool | int | float) or cell.data is None:
        strands = tuple(replace(s, spot=s.spot or spot) for s in cell.strands)
        return Cell(Str(strands), cell.spot or spot, (), cell.asks)
    if isinstance(cell.data, Obj) and cell.data.kind == "member" and cell.spot is not None:
        return ev.text_of_object(cell, cell.spot.node, scope)
    return None


def _int(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    if not arguments.args:
        return Cell(0, spot)
    cell = arguments.args[0]
    value = plain(cell)
    if isinstance(value, str) and len(value) > 400:
        return None
    if not isinstance(value, str | int | float):
        return None
    base = arguments.get(1, "base")
    made = int(value, plain(base)) if base is not None and isinstance(value, str) else int(value)
    return Cell(made, spot, _hops(cell), cell.asks)


def _hops(cell: Cell) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*cell.hops, *(h for s in cell.strands for h in s.hops))))[:12]


def _float(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    if not arguments.args:
        return Cell(0.0, spot)
    cell = arguments.args[0]
    value = plain(cell)
    return Cell(float(value), spot, _hops(cell), cell.asks) if isinstance(value, str | int | float) else None


def _bool(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    if not arguments.args:
        return Cell(False, spot)
    known = truth(arguments.args[0])
    if arguments.args[0].asks:
        ev.decide(replace(arguments.args[0], data=known), spot.node, scope) if known is not None else None
    return Cell(known, spot, _hops(arguments.args[0]), arguments.args[0].asks) if known is not None else None


def _len(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    data = arguments.args[0].data
    if isinstance(data, Seq) and data.spread is None:
        return Cell(len(data.items), spot)
    if isinstance(data, Map) and not data.open:
        return Cell(len(data.entries), spot)
    if isinstance(data, Str) and data.known is not None:
        return Cell(len(data.known), spot)
    return None


def _range(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    numbers = range(*(plain(a) for a in arguments.args))
    if len(numbers) > LARGEST_LIST:
        return None
    return Cell(Seq([Cell(n, spot) for n in numbers]), spot)


def _enumerate(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    items = iterate(ev, arguments.args[0])
    start = arguments.get(1, "start")
    first = plain(start) if start is not None else 0
    if items is None or not isinstance(first, int):
        return None
    return Cell(Seq([Cell(Seq([Cell(first + i), item], "tuple")) for i, item in enumerate(items)]), spot)


def _zip(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    columns = [iterate(ev, a) for a in arguments.args]
    if any(c is None for c in columns):
        return None
    rows = zip(*(c for c in columns if c is not None), strict=False)
    return Cell(Seq([Cell(Seq(list(row), "tuple")) for row in rows]), spot)


def _sorted(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    items = iterate(ev, arguments.args[0])
    if items is None or "key" in arguments.kwargs:
        return None
    reverse = arguments.kwargs.get("reverse")
    falling = truth(reverse.cell) if reverse is not None else False
    if falling is None:
        return None
    return Cell(Seq(sorted(items, key=plain, reverse=falling)), spot)


def _reversed(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    items = iterate(ev, arguments.args[0])
    return Cell(Seq(items[::-1]), spot) if items is not None else None


def _reduced(action: Callable[[list[Any]], Any]) -> Known:
    def reduce(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
        if arguments.kwargs or arguments.spread:
            return None
        items = iterate(ev, arguments.args[0]) if len(arguments.args) == 1 else arguments.args
        if items is None:
            return None
        return from_plain(action([plain(i) for i in items]), spot)

    return reduce


def _abs(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    value = plain(arguments.args[0])
    return Cell(abs(value), spot) if isinstance(value, int | float) else None


def _total(values: list[Any]) -> Any:
    return sum(v for v in values if isinstance(v, int | float))


def _every(wanted: bool) -> Known:
    def check(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
        items = iterate(ev, arguments.args[0])
        if items is None:
            return None
        found = [truth(i) for i in items]
        if (not wanted) in found:
            return Cell(not wanted, spot)
        return None if None in found else Cell(wanted, spot)

    return check


def _getattr(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    owner, name = arguments.args[0], key_of(arguments.args[1])
    if not isinstance(name, str):
        return None
    data = owner.data
    if isinstance(data, Obj) and name in data.attrs:
        return data.attrs[name].cell
    if isinstance(data, Obj) and data.cls is not None and ev.class_attribute(data.cls, name) is not None:
        return ev.attribute(owner, name, spot.node, scope)
    if isinstance(data, Obj) and not data.open and not data.kind and len(arguments.args) > 2:
        return arguments.args[2]
    if isinstance(data, Ext | Class):
        return ev.attribute(owner, name, spot.node, scope)
    return None


def _setattr(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    owner, name = arguments.args[0], key_of(arguments.args[1])
    if isinstance(name, str):
        ev.set_attribute(owner, name, arguments.args[2], spot)
    elif isinstance(owner.data, Obj):
        ev.loosen(
            owner.data,
            f"`setattr()` sets an attribute whose name is {name.reason}" if isinstance(name, Hole) else "`setattr()`",
        )
    return Cell(None, spot)


def _hasattr(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    data, name = arguments.args[0].data, key_of(arguments.args[1])
    if isinstance(data, Obj) and isinstance(name, str):
        if name in data.attrs or (data.cls is not None and ev.class_attribute(data.cls, name) is not None):
            return Cell(True, spot)
        return Cell(False, spot) if not data.open and not data.kind else None
    return None


def _isinstance(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    data = arguments.args[0].data
    kinds = arguments.args[1].data
    options = [i.data for i in kinds.items] if isinstance(kinds, Seq) else [kinds]
    names = [o.dotted for o in options if isinstance(o, Ext)]
    if len(names) != len(options) or not set(names) <= {"str", "int", "float", "bool", "dict", "list", "tuple", "set"}:
        return None
    if isinstance(data, Str):
        return Cell("str" in names, spot)
    if isinstance(data, bool):
        return Cell("bool" in names or "int" in names, spot)
    if isinstance(data, int | float):
        return Cell(type(data).__name__ in names, spot)
    if isinstance(data, Seq):
        return Cell(data.kind in names, spot)
    if isinstance(data, Map):
        return Cell("dict" in names, spot)
    return Cell(False, spot) if data is None or isinstance(data, Obj | Class | Function) else None


def _vars(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    found = as_map(ev, arguments.args[0])
    return found if isinstance(found.data, Map) else None


def _asdict(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    found = unnested(arguments.args[0])
    return found if isinstance(found.data, Map) else None


def _replace(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    cell = copied(arguments.args[0])
    if not isinstance(cell.data, Obj) or cell.data.call is not None:
        return None
    cell.data.attrs.update(arguments.kwargs)
    if arguments.open:
        ev.loosen(cell.data, arguments.open)
    return cell


def _namespace(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    return namespace("SimpleNamespace", Map(dict(arguments.kwargs), arguments.open), spot)


def _partial(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    if not arguments.args or isinstance(arguments.args[0].data, Spread):
        return None
    rest = Arguments(arguments.args[1:], dict(arguments.kwargs), arguments.spots[1:], arguments.open)
    return Cell(Partial(arguments.args[0], rest), spot)


def _copy(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    return copied(arguments.args[0])


def _shallow(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    cell = arguments.args[0]
    data = cell.data
    if isinstance(data, Seq):
        return replace(cell, data=Seq(list(data.items), data.kind))
    if isinstance(data, Map):
        return replace(cell, data=Map(dict(data.entries), data.open))
    if isinstance(data, Obj):
        return replace(cell, data=replace(data, attrs=dict(data.attrs), call=None, path=()))
    return cell


def _identity(index: int) -> Known:
    return lambda ev, arguments, spot, scope: arguments.args[index]


def _nothing(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    return Cell(None, spot)


def _getenv(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    name = arguments.get(0, "key")
    key = key_of(name) if name is not None else None
    return environment(ev, key, arguments.get(1, "default"), spot, False) if isinstance(key, str) else None


def _setdefault_env(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    key = key_of(arguments.args[0])
    if not isinstance(key, str) or len(arguments.args) < 2:
        return None
    found = environment(ev, key, arguments.args[1], spot, False)
    if key not in ev.world.env:
        ev.environment.setdefault(key, Entry(arguments.args[1], spot))
    return found


def _pop_env(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    found = _getenv(ev, arguments, spot, scope)
    key = key_of(arguments.args[0])
    if isinstance(key, str):
        ev.environment.pop(key, None)
    return found


def _update_env(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    for given in arguments.args:
        data = as_map(ev, given).data
        if isinstance(data, Map):
            ev.environment.update({k: e for k, e in data.entries.items() if isinstance(k, str)})
    ev.environment.update(arguments.kwargs)
    return Cell(None, spot)


def _environ(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    return as_map(ev, Cell(Ext("os.environ"), spot))


def _path_join(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    return None if arguments.spread else operators.joined_path(arguments.args, spot)


def _path(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    if not arguments.args:
        return from_plain(".", spot)
    joined = operators.joined_path(arguments.args, spot) if not arguments.spread else None
    return operators.path_text(joined, spot) if joined is not None else None


def _path_part(action: Callable[[str], str]) -> Known:
    def part(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
        value = plain(arguments.args[0])
        return from_plain(action(value), spot) if isinstance(value, str) else None

    return part


def _split(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    cell = arguments.args[0]
    if not isinstance(cell.data, Str) or len(arguments.args) > 1 or arguments.kwargs:
        return None
    return Cell(Seq(methods.shell_words(ev, cell, spot)), spot)


def _quote(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    cell = arguments.args[0]
    if isinstance(cell.data, Str) and cell.data.known is not None:
        quoted = shlex.quote(cell.data.known)
        return cell if quoted == cell.data.known else Cell(Str((Strand(quoted, cell.spot, -1, cell.hops),)), spot)
    return cell if isinstance(cell.data, Str | Hole) else None


def _shell_join(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    data = arguments.args[0].data
    if not isinstance(data, Seq):
        return None
    strands: list[Strand] = []
    for index, word in enumerate(operators.through(arguments.args[0], data)):
        if index:
            strands.append(Strand(" ", spot))
        quoted = _quote(ev, Arguments([word], {}, [None]), spot, scope) or word
        strands.extend(quoted.strands if not isinstance(word.data, Spread) else (Strand(word.data.hole, word.spot),))
    return operators.text(tuple(strands), spot)


_DUMPS = ("indent", "sort_keys", "separators", "ensure_ascii", "allow_nan")


def _dumps(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    """The text that ``json.dumps`` writes; what is not known in it is a hole of the text."""
    if not arguments.args or arguments.open or not set(arguments.kwargs) <= set(_DUMPS):
        return None
    options = {k: plain(e.cell) for k, e in arguments.kwargs.items()}
    indent = options.get("indent")
    if isinstance(indent, int) and indent > 16:
        return None
    holes: list[tuple[Strand, bool]] = []

    def build(cell: Cell, depth: int = 0) -> Any:
        ev.spend()
        ev.used(cell)
        data = cell.data
        if depth > 20 or isinstance(data, Spread):
            raise NotPlain(hole_of(cell) or Hole("a value that is too deep"))
        if isinstance(data, Map):
            if data.open:
                raise NotPlain(Hole(data.open))
            return {k: build(e.cell, depth + 1) for k, e in data.entries.items()}
        if isinstance(data, Seq):
            return [build(i, depth + 1) for i in data.items]
        if isinstance(data, Hole | Ext | Class | Function) or (isinstance(data, Obj) and not data.kind):
            hole = data if isinstance(data, Hole) else Exporter.reason(data)
            holes.append((Strand(hole, cell.spot, -1, cell.hops), False))
            return f"\ue000{len(holes) - 1}\ue001"
        if isinstance(data, Str) and data.known is None:
            out = ""
            for strand in cell.strands:
                if isinstance(strand.content, Hole):
                    holes.append((strand, True))
                    out += f"\ue000{len(holes) - 1}\ue001"
                else:
                    out += strand.content
            return out
        if isinstance(data, Obj) and data.kind == "enum":
            return plain(data.attrs["value"].cell)
        return plain(cell)

    built = build(arguments.args[0])
    options["ensure_ascii"] = options.get("ensure_ascii", True) if not holes else False
    content = json.dumps(built, **options)
    ev.spend(len(content) // 50)
    if not holes:
        hops = arguments.args[0].hops
        return Cell(Str((Strand(content, spot, -1, hops),)), spot)
    strands: list[Strand] = []
    at = 0
    for number, (strand, inside) in enumerate(holes):
        mark = f"\ue000{number}\ue001" if inside else f'"\ue000{number}\ue001"'
        found = content.find(mark, at)
        if found < 0:
            return None
        strands += [Strand(content[at:found], spot), strand]
        at = found + len(mark)
    strands.append(Strand(content[at:], spot))
    return Cell(Str(tuple(s for s in strands if s.content != "")), spot)


def _loads(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    cell = arguments.args[0]
    value = plain(cell)
    if not isinstance(value, str) or arguments.kwargs:
        return None
    ev.spend(len(value) // 20)
    made = from_plain(json.loads(value), cell.spot or spot)
    return replace(made, hops=_hops(cell), asks=cell.asks)


def _dedent(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    cell = arguments.args[0]
    if not isinstance(cell.data, Str):
        return None
    if cell.data.known is None:
        return None
    return methods.rewritten(cell, textwrap.dedent(cell.data.known), spot)


def _super(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    function = scope.function
    if function is None or function.cls is None or function.bound is None:
        return None
    obj = Obj("super", None, {}, "a base class that is not in the files", None, (), "super")
    above = list(function.cls.mro())[1:]
    if above:
        obj.cls = above[0]
        obj.attrs["__self__"] = Entry(function.bound, None)
    return Cell(obj, spot)


def _map(ev: Evaluator, arguments: Arguments, spot: Spot, scope: Scope) -> Cell | None:
    if len(arguments.args) != 2:
        return None
    items = iterate(ev, arguments.args[1])
    if items is None or len(items) > 256:
        return None
    out = []
    for one in items:
        made = ev.call(ev.force(arguments.args[0]), Arguments([one], {}, [one.spot]), spot, None, scope)
        if made is None:
            return None
        out.append(made)
    return Cell(Seq(out), spot)


_FUNCTIONS: dict[str, Known] = {
    "dict": _dict,
    "list": _sequence("list"),
    "tuple": _sequence("tuple"),
    "set": _sequence("set"),
    "frozenset": _sequence("set"),
    "str": _str,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "len": _len,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "sorted": _sorted,
    "reversed": _reversed,
    "map": _map,
    "min": _reduced(min),
    "max": _reduced(max),
    "sum": _reduced(_total),
    "all": _every(True),
    "any": _every(False),
    "getattr": _getattr,
    "setattr": _setattr,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "vars": _vars,
    "super": _super,
    "print": _nothing,
    "abs": _abs,
    "os.getenv": _getenv,
    "os.environ.get": _getenv,
    "os.environ.setdefault": _setdefault_env,
    "os.environ.pop": _pop_env,
    "os.environ.update": _update_env,
    "os.environ.copy": _environ,
    "os.path.join": _path_join,
    "os.path.basename": _path_part(posixpath.basename),
    "os.path.dirname": _path_part(posixpath.dirname),
    "os.path.normpath": _path_part(posixpath.normpath),
    "os.fspath": _identity(0),
    "pathlib.Path": _path,
    "pathlib.PurePosixPath": _path,
    "pathlib.PosixPath": _path,
    "json.dumps": _dumps,
    "json.loads": _loads,
    "shlex.split": _split,
    "shlex.quote": _quote,
    "shlex.join": _shell_join,
    "textwrap.dedent": _dedent,
    "copy.copy": _shallow,
    "copy.deepcopy": _copy,
    "dataclasses.asdict": _asdict,
    "dataclasses.replace": _replace,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    "functools.partial": _partial,
    "collections.OrderedDict": _dict,
    "typing.cast": _identity(1),
    "asyncio.run": _identity(0),
    "asyncio.gather": _nothing,
}
_ALIASES = {
    "Path": "pathlib.Path",
    "SimpleNamespace": "types.SimpleNamespace",
    "partial": "functools.partial",
    "asdict": "dataclasses.asdict",
    "OrderedDict": "collections.OrderedDict",
    "uvloop.run": "asyncio.run",
    "asyncio.get_event_loop.run_until_complete": "asyncio.run",
}
