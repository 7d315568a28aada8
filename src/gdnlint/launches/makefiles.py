"""Launches in the recipes of Makefiles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from gdnlint.documents.makefile import Statement, statements
from gdnlint.documents.shell import Invocation, Run, Script, run_script
from gdnlint.launches import embedded, scripts
from gdnlint.launches.commands import base_name
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch
from gdnlint.launches.scalars import runs
from gdnlint.launches.scripts import Found
from gdnlint.launches.templates import hole
from gdnlint.launches.witnesses import of_default
from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Cuts, Hole, Joined, Piece, Place, Question, Text, World

KIND = "make recipe"

_DEEPEST = 12
"""Variables inside of variables, and targets that make makes for another."""
_MOST_INCLUDES = 20
_MOST_RECIPES = 300
"""Recipes of a file that are read, those that are read for several targets counted each time."""
_MOST_EXPANSIONS = 20_000
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_LONGEST_HEAD = 200
_BEFORE = re.compile(r"(?:\s|[A-Za-z_]\w*=[^\s\"']*\s)*")
"""What stands before a command."""
_MAKES = re.compile(r"\bg?make\b|\binstall\b")
_SETS = re.compile(r"([A-Za-z_][\w.-]*)[:?+]?=(.*)", re.DOTALL)
_HERE = frozenset({"CURDIR", "PWD"})
_COMPARED = re.compile(r"[ \t]*(?:\((.*)\)|([\"'])(.*?)\2[ \t]+([\"'])(.*?)\4)[ \t]*$", re.DOTALL)


def launches(source: Source, context: Context) -> list[Launch]:
    """The engines that the recipes of a Makefile start."""

    def find(inner: Context) -> Iterator[Found]:
        reader = _Reader(inner, source)
        reader.read(source)
        yield from reader.everything()

    return scripts.explore(find, context, source.file.parent, KIND)


@dataclass(slots=True)
class _Variable:
    value: Text
    """Not expanded, unless it is a simple one."""
    simple: bool
    span: Span
    conditional: bool = False
    """Set with ``?=``: the environment beats it."""


@dataclass(slots=True)
class _Rule:
    names: tuple[str, ...]
    needs: tuple[str, ...]
    span: Span
    recipe: list[Statement] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """One reading of a Makefile, in one scenario."""

    context: Context
    source: Source
    given: Mapping[str, Text] = field(default_factory=dict)
    """Variables of the command line, which beat those of the file."""
    depth: int = 0
    variables: dict[str, _Variable] = field(default_factory=dict)
    own: dict[str, dict[str, _Variable]] = field(default_factory=dict)
    """Variables of a target, for it and what it needs."""
    rules: list[_Rule] = field(default_factory=list)
    exported: dict[str, None] = field(default_factory=dict)
    exports_all: bool = False
    one_shell: bool = False
    files: int = 0
    expansions: int = 0
    recipes: int = 0

    def read(self, source: Source) -> None:
        """Takes the statements of a file that its conditionals leave in."""
        self.files += 1
        stack: list[tuple[bool, bool]] = []
        """(whether this branch is taken, whether one of its conditional was)"""
        for statement in statements(source):
            if statement.kind in ("ifeq", "ifneq", "ifdef", "ifndef"):
                held = all(taken for taken, _ in stack) and self.holds(statement)
                stack.append((held, held))
            elif statement.kind == "else" and stack:
                _, done = stack[-1]
                stack.pop()
                above = all(taken for taken, _ in stack)
                held = above and not done and self.otherwise(statement)
                stack.append((held, done or held))
            elif statement.kind == "endif" and stack:
                stack.pop()
            elif all(taken for taken, _ in stack):
                self.take(statement, source)

    def otherwise(self, statement: Statement) -> bool:
        """Whether an ``else`` is taken, which may bring a condition of its own."""
        match = re.match(r"[ \t]*(ifeq|ifneq|ifdef|ifndef)(?=[\s(\"'])", statement.body.text)
        if match is None:
            return True
        body = statement.body.cut(match.end(), len(statement.body.text))
        return self.holds(replace(statement, kind=match.group(1), body=body))

    def holds(self, statement: Statement) -> bool:
        """A condition; a variable that nothing sets is empty, as in make."""
        text = Text(tuple(runs(statement.body)))
        if statement.kind in ("ifdef", "ifndef"):
            name = text.marked().strip()
            self.ask(name, ("1",), statement.span)
            value = self.value(name, {}, statement.span, 0)
            return (value is not None and value.marked() != "") is (statement.kind == "ifdef")
        sides = _sides(text)
        if sides is None:
            return False
        left, right = (self.plain(side) for side in sides)
        for one, other in ((sides[0], right), (sides[1], left)):
            asked = re.fullmatch(r"\s*(?:\$\((?:strip )?([\w.-]+)\)|\$\{([\w.-]+)\})\s*", one.marked())
            if asked is not None:
                self.ask(asked.group(1) or asked.group(2), (other,) if other else ("1",), statement.span)
        return (left == right) is (statement.kind == "ifeq")

    def plain(self, text: Text) -> str:
        """A text as make compares it: what nothing decides is empty."""
        made = self.expanded(text, {}, 0)
        return "".join(piece.content for piece in made.pieces if isinstance(piece.content, str)).strip()

    def take(self, statement: Statement, source: Source) -> None:
        if statement.kind == "recipe":
            if self.rules:
                self.rules[-1].recipe.append(statement)
        elif statement.kind == "set":
            self.assign(statement)
        elif statement.kind == "rule" and statement.targets is not None:
            self.rule(statement)
        elif statement.kind == "include":
            self.include(statement, source)
        elif statement.kind == "export":
            names = statement.body.text.split()
            self.exported.update(dict.fromkeys(names))
            self.exports_all = self.exports_all or not names

    def assign(self, statement: Statement) -> None:
        value = Text(tuple(runs(statement.body)))
        tables = [self.variables]
        if statement.targets is not None:
            names = self.plain(Text(tuple(runs(statement.targets)))).split()
            tables = [self.own.setdefault(name, {}) for name in names]
        for table in tables:
            self.assign_in(table, statement, value)
        if statement.exported:
            self.exported[statement.name] = None

    def assign_in(self, table: dict[str, _Variable], statement: Statement, value: Text) -> None:
        name, span = statement.name, statement.span
        before = table.get(name) or self.variables.get(name)
        if statement.operator == "?=":
            if before is None:
                table[name] = _Variable(value, False, span, True)
                self.ask(name, self.witnesses(value), span)
            return
        if statement.operator == "!=":
            value = Text.of(Hole(f"the output of a command that sets {name}"), span)
        if statement.operator == "+=" and before is not None:
            more = self.expanded(value, {}, 0) if before.simple else value
            table[name] = _Variable(before.value + Text.of(" ", span) + more, before.simple, span, before.conditional)
            return
        simple = statement.operator in (":=", "::=", ":::=", "!=")
        if simple and statement.operator != "!=":
            value = self.expanded(value, {}, 0)
        table[name] = _Variable(value, simple, span)

    def witnesses(self, default: Text) -> tuple[str, ...]:
        return of_default(default, self.context.knowledge) if default.marked().strip() else ("1",)

    def ask(self, name: str, witnesses: tuple[str, ...], span: Span) -> None:
        if _NAME.fullmatch(name) and name not in self.given:
            self.context.ask([Question(name, witnesses, span)])

    def rule(self, statement: Statement) -> None:
        assert statement.targets is not None
        names = tuple(self.plain(Text(tuple(runs(statement.targets)))).split())
        body = statement.body.cut(0, statement.body.text.find(";")) if statement.operator else statement.body
        needs = tuple(self.plain(Text(tuple(runs(body)))).replace("|", " ").split())
        if ".ONESHELL" in names:
            self.one_shell = True
        self.rules.append(_Rule(names, needs, statement.span))

    def include(self, statement: Statement, source: Source) -> None:
        for name in self.plain(Text(tuple(runs(statement.body)))).split():
            for folder in (self.source.file.parent, source.file.parent):
                path = folder / name
                if "\0" in name or self.files >= _MOST_INCLUDES or not self.context.project.exists(path):
                    continue
                found = self.context.source(path)
                if found is not None and self.context.may_read(len(found.text)):
                    self.read(found)
                break

    # Expansion

    def value(self, name: str, local: Mapping[str, _Variable], span: Span | None, depth: int) -> Text | None:
        """A variable's value; None where nothing sets it."""
        if name in self.given:
            return self.given[name]
        # What a person gives on the command line (or, for `?=`, in the environment) beats the file.
        world = self.context.world()
        if name in world.env and name not in local:
            return Text.of(world.env[name], span)
        found = local.get(name) or self.variables.get(name)
        if found is None:
            return None
        place = Place(found.span, f"{name} is set here")
        made = found.value if found.simple else self.expanded(found.value, local, depth + 1)
        return Text(tuple(piece._replace(via=(place, *piece.via)) for piece in made.pieces))

    def expanded(self, text: Text, local: Mapping[str, _Variable], depth: int) -> Text:
        """A text with its references replaced."""
        made = Joined()
        for part, _ in self.parts(text, local, depth):
            made.add(part)
        return made.text()

    def parts(
        self, text: Text, local: Mapping[str, _Variable], depth: int
    ) -> Iterator[tuple[tuple[Piece, ...], Span | None]]:
        """The pieces of a text, with the place of the reference that they come from (None: as written)."""
        marked, cuts = text.marked(), Cuts(text)
        at = plain = 0
        while (at := marked.find("$", at)) >= 0:
            yield cuts.cut(plain, at).pieces, None
            end = _reference(marked, at)
            inner = marked[at + 1 : end]
            span = cuts.cut(at, end).span()
            self.expansions += 1
            if inner == "$":
                yield cuts.cut(at, at + 1).pieces, None
            elif depth > _DEEPEST or self.expansions > _MOST_EXPANSIONS:
                yield (Piece(Hole("a variable that is made of too many others"), span),), span
            elif inner[:1] in ("(", "{"):
                body = cuts.cut(at + 2, end - 1)
                yield self.reference(body, local, span, depth).pieces, span
            else:
                yield self.named(inner, local, span, depth).pieces, span
            at = plain = max(end, at + 1)
        yield cuts.cut(plain).pieces, None

    def named(self, name: str, local: Mapping[str, _Variable], span: Span | None, depth: int) -> Text:
        found = self.value(name, local, span, depth)
        if found is not None:
            return found
        if name in _HERE:
            return Text.of(".", span)
        if name == "MAKE":
            return Text.of("make", span)
        if not _NAME.fullmatch(name):
            return Text.of(Hole(f"what ${name} stands for in the recipe", one_word=True), span)
        if span is not None:
            self.ask(name, (), span)
        return _at(hole(f"the variable {name} of make", name), span)

    def reference(self, body: Text, local: Mapping[str, _Variable], span: Span | None, depth: int) -> Text:
        marked = body.marked()
        function = re.match(r"([a-z-]+)[ \t]+", marked)
        if function is None or function.group(1) not in _FUNCTIONS:
            changed = re.match(r"([\w.-]+):[^=]*=", marked)
            if changed is not None:
                return Text.of(Hole(f"the variable {changed.group(1)}, changed by the Makefile"), span)
            return self.named(self.expanded(body, local, depth + 1).marked().strip(), local, span, depth)
        arguments = _arguments(body.cut(function.end()))

        def one(number: int) -> Text:
            return self.expanded(arguments[number], local, depth + 1) if number < len(arguments) else Text()

        name = function.group(1)
        if name == "if":
            self.switch(arguments[0], span)
            return one(1) if _stripped(one(0)) and not one(0).holes else one(2)
        if name == "or":
            for number in range(len(arguments)):
                self.switch(arguments[number], span)
                value = one(number)
                if _stripped(value) and not value.holes:
                    return value
            return one(len(arguments) - 1)
        if name == "strip":
            return one(0)
        if name in ("call", "value"):
            return self.called(_stripped(one(0)), [one(n) for n in range(1, len(arguments))], local, span, depth)
        if name == "shell" and _stripped(one(0)) == "pwd":
            return Text.of(".", span)
        return Text.of(Hole(f"what $({name} ...) gives"), span)

    def called(
        self, name: str, arguments: list[Text], local: Mapping[str, _Variable], span: Span | None, depth: int
    ) -> Text:
        place = span or self.source.span(0, 0)
        numbered = {str(at): _Variable(value, True, place) for at, value in enumerate(arguments, 1)}
        found = self.value(name, {**local, **numbered}, span, depth)
        return found if found is not None else Text.of(Hole(f"the variable {name} of make"), span)

    def switch(self, condition: Text, span: Span | None) -> None:
        """Asks about a variable that a function tests for being set."""
        name = re.fullmatch(r"\s*\$[({]([\w.-]+)[)}]\s*", condition.marked())
        if name is not None and span is not None:
            self.ask(name.group(1), ("1",), span)

    # Recipes

    def everything(self) -> Iterator[Found]:
        for rule in self.rules:
            local = self.locals(rule, {})
            yield from self.run(rule, local, ())
            own = {name: variable for target in rule.names for name, variable in self.own.get(target, {}).items()}
            if own:
                # What a target needs is made with the target's variables.
                yield from self.needed(rule, local, (rule.span,), {id(rule)})

    def locals(self, rule: _Rule, outer: Mapping[str, _Variable]) -> dict[str, _Variable]:
        local = dict(outer)
        for target in rule.names:
            local.update(self.own.get(target, {}))
        if len(rule.names) == 1:
            local["@"] = _Variable(Text.of(rule.names[0], rule.span), True, rule.span)
        return local

    def needed(
        self, rule: _Rule, local: Mapping[str, _Variable], calls: tuple[Span, ...], seen: set[int]
    ) -> Iterator[Found]:
        for other in self.rules:
            if id(other) not in seen and any(need in other.names for need in rule.needs) and len(calls) < _DEEPEST:
                seen.add(id(other))
                inner = self.locals(other, local)
                yield from self.run(other, inner, calls)
                yield from self.needed(other, inner, (*calls, other.span), seen)

    def run(self, rule: _Rule, local: Mapping[str, _Variable], calls: tuple[Span, ...]) -> Iterator[Found]:
        """The engines that a recipe starts: each line is a script of its own, unless one shell reads them all."""
        self.recipes += 1
        if self.recipes > _MOST_RECIPES:
            return
        invocations: list[Invocation] = []
        env: dict[str, Text] | None = None
        wanted = embedded.heads(self.context)
        for script in self.scripts(rule, local):
            if not (wanted.search(script.text) or _MAKES.search(script.text)):
                continue
            if not self.context.may_read(len(script.text)):
                return
            env = self.environment(local) if env is None else env
            world = self.context.world(World(texts=env))
            directory = self.source.file.parent
            run = run_script(script, world, project=self.context.project, directory=directory, name=self.source.path)
            self.context.ran(run.steps)
            self.context.ask(question for question in run.questions if question.name not in env)
            invocations += run.invocations
        found = scripts.in_run(Run(invocations, [], []), self.context, self.source.file.parent)
        yield from (replace(one, calls=(*calls, *one.calls)) for one in found)
        for invocation in invocations:
            yield from self.made(invocation, calls)

    def scripts(self, rule: _Rule, local: Mapping[str, _Variable]) -> Iterator[Script]:
        lines = [self.line(statement, local) for statement in rule.recipe]
        if not self.one_shell:
            for text, offsets in lines:
                yield _script(text, offsets, rule.recipe[0].body.source)
        elif lines:
            newline = Piece("\n")
            text = Text(tuple(piece for line, _ in lines for piece in (*line.pieces, newline)))
            offsets = [offset for _, one in lines for offset in (*one, one[-1] if one else 0)]
            yield _script(text, offsets, rule.recipe[0].body.source)

    def line(self, statement: Statement, local: Mapping[str, _Variable]) -> tuple[Text, list[int]]:
        """A line of a recipe, expanded, and where a reader of the recipe sees each character."""
        body = statement.body
        prefix = re.match(r"[ \t@+-]*", body.text)
        body = body.cut(prefix.end() if prefix else 0, len(body.text))
        made = Joined()
        offsets: list[int] = []
        first = body.offset(0)
        head = ""
        for pieces, span in self.parts(Text(tuple(runs(body))), local, 0):
            if span is not None and _BEFORE.fullmatch(head) and all(isinstance(p.content, Hole) for p in pieces):
                # What may wrap a command, and that nothing sets, is nothing.
                continue
            head += Text(pieces).marked() if len(head) < _LONGEST_HEAD else ""
            made.add(pieces)
            for piece in pieces:
                size = 1 if isinstance(piece.content, Hole) else len(piece.content)
                if span is None and piece.span is not None:
                    offsets += range(piece.span.start, piece.span.start + size)
                else:
                    start, end = (span.start, span.end) if span is not None else (first, first + 1)
                    offsets += [start] * (size - 1) + [max(start, end - 1)] if size else []
        text = made.text()
        size = len(text.marked())
        return text, offsets if len(offsets) == size else [first] * size

    def environment(self, local: Mapping[str, _Variable]) -> dict[str, Text]:
        """What the shell of a recipe gets from the file."""
        names = {*self.exported, *(self.variables if self.exports_all else ())}
        env = {name: self.value(name, local, None, 0) for name in names}
        given = {**self.given, **{name: text for name, text in env.items() if text is not None}}
        return {name: text for name, text in given.items() if re.fullmatch(r"[A-Za-z_]\w*", name)}

    def made(self, invocation: Invocation, calls: tuple[Span, ...]) -> Iterator[Found]:
        """The engines of a target that a recipe makes in turn: ``$(MAKE) serve MTP=1``."""
        name = base_name(invocation.words[0]) if invocation.words else ""
        if name not in ("make", "gmake") or self.depth >= 3:
            return
        given = dict(self.given)
        targets: list[str] = []
        for word in invocation.words[1:]:
            text = word.text.marked()
            match = _SETS.fullmatch(text)
            if match is not None:
                given[match.group(1)] = word.text.cut(match.start(2))
            elif text.startswith(("-C", "-f", "--directory", "--file")):
                return
            elif not text.startswith("-"):
                targets.append(text)
        if given == self.given:
            return
        inner = _Reader(self.context, self.source, given, self.depth + 1, recipes=self.recipes)
        if not self.context.may_read(len(self.source.text)):
            return
        inner.read(self.source)
        for rule in inner.rules:
            if any(target in rule.names for target in targets):
                yield from inner.run(rule, inner.locals(rule, {}), (*calls, invocation.span))


