"""Words to text: parameters, quotes, splitting, patterns, arithmetic.

What a part depends on and the files do not say becomes a hole. Variables that nothing sets are
holes in words and empty in conditions (``Shell.deciding``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from gdnlint.documents.shell import patterns
from gdnlint.documents.shell.arithmetic import NotArithmetic, calculate
from gdnlint.documents.shell.braces import TooMany, expand_braces, has_braces
from gdnlint.documents.shell.state import (
    MOST_WORDS,
    Shell,
    Stop,
    Uncertain,
    Variable,
    hopped,
    is_set_by_the_shell,
)
from gdnlint.documents.shell.syntax import (
    Arithmetic,
    Literal,
    Parameter,
    Part,
    Process,
    Substitution,
    Written,
)
from gdnlint.source import Span
from gdnlint.values import Hole, Piece, Problem, Text, Word, has_mark

ONE_WORD = "the result of the arithmetic"
_SPECIAL = {
    "?": "the exit status of a command",
    "$": "the shell's process id",
    "!": "the process id of a background command",
    "-": "the shell's options",
}
_BLANKS = re.compile(r"[ \t\n]+")


@dataclass(slots=True)
class Listing:
    """``$@`` or ``${A[@]}``."""

    items: list[Word]
    star: bool
    """``$*`` and ``${A[*]}``: one word when quoted."""


# Words


def expand(shell: Shell, written: Written) -> list[Word]:
    """The words that one written word becomes: none, one or many."""
    constant = written.constant
    if constant is not None:
        assert isinstance(constant, tuple)
        return [constant[0]]
    span = shell.script.span(written.start, written.end)
    if written.braces is None:
        written.braces = [written.parts]
        if has_braces(written.parts):
            try:
                written.braces = expand_braces(written.parts, MOST_WORDS)
            except TooMany:
                message = f"a brace expansion makes more than {MOST_WORDS:,} words; the rest is not read"
                raise Stop(Problem("too-large", message, span)) from None
    shell.counted(len(written.braces), span)
    out: list[Word] = []
    for parts in written.braces:
        fields = _Fields(shell, span, out)
        fields.add(parts)
        fields.finish()
    if len(written.braces) == 1 and len(out) == 1 and all(isinstance(p, Literal) for p in written.parts):
        written.constant = (out[0],)
    return out


def expand_all(shell: Shell, written: Sequence[Written]) -> list[Word]:
    out: list[Word] = []
    for one in written:
        out.extend(expand(shell, one))
    if len(out) > MOST_WORDS:
        shell.counted(len(out), None)
    return out


class _Fields:
    """Collects the words of an expansion."""

    def __init__(self, shell: Shell, span: Span, out: list[Word]) -> None:
        self.shell, self.span, self.out = shell, span, out
        self.pieces: list[Piece] = []
        self.quoted = False
        self.pending = False

    def add(self, parts: Sequence[Part], *, split: bool = False) -> None:
        """``split``: unquoted literals are split as well (they stand in ``${X:-a b}``)."""
        for part in parts:
            if isinstance(part, Literal):
                if part.quoted:
                    self.quote()
                pieces = literal(self.shell, part)
                if split and not part.quoted:
                    self.split(Text(tuple(pieces)))
                elif part.text:
                    self.put(*pieces)
            elif isinstance(part, Parameter):
                self.parameter(part)
            else:
                text = computed(self.shell, part)
                if part.quoted or isinstance(part, Process):
                    self.quote()
                    self.put(*text.pieces)
                elif isinstance(part, Arithmetic):
                    self.put(*text.pieces)
                else:
                    self.split(text)

    def parameter(self, part: Parameter) -> None:
        value = read(self.shell, part)
        if isinstance(value, list):
            if part.quoted:
                self.quote()
            self.add(value, split=True)
        elif isinstance(value, Listing):
            self.listing(value, part.quoted)
        elif part.quoted:
            self.quote()
            self.put(*value.pieces)
        else:
            self.split(value)

    def listing(self, value: Listing, quoted: bool) -> None:
        if not quoted:
            for index, item in enumerate(value.items):
                if index:
                    self.separate()
                self.split(item.text)
            return
        if value.star:
            self.quote()
            self.put(*joined(self.shell, value).pieces)
            return
        for index, item in enumerate(value.items):
            if index:
                self.finish()
            if item.spread:
                self.put(*item.text.pieces)
            else:
                self.quote()
                self.put(*item.text.pieces)

    def quote(self) -> None:
        if self.pending:
            self.finish()
        self.quoted = True

    def put(self, *pieces: Piece) -> None:
        for piece in pieces:
            if piece.content != "":
                if self.pending:
                    self.finish()
                self.pieces.append(piece)

    def separate(self) -> None:
        if self.pieces or self.quoted:
            self.pending = True

    def split(self, text: Text) -> None:
        separators = _separators(self.shell)
        for piece in text.pieces:
            if isinstance(piece.content, Hole) or separators is None:
                self.put(piece)
                continue
            at = 0
            for found in separators.finditer(piece.content):
                if found.start() > at:
                    self.put(*Text((piece,)).cut(at, found.start()).pieces)
                if found.group().strip(" \t\n"):
                    self.quoted = True
                    self.finish()
                else:
                    self.separate()
                at = found.end()
            if at == 0:
                self.put(piece)
            elif at < len(piece.content):
                self.put(*Text((piece,)).cut(at).pieces)

    def finish(self) -> None:
        if self.pieces or self.quoted:
            spread = not self.quoted and all(_spreads(piece.content) for piece in self.pieces)
            text = self.shell.bounded(Text(tuple(self.pieces)), self.span)
            self.out.append(Word(text, self.span, spread))
            if len(self.out) > MOST_WORDS:
                self.shell.counted(len(self.out), self.span)
        self.pieces = []
        self.quoted = self.pending = False


def _spreads(content: str | Hole) -> bool:
    if not isinstance(content, Hole) or content.reason.startswith(ONE_WORD):
        return False
    if content.one_word:
        return False
    return not (content.name in _SPECIAL or content.name in ("#", "0") or is_set_by_the_shell(content.name))


def _separators(shell: Shell) -> re.Pattern[str] | None:
    variable = shell.find("IFS")
    if variable is None or variable.scalar is None or variable.scalar.known is None:
        return _BLANKS
    known = variable.scalar.known
    if known == " \t\n":
        return _BLANKS
    if not known:
        return None
    blank = "".join(c for c in known if c in " \t\n")
    other = re.escape("".join(c for c in known if c not in " \t\n"))
    blanks = f"[{re.escape(blank)}]" if blank else ""
    if not other:
        return re.compile(f"{blanks}+")
    return re.compile(f"{blanks}*[{other}]{blanks}*|{blanks}+") if blank else re.compile(f"[{other}]")


def literal(shell: Shell, part: Literal) -> Sequence[Piece]:
    script = shell.script
    if part.end - part.start == len(part.text):
        return script.pieces(part.start, part.end)
    return (Piece(part.text, script.span(part.start, part.end)),)


# Text without splitting


def text_of(shell: Shell, parts: Sequence[Part]) -> Text:
    """Parts as one text: an assignment's value, a here-document, the inside of quotes."""
    pieces: list[Piece] = []
    for part in parts:
        if isinstance(part, Literal):
            pieces.extend(literal(shell, part))
        elif isinstance(part, Parameter):
            pieces.extend(parameter_text(shell, part).pieces)
        else:
            pieces.extend(computed(shell, part).pieces)
    return shell.bounded(Text(tuple(p for p in pieces if p.content != "")), None)


