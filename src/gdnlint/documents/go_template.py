"""Go templates of YAML text, as Helm renders them: what the values decide is filled in, all else is a mark.

Nothing runs: a small set of functions is known by what it gives, and whatever else an action says is a hole with the
action as its reason. Every text that an action gives stands in the output as one private character (a mark), so that
the YAML around it parses whatever it is; ``Rendered.unmarked`` puts the texts back, with the places where they are
written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Hole, Piece, Place, Question, Text, Value

MOST_OUTPUT = 400_000
"""Characters of the text that a template gives."""
MOST_STEPS = 20_000
"""Nodes of templates that are rendered, those in loops counted each time."""
MOST_MARKS = 0xF000
"""Texts that actions give."""
DEEPEST = 50
"""Blocks and parentheses, one within the other."""
LONGEST_TEXT = 10_000
"""Characters of a text that is put together from others."""
MOST_ITEMS = 500
"""Items of one loop."""

_FIRST = 0x100000
"""The first mark (plane 16 is private use; plane 15 is the marks of texts)."""
_STRUCTURE = frozenset({"args", "command", "env", "containers", "initContainers", "volumes", "volumeMounts"})
"""Keys of manifests whose members are lists."""


class TemplateError(ValueError):
    """A text that is no template (an action without an end, an end without a block), or one that grows too large."""

    steps = 0
    """What it took to find out."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a template gives."""

    fragment: Fragment
    texts: tuple[Text, ...]
    """What each mark stands for."""
    questions: tuple[Question, ...]
    """Conditions that nothing decides."""
    steps: int = 0
    """What it took."""

    def unmarked(self, text: Text) -> Text:
        """A text with what its marks stand for."""
        pieces: list[Piece] = []
        for piece in text.pieces:
            if isinstance(piece.content, Hole) or not _has_mark(piece.content):
                pieces.append(piece)
                continue
            for part in re.split(f"([{chr(_FIRST)}-{chr(_FIRST + MOST_MARKS)}])", piece.content):
                number = ord(part) - _FIRST if len(part) == 1 else -1
                if 0 <= number < len(self.texts):
                    pieces += self.texts[number].pieces
                elif part:
                    pieces.append(Piece(part, piece.span, piece.via))
        return Text(tuple(pieces))


def _has_mark(text: str) -> bool:
    return not text.isascii() and any(_FIRST <= ord(char) < _FIRST + MOST_MARKS for char in text)


def has_mark(text: str) -> bool:
    """Whether a text of the output holds something that an action gave."""
    return _has_mark(text)


def render(source: Source, data: Mapping[str, Value], answers: Mapping[str, str]) -> Rendered:
    """A template with ``data`` as its dot (``Values``, ``Chart``); ``answers`` decide what ``questions`` asked before.

    Raises TemplateError.
    """
    run = _Run(source, dict(data), answers)
    try:
        run.nodes(_parse(source.text), _Scope(Value(dict(data)), {}), 0)
    except TemplateError as error:
        error.steps = run.steps
        raise
    fragment = Fragment("".join(run.out), source, run.offsets)
    return Rendered(fragment, tuple(run.texts), tuple(run.questions), run.steps)


# --- The blocks ----------------------------------------------------------------------------------------------


class _Action(NamedTuple):
    text: str
    start: int
    end: int


class _Node(NamedTuple):
    """``text`` (characters of the file), ``action``, or a block with its bodies."""

    kind: str
    action: _Action
    bodies: tuple[tuple[_Action | None, tuple[_Node, ...]], ...] = ()
    """Each branch with its condition; None for ``else``."""


_Branches = list[tuple[_Action | None, list[_Node]]]


def _parse(text: str) -> tuple[_Node, ...]:
    top: list[_Node] = []
    stack: list[tuple[str, _Action, _Branches]] = []
    body = top
    for node in _lexed(text):
        word, _, rest = node.action.text.partition(" ") if node.kind == "action" else ("", "", "")
        if word in ("if", "with", "range", "define", "block"):
            if len(stack) >= DEEPEST:
                raise TemplateError("blocks too deep")
            inner: list[_Node] = []
            stack.append((word, node.action, [(node.action._replace(text=rest.strip()), inner)]))
            body = inner
        elif word == "else" and stack:
            rest = rest.strip()
            condition = node.action._replace(text=rest.partition(" ")[2].strip()) if rest else None
            inner = []
            stack[-1][2].append((condition, inner))
            body = inner
        elif word == "end" and not rest.strip():
            if not stack:
                raise TemplateError("an end without a block")
            kind, action, branches = stack.pop()
            body = stack[-1][2][-1][1] if stack else top
            body.append(_Node(kind, action, tuple((condition, tuple(nodes)) for condition, nodes in branches)))
        else:
            body.append(node)
    if stack:
        raise TemplateError("a block without an end")
    return tuple(top)


