"""Statements carried out once, on one path, with nothing executed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gdnlint.documents.shell import assign, conditions, expand, options, sourced, streams
from gdnlint.documents.shell.builtins import BUILTINS, Command, emit
from gdnlint.documents.shell.control import Exit, Loop, Return, Status
from gdnlint.documents.shell.programs import output_of
from gdnlint.documents.shell.script import Script, fragment_of
from gdnlint.documents.shell.state import (
    MOST_CALLS,
    MOST_ITERATIONS,
    FileKey,
    Frame,
    Invocation,
    Shell,
    Stop,
    Uncertain,
    Variable,
)
from gdnlint.documents.shell.syntax import (
    Assignment,
    Background,
    Calculation,
    Case,
    Chain,
    Count,
    For,
    Function,
    Group,
    If,
    Node,
    Pipeline,
    Redirect,
    Simple,
    Substitution,
    Test,
    While,
    Written,
)
from gdnlint.project import Project
from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Hole, Piece, Problem, Question, Text, Word, World


@dataclass(frozen=True, slots=True)
class Run:
    """What a script does in one world."""

    invocations: list[Invocation]
    questions: list[Question]
    problems: list[Problem]
    exports: dict[str, Text] = field(default_factory=dict)
    """Exported variables at its end."""
    steps: int = 0
    """What it took: commands that were run."""
    files: Mapping[FileKey, Text | None] = field(default_factory=dict)
    """What it has written to files; None: what stands in one is not known."""


def run(
    fragment: Fragment,
    world: World,
    *,
    project: Project | None = None,
    directory: Path | None = None,
    args: Sequence[Word] | None = None,
    name: str = "",
) -> Run:
    """As ``run_script``, for text that is run once."""
    return run_script(Script(fragment), world, project=project, directory=directory, args=args, name=name)


def run_script(
    script: Script,
    world: World,
    *,
    project: Project | None = None,
    directory: Path | None = None,
    args: Sequence[Word] | None = None,
    name: str = "",
    cwd: str | None = None,
    file: Source | None = None,
) -> Run:
    """Carries a script out once in one world; deterministic, bounded, never raises for any text.

    ``project`` reads sourced files; ``directory`` is where the script lies (what ``dirname "$0"``
    gives); ``args`` are its arguments, None if nothing says them; ``name`` is what problems call
    the text if it is not a file of its own; ``cwd`` is the directory it is run in, and ``file`` the one
    that starts it, if it is another.
    """
    shell = Shell(script, world, project, directory, name)
    shell.capture = lambda nodes: capture(shell, nodes)
    shell.frame = _arguments(shell, args)
    shell.cwd = cwd
    shell.file = file or shell.file
    try:
        note_broken(shell, script)
        statements(shell, script.nodes)
    except (Exit, Return, Loop):
        pass
    except Uncertain:
        pass
    except Stop as stop:
        shell.problems.append(stop.problem)
    except RecursionError:
        shell.problems.append(
            Problem(
                "too-deep", "statements are nested too deeply; the rest is not read", None, script.fragment.source.path
            )
        )
    return Run(shell.invocations, shell.questions(), shell.problems, exported(shell), shell.steps, shell.files)


def note_broken(shell: Shell, script: Script) -> None:
    """Reports what could not be parsed, once a file."""
    source = script.fragment.source
    label = shell.name if script is shell.script and shell.name else source.path
    if source.path in shell.partial or not (script.broken or script.limit):
        return
    shell.partial.add(source.path)
    at = script.broken[0] if script.broken else max(len(script.text) - 1, 0)
    span = script.span(at, min(at + 1, len(script.text)))
    if script.limit:
        what = "is nested too deeply" if script.limit == "too-deep" else "is too large"
        shell.problems.append(Problem(script.limit, f"{label} {what}; the rest of it is not read", span))
        return
    count = len({script.span(at, at).line for at in script.broken})
    lines = "1 line" if count == 1 else f"{count} lines"
    shell.problems.append(Problem("syntax-partial", f"{lines} of {label} could not be parsed", span))


_ARGUMENT = re.compile(r"arg:([1-9][0-9]?)")


def _arguments(shell: Shell, args: Sequence[Word] | None) -> Frame:
    if args is not None:
        return Frame(list(args), False)
    found = ((_ARGUMENT.fullmatch(name), value) for name, value in shell.world.answers.items())
    given = {int(match.group(1)): value for match, value in found if match is not None}
    whole = shell.script.span(0, 0)
    words = []
    for number in range(1, max(given, default=0) + 1):
        if number in given:
            words.append(Word(Text.of(given[number]), whole))
        else:
            words.append(Word(Text.of(Hole(f"argument {number} of the script", f"arg:{number}"), whole), whole))
    for number in given:
        shell.ask(f"arg:{number}", whole)
    return Frame(words, True)


# Statements


def statements(shell: Shell, nodes: Sequence[Node]) -> Status:
    status = Status.TRUE
    for node in nodes:
        status = execute(shell, node)
    return status


def execute(shell: Shell, node: Node) -> Status:
    shell.step(lambda: shell.script.span(node.start, node.end))
    return _STATEMENTS[type(node)](shell, node)


def condition(shell: Shell, nodes: Sequence[Node]) -> bool | None:
    """Whether a list of statements succeeds; None if nothing decides it."""
    for node in nodes[:-1]:
        execute(shell, node)
    return holds(shell, nodes[-1]) if nodes else True


def holds(shell: Shell, node: Node) -> bool | None:
    """Whether a statement succeeds, as a condition: an external command is not decided."""
    if isinstance(node, Chain):
        value = holds(shell, node.items[0][1])
        for operator, item in node.items[1:]:
            if value is (operator == "||"):
                ask_only(shell, item)
                continue
            right = holds(shell, item)
            value = conditions.all_true(value, right) if operator == "&&" else conditions.any_true(value, right)
        return value
    if isinstance(node, Pipeline) and len(node.items) == 1:
        value = holds(shell, node.items[0])
        return conditions.negate(value) if node.negated else value
    if isinstance(node, Group) and not node.subshell:
        return condition(shell, node.body)
    status = execute(shell, node)
    return {Status.TRUE: True, Status.FALSE: False}.get(status)


def chain(shell: Shell, node: Chain) -> Status:
    guards = shell.guards
    shell.start_condition()
    status = execute(shell, node.items[0][1])
    relied = shell.relied
    for index, (operator, item) in enumerate(node.items[1:], 1):
        if status is Status.OPEN:
            rest = [it for op, it in node.items[index:] if op == operator]
            ends = any(leaves(shell, [it]) for it in rest)
            prefer = operator == "||" if ends else False
            first = node.items[0][1].start
            value = decide(shell, first, node.items[index - 1][1].end, prefer)
            status = Status.TRUE if value else Status.FALSE
        goes = (status is not Status.FALSE) == (operator == "&&")
        if not goes:
            ask_only(shell, item)
            continue
        if relied and gives_up(shell, [it for op, it in node.items[index:] if op == operator]):
            # The script stops because something outside of it is missing: read on as if it were there.
            shell.assume_given()
            continue
        shell.start_condition()
        shell.relying += relied
        try:
            status = execute(shell, item)
        finally:
            shell.relying -= relied
        relied = relied or shell.relied
    shell.guards = guards
    return status


def ask_only(shell: Shell, node: Node) -> None:
    """A test that is not reached still tells what its variables are compared with."""
    relied = shell.relied
    if isinstance(node, Test):
        conditions.double_bracket(shell, node.test)
    elif command_name(node) in ("[", "test") and isinstance(node, Simple):
        _bracket(shell, node, command_name(node))
    shell.relied = relied


def decide(shell: Shell, start: int, end: int, prefer: bool) -> bool:
    """Takes one way at a condition that nothing decides, and puts what follows under its guard."""
    if shell.captured is not None and shell.strict:
        raise Uncertain
    span = shell.script.span(start, end)
    name = guard_name(shell, span)
    asked = shell.ask(name, span, shell.script.text[start:end])
    asked.witnesses.setdefault("true")
    asked.witnesses.setdefault("false")
    answer = shell.world.answers.get(name)
    shell.guards = (*shell.guards, name) if name not in shell.guards else shell.guards
    return prefer if answer is None else answer == "true"


def guard_name(shell: Shell, span: Span) -> str:
    name = f"guard:{span.line}:{span.column}"
    return name if span.source is shell.file else f"{name}:{span.source.path}"


def if_(shell: Shell, node: If) -> Status:
    guards = shell.guards
    relying = False
    shell.compared = set()
    try:
        for index, (test, body) in enumerate(node.clauses):
            shell.start_condition()
            value = condition(shell, test)
            relied = shell.relied
            if value is None and test:
                others = [b for _, b in node.clauses[index + 1 :]]
                last = node.otherwise if not others else []
                prefer = bool(last) and leaves(shell, last) and not leaves(shell, body)
                value = decide(shell, test[0].start, test[-1].end, prefer)
            elif value and relied and gives_up(shell, body):
                shell.assume_given()
                value = False
            elif not value and relied and index == len(node.clauses) - 1 and gives_up(shell, node.otherwise):
                shell.must_choose(shell.compared)
                shell.assume_given()
                return Status.TRUE
            relying = relying or relied
            if value:
                return relyingly(shell, relying, body)
        return relyingly(shell, relying, node.otherwise)
    finally:
        shell.guards = guards


def relyingly(shell: Shell, relying: bool, nodes: Sequence[Node]) -> Status:
    """Runs statements; ``relying``: they run only because something is not set."""
    shell.relying += relying
    try:
        return statements(shell, nodes)
    finally:
        shell.relying -= relying


def leaves(shell: Shell, nodes: Sequence[Node], depth: int = 0) -> bool:
    """Whether statements end in ``exit`` or ``return``."""
    if not nodes or depth > 4:
        return False
    last = nodes[-1]
    if isinstance(last, Group) and not last.subshell:
        return leaves(shell, last.body, depth + 1)
    if isinstance(last, Chain):
        return leaves(shell, [last.items[-1][1]], depth + 1)
    name = command_name(last)
    if name in ("exit", "return"):
        return True
    if name in shell.functions:
        body = shell.functions[name][1]
        inner = body.body if isinstance(body, Group) else [body]
        return bool(inner) and command_name(inner[-1]) == "exit"
    return False


def gives_up(shell: Shell, nodes: Sequence[Node]) -> bool:
    """Whether statements only say something and then ``exit``."""
    return _speaks(shell, nodes, 0) == "exit"


def _speaks(shell: Shell, nodes: Sequence[Node], depth: int) -> str:
    """``exit`` if statements only say something and then exit, ``yes`` if they only do that, else empty."""
    if depth > 6:
        return ""
    for node in nodes:
        found = _speaks_one(shell, node, depth + 1)
        if found != "yes":
            return found
    return "yes"


def _speaks_one(shell: Shell, node: Node, depth: int) -> str:
    if isinstance(node, Group) and not node.subshell:
        return _speaks(shell, node.body, depth)
    if isinstance(node, Chain):
        return _speaks(shell, [item for _, item in node.items], depth)
    if isinstance(node, Pipeline):
        return "yes" if _speaks(shell, node.items, depth) else ""
    if isinstance(node, For | While):
        return "yes" if _speaks(shell, node.body, depth) == "yes" else ""
    if isinstance(node, If):
        bodies = [body for _, body in node.clauses] + [node.otherwise]
        return "yes" if all(_speaks(shell, body, depth) == "yes" for body in bodies) else ""
    if isinstance(node, Test):
        return "yes"
    name = command_name(node)
    if name == "exit":
        return "exit"
    if name in shell.functions:
        body = shell.functions[name][1]
        return _speaks(shell, body.body if isinstance(body, Group) else [body], depth)
    return "yes" if name in _SPEAKING or (isinstance(node, Simple) and not node.words) else ""


_SPEAKING = frozenset(
    ("echo", "printf", "cat", "sed", "grep", "head", "tail", "usage", "log", "sleep", "[", "test", "local", "ls",
     "find", "sort", "awk", "true", ":", "tee", "column", "fold")
)  # fmt: skip


def command_name(node: Node) -> str:
    if isinstance(node, Simple) and node.words and isinstance(node.words[0], Written):
        return expand.text_of_constant(node.words[0].parts) or ""
    return ""


def while_(shell: Shell, node: While) -> Status:
    always = len(node.test) == 1 and command_name(node.test[0]) in ("true", ":", "1")
    if always and shell.frame.open and not shell.frame.words:
        note_options(shell, node.body)
        shell.frame.words += options.given(shell, node.body)
    for _ in range(MOST_ITERATIONS):
        shell.start_condition()
        value = condition(shell, node.test)
        once = value is None or shell.relied or always
        if value is node.until:
            more = options.given(shell, node.body) if shell.relied and shell.frame.open else []
            if more:
                shell.frame.words += more
                continue
            if shell.relied:
                note_arguments(shell, node.body)
                note_options(shell, node.body)
            break
        left = len(shell.frame.words)
        if not body_goes_on(shell, node.body) or (once and len(shell.frame.words) >= left):
            break
    return Status.TRUE


def note_options(shell: Shell, body: Sequence[Node]) -> None:
    """Asks about the options that a loop over the script's arguments takes."""
    options.note(shell, body)
    for letter, question in shell.letters:
        options.note_value(shell, question, options.branch(body, letter))
    shell.letters = []