def parameter_text(shell: Shell, part: Parameter) -> Text:
    value = read(shell, part)
    if isinstance(value, Text):
        return value
    if isinstance(value, Listing):
        return joined(shell, value)
    return text_of(shell, value)


def joined(shell: Shell, listing: Listing) -> Text:
    glue = " "
    if listing.star:
        variable = shell.find("IFS")
        if variable is not None and variable.scalar is not None and variable.scalar.known is not None:
            glue = variable.scalar.known[:1]
    pieces: list[Piece] = []
    for index, item in enumerate(listing.items):
        if index and glue:
            pieces.append(Piece(glue))
        pieces.extend(item.text.pieces)
    return Text(tuple(pieces))


def pattern_of(shell: Shell, parts: Sequence[Part]) -> patterns.Pattern | None:
    """Parts as a pattern; None if they are not known or not supported."""
    runs: list[tuple[str, bool]] = []
    for part in parts:
        if isinstance(part, Literal):
            if shell.script.has_hole(part.text):
                return None
            runs.append((part.text, part.quoted))
            continue
        text = parameter_text(shell, part) if isinstance(part, Parameter) else computed(shell, part)
        known = (shell.settled(text) if shell.deciding else text).known
        if known is None:
            return None
        runs.append((known, part.quoted))
    return patterns.compile_pattern(runs)