def _lexed(text: str) -> Iterator[_Node]:
    """Texts and actions in turn, the blanks that an action trims left out, comments too."""
    at, trims = 0, False
    while True:
        opened = text.find("{{", at)
        start, end = at, opened if opened >= 0 else len(text)
        close = _closed(text, opened + 2) if opened >= 0 else -1
        if opened >= 0 and close < 0:
            raise TemplateError("an action without an end")
        inner = text[opened + 2 : close] if opened >= 0 else ""
        if trims:
            start += len(text[start:end]) - len(text[start:end].lstrip(" \t\r\n"))
        if re.match(r"-\s", inner):
            end = start + len(text[start:end].rstrip(" \t\r\n"))
            inner = inner[1:]
        if end > start:
            yield _Node("text", _Action("", start, end))
        if opened < 0:
            return
        trims = re.search(r"\s-$", inner) is not None
        inner = (inner[:-1] if trims else inner).strip()
        at = close + 2
        if not inner.startswith("/*"):
            yield _Node("action", _Action(inner, opened, at))


def _closed(text: str, at: int) -> int:
    """Where the ``}}`` of an action is; -1 if there is none."""
    comment = re.compile(r"-?\s*/\*").match(text, at)
    if comment is not None:
        end = text.find("*/", comment.end())
        return text.find("}}", end) if end >= 0 else -1
    for match in re.compile(r'"(?:\\.|[^"\\\n])*"|`[^`]*`|\}\}').finditer(text, at):
        if match.group() == "}}":
            return match.start()
    return -1


# --- Expressions ----------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    kind: str
    text: str


