"""Builtins that change what the shell knows."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gdnlint.documents.shell import assign, expand, options, streams
from gdnlint.documents.shell.control import Exit, Loop, Return, Status
from gdnlint.documents.shell.state import Frame, Shell, Uncertain, Variable, hopped
from gdnlint.documents.shell.syntax import Assignment, Simple, Written
from gdnlint.source import Span
from gdnlint.values import Hole, Piece, Text, Word


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command whose words are expanded."""

    node: Simple
    words: list[Word]
    sources: Sequence[Written | Assignment]
    """What each word was written as."""


Builtin = Callable[[Shell, Command], Status]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def emit(shell: Shell, text: Text | None) -> None:
    """Text on the standard output; None if it is not known."""
    if shell.captured is None:
        return
    if text is not None:
        shell.captured.append(shell.bounded(text, None))
        return
    if shell.strict:
        raise Uncertain
    shell.spoiled = True


# Output


def echo(shell: Shell, command: Command) -> Status:
    words = command.words
    if shell.captured is None:
        return Status.TRUE
    rest = words[1:]
    newline, escapes = True, False
    while rest and re.fullmatch(r"-[neE]+", rest[0].known or ""):
        options = rest[0].known or ""
        newline = newline and "n" not in options
        escapes = "e" in options
        rest = rest[1:]
    pieces: list[Piece] = []
    for index, word in enumerate(rest):
        if index:
            pieces.append(Piece(" "))
        pieces.extend(word.text.pieces)
    if escapes and any(isinstance(p.content, str) and "\\" in p.content for p in pieces):
        emit(shell, None)
        return Status.TRUE
    if newline:
        pieces.append(Piece("\n"))
    emit(shell, Text(tuple(pieces)))
    return Status.TRUE


def printf(shell: Shell, command: Command) -> Status:
    node, words = command.node, command.words
    rest = words[1:]
    name = ""
    if len(rest) >= 2 and rest[0].known == "-v":
        name = rest[1].known or ""
        rest = rest[2:]
    if rest and rest[0].known == "--":
        rest = rest[1:]
    if not name and shell.captured is None:
        return Status.TRUE
    made = _formatted(shell, rest)
    if not name:
        emit(shell, made)
        return Status.TRUE
    span = shell.script.span(node.words[0].start, node.end)
    text = made if made is not None else Text.of(Hole("the output of `printf`"), span)
    base, _, subscript = name.partition("[")
    if subscript:
        expand.set_element(shell, base, Text.of(subscript.rstrip("]")), text, span, append=False)
    elif _NAME.fullmatch(base):
        assign.set_scalar(shell, base, text, span)
    return Status.TRUE


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_DIRECTIVE = re.compile(r"%%|%([-0]?\d{0,4}(?:\.\d{1,4})?)([sdib])|\\(.)|([^%\\]+)|(.)", re.DOTALL)


def _formatted(shell: Shell, words: Sequence[Word]) -> Text | None:
    """What printf makes of a format and its arguments; None if that is not known."""
    if not words or any(word.spread for word in words):
        return None
    layout = words[0].known
    if layout is None:
        return None
    values = list(words[1:])
    directives = list(_DIRECTIVE.finditer(layout))
    pieces: list[Piece] = []
    while True:
        used = False
        for found in directives:
            flags, kind, escape, plain, other = found.groups()
            if plain is not None:
                pieces.extend(words[0].text.cut(found.start(), found.end()).pieces)
            elif other is not None or (escape is not None and escape not in _ESCAPES):
                return None
            elif escape is not None:
                pieces.append(Piece(_ESCAPES[escape]))
            elif kind is None:
                pieces.append(Piece("%"))
            else:
                used = True
                made = _directive(flags, kind, values.pop(0).text if values else None)
                if made is None:
                    return None
                pieces.extend(made)
        shell.spend(len(directives), None)
        if not values or not used:
            return Text(tuple(pieces))


def _directive(flags: str, kind: str, value: Text | None) -> Sequence[Piece] | None:
    if kind == "s" and not flags:
        return value.pieces if value is not None else ()
    known = value.known if value is not None else "" if kind == "s" else "0"
    if known is None or kind == "b":
        return None
    span = value.pieces[0].span if value is not None and value.pieces else None
    if kind in "di":
        if not re.fullmatch(r"-?(0|[1-9]\d{0,17})", known) or "." in flags:
            return None
        return (Piece(f"%{flags}d" % int(known), span),)
    return (Piece(f"%{flags}s" % known, span),)