# Parts


def computed(shell: Shell, part: Substitution | Arithmetic | Process) -> Text:
    span = shell.script.span(part.start, part.end)
    if isinstance(part, Process):
        return Text.of(Hole("the pipe of a process substitution"), span)
    if isinstance(part, Arithmetic):
        text = text_of(shell, part.body)
        value = arithmetic(shell, text, span)
        if isinstance(value, int):
            return Text.of(str(value), span)
        return Text.of(value, span)
    try:
        return shell.capture(part.body)
    except Uncertain:
        return Text.of(Hole(f"the output of `{excerpt(shell, part)}`"), span)


def excerpt(shell: Shell, part: Part) -> str:
    raw = shell.script.text[part.start : min(part.end, part.start + 200)]
    if isinstance(part, Substitution):
        raw = raw[2:] if raw.startswith("$(") else raw[1:]
        if part.end <= part.start + 200:
            raw = raw[:-1]
    raw = "".join(c for c in " ".join(raw.split()) if not has_mark(c))
    return raw if len(raw) <= 60 else raw[:57] + "..."


def arithmetic(shell: Shell, text: Text, span: Span) -> int | Hole:
    """The value of an expression; a hole if it is not known. In conditions what is not set counts as 0."""
    if shell.deciding:
        text = shell.settled(text)
    doubts = list(text.holes)

    def look(name: str, depth: int = 0) -> int | None:
        value = _arithmetic_variable(shell, name, span)
        if shell.deciding:
            value = shell.settled(value)
        known = value.known
        if known is None:
            doubts.extend(value.holes)
            return None
        known = known.strip()
        if not known:
            return 0
        if depth > 8:
            raise NotArithmetic(name)
        return calculate(known, partial(look, depth=depth + 1), store)

    def store(name: str, value: int | None) -> None:
        made = Text.of(str(value) if value is not None else Hole(ONE_WORD), span)
        base, _, subscript = name.partition("[")
        if subscript:
            set_element(shell, base, Text.of(subscript[:-1]), made, span, append=False)
        else:
            shell.set_text(name, made, span)

    try:
        value = calculate(text.marked(), look, store)
    except NotArithmetic:
        value = None
    if value is not None:
        return value
    if doubts:
        return Hole(f"{ONE_WORD} on {doubts[0].reason}", "")
    return Hole(f"{ONE_WORD} `{' '.join(text.show().split())[:60]}`")


def _arithmetic_variable(shell: Shell, name: str, span: Span) -> Text:
    base, _, subscript = name.partition("[")
    if subscript:
        value = element(shell, base, Text.of(subscript[:-1]), span)
    else:
        value = variable(shell, base, span)
    return absent(shell, base, span) if value is None else value


# Variables


def variable(shell: Shell, name: str, span: Span) -> Text | None:
    """The value of a variable, None if it is unset and the environment may set it."""
    if name in ("BASH_SOURCE", "0"):
        return Text.of(Hole("the path of the script", name), span)
    found = shell.find(name)
    if found is not None:
        value = found.scalar
        return value if value is not None else Text()
    return shell.environment(name, span)


def absent(shell: Shell, name: str, span: Span) -> Text:
    """What a read of an unset variable or parameter gives."""
    if shell.deciding:
        shell.relied = True
        return Text()
    if name.isdigit():
        return Text.of(Hole(f"argument {name} of the script", f"arg:{name}"), span)
    return Text.of(Hole(f"the environment variable {name}", name), span)


def positional(shell: Shell, number: int, span: Span) -> Text | None:
    frame = shell.frame
    if any(word.spread for word in frame.words[:number]):
        return next(word.text for word in frame.words if word.spread)
    if number <= len(frame.words):
        return frame.words[number - 1].text
    if not frame.open:
        return Text()
    name = f"arg:{number + frame.shifted}"
    shell.ask(name, span)
    return None