_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:\\.|[^"\\])*"|`[^`]*`)|(?P<number>-?\d+(?:\.\d+)?)|(?P<variable>\$\w*(?:\.\w+)*)"""
    r"""|(?P<field>(?:\.\w+)+|\.)|(?P<name>[A-Za-z_]\w*)|(?P<mark>:=|=|\||\(|\)|,))"""
)


def _tokens(text: str) -> list[_Token]:
    out: list[_Token] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise TemplateError("an action that is none")
        out.append(_Token(match.lastgroup or "", match.group().strip()))
        at = match.end()
    return out


class _Quoted(NamedTuple):
    value: Value
    quote: str


class _Block(NamedTuple):
    """A value written as YAML, on lines of its own."""

    value: Value
    indent: int = 0
    newline: bool = False


_Result = Value | _Quoted | _Block


@dataclass(slots=True)
class _Scope:
    dot: Value
    variables: dict[str, Value]


NONE = Value(None)


class _Reader:
    """Reads the tokens of one action."""

    def __init__(self, run: _Run, scope: _Scope, tokens: Sequence[_Token], span: Span) -> None:
        self.run, self.scope, self.tokens, self.span = run, scope, tokens, span
        self.at = 0
        self.depth = 0

    def peek(self) -> _Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def pipeline(self) -> _Result:
        self.depth += 1
        if self.depth > DEEPEST:
            raise TemplateError("parentheses too deep")
        value = self.command(None)
        while (token := self.peek()) is not None and token.text == "|" and token.kind == "mark":
            self.at += 1
            value = self.command(value)
        self.depth -= 1
        return value

    def command(self, piped: _Result | None) -> _Result:
        name = ""
        arguments: list[_Result] = []
        first = True
        while (token := self.peek()) is not None and not (token.kind == "mark" and token.text in ("|", ")")):
            self.at += 1
            if first and token.kind == "name" and token.text not in ("true", "false", "nil"):
                name = token.text
            else:
                arguments.append(self.operand(token))
            first = False
        if piped is not None:
            arguments.append(piped)
        if not name:
            return arguments[0] if len(arguments) == 1 else self.hole()
        return self.called(name, arguments)

    def operand(self, token: _Token) -> _Result:
        if token.kind == "string":
            text = token.text[1:-1] if token.text[0] == "`" else _unescaped(token.text)
            return Value(text, self.span)
        if token.kind == "number":
            return Value(float(token.text) if "." in token.text else int(token.text[:18]), self.span)
        if token.kind == "name":
            return Value({"true": True, "false": False}.get(token.text), self.span)
        if token.kind == "field":
            return self.member(self.scope.dot, token.text)
        if token.kind == "variable":
            name, dot, rest = token.text.partition(".")
            found = self.run.root if name == "$" else self.scope.variables.get(name)
            return self.hole() if found is None else self.member(found, dot + rest)
        if token.text == "(":
            value = self.pipeline()
            if (end := self.peek()) is None or end.text != ")":
                raise TemplateError("a parenthesis without an end")
            self.at += 1
            after = self.peek()
            if after is not None and after.kind == "field" and after.text != "." and isinstance(value, Value):
                self.at += 1
                return self.member(value, after.text)
            return value
        return self.hole()

    def member(self, value: Value, path: str) -> Value:
        for key in filter(None, path.split(".")):
            if isinstance(value.data, Text):
                return value
            if value is self.run.root and key not in (value.data if isinstance(value.data, dict) else ()):
                return self.hole(f"{path[1:]}")
            if not isinstance(value.data, dict):
                return NONE
            value = value.data.get(key, NONE)
        return value

    def hole(self, text: str = "") -> Value:
        shown = " ".join((text or self.run.shown(self.span)).split())
        shown = shown if len(shown) <= 60 else shown[:59] + "\u2026"
        return Value(Text.of(Hole(f"the template expression {shown}"), self.span), self.span)

    def called(self, name: str, arguments: list[_Result]) -> _Result:
        if name in ("nindent", "indent") and len(arguments) == 2:
            return self.indented(name, arguments[0], arguments[1])
        plain = [argument.value if not isinstance(argument, Value) else argument for argument in arguments]
        if name in ("toYaml", "toYamlPretty", "fromYaml") and len(plain) == 1:
            return _Block(plain[0])
        if name in ("quote", "squote") and len(plain) == 1:
            return _Quoted(plain[0], '"' if name == "quote" else "'")
        function = _FUNCTIONS.get(name)
        found = function(plain) if function is not None else None
        return self.hole() if found is None else found

    def indented(self, name: str, size: _Result, value: _Result) -> _Result:
        width = size.data if isinstance(size, Value) and isinstance(size.data, int) else 0
        if isinstance(value, _Quoted):
            return value
        block = value if isinstance(value, _Block) else _Block(value)
        return block._replace(indent=block.indent + min(max(width, 0), 80), newline=block.newline or name == "nindent")


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]


def _truth(value: Value) -> bool | None:
    if isinstance(value.data, Text):
        known = value.data.known
        if known is not None:
            return bool(known)
        return True if any(isinstance(piece.content, str) and piece.content for piece in value.data.pieces) else None
    return bool(value.data)


def _default(arguments: list[Value]) -> Value | None:
    if len(arguments) != 2:
        return None
    truth = _truth(arguments[1])
    return None if truth is None else arguments[1] if truth else arguments[0]


def _known(value: Value) -> object:
    """The data of a value; raises LookupError if something in it is not known."""
    if not value.is_known:
        raise LookupError
    return value.plain()


def _logic(whole: bool) -> Callable[[list[Value]], Value | None]:
    """``and`` (the first that is empty, else the last), or ``or``."""

    def function(arguments: list[Value]) -> Value | None:
        for argument in arguments:
            truth = _truth(argument)
            if truth is None:
                return None
            if truth is not whole:
                return argument
        return arguments[-1] if arguments else None

    return function


def _computed(function: Callable[..., object]) -> Callable[[list[Value]], Value | None]:
    """A function of known data; what it cannot do is a hole."""

    def called(arguments: list[Value]) -> Value | None:
        try:
            data = function(*map(_known, arguments))
        except (LookupError, TypeError, ValueError, AttributeError):
            return None
        span = next((a.span for a in reversed(arguments) if a.span is not None), None)
        return Value(data, span) if data is None or isinstance(data, bool | int | float | str) else None

    return called


def _not(arguments: list[Value]) -> Value | None:
    truth = _truth(arguments[0]) if len(arguments) == 1 else None
    return None if truth is None else Value(not truth)