def body_goes_on(shell: Shell, body: Sequence[Node]) -> bool:
    """Runs a loop's body; whether the loop goes on."""
    try:
        statements(shell, body)
    except Loop as loop:
        if loop.levels > 1:
            raise Loop(loop.ends, loop.levels - 1) from None
        return not loop.ends
    return True


def note_arguments(shell: Shell, body: Sequence[Node], depth: int = 0) -> None:
    """Remembers which variables a loop would set if the script had arguments."""
    if depth > 6:
        return
    for node in body:
        if isinstance(node, Simple):
            for assignment in node.assignments:
                if assignment.items is None and not node.words:
                    shell.tainted[assignment.name] = Hole("the arguments of the script")
        elif isinstance(node, Case):
            for _, inner, _ in node.items:
                note_arguments(shell, inner, depth + 1)
        elif isinstance(node, If):
            for _, inner in node.clauses:
                note_arguments(shell, inner, depth + 1)
        elif isinstance(node, Group):
            note_arguments(shell, node.body, depth + 1)
        elif isinstance(node, Chain):
            note_arguments(shell, [item for _, item in node.items], depth + 1)


def for_(shell: Shell, node: For) -> Status:
    span = shell.script.span(*node.head)
    if node.words is None:
        words = expand.arguments(shell, span)
    else:
        words = expand.expand_all(shell, node.words)
    for word in words[:MOST_ITERATIONS]:
        text = word.text
        if word.spread:
            hole = text.holes[0]
            if hole.name == "@" and not shell.has_arguments:
                # The script is read as if it were called without arguments, so there is nothing to loop over.
                if not _over_options(shell, node, span):
                    break
                note_arguments(shell, node.body)
                note_options(shell, node.body)
                continue
            text = Text.of(Hole(f"one of the words of {hole.reason}"), word.span)
        shell.set_text(node.name, text, span)
        if not body_goes_on(shell, node.body):
            break
    return Status.TRUE