def arguments(shell: Shell, span: Span) -> list[Word]:
    """``$@``."""
    frame = shell.frame
    words = list(frame.words)
    if frame.open:
        if shell.deciding:
            shell.relied = True
        else:
            words.append(Word(Text.of(Hole("the arguments of the script", "@"), span), span, True))
    return words


def members(shell: Shell, name: str, span: Span) -> list[Word] | None:
    """The members of an array, None if nothing sets it."""
    found = shell.find(name)
    if found is None:
        value = Text.of(Hole("the path of the script", name), span) if name == "BASH_SOURCE" else None
        if value is None:
            value = shell.environment(name, span)
        return [Word(value, span)] if value is not None else None
    if found.hole is not None:
        return [Word(Text.of(found.hole, span), span, True)]
    if found.items is not None:
        return [Word(found.items[i].text, span, found.items[i].spread) for i in sorted(found.items)]
    if found.keys is not None:
        return [Word(text, span) for text in found.keys.values()]
    return [Word(found.text, span)] if found.text is not None else []


def element(shell: Shell, name: str, subscript: Text, span: Span) -> Text | None:
    found = shell.find(name)
    if found is None:
        if name == "BASH_SOURCE":
            return variable(shell, name, span)
        return variable(shell, name, span) if subscript.known == "0" else Text()
    if found.keys is not None:
        known = subscript.known
        if known is None:
            return Text.of(subscript.holes[0], span)
        return found.keys.get(known, Text())
    if found.hole is not None:
        return Text.of(found.hole, span)
    index = arithmetic(shell, subscript, span)
    if isinstance(index, Hole):
        return Text.of(index, span)
    if found.items is None:
        return found.text if index in (0, -1) and found.text is not None else Text()
    if index < 0:
        index += max(found.items, default=-1) + 1
    before = next((word for i, word in found.items.items() if word.spread and i <= index), None)
    if before is not None:
        return Text.of(Hole(before.text.holes[0].reason), span)
    return found.items[index].text if index in found.items else Text()