def pwd(shell: Shell, _command: Command) -> Status:
    emit(shell, Text.of(f"{shell.cwd}\n") if shell.cwd is not None else None)
    return Status.TRUE


def cd(shell: Shell, command: Command) -> Status:
    words = command.words
    rest = [word for word in words[1:] if word.known not in ("-P", "-L", "--", "-e")]
    target = rest[0].known if len(rest) == 1 else None
    if target is None or target == "-":
        shell.cwd = None
    elif target.startswith("/"):
        shell.cwd = os.path.normpath(target)
    elif shell.cwd is not None:
        shell.cwd = os.path.normpath(f"{shell.cwd}/{target}")
    return Status.RAN


def silent(_shell: Shell, _command: Command) -> Status:
    return Status.RAN


def noisy(shell: Shell, _command: Command) -> Status:
    emit(shell, None)
    return Status.RAN


def true(_shell: Shell, _command: Command) -> Status:
    return Status.TRUE


def false(_shell: Shell, _command: Command) -> Status:
    return Status.FALSE


# Variables


def declare(shell: Shell, command: Command) -> Status:
    """``declare``, ``typeset``, ``local``, ``export``, ``readonly``."""
    words, sources = command.words, command.sources
    kind = words[0].known or ""
    local = bool(shell.functional) and kind in ("declare", "typeset", "local")
    options = ""
    removed = ""
    done: set[int] = set()
    for word, source in zip(words[1:], sources[1:], strict=True):
        known = word.known
        if isinstance(source, Assignment):
            if id(source) not in done:
                done.add(id(source))
                _declare_array(shell, source, options, local and "g" not in options)
                if kind == "export" or "x" in options:
                    shell.exported.add(source.name)
            continue
        if known is not None and known.startswith("-") and "=" not in known:
            options += known[1:]
            continue
        if known is not None and known.startswith("+"):
            removed += known[1:]
            continue
        if {"f", "F", "p"} & set(options):
            continue
        _declare_word(shell, word, source, options, removed, kind, local and "g" not in options)
    return Status.TRUE


def _declare_array(shell: Shell, source: Assignment, options: str, local: bool) -> None:
    span = shell.script.span(source.start, source.end)
    before = None if local and source.name not in shell.scopes[-1] else shell.find(source.name)
    if local and source.name not in shell.scopes[-1]:
        shell.declare(source.name, Variable())
    if "A" in options and (before is None or before.keys is None):
        (shell.declare if local else shell.put)(source.name, Variable(keys={}))
    assign.assign_array(shell, source, span)


def _declare_word(
    shell: Shell,
    word: Word,
    source: Written | Assignment,
    options: str,
    removed: str,
    command: str,
    local: bool,
) -> None:
    marked = word.text.marked()
    found = _NAME.match(marked)
    if found is None or word.spread:
        return
    name = found.group()
    append = marked.startswith("+=", found.end())
    sets = append or marked.startswith("=", found.end())
    if not sets and found.end() < len(marked):
        return
    if command == "export" and "n" in options:
        shell.exported.discard(name)
        return
    if command == "export" or "x" in options or (shell.allexport and sets):
        shell.exported.add(name)
    if "x" in removed:
        shell.exported.discard(name)
    if "n" in options and command != "export":
        shell.declare(name, Variable(hole=Hole(f"the variable that {name} refers to")))
        return
    if local and name not in shell.scopes[-1]:
        shell.declare(name, Variable())
    elif not sets and {"a", "A", "i"} & set(options) and shell.find(name) is None:
        shell.put(name, Variable())
    before = shell.find(name)
    if before is not None and before.scalar is None and before.items is None and before.keys is None:
        kind = Variable(keys={}) if "A" in options else Variable(items={}) if "a" in options else None
        if kind is not None:
            shell.put(name, kind)
    if "i" in options:
        shell.put(name, Variable((shell.find(name) or Variable()).scalar, integer=True))
    if not sets:
        return
    text = word.text.cut(found.end() + (2 if append else 1))
    names: frozenset[str] = frozenset()
    if isinstance(source, Written) and len(source.parts) == 2:
        names = assign.copied(shell, source.parts[1:])
        names -= {name} if local and shell.find(name) == Variable() else set()
    if {"l", "u"} & set(options):
        text = Text.of(text.known.lower() if "l" in options else text.known.upper(), word.span) if text.known else text
    assign.set_scalar(shell, name, text, word.span, names, append=append)
    assign.note_missing(shell, name, text, names)