def _over_options(shell: Shell, node: For, span: Span) -> bool:
    """Runs a loop's body for the options that this world gives; whether the loop goes on."""
    for word in options.given(shell, node.body):
        shell.set_text(node.name, word.text, span)
        if not body_goes_on(shell, node.body):
            return False
    return True


def count(shell: Shell, node: Count) -> Status:
    span = shell.script.span(node.start, node.start + 3)
    conditions.calculation(shell, node.first, span)
    for _ in range(MOST_ITERATIONS):
        value = conditions.calculation(shell, node.test, span) if node.test else None
        if value is False:
            break
        if not body_goes_on(shell, node.body) or value is None:
            break
        conditions.calculation(shell, node.step, span)
    return Status.TRUE


def case(shell: Shell, node: Case) -> Status:
    guards = shell.guards
    # Every pattern is looked at.
    shell.steps += len(node.items) // 8
    try:
        shell.start_condition()
        shell.deciding += 1
        try:
            subject = conditions.Operand(shell.settled(expand.text_of(shell, node.word.parts)), node.word)
            relied = shell.relied
            for patterns, _, _ in node.items:
                for pattern in patterns:
                    if conditions.is_plain(pattern):
                        conditions.matches(shell, subject, pattern)
        finally:
            shell.deciding -= 1
        taken = False
        status = Status.TRUE
        for index, (_, body, ending) in enumerate(node.items):
            if not taken and not _case_matches(shell, node, subject, index):
                continue
            if relied and gives_up(shell, body):
                shell.must_choose(conditions.names_of(shell, subject))
                shell.assume_given()
                return status
            status = relyingly(shell, relied, body)
            if ending == ";;":
                return status
            taken = ending == ";&"
        return status
    finally:
        shell.guards = guards