def _printf(arguments: list[Value]) -> Value | None:
    if not arguments or not isinstance(arguments[0].data, str):
        return None
    pieces: list[Piece] = []
    size = 0
    rest = iter(arguments[1:])
    for part in re.split(r"(%[sdvq]|%%)", arguments[0].data):
        if part in ("%s", "%d", "%v", "%q"):
            value = next(rest, None)
            text = _text(value) if value is not None else None
            if text is None:
                return None
            quote = (Piece('"'),) if part == "%q" else ()
            pieces += [*quote, *text.pieces, *quote]
            size += sum(len(piece.content) for piece in text.pieces if isinstance(piece.content, str))
            if size > LONGEST_TEXT or len(pieces) > LONGEST_TEXT:
                return None
        elif part:
            pieces.append(Piece("%" if part == "%%" else part, arguments[0].span))
    return Value(Text(tuple(pieces)), arguments[0].span)


def _text(value: Value) -> Text | None:
    """A scalar as it is printed; None for a collection."""
    if isinstance(value.data, Text):
        return value.data
    if isinstance(value.data, dict | list):
        return None
    if value.data is None:
        return Text()
    data = str(value.data).lower() if isinstance(value.data, bool) else str(value.data)
    return Text((Piece(data, value.span, value.places),))


def _same(one: list[Value]) -> Value | None:
    return one[-1] if one else None


def _to_string(arguments: list[Value]) -> Value | None:
    text = _text(arguments[0]) if len(arguments) == 1 else None
    return Value(text, arguments[0].span, arguments[0].places) if text is not None else None


def _ternary(arguments: list[Value]) -> Value | None:
    truth = _truth(arguments[2]) if len(arguments) == 3 else None
    return None if truth is None else arguments[0 if truth else 1]


def _has_key(arguments: list[Value]) -> Value | None:
    if len(arguments) != 2 or not isinstance(arguments[0].data, dict) or not isinstance(arguments[1].data, str):
        return None
    return Value(arguments[1].data in arguments[0].data)


def _coalesce(arguments: list[Value]) -> Value | None:
    for argument in arguments:
        truth = _truth(argument)
        if truth is None:
            return None
        if truth:
            return argument
    return NONE


def _index(arguments: list[Value]) -> Value | None:
    value = arguments[0] if arguments else NONE
    for key in arguments[1:]:
        if isinstance(value.data, dict) and isinstance(key.data, str):
            value = value.data.get(key.data, NONE)
        elif isinstance(value.data, list) and isinstance(key.data, int) and 0 <= key.data < len(value.data):
            value = value.data[key.data]
        else:
            return None
    return value


def _replaced(old: str, new: str, value: str) -> str | None:
    return value.replace(old, new) if len(value) * (1 + len(new)) < LONGEST_TEXT else None


def _equal(first: object, *others: object) -> bool:
    return any(first == other for other in others)


_FUNCTIONS: dict[str, Callable[[list[Value]], Value | None]] = {
    "default": _default,
    "and": _logic(True),
    "or": _logic(False),
    "not": _not,
    "empty": _not,
    "eq": _computed(_equal),
    "ne": _computed(lambda one, other: one != other),
    "gt": _computed(lambda one, other: one > other),
    "ge": _computed(lambda one, other: one >= other),
    "lt": _computed(lambda one, other: one < other),
    "le": _computed(lambda one, other: one <= other),
    "printf": _printf,
    "print": _to_string,
    "toString": _to_string,
    "required": _same,
    "int": _computed(lambda value: int(value or 0)),
    "int64": _computed(lambda value: int(value or 0)),
    "trim": _computed(lambda value: value.strip()),
    "lower": _computed(lambda value: value.lower()),
    "upper": _computed(lambda value: value.upper()),
    "trimSuffix": _computed(lambda end, value: value.removesuffix(end)),
    "trimPrefix": _computed(lambda start, value: value.removeprefix(start)),
    "hasPrefix": _computed(lambda start, value: value.startswith(start)),
    "hasSuffix": _computed(lambda end, value: value.endswith(end)),
    "contains": _computed(lambda part, value: part in value),
    "replace": _computed(_replaced),
    "join": _computed(lambda between, items: between.join(map(str, items)) if len(items) < MOST_ITEMS else None),
    "len": _computed(len),
    "toJson": _computed(json.dumps),
    "ternary": _ternary,
    "hasKey": _has_key,
    "coalesce": _coalesce,
    "index": _index,
    "get": _index,
}