def unset(shell: Shell, command: Command) -> Status:
    words = command.words
    functions = False
    for word in words[1:]:
        known = word.known
        if known is None:
            continue
        if known.startswith("-"):
            functions = "f" in known
            continue
        base, _, subscript = known.partition("[")
        found = shell.find(base)
        if functions:
            shell.functions.pop(known, None)
        elif not subscript:
            shell.put(base, Variable())
            shell.exported.discard(base)
        elif found is not None and found.keys is not None:
            key = subscript.rstrip("]").strip("\"'")
            shell.put(base, Variable(keys={k: v for k, v in found.keys.items() if k != key}))
        elif found is not None and found.items is not None:
            index = expand.arithmetic(shell, Text.of(subscript.rstrip("]")), word.span)
            if isinstance(index, Hole):
                shell.put(base, Variable(hole=index))
            else:
                index += max(found.items, default=-1) + 1 if index < 0 else 0
                shell.put(base, Variable(items={i: v for i, v in found.items.items() if i != index}))
    return Status.TRUE


def set_(shell: Shell, command: Command) -> Status:
    words = command.words
    rest = words[1:]
    while rest:
        known = rest[0].known
        if known in ("--", "-"):
            shell.frame = Frame(list(rest[1:]), False)
            return Status.TRUE
        if known is None or known[:1] not in ("-", "+"):
            shell.frame = Frame(list(rest), False)
            return Status.TRUE
        on = known[0] == "-"
        rest = rest[1:]
        if "a" in known[1:]:
            shell.allexport = on
        if known[1:].endswith("o") and rest:
            if rest[0].known == "allexport":
                shell.allexport = on
            rest = rest[1:]
    return Status.TRUE


def shift(shell: Shell, command: Command) -> Status:
    words = command.words
    known = words[1].known if len(words) > 1 else "1"
    count = int(known) if known is not None and re.fullmatch(r"\d{1,6}", known) else 1
    frame = shell.frame
    if count > len(frame.words) and not frame.open:
        if any(word.spread for word in frame.words):
            return Status.TRUE
        return Status.FALSE
    if any(word.spread for word in frame.words[:count]):
        return Status.TRUE
    shell.frame = Frame(frame.words[count:], frame.open, frame.shifted + count)
    return Status.TRUE


def let(shell: Shell, command: Command) -> Status:
    words = command.words
    value: int | Hole = 0
    for word in words[1:]:
        value = expand.arithmetic(shell, word.text, word.span)
    return Status.OPEN if isinstance(value, Hole) else Status.of(value != 0)


# Input


def read(shell: Shell, command: Command) -> Status:
    node, words = command.node, command.words
    names: list[str] = []
    array = whole = False
    rest = [word.known for word in words[1:]]
    at = 0
    while at < len(rest):
        known = rest[at]
        at += 1
        if known is None:
            continue
        if not known.startswith("-") or known == "-":
            names.append(known)
            continue
        option = known[-1]
        if option in "dapnNtui" and (len(known) == 2 or known[1] in "rse"):
            if option == "a" and at < len(rest):
                array = True
                names.append(rest[at] or "")
            if option == "d" and at < len(rest):
                whole = rest[at] == ""
            at += 1
        elif known[1] == "a":
            array = True
            names.append(known[2:])
        elif known.endswith("d''"):
            whole = True
    span = shell.script.span(node.words[0].start, node.end)
    fed = streams.fed_text(shell, node.redirects) if node.redirects else shell.piped
    for name, value in zip(names, _fields(shell, node, fed, len(names), array, whole, span), strict=False):
        if not _NAME.fullmatch(name):
            continue
        if isinstance(value, Variable):
            shell.put(name, value)
        else:
            assign.set_scalar(shell, name, value, span)
    return Status.RAN


def _fields(
    shell: Shell, node: Simple, fed: Text | None, count: int, array: bool, whole: bool, span: Span
) -> Sequence[Text | Variable]:
    hole = Hole("a line that is read")
    known = fed.known if fed is not None else None
    separators = next((a for a in node.assignments if a.name == "IFS"), None)
    given = expand.text_of(shell, separators.value.parts).known if separators and separators.value else None
    if fed is not None and count == 1 and not array:
        text = fed
        if not whole:
            end = fed.marked().find("\n")
            text = fed.cut(0, end) if end >= 0 else fed
        marked = text.marked()
        strip = " \t\n" if separators is None else "".join(c for c in given or "" if c in " \t\n")
        start = len(marked) - len(marked.lstrip(strip)) if strip else 0
        end = len(marked.rstrip(strip)) if strip else len(marked)
        return [text.cut(start, end) if start < end else Text()]
    if known is None or fed is None or (separators is not None and (given is None or given.strip(" \t\n") != given)):
        return [Variable(hole=hole)] if array else [Text.of(hole, span)] * count
    line = known.split("\n", 1)[0] if not whole else known
    pattern = re.compile(r"[^ \t\n]+" if separators is None else f"[^{re.escape(given)}\n]+" if given else r"[^\n]+")
    found = list(pattern.finditer(line))
    if array:
        items = {i: Word(fed.cut(f.start(), f.end()), span) for i, f in enumerate(found[:4096])}
        return [Variable(items=items)]
    if separators is not None:
        return [Text.of(hole, span)] * count if len(found) != count else [fed.cut(f.start(), f.end()) for f in found]
    fields = [fed.cut(f.start(), f.end()) for f in found[: count - 1]]
    if len(found) >= count > 0:
        fields.append(fed.cut(found[count - 1].start(), found[-1].end()))
    return [*fields, *[Text()] * (count - len(fields))]