def _case_matches(shell: Shell, node: Case, subject: conditions.Operand, index: int) -> bool:
    patterns, body, _ = node.items[index]
    value: bool | None = False
    shell.deciding += 1
    try:
        for pattern in patterns:
            value = conditions.any_true(value, conditions.matches(shell, subject, pattern))
            if value:
                break
    finally:
        shell.deciding -= 1
    if value is None:
        others = (it for it in node.items[index + 1 :] if any(conditions.is_star(p) for p in it[0]))
        rest = next(others, None)
        prefer = rest is not None and leaves(shell, rest[1]) and not leaves(shell, body)
        return decide(shell, patterns[0].start, patterns[-1].end, prefer)
    return value


def group(shell: Shell, node: Group) -> Status:
    with redirected(shell, node.redirects):
        if not node.subshell:
            return statements(shell, node.body)
        with subshell(shell):
            return leaving(lambda: statements(shell, node.body))


def leaving(body: Callable[[], Status]) -> Status:
    """The status of a subshell, whose ``exit`` ends only itself."""
    try:
        return body()
    except (Exit, Return) as left:
        return left.status
    except Loop:
        return Status.TRUE


def background(shell: Shell, node: Background) -> Status:
    with subshell(shell):
        leaving(lambda: execute(shell, node.body))
    return Status.TRUE