def _used(piece: Piece, span: Span) -> Piece:
    """A piece where the action stands that gives it, with the place of the value behind it."""
    if piece.span is None or piece.span.source is span.source:
        return piece._replace(span=span)
    return piece._replace(span=span, via=(Place(piece.span, f"set in {piece.span.source.path}"), *piece.via))


# --- The output ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    source: Source
    data: dict[str, Value]
    answers: Mapping[str, str]
    out: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    steps: int = 0
    root: Value = NONE

    def shown(self, span: Span) -> str:
        return re.sub(r"^\{\{-?\s*|\s*-?\}\}$", "", span.text)

    def nodes(self, nodes: Sequence[_Node], scope: _Scope, depth: int) -> None:
        if depth == 0:
            self.root = scope.dot
        for node in nodes:
            self.steps += 1
            if self.steps > MOST_STEPS or len(self.offsets) > MOST_OUTPUT:
                raise TemplateError("a template that grows too large")
            if node.kind == "text":
                self.literal(node.action.start, node.action.end)
            elif node.kind == "action":
                self.action(node.action, scope)
            elif node.kind != "define":
                self.block(node, scope, depth)

    def literal(self, start: int, end: int) -> None:
        self.out.append(self.source.text[start:end])
        self.offsets.extend(range(start, end))

    def write(self, text: str, span: Span) -> None:
        """Characters that an action gives; their place is in the action."""
        self.out.append(text)
        last = max(span.end - 1, span.start)
        self.offsets.extend(min(span.start + number, last) for number in range(len(text)))

    def mark(self, text: Text, span: Span) -> None:
        self.steps += len(text.pieces) // 4
        if len(self.texts) >= MOST_MARKS or self.steps > MOST_STEPS:
            raise TemplateError("a template with too many actions")
        moved = Text(tuple(_used(piece, span) for piece in text.pieces))
        if moved.pieces:
            self.write(chr(_FIRST + len(self.texts)), span)
            self.texts.append(moved)

    def evaluated(self, text: str, action: _Action, scope: _Scope) -> tuple[list[str], _Result]:
        """The variables that an action sets, and its value."""
        span = self.source.span(action.start, action.end)
        tokens = _tokens(text)
        names: list[str] = []
        at = next((n for n, token in enumerate(tokens[:4]) if token.kind == "mark" and token.text in (":=", "=")), None)
        if at is not None:
            names = [token.text for token in tokens[:at] if token.kind == "variable"]
            tokens = tokens[at + 1 :]
        reader = _Reader(self, scope, tokens, span)
        value = reader.pipeline()
        return names, value if reader.peek() is None else reader.hole()

    def value(self, action: _Action, scope: _Scope) -> tuple[list[str], Value]:
        names, found = self.evaluated(action.text, action, scope)
        return names, found if isinstance(found, Value) else found.value

    def action(self, action: _Action, scope: _Scope) -> None:
        span = self.source.span(action.start, action.end)
        names, value = self.evaluated(action.text, action, scope)
        if names:
            scope.variables[names[0]] = value if isinstance(value, Value) else value.value
            return
        if isinstance(value, _Quoted):
            text = _text(value.value)
            self.write(value.quote, span)
            self.mark(text if text is not None else self.unknown(span), span)
            self.write(value.quote, span)
        elif isinstance(value, _Block):
            self.lines(value, span)
        else:
            text = _text(value)
            text = text if text is not None else self.unknown(span)
            if text.known is None and self.stands_alone(span):
                self.lines(_Block(Value(text, span), self.column(span)), span)
            else:
                self.mark(text, span)

    def unknown(self, span: Span) -> Text:
        return Text.of(Hole(f"the template expression {self.shown(span)[:60]}"), span)

    def column(self, span: Span) -> int:
        return self.source.position(span.start)[1] - 1

    def stands_alone(self, span: Span) -> bool:
        """Whether an action has its lines for itself, so that what it gives may be any YAML."""
        text = self.source.text
        before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
        end = text.find("\n", span.end)
        return not before.strip() and not text[span.end : end if end >= 0 else len(text)].strip()

    def last_line(self) -> str:
        tail = ""
        for part in islice(reversed(self.out), 200):
            tail = part + tail
            head, newline, _ = tail.rstrip().rpartition("\n")
            if newline:
                return tail.rstrip()[len(head) + 1 :]
        return tail.rstrip()

    def lines(self, block: _Block, span: Span) -> None:
        """A value as lines of YAML."""
        value = block.value
        if isinstance(value.data, Text) and value.data.known is None:
            # Nobody knows what it is. Where a list stands, it may be more items of it; elsewhere it is left out.
            last = self.last_line()
            key = last.strip().lstrip("- ").removesuffix(":")
            if last.lstrip().startswith("- ") or (last.rstrip().endswith(":") and key in _STRUCTURE):
                depth = len(last) - len(last.lstrip()) if last.lstrip().startswith("- ") else block.indent
                self.write("\n" + " " * depth + '- "', span)
                self.mark(value.data, span)
                self.write('"\n', span)
            return
        if block.newline:
            self.write("\n", span)
        if not isinstance(value.data, dict | list) or not value.data:
            self.write(" " * block.indent if block.newline else "", span)
            text = _text(value)
            if text is not None:
                self.mark(text, span)
            else:
                self.write("{}" if isinstance(value.data, dict) else "[]", span)
            return
        self.collection(value, block.indent, span, 0, not block.newline)

    def collection(self, value: Value, indent: int, span: Span, depth: int, inline: bool) -> None:
        """A mapping or list in block style; with ``inline`` its first line is begun already."""
        if depth > DEEPEST:
            raise TemplateError("a value too deep")
        pairs: list[tuple[object, Value]] = []
        if isinstance(value.data, dict):
            pairs += value.data.items()
        elif isinstance(value.data, list):
            pairs += enumerate(value.data)
        for key, member in pairs:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TemplateError("a template that grows too large")
            head = "-" if isinstance(key, int) else json.dumps(key, ensure_ascii=False) + ":"
            self.write(("" if inline else " " * indent) + head, span)
            inline = False
            if isinstance(member.data, dict | list) and member.data:
                self.write("\n", span)
                self.collection(member, indent + 2, span, depth + 1, False)
                continue
            self.write(" ", span)
            text = _text(member)
            if text is None:
                self.write("{}" if isinstance(member.data, dict) else "[]", span)
            elif member.data is None:
                self.write("null", span)
            else:
                self.write('"', span)
                self.mark(text, span)
                self.write('"', span)
            self.write("\n", span)

    # -- blocks

    def block(self, node: _Node, scope: _Scope, depth: int) -> None:
        for condition, body in node.bodies:
            if condition is None:
                self.nodes(body, _Scope(scope.dot, scope.variables), depth + 1)
                return
            names, value = self.value(condition, scope)
            truth = _truth(value)
            if truth is None:
                truth = self.asked(node, condition)
            if not truth:
                continue
            if node.kind == "range":
                self.loop(names, value, body, scope, depth)
                return
            dot = value if node.kind in ("with", "block") else scope.dot
            inner = _Scope(dot, scope.variables)
            if names:
                inner = _Scope(dot, {**scope.variables, names[0]: value})
            self.nodes(body, inner, depth + 1)
            return

    def asked(self, node: _Node, condition: _Action) -> bool:
        """A condition that nothing decides: false, unless another scenario says otherwise."""
        span = self.source.span(condition.start, condition.end)
        name = f"guard:{span.line}:{span.column}"
        if len(self.questions) < MOST_ITEMS and all(question.name != name for question in self.questions):
            self.questions.append(Question(name, ("true",), span, f"{node.kind} {condition.text}"))
        return self.answers.get(name) == "true"

    def loop(self, names: list[str], value: Value, body: Sequence[_Node], scope: _Scope, depth: int) -> None:
        if isinstance(value.data, dict):
            items = [(Value(key), member) for key, member in sorted(value.data.items())]
        elif isinstance(value.data, list):
            items = [(Value(number), item) for number, item in enumerate(value.data)]
        else:
            return
        for key, member in items[:MOST_ITEMS]:
            variables = dict(scope.variables)
            if names:
                variables[names[-1]] = member
            if len(names) > 1:
                variables[names[0]] = key
            self.nodes(body, _Scope(member, variables), depth + 1)


def without_marks(tree: Value, rendered: Rendered, text_of: Callable[[Value], Text | None]) -> Value:
    """A tree whose texts have what their marks stand for; ``text_of`` gives a text with its places."""

    def change(value: Value) -> Value:
        if not isinstance(value.data, str) or not _has_mark(value.data):
            return value
        text = text_of(value)
        return replace(value, data=rendered.unmarked(text)) if text is not None else value

    return tree.map_places(change)
