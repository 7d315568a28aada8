# ruff: noqa: ARG001 (the methods of a table share their signature)
"""Command line parsers of a module: what ``parse_args()`` returns when no option is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gdnlint.documents.python.cells import (
    Arguments,
    Cell,
    Entry,
    Ext,
    Hop,
    Obj,
    Option,
    Parser,
    Scope,
    Seq,
    Spot,
    Str,
    from_plain,
    truth,
)
from gdnlint.values import Hole

if TYPE_CHECKING:
    from gdnlint.documents.python.evaluate import Evaluator


def argument(ev: Evaluator, number: int, spot: Spot) -> Cell:
    """``sys.argv[number]``."""
    if number <= 0:
        return Cell(Hole("the name that the script is called by"), spot)
    name = f"arg:{number}"
    ev.propose(name, spot, ask=True)
    if name in ev.world.answers:
        return replace(from_plain(ev.world.answers[name], spot), asks=(name,))
    return Cell(Hole(f"argument {number} of the script", name), spot, (), (name,))


def method(
    ev: Evaluator, owner: Cell, parser: Parser, name: str, arguments: Arguments, spot: Spot, scope: Scope
) -> Cell | None:
    if name == "add_argument":
        add(ev, parser, arguments, spot, scope)
        return Cell(None, spot)
    if name in ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"):
        return owner
    if name == "set_defaults":
        parser.defaults.update(arguments.kwargs)
        if arguments.open:
            parser.open = arguments.open
        return Cell(None, spot)
    if name in ("parse_args", "parse_intermixed_args"):
        return parsed(ev, parser, arguments, spot, scope)
    if name == "parse_known_args":
        found = parsed(ev, parser, arguments, spot, scope)
        rest = Cell(Hole("the other arguments of the command line"), spot)
        return Cell(Seq([found, rest], "tuple"), spot)
    return None


def add(ev: Evaluator, parser: Parser, arguments: Arguments, spot: Spot, scope: Scope) -> None:
    names = [a.data.known if isinstance(a.data, Str) else None for a in arguments.args]
    if not names or None in names:
        parser.open = "an option is added whose name is not known"
        return
    flags = tuple(n for n in names if n)
    given = {key: entry.cell for key, entry in arguments.kwargs.items()}
    long = [f for f in flags if f.startswith("--")] or list(flags)
    dest_cell = given.get("dest")
    dest = dest_cell.data.known if dest_cell is not None and isinstance(dest_cell.data, Str) else None
    dest = dest or (long[0].lstrip("-").replace("-", "_") if flags[0].startswith("-") else flags[0])
    action = given.get("action")
    kind = ""
    if action is not None:
        data = action.data
        kind = (data.known or "?") if isinstance(data, Str) else "?"
        if isinstance(data, Ext):
            kind = data.dotted.split(".")[-1]
    if kind in ("help", "version"):
        return
    default = given.get("default")
    witnesses: tuple[str, ...] = ()
    boolean = kind in ("store_true", "store_false", "BooleanOptionalAction")
    if boolean:
        if default is None and kind != "BooleanOptionalAction":
            default = Cell(kind == "store_false", spot)
        witnesses = ("false",) if default is not None and truth(default) else ("true",)
    choices = given.get("choices")
    if choices is not None and isinstance(choices.data, Seq):
        witnesses = tuple(c.data.known for c in choices.data.items[:12] if isinstance(c.data, Str) and c.data.known)
    positional = not flags[0].startswith("-")
    required = given.get("required")
    needed = (required is not None and truth(required) is not False) or (positional and "nargs" not in given)
    if default is None and positional and "nargs" in given:
        nargs = given["nargs"].data
        if not (isinstance(nargs, Str) and nargs.known in ("?", "*")):
            needed = True
    if arguments.open:
        default = Cell(Hole(f"the default of {flags[0]}"), spot)
    parser.options[dest] = Option(
        dest, flags, default, needed, witnesses, given.get("type"), boolean, Spot(scope.tree, spot.node)
    )


def parsed(ev: Evaluator, parser: Parser, arguments: Arguments, spot: Spot, scope: Scope) -> Cell:
    """The namespace; options keep their default unless an answer of the world gives them."""
    given = arguments.get(0, "args")
    fixed = False
    if given is not None and given.data is not None and not _is_argv(given):
        fixed = isinstance(given.data, Seq) and not given.data.items
        if not fixed:
            return Cell(Obj("parse_args", None, {}, "the arguments that parse_args() is given"), spot)
    obj = Obj("Namespace", None, {}, parser.open)
    for option in parser.options.values():
        obj.attrs[option.dest] = Entry(_value(ev, parser, option, fixed, spot, scope), option.spot)
    for name, entry in parser.defaults.items():
        obj.attrs.setdefault(name, entry)
    return Cell(obj, spot)


def _is_argv(cell: Cell) -> bool:
    hole = cell.data
    return isinstance(hole, Hole) and "sys.argv" in hole.reason


def _value(ev: Evaluator, parser: Parser, option: Option, fixed: bool, spot: Spot, scope: Scope) -> Cell:
    long = [f for f in option.flags if f.startswith("--")] or list(option.flags)
    question = f"param:{long[0]}"
    default = option.default
    if option.dest in parser.defaults:
        default = parser.defaults[option.dest].cell
    if default is not None and isinstance(default.data, Str) and option.convert is not None:
        default = _converted(ev, option, default, scope)
    hop = Hop(option.spot, f"the default of {long[0]}")
    if fixed:
        return default.through(hop) if default is not None else Cell(None, option.spot)
    ev.propose(question, option.spot, option.witnesses)
    answer = ev.world.answers.get(question)
    if answer is not None:
        if option.boolean:
            return Cell(answer.lower() in ("true", "1", "yes"), option.spot, (), (question,))
        given = from_plain(answer, option.spot)
        if option.convert is not None:
            given = _converted(ev, option, given, scope)
        return replace(given, asks=(question,))
    if option.required:
        what = f"the option {long[0]}" if long[0].startswith("-") else f"the argument {long[0]} of the command line"
        return Cell(Hole(what, question), option.spot, (), (question,))
    if default is None:
        return Cell(None, option.spot, (), (question,))
    return replace(default.through(hop), asks=(question,))


def _converted(ev: Evaluator, option: Option, cell: Cell, scope: Scope) -> Cell:
    """What ``type=`` makes of a string."""
    assert option.convert is not None
    try:
        made = ev.call(ev.force(option.convert), Arguments([cell], {}, [cell.spot]), option.spot, None, scope)
    except (ValueError, TypeError):
        made = None
    return made if made is not None else Cell(Hole(f"what the type of {option.flags[0]} makes of it"), option.spot)