def mapfile(shell: Shell, command: Command) -> Status:
    node, words = command.node, command.words
    name = words[-1].known or "MAPFILE"
    if not _NAME.fullmatch(name) or len(words) == 1:
        name = "MAPFILE"
    span = shell.script.span(node.words[0].start, node.end)
    fed = streams.fed_text(shell, node.redirects) if node.redirects else shell.piped
    known = fed.known if fed is not None else None
    if known is not None and fed is not None and any(word.known == "-t" for word in words) and len(words) == 3:
        items: dict[int, Word] = {}
        at = 0
        for line in known.split("\n")[:4096]:
            if at < len(known):
                items[len(items)] = Word(hopped(fed.cut(at, at + len(line)), name, span), span)
            at += len(line) + 1
        shell.put(name, Variable(items=items))
    else:
        shell.put(name, Variable(hole=Hole("lines that are read")))
    return Status.RAN


def getopts(shell: Shell, command: Command) -> Status:
    """Each option is a question. Without answers the loop does not run: the script is read as if called without."""
    words = command.words
    layout = words[1].known if len(words) == 3 else None
    name = words[2].known if len(words) == 3 else None
    if layout is None or name is None or not _NAME.fullmatch(name) or not shell.frame.open:
        shell.relied = shell.relied or shell.frame.open
        return Status.FALSE
    span = words[1].span
    for letter, takes_value in options.letters(layout):
        question = f"arg:-{letter}"
        answer = shell.world.answers.get(question)
        if answer is not None and question not in shell.given:
            shell.given.add(question)
            shell.set_text(name, Text.of(letter), span)
            shell.set_text("OPTARG", Text.of(answer if takes_value else ""), span)
            return Status.TRUE
        options.ask(shell, question, span, takes_value)
        if takes_value:
            shell.letters.append((letter, question))
    shell.relied = True
    return Status.FALSE


# Control


def exit_(_shell: Shell, command: Command) -> Status:
    words = command.words
    raise Exit(_given(words))


def return_(_shell: Shell, command: Command) -> Status:
    words = command.words
    raise Return(_given(words))


def _given(words: Sequence[Word]) -> Status:
    if len(words) < 2:
        return Status.RAN
    known = words[1].known
    if known is None:
        return Status.OPEN
    return Status.TRUE if known.strip("0") == "" else Status.FALSE


def break_(_shell: Shell, command: Command) -> Status:
    words = command.words
    known = words[1].known if len(words) > 1 else "1"
    levels = int(known) if known is not None and re.fullmatch(r"[1-9]\d{0,3}", known) else 1
    raise Loop(words[0].known == "break", levels)


BUILTINS: dict[str, Builtin] = {
    "echo": echo,
    "printf": printf,
    "pwd": pwd,
    "cd": cd,
    "pushd": cd,
    "popd": silent,
    ":": true,
    "true": true,
    "false": false,
    "declare": declare,
    "typeset": declare,
    "local": declare,
    "export": declare,
    "readonly": declare,
    "unset": unset,
    "set": set_,
    "shift": shift,
    "let": let,
    "read": read,
    "mapfile": mapfile,
    "readarray": mapfile,
    "getopts": getopts,
    "exit": exit_,
    "return": return_,
    "break": break_,
    "continue": break_,
    **dict.fromkeys(
        ("trap", "alias", "unalias", "wait", "kill", "ulimit", "umask", "shopt", "bg", "fg", "disown", "enable", "bind",
         "complete", "compopt", "logout", "suspend", "hash"),
        silent,
    ),
    **dict.fromkeys(("type", "jobs", "times", "help", "history", "compgen", "caller", "dirs", "fc"), noisy),
}  # fmt: skip