_FUNCTIONS = frozenset(
    {
        "if", "or", "and", "strip", "call", "value", "shell", "foreach", "wildcard", "addprefix", "addsuffix", "subst",
        "patsubst", "filter", "filter-out", "sort", "word", "words", "wordlist", "firstword", "lastword", "dir",
        "notdir", "suffix", "basename", "join", "realpath", "abspath", "eval", "origin", "flavor", "info", "warning",
        "error", "file", "findstring", "intcmp", "let",
    }
)  # fmt: skip


def _script(text: Text, offsets: list[int], source: Source) -> Script:
    return Script(Fragment(text.marked(), source, offsets), text)


def _at(text: Text, span: Span | None) -> Text:
    return Text(tuple(piece._replace(span=piece.span or span) for piece in text.pieces))


def _stripped(text: Text) -> str:
    return text.marked().strip()


def _reference(marked: str, at: int) -> int:
    """Where the reference that begins at an offset ends."""
    opening = marked[at + 1 : at + 2]
    closing = {"(": ")", "{": "}"}.get(opening)
    if closing is None:
        return at + 2
    depth = 0
    for match in re.compile(r"[(){}]").finditer(marked, at + 1):
        if match.group() == opening:
            depth += 1
        elif match.group() == closing:
            depth -= 1
            if not depth:
                return match.end()
    return len(marked)


def _arguments(text: Text) -> list[Text]:
    """The arguments of a function: what stands between commas outside of brackets."""
    marked, cuts = text.marked(), Cuts(text)
    out: list[Text] = []
    start = depth = 0
    for at, char in enumerate(marked):
        if char in "({":
            depth += 1
        elif char in ")}":
            depth -= 1
        elif char == "," and not depth:
            out.append(cuts.cut(start, at))
            start = at + 1
    out.append(cuts.cut(start))
    return out


def _sides(text: Text) -> tuple[Text, Text] | None:
    """The two sides of ``(a,b)``, ``"a" "b"``."""
    match = _COMPARED.match(text.marked())
    if match is None:
        return None
    if match.group(1) is not None:
        sides = _arguments(text.cut(match.start(1), match.end(1)))
        return (sides[0], sides[1]) if len(sides) == 2 else None
    return text.cut(match.start(3), match.end(3)), text.cut(match.start(5), match.end(5))