@contextmanager
def subshell(shell: Shell) -> Iterator[None]:
    """What is set inside does not leak."""
    scopes, functions, exported, cwd, frame = shell.scopes, shell.functions, shell.exported, shell.cwd, shell.frame
    guards = shell.guards
    shell.scopes = [dict(scope) for scope in scopes]
    shell.functions, shell.exported = dict(functions), set(exported)
    shell.frame = Frame(list(frame.words), frame.open, frame.shifted)
    shell.spend(sum(len(scope) for scope in scopes) // 8, None)
    try:
        yield
    finally:
        shell.scopes, shell.functions, shell.exported, shell.cwd, shell.frame = scopes, functions, exported, cwd, frame
        shell.guards = guards


@contextmanager
def redirected(shell: Shell, redirects: Sequence[Redirect]) -> Iterator[None]:
    """Output that goes to a file is not captured; a here-document feeds what is inside."""
    captured, piped = shell.captured, shell.piped
    if captured is not None and streams.writes_elsewhere(redirects):
        shell.captured = None
    fed = streams.fed_text(shell, redirects)
    if fed is not None:
        shell.piped = fed
    try:
        yield
    finally:
        shell.captured, shell.piped = captured, piped


def pipeline(shell: Shell, node: Pipeline) -> Status:
    if len(node.items) == 1:
        status = execute(shell, node.items[0])
    else:
        status = _pipe(shell, node)
    if not node.negated:
        return status
    return {Status.TRUE: Status.FALSE, Status.FALSE: Status.TRUE}.get(status, status)


def _pipe(shell: Shell, node: Pipeline) -> Status:
    status = Status.TRUE
    piped = shell.piped
    last = len(node.items) - 1
    for index, item in enumerate(node.items):
        with subshell(shell):
            if index == last:
                status = leaving(lambda item=item: execute(shell, item))  # type: ignore[misc]
                continue
            captured, strict, spoiled = shell.captured, shell.strict, shell.spoiled
            shell.captured, shell.strict, shell.spoiled = [], False, False
            try:
                leaving(lambda item=item: execute(shell, item))  # type: ignore[misc]
                found = Text(tuple(p for text in shell.captured for p in text.pieces))
                output = None if shell.spoiled or not found.pieces else found
            finally:
                shell.captured, shell.strict, shell.spoiled = captured, strict, spoiled
        shell.piped = output
    shell.piped = piped
    return status


def capture(shell: Shell, nodes: Sequence[Node]) -> Text:
    """The output of a command substitution, without the line ends behind it. Raises Uncertain."""
    captured, strict, piped, deciding = shell.captured, shell.strict, shell.piped, shell.deciding
    invocations, relied, guards = len(shell.invocations), shell.relied, shell.guards
    shell.captured, shell.strict, shell.piped, shell.deciding = [], True, None, 0
    shell.depth += 1
    if shell.depth > MOST_CALLS:
        raise too_deep(shell, nodes)
    try:
        with subshell(shell):
            leaving(lambda: statements(shell, nodes))
        pieces = [p for text in shell.captured for p in text.pieces]
    finally:
        shell.captured, shell.strict, shell.piped, shell.deciding = captured, strict, piped, deciding
        shell.relied, shell.guards = relied, guards
        del shell.invocations[invocations:]
        shell.depth -= 1
    while pieces and isinstance(pieces[-1].content, str):
        last = pieces[-1]
        kept = last.content.rstrip("\n") if isinstance(last.content, str) else ""
        if kept == last.content:
            break
        pieces[-1:] = Text((last,)).cut(0, len(kept)).pieces
    return shell.bounded(Text(tuple(pieces)), None)


def too_deep(shell: Shell, nodes: Sequence[Node]) -> Stop:
    span = shell.script.span(nodes[0].start, nodes[0].end) if nodes else None
    return Stop(Problem("too-deep", "calls are nested too deeply; the rest is not read", span))


def define(shell: Shell, node: Function) -> Status:
    shell.functions[node.name] = (shell.script, node.body, shell.here)
    return Status.TRUE


def test(shell: Shell, node: Test) -> Status:
    return Status.of(conditions.double_bracket(shell, node.test))


def calculation(shell: Shell, node: Calculation) -> Status:
    span = shell.script.span(node.start, node.end)
    return Status.of(conditions.calculation(shell, node.body, span))


# Simple commands


def simple(shell: Shell, node: Simple) -> Status:
    if not node.words:
        for assignment in node.assignments:
            assign.assign(shell, assignment)
        return Status.RAN if any(_substitutes(a) for a in node.assignments) else Status.TRUE
    name = command_name(node)
    if name in ("[", "test") and name not in shell.functions:
        return _bracket(shell, node, name)
    words, sources = _words(shell, node, name)
    if not words:
        for assignment in node.assignments:
            assign.assign(shell, assignment)
        return Status.RAN
    return dispatch(shell, node, words, sources)


def _words(shell: Shell, node: Simple, name: str) -> tuple[list[Word], list[Written | Assignment]]:
    """The words, and for each what it was written as."""
    declares = name in ("declare", "typeset", "local", "export", "readonly")
    words: list[Word] = []
    sources: list[Written | Assignment] = []
    for written in node.words:
        if isinstance(written, Assignment):
            made = [Word(Text.of(written.name), shell.script.span(written.start, written.end))]
        elif declares and assign.looks_assigning(written):
            span = shell.script.span(written.start, written.end)
            made = [Word(expand.text_of(shell, written.parts), span)]
        else:
            made = expand.expand(shell, written)
        words.extend(made)
        sources.extend([written] * len(made))
    shell.spend(len(words), None)
    if len(words) > 4096:
        shell.counted(len(words), shell.script.span(node.start, node.end))
    return words, sources


def _substitutes(assignment: Assignment) -> bool:
    return assignment.value is not None and any(isinstance(p, Substitution) for p in assignment.value.parts)


def _bracket(shell: Shell, node: Simple, name: str) -> Status:
    written = [w for w in node.words[1:] if isinstance(w, Written)]
    if name == "[":
        if not written or shell.script.text[written[-1].start : written[-1].end] != "]":
            return Status.FALSE
        written.pop()
    return Status.of(conditions.bracket(shell, written))


def dispatch(
    shell: Shell,
    node: Simple,
    words: list[Word],
    sources: Sequence[Written | Assignment],
    *,
    functions: bool = True,
) -> Status:
    """Runs a command whose words are expanded: a function, a builtin or a program."""
    name = words[0].known
    if name is not None:
        if functions and name in shell.functions:
            return call(shell, node, name, words)
        builtin = BUILTINS.get(name) or _RUNNING.get(name)
        if builtin is not None:
            written = streams.target(shell, node.redirects)
            with redirected(shell, node.redirects):
                run = partial(builtin, shell, Command(node, words, sources))
                return _into_file(shell, run, *written) if written is not None else run()
    return invoke(shell, node, words)


def _into_file(shell: Shell, run: Callable[[], Status], file: Word, appends: bool) -> Status:
    """A builtin whose output goes to a file."""
    saved = shell.captured, shell.strict, shell.spoiled
    shell.captured, shell.strict, shell.spoiled = [], False, False
    try:
        return run()
    finally:
        made = Text(tuple(p for text in shell.captured for p in text.pieces))
        streams.write(shell, file, None if shell.spoiled else made, appends)
        shell.captured, shell.strict, shell.spoiled = saved


def call(shell: Shell, node: Simple, name: str, words: list[Word]) -> Status:
    script, body, here = shell.functions[name]
    span = span_of(shell, node)
    saved = shell.script, shell.frame, shell.calls, shell.here
    scope: dict[str, Variable] = {}
    exported = set(shell.exported)
    for assignment in node.assignments:
        if assignment.value is not None:
            text = expand.text_of(shell, assignment.value.parts)
            scope[assignment.name] = Variable(text)
            shell.exported.add(assignment.name)
    shell.depth += 1
    if shell.depth > MOST_CALLS:
        raise too_deep(shell, [node])
    with redirected(shell, node.redirects):
        shell.script, shell.frame, shell.here = script, _passed_on(shell.frame, words[1:]), here
        shell.calls = (*shell.calls, span)
        shell.scopes.append(scope)
        shell.functional += 1
        try:
            return execute(shell, body)
        except Return as left:
            return left.status
        finally:
            shell.functional -= 1
            shell.scopes.pop()
            shell.script, shell.frame, shell.calls, shell.here = saved
            shell.depth -= 1
            if node.assignments:
                shell.exported = exported


def _passed_on(frame: Frame, words: list[Word]) -> Frame:
    """The parameters of a function; ``"$@"`` hands on those of the script, and which those are stays open."""
    if frame.open and words and words[-1].spread and [hole.name for hole in words[-1].text.holes] == ["@"]:
        own = [word.text for word in words[:-1]]
        if own == [word.text for word in frame.words]:
            return Frame(words[:-1], True, frame.shifted)
    return Frame(words, False)


def invoke(shell: Shell, node: Simple, words: list[Word]) -> Status:
    """A program is run."""
    prefixed: dict[str, Text] = {}
    for assignment in node.assignments:
        if assignment.value is not None:
            prefixed[assignment.name] = expand.text_of(shell, assignment.value.parts)
    fed = streams.fed_text(shell, node.redirects)
    fed = fed if fed is not None else shell.piped
    span = span_of(shell, node)
    stdin = fragment_of(fed, span) if fed is not None and fed.known is not None else None
    written = streams.target(shell, node.redirects)
    env = {**exported(shell), **prefixed}
    output = written[0] if written is not None else None
    shell.invocations.append(
        Invocation(tuple(words), env, span, shell.guards, stdin, shell.calls, fed, output, shell.cwd, shell.files)
    )
    _note_files(shell, words, fed, written)
    if shell.captured is not None and not streams.writes_elsewhere(node.redirects):
        produce(shell, words, fed)
    return Status.RAN


def _note_files(shell: Shell, words: list[Word], fed: Text | None, written: tuple[Word, bool] | None) -> None:
    """What a program writes to files."""
    if words[0].known == "tee":
        names = [word for word in words[1:] if not word.text.marked().startswith("-")]
        for name in names:
            streams.write(shell, name, fed, any(word.known == "-a" for word in words[1:]))
    if written is not None:
        streams.write(shell, written[0], output_of(shell, words, fed), written[1])


def produce(shell: Shell, words: list[Word], fed: Text | None) -> None:
    """The output of a program whose output is plain from its arguments."""
    made = output_of(shell, words, fed)
    if made is not None:
        assert shell.captured is not None
        shell.captured.append(made)
    elif shell.strict:
        raise Uncertain
    else:
        shell.spoiled = True


def exported(shell: Shell) -> dict[str, Text]:
    out: dict[str, Text] = {}
    for name in sorted(shell.exported):
        found = shell.find(name)
        if found is not None:
            text = found.scalar
            if text is not None:
                out[name] = text
        elif name in shell.world.texts:
            out[name] = shell.world.texts[name]
        elif name in shell.world.env:
            out[name] = Text.of(shell.world.env[name])
    return out


def span_of(shell: Shell, node: Simple) -> Span:
    first = node.words[0].start if node.words else node.start
    return shell.script.span(first, node.end)


# Builtins that run something


def eval_(shell: Shell, given: Command) -> Status:
    node, words = given.node, given.words
    pieces: list[Piece] = []
    for word in words[1:]:
        if pieces:
            pieces.append(Piece(" "))
        pieces.extend(word.text.pieces)
    text = shell.bounded(Text(tuple(pieces)), None)
    if not any(isinstance(p.content, str) and p.content.strip() for p in text.pieces):
        return Status.RAN
    span = span_of(shell, node)
    with nested(shell, node, Script.of(text, span)):
        return statements(shell, shell.script.nodes)


@contextmanager
def nested(shell: Shell, node: Simple, script: Script) -> Iterator[None]:
    outer = shell.script
    shell.depth += 1
    if shell.depth > MOST_CALLS:
        raise too_deep(shell, [node])
    shell.spend(len(script.text), None)
    shell.script = script
    try:
        yield
    finally:
        shell.script = outer
        shell.depth -= 1


def source(shell: Shell, given: Command) -> Status:
    node, words = given.node, given.words
    if len(words) < 2 or shell.project is None:
        return Status.RAN
    span = span_of(shell, node)
    found = sourced.locate(shell, words[1], span)
    if found is None:
        return Status.RAN
    path, script = found
    saved = shell.here, shell.calls, shell.frame, shell.reading
    shell.calls = (*shell.calls, span)
    if path is not None:
        shell.here, shell.reading = path.parent, (*shell.reading, path)
    if len(words) > 2:
        shell.frame = Frame(words[2:], False)
    status = Status.TRUE
    try:
        with nested(shell, node, script):
            note_broken(shell, script)
            status = statements(shell, script.nodes)
    except Return as left:
        status = left.status
    finally:
        frame = shell.frame
        shell.here, shell.calls, shell.frame, shell.reading = saved
        if len(words) == 2:
            shell.frame = frame
    return status


def exec_(shell: Shell, given: Command) -> Status:
    node, words = given.node, given.words
    rest = words[1:]
    while rest and (rest[0].known or "").startswith("-"):
        rest = rest[2:] if rest[0].known == "-a" else rest[1:]
    if not rest:
        return Status.TRUE
    invoke(shell, node, rest)
    raise Exit(Status.RAN)


def command(shell: Shell, given: Command) -> Status:
    """``command`` and ``builtin``: no functions."""
    node, words, sources = given.node, given.words, given.sources
    rest, written = words[1:], sources[1:]
    while rest and (rest[0].known or "").startswith("-"):
        if rest[0].known != "-p":
            emit(shell, None)
            return Status.RAN
        rest, written = rest[1:], written[1:]
    if not rest:
        return Status.TRUE
    return dispatch(shell, node, rest, written, functions=False)


_RUNNING = {"eval": eval_, "source": source, ".": source, "exec": exec_, "command": command, "builtin": command}

_STATEMENTS: dict[type[Any], Callable[[Shell, Any], Status]] = {
    Simple: simple,
    Chain: chain,
    Pipeline: pipeline,
    Background: background,
    Group: group,
    If: if_,
    For: for_,
    Count: count,
    While: while_,
    Case: case,
    Function: define,
    Test: test,
    Calculation: calculation,
}