def set_element(shell: Shell, name: str, subscript: Text, value: Text, span: Span | None, *, append: bool) -> None:
    found = shell.find(name) or Variable()
    value = hopped(value, name, span)
    if found.keys is not None:
        key = subscript.known
        if key is None:
            shell.put(name, Variable(hole=subscript.holes[0]))
            return
        before = found.keys.get(key, Text()) if append else Text()
        shell.counted(len(found.keys) // 16 + 1, span)
        shell.put(name, Variable(keys={**found.keys, key: shell.bounded(before + value, span)}))
        return
    if found.hole is not None:
        return
    where = span or shell.script.span(0, 0)
    index = arithmetic(shell, subscript, where)
    if isinstance(index, Hole):
        shell.put(name, Variable(hole=index))
        return
    items = found.members(where)
    if index < 0:
        index += max(items, default=-1) + 1
    before = items[index].text if append and index in items else Text()
    items[index] = Word(shell.bounded(before + value, span), where)
    shell.spend(len(items) // 16 + 1, span)
    if len(items) > MOST_WORDS:
        shell.counted(len(items), span)
    shell.put(name, Variable(items=items))


# ${...}


def read(shell: Shell, part: Parameter) -> Text | Listing | list[Part]:
    """The value of an expansion; a list of parts is to be expanded in its place (``${X:-parts}``)."""
    span = shell.script.span(part.start, part.end)
    if part.operator == "bad":
        return Text.of(Hole("an expansion that bash rejects"), span)
    if part.indirect:
        return _indirect(shell, part, span)
    every = _every(part)
    if part.length:
        return _length(shell, part, every, span)
    if every:
        items = arguments(shell, span) if part.name in "@*" else members(shell, part.name, span)
        return _of_list(shell, part, items, every == "*", span)
    value = _value(shell, part, span)
    operator = part.operator
    if not operator:
        return absent(shell, _absent_name(shell, part), span) if value is None else value
    if operator in (":-", "-", ":=", "=", ":+", "+", ":?", "?"):
        return _alternative(shell, part, value, span)
    value = absent(shell, _absent_name(shell, part), span) if value is None else value
    return _changed(shell, part, value, span)


def _every(part: Parameter) -> str:
    """``@`` or ``*`` if an expansion gives all members."""
    if part.name in ("@", "*"):
        return part.name
    if part.subscript is not None and len(part.subscript) == 1 and isinstance(part.subscript[0], Literal):
        text = part.subscript[0].text
        return text if text in ("@", "*") else ""
    return ""


def _absent_name(shell: Shell, part: Parameter) -> str:
    return str(int(part.name[:9]) + shell.frame.shifted) if part.name.isdigit() else part.name


def _value(shell: Shell, part: Parameter, span: Span) -> Text | None:
    name = part.name
    if name.isdigit() and name.strip("0"):
        return positional(shell, int(name[:9]), span)
    if name == "#":
        frame = shell.frame
        if frame.open and not shell.deciding:
            return Text.of(Hole("the number of arguments of the script", "#"), span)
        if frame.open:
            shell.relied = True
            shell.relied_on.add("#")
        elif any(word.spread for word in frame.words):
            return Text.of(Hole("the number of arguments", "#" if not shell.deciding else ""), span)
        return Text.of(str(len(frame.words)), span)
    if name in _SPECIAL:
        return Text.of(Hole(_SPECIAL[name], name), span)
    if part.subscript is not None:
        return element(shell, name, text_of(shell, part.subscript), span)
    return variable(shell, name, span)


def _indirect(shell: Shell, part: Parameter, span: Span) -> Text | Listing | list[Part]:
    every = _every(part)
    if part.operator == "names":
        return Listing([Word(Text.of(Hole(f"the variables that start with {part.name}"), span), span, True)], False)
    if every and part.name not in "@*":
        found = shell.find(part.name)
        if found is None or found.hole is not None:
            return Listing([Word(absent(shell, part.name, span), span, True)], every == "*")
        keys: list[str] = []
        if found.items is not None:
            keys = [str(index) for index in sorted(found.items)]
        elif found.keys is not None:
            keys = list(found.keys)
        elif found.text is not None:
            keys = ["0"]
        return Listing([Word(Text.of(key, span), span) for key in keys], every == "*")
    value = _value(shell, part, span)
    name = (absent(shell, part.name, span) if value is None else value).known
    if name is None or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]{1,4}", name):
        return Text.of(Hole(f"the variable that {part.name} names"), span)
    return read(
        shell,
        Parameter(
            part.start,
            part.end,
            name,
            part.quoted,
            part.operator,
            part.argument,
            part.replacement,
            part.has_replacement,
        ),
    )


def _length(shell: Shell, part: Parameter, every: str, span: Span) -> Text:
    if every:
        items = arguments(shell, span) if part.name in "@*" else members(shell, part.name, span)
        if items is None:
            items = []
        if any(item.spread for item in items):
            return Text.of(Hole(f"{ONE_WORD} on the number of words"), span)
        return Text.of(str(len(items)), span)
    value = _value(shell, part, span)
    value = absent(shell, _absent_name(shell, part), span) if value is None else value
    if shell.deciding:
        value = shell.settled(value)
    known = value.known
    if known is None:
        return Text.of(Hole(f"{ONE_WORD} on {value.holes[0].reason}"), span)
    return Text.of(str(len(known)), span)


def is_null(shell: Shell, value: Text | None) -> bool | None:
    """Whether a value is unset or empty; None if that is not known."""
    if value is None:
        return True
    if any(not isinstance(p.content, Hole) and p.content for p in value.pieces):
        return False
    if any(isinstance(p.content, Hole) and is_set_by_the_shell(p.content.name) for p in value.pieces):
        return False
    if all(isinstance(p.content, str) or shell.unset(p.content) for p in value.pieces):
        return True
    return None


def _alternative(shell: Shell, part: Parameter, value: Text | None, span: Span) -> Text | list[Part]:
    operator = part.operator
    names = origins(shell, part)
    missing = is_null(shell, value) if operator[0] == ":" else value is None or _is_unset(shell, part)
    kind = operator[-1]
    if kind == "+":
        shell.presence(names)
        if missing is None:
            assert value is not None
            return Text.of(value.holes[0], span)
        if missing and names:
            shell.relied = True
        return Text() if missing else part.argument
    if kind == "?":
        if value is None or (missing and value.known is None):
            return absent(shell, _absent_name(shell, part), span)
        return value
    if names:
        default = text_of_constant(part.argument)
        if default is not None:
            for name in names:
                shell.asked[name].defaults.add(default)
        if missing and default == "":
            shell.relied = True
    if missing is None or not missing:
        assert value is not None
        return value
    if kind == "=" and not part.name.isdigit():
        made = text_of(shell, part.argument)
        if part.subscript is not None:
            set_element(shell, part.name, text_of(shell, part.subscript), made, span, append=False)
        else:
            shell.set_text(part.name, made, span, names)
        return variable(shell, part.name, span) or made
    return part.argument


def _is_unset(shell: Shell, part: Parameter) -> bool:
    """For ``${X-d}``: whether the script itself unset it, or a function lacks the argument."""
    if part.name.isdigit():
        return not shell.frame.open and int(part.name[:9]) > len(shell.frame.words)
    found = shell.find(part.name)
    if found is None:
        return False
    if part.subscript is not None and found.keys is not None:
        key = text_of(shell, part.subscript).known
        return key is not None and key not in found.keys
    return found.scalar is None


def text_of_constant(parts: Sequence[Part]) -> str | None:
    """The text of parts that are all literal."""
    if all(isinstance(p, Literal) for p in parts):
        return "".join(p.text for p in parts if isinstance(p, Literal))
    return None


def origins(shell: Shell, part: Parameter) -> frozenset[str]:
    """The environment variables and arguments of the script whose value an expansion is."""
    name = part.name
    if name.isdigit():
        frame = shell.frame
        if frame.open and int(name[:9]) > len(frame.words):
            asked = f"arg:{int(name[:9]) + frame.shifted}"
            return frozenset((asked,)) if asked in shell.asked else frozenset()
        if 0 < int(name[:9]) <= len(frame.words):
            return _hole_names(shell, frame.words[int(name[:9]) - 1].text)
        return frozenset()
    found = shell.find(name)
    optional = shell.optional.get(name, frozenset())
    if found is None:
        return optional | {name} if name in shell.asked else optional
    return found.origins | optional


def _hole_names(shell: Shell, text: Text) -> frozenset[str]:
    if len(text.pieces) == 1 and isinstance(text.pieces[0].content, Hole):
        name = text.pieces[0].content.name
        return frozenset((name,)) if name in shell.asked else frozenset()
    return frozenset()


def _of_list(
    shell: Shell, part: Parameter, items: list[Word] | None, star: bool, span: Span
) -> Text | Listing | list[Part]:
    operator = part.operator
    if operator in (":-", "-", ":=", "=", ":+", "+", ":?", "?"):
        known = [
            item for item in items or [] if not (item.spread and item.text.holes and item.text.holes[0].name == "@")
        ]
        empty = not known or (len(known) == 1 and operator[0] == ":" and is_null(shell, known[0].text) is True)
        if operator[-1] == "+":
            return Listing([], star) if empty and not items else part.argument
        if empty:
            return part.argument if not items or part.name in "@*" else Listing(items, star)
        return Listing(items or [], star)
    if items is None:
        if shell.deciding:
            shell.relied = True
            return Listing([], star)
        items = [Word(absent(shell, part.name, span), span, True)]
    if not operator:
        return Listing(items, star)
    if operator == ":":
        return Listing(_slice(shell, part, items, span), star)
    return Listing(
        [i if i.spread else Word(_changed(shell, part, i.text, span), i.span, i.spread) for i in items], star
    )


def _slice(shell: Shell, part: Parameter, items: list[Word], span: Span) -> list[Word]:
    offset = arithmetic(shell, text_of(shell, part.argument), span)
    count: int | Hole | None = None
    if part.has_replacement:
        count = arithmetic(shell, text_of(shell, part.replacement), span)
    if isinstance(offset, Hole) or isinstance(count, Hole):
        doubt = offset if isinstance(offset, Hole) else count
        assert isinstance(doubt, Hole)
        return [Word(Text.of(doubt, span), span, True)] if items else []
    if part.name in "@*":
        items = [Word(Text.of(Hole("the path of the script", "0"), span), span), *items]
    if offset < 0:
        offset += len(items)
        if offset < 0:
            return []
    end = len(items) if count is None else offset + count if count >= 0 else len(items) + count
    spread = next((i for i, item in enumerate(items) if item.spread), None)
    if spread is None or end <= spread or (count is None and offset <= spread):
        return items[offset:end]
    if offset > spread and part.name in "@*" and spread == len(items) - 1:
        return [items[spread]]
    return [*items[min(offset, spread) : spread], items[spread]]


def _changed(shell: Shell, part: Parameter, value: Text, span: Span) -> Text:
    """``#`` ``%`` ``/`` ``^`` ``,`` ``:`` ``@``."""
    operator = part.operator
    if shell.deciding:
        value = shell.settled(value)
    if value.known is None:
        return _changed_hole(shell, part, value, span)
    known = value.known
    if operator in ("^", "^^", ",", ",,") and not part.argument:
        return _cased(value, operator)
    if operator == ":":
        return _substring(shell, part, value, known, span)
    if operator[0] in "#%/":
        pattern = pattern_of(shell, part.argument)
        made = _replaced(shell, part, value, known, pattern) if pattern is not None else None
        if made is not None:
            return made
    return Text.of(Hole(f"the result of ${{{part.name}{operator}...}}"), span)


def _replaced(shell: Shell, part: Parameter, value: Text, known: str, pattern: patterns.Pattern) -> Text | None:
    operator = part.operator
    shell.spend(len(pattern) * len(known), None)
    if operator[0] in "#%":
        measure = patterns.prefix if operator[0] == "#" else patterns.suffix
        size = measure(pattern, known, len(operator) == 2)
        if size is None:
            return None
        if size <= 0:
            return value
        return value.cut(size) if operator[0] == "#" else value.cut(0, len(known) - size)
    found = patterns.occurrences(pattern, known, operator == "//", operator[1:].strip("/"))
    if found is None or len(found) > MOST_WORDS:
        return None
    if not found:
        return value
    new = text_of(shell, part.replacement)
    if any("&" in (known_of(shell, p) or "") for p in part.replacement if not p.quoted):
        # Bash 5.2 puts the match in the place of an unquoted "&", older ones do not.
        return None
    shell.spend(len(found) * (len(new.pieces) + len(new.marked())) // 8, None)
    pieces: list[Piece] = []
    at = 0
    for start, end in found:
        pieces.extend(value.cut(at, start).pieces)
        pieces.extend(new.pieces)
        at = end
    pieces.extend(value.cut(at).pieces)
    return shell.bounded(Text(tuple(pieces)), None)


def known_of(shell: Shell, part: Part) -> str | None:
    return text_of(shell, [part]).known


def _changed_hole(shell: Shell, part: Parameter, value: Text, span: Span) -> Text:
    hole = value.holes[0]
    here = {"0": shell.directory, "BASH_SOURCE": shell.here}.get(hole.name)
    if here is not None and len(value.pieces) == 1 and part.operator == "%" and text_of_constant(part.argument) == "/*":
        return Text.of(str(here), span)
    return Text.of(Hole(hole.reason, "" if hole.name == "@" else hole.name), span)


def _cased(value: Text, operator: str) -> Text:
    change = str.upper if operator[0] == "^" else str.lower
    pieces = []
    first = True
    for piece in value.pieces:
        assert isinstance(piece.content, str)
        content = piece.content
        if len(operator) == 2:
            content = "".join(change(c) if len(change(c)) == 1 else c for c in content)
        elif first and content:
            content = (change(content[0]) if len(change(content[0])) == 1 else content[0]) + content[1:]
        first = first and not content
        pieces.append(Piece(content, piece.span, piece.via))
    return Text(tuple(pieces))


def _substring(shell: Shell, part: Parameter, value: Text, known: str, span: Span) -> Text:
    offset = arithmetic(shell, text_of(shell, part.argument), span)
    count = arithmetic(shell, text_of(shell, part.replacement), span) if part.has_replacement else len(known)
    if isinstance(offset, Hole) or isinstance(count, Hole):
        return Text.of(Hole(f"the result of ${{{part.name}:...}}"), span)
    if offset < 0:
        offset += len(known)
        if offset < 0:
            return Text()
    end = min(offset + count, len(known)) if count >= 0 else len(known) + count
    return value.cut(offset, end) if offset < end else Text()
