"""Launches in shell scripts, and in whatever holds shell text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from gdnlint.documents.shell import Invocation, Run, Script, run_script
from gdnlint.knowledge.schema import Framework, Knowledge, OtherEngine
from gdnlint.launches.commands import Command, base_name, recognise, unwrap, unwrap_command
from gdnlint.launches.context import (
    CHARACTERS_OF_A_WORD,
    MOST_PAIRS,
    Alternative,
    Contents,
    Context,
    affords,
    alternatives,
    choices,
)
from gdnlint.launches.installs import built, extras, installed
from gdnlint.launches.model import Insertion, Launch, Variant, VersionHint
from gdnlint.launches.overrides import variant_of
from gdnlint.launches.scalars import runs
from gdnlint.launches.started import Started, of_file, script_behind
from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Hole, Place, Question, Text, Word, World

_DEEPEST = 4
_UNITS = (".service", ".container")
"""How the names of files end that hold a unit."""
_MOST_PINS = 32
"""Packages that a script installs."""
_LONGEST_WORD = 400
"""Characters of a file between the first and the last piece of a word that still count as one place."""

LISTS = frozenset({"container", "embedded command"})
"""Kinds of launches whose words may be the items of a list in the file."""


@dataclass(frozen=True, slots=True)
class Found:
    """One recognised command of one run of a script."""

    command: Command
    program: Framework | OtherEngine
    span: Span
    calls: tuple[Span, ...]
    directory: Path | None = None
    """Where the file lies that configures it; None: where the script that was read lies."""
    cwd: str | None = None
    """The directory in which it is run, if that is known."""


class _Where(NamedTuple):
    """On which way a script is reached."""

    directory: Path
    depth: int = 0
    """Scripts in strings and files that lead to it."""
    reading: tuple[Path, ...] = ()
    """The files among them."""


def launches(source: Source, context: Context) -> list[Launch]:
    """The launches of a shell script."""
    return in_script(Script(Fragment.whole(source)), context, source.file.parent)


def in_script(script: Script, context: Context, directory: Path, kind: str = "shell command") -> list[Launch]:
    """Every launch of a script, with a variant for each scenario that changes it."""

    def find(inner: Context) -> Iterator[Found]:
        if not inner.may_read(len(script.text)):
            return
        run = run_script(script, inner.world(), project=inner.project, directory=directory)
        inner.ran(run.steps)
        inner.report(run.problems)
        inner.ask(run.questions)
        yield from _found(run, inner, _Where(directory, 0, (script.fragment.source.file,)))

    return explore(find, context, directory, kind, script.text)


def explore(
    find: Callable[[Context], Iterable[Found]], context: Context, directory: Path, kind: str, text: str | None = None
) -> list[Launch]:
    """The launches that ``find`` finds: in the default scenario, and in those that it asked for.

    What a script must be given has no default: the default scenario is then each value that it takes.
    """
    nothing = Alternative(World(), {}, {})
    passes = _Passes(find, context)
    passes.go(nothing)
    must = choices(passes.asked, lambda question: question.required)
    if not must and not passes.found(nothing):
        # A script that starts nothing without arguments is judged with each.
        must = choices(passes.asked, lambda question: question.name == "arg:1")
    base = nothing
    telling = context.knowledge.scenario_words
    for choice in must:
        if not passes.affords(choice) or not passes.go(choice):
            continue
        if base is nothing or passes.words(choice, telling) > passes.words(base, telling):
            base = choice
    if base is not nothing:
        passes.forget(nothing)
    texts = (text, *passes.texts()) if text is not None else ()
    asked = [q for q in passes.asked if q.name not in base.choice]
    if text is not None and not any(context.explores(part) for part in texts):
        asked = [question for question in asked if question.name.startswith("guard:")]
    switches: list[Alternative] = []
    for alternative in alternatives(asked, telling):
        one = base.and_(alternative)
        if passes.affords(one):
            passes.go(one)
            switches.append(one)
    for pair in _pairs(passes, base, switches, telling):
        if passes.affords(pair):
            passes.go(pair)
    made: dict[tuple[object, ...], Launch] = {}
    for alternative, found in passes.done:
        _collect(made, found, alternative, context, directory, kind)
    return [without_repeats(launch) for launch in made.values()]


@dataclass(slots=True)
class _Passes:
    """The passes over one file, a scenario each."""

    find: Callable[[Context], Iterable[Found]]
    context: Context
    done: list[tuple[Alternative, list[Found]]] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    """What the passes without a switch asked, in order."""
    steps: int = 0

    def go(self, alternative: Alternative) -> bool:
        """One pass; whether it found a launch."""
        inner = self.context.within(alternative.world)
        found = list(self.find(inner))
        self.steps += inner.steps
        self.done.append((alternative, found))
        if not alternative.when and not alternative.guards:
            names = {question.name for question in self.asked}
            self.asked += [question for question in inner.asked if question.name not in names or not alternative.choice]
        if alternative.world == World():
            self.context.report(inner.problems)
        return bool(found)

    def affords(self, alternative: Alternative) -> bool:
        return affords(alternative, self.steps)

    def found(self, alternative: Alternative) -> list[Found]:
        return next((found for one, found in self.done if one is alternative), [])

    def forget(self, alternative: Alternative) -> None:
        self.done = [(one, found) for one, found in self.done if one is not alternative]

    def texts(self) -> Iterator[str]:
        sources = {id(one.span.source): one.span.source for _, found in self.done for one in found}
        yield from (source.text for source in sources.values())

    def said(self, alternative: Alternative, telling: Sequence[str]) -> frozenset[str]:
        """The words of its launches that tell of speculation or prefix caching."""
        texts = (word.text.marked() for one in self.found(alternative) for word in one.command.words)
        return frozenset(text for text in texts if any(word in text for word in telling))

    def words(self, alternative: Alternative, telling: Sequence[str]) -> int:
        return len(self.said(alternative, telling))


def _pairs(
    passes: _Passes, base: Alternative, switches: Sequence[Alternative], telling: Sequence[str]
) -> Iterator[Alternative]:
    """Switches that each change other telling words of the launches: only both may give the combination."""
    before = passes.said(base, telling)
    changed = {index: passes.said(one, telling) ^ before for index, one in enumerate(switches) if one.when}
    found = (
        switches[first].and_(switches[second])
        for (first, one), (second, other) in combinations(changed.items(), 2)
        if one and other and one.isdisjoint(other) and switches[first].when.keys() != switches[second].when.keys()
    )
    yield from islice(found, MOST_PAIRS)


def without_repeats(launch: Launch) -> Launch:
    """A variant that configures what the default does says nothing new."""
    if len(launch.variants) < 2:
        return launch
    kept: list[Variant] = []
    seen: set[object] = set()
    for variant in launch.variants:
        key = (tuple(variant.when.items()), tuple(variant.choice.items()), variant.signature())
        if key not in seen:
            seen.add(key)
            kept.append(variant)
    launch.variants = kept
    return launch


def _collect(
    made: dict[tuple[object, ...], Launch],
    everything: Iterable[Found],
    alternative: Alternative,
    context: Context,
    directory: Path,
    kind: str,
) -> None:
    counts: dict[tuple[object, ...], int] = {}
    for found in everything:
        # The command may end elsewhere in another scenario.
        place = (found.span.source.path, found.span.start, tuple(call.key() for call in found.calls))
        number = counts.get(place, 0)
        counts[place] = number + 1
        framework = found.program if isinstance(found.program, Framework) else None
        key = (*place, number, found.program.name)
        launch = made.get(key)
        if not context.may_read(CHARACTERS_OF_A_WORD * len(found.command.words)):
            return
        if launch is None and not context.has_room(key):
            return
        if launch is None:
            other = found.program if isinstance(found.program, OtherEngine) else None
            launch = Launch(found.span, kind, framework, other, found.directory or directory)
            made[key] = launch
        if framework is None:
            launch.variants.append(
                Variant(
                    when=alternative.when,
                    choice=alternative.choice,
                    guards=alternative.guards,
                    guard_text=alternative.text,
                )
            )
            continue
        surroundings = replace(context, cwd=found.cwd) if found.cwd is not None else context
        variant = variant_of(framework, _at_home(found.command), surroundings, found.directory or directory)
        launch.variants.append(
            replace(
                variant,
                when=alternative.when,
                choice=alternative.choice,
                guards=alternative.guards,
                guard_text=alternative.text,
                insertion=_insertion(framework, found, kind),
            )
        )


def _at_home(command: Command) -> Command:
    """The command with each word at the place where its text is written (an array's element), not where it is used."""
    return replace(command, words=tuple(_written(word) for word in command.words))


def _written(word: Word) -> Word:
    spans = [piece.span for piece in word.text.pieces if piece.span is not None]
    if word.spread or not spans:
        return word
    first = spans[0]
    here = word.span
    if first.source is here.source and here.start <= first.start < max(here.end, here.start + 1):
        return word
    last = spans[-1]
    ordered = last.source is first.source and first.start <= last.start and last.end - first.start <= _LONGEST_WORD
    home = Span(first.source, first.start, last.end) if ordered else first
    text = Text(tuple(piece._replace(via=(*piece.via, Place(here, "used here"))) for piece in word.text.pieces))
    return replace(word, span=home, text=text)


def _insertion(framework: Framework, found: Found, kind: str) -> Insertion | None:
    """Behind the last word that is written in the command itself."""
    form = "flag" if framework.dialect == "engine_argv" else "override"
    own = [word for word in found.command.words if not word.spread and found.span.holds(word.span)]
    # The program that an image starts stands where the image is named; nothing can be added there.
    images = {hint.span.key() for hint in found.command.hints}
    own = [w for w in own if w.span.key() not in images]
    if not own:
        return None
    last = max(own, key=lambda word: word.span.start) if kind in LISTS else own[-1]
    return Insertion(form, last.span, _style(last.span) if kind in LISTS else "shell")


def _style(span: Span) -> str:
    """How words stand in a YAML file: as items of a list, one a line or between brackets, or as text."""
    text = span.source.text
    before = text[: span.start].rstrip(" \t")
    if before.endswith("-") and not before[:-1].rpartition("\n")[2].strip():
        return "item"
    behind = text[span.end :].lstrip()
    return "list" if before.rstrip().endswith(("[", ",")) and behind.startswith((",", "]")) else "shell"


def in_run(run: Run, context: Context, directory: Path) -> Iterator[Found]:
    """The recognised commands of a script that was run."""
    yield from _found(run, context, _Where(directory))


def _found(run: Run, context: Context, where: _Where) -> Iterator[Found]:
    """The recognised commands of a run, those in strings that it hands to another shell included."""
    pins: tuple[VersionHint, ...] = ()
    options: tuple[str, ...] = ()
    images: dict[str, VersionHint] = {}
    for invocation in run.invocations:
        command = unwrap(invocation.words, invocation.env, context.knowledge)
        if command is None:
            continue
        # What is installed last is there, and not in the container that a command starts.
        if command.image is None:
            pins = (*installed(command, context.knowledge), *pins)[:_MOST_PINS]
            options = (*extras(command), *options)[:_MOST_PINS]
            made = built(command)
            images.update(dict.fromkeys(made[0], made[1]) if made is not None and len(images) < _MOST_PINS else {})
        for found in _in_command(command, invocation, context, where):
            yield _after(_from_built(found, images), pins, options)
        for found in _in_unit(command, invocation, context, where.directory):
            yield _after(_from_built(found, images), pins, options)
    if where.depth == 0:
        yield from _in_exports(run, context, where)


def _from_built(found: Found, images: Mapping[str, VersionHint]) -> Found:
    """A command in an image that its script has built before, with the Dockerfile of it."""
    if not images:
        return found
    hints: list[VersionHint] = []
    for hint in found.command.hints:
        made = images.get(hint.text.marked()) if hint.kind == "image" else None
        hints += [made, hint] if made is not None else [hint]
    return replace(found, command=replace(found.command, hints=tuple(hints)))


def _after(found: Found, pins: tuple[VersionHint, ...], options: tuple[str, ...]) -> Found:
    """A command that runs with what its script has installed before, unless it brings a container of its own."""
    command = found.command
    if not (pins or options) or any(hint.kind == "image" for hint in command.hints):
        return found
    return replace(found, command=replace(command, hints=(*command.hints, *pins), extras=(*command.extras, *options)))


def in_process(command: Command, span: Span, context: Context, directory: Path) -> Iterator[Found]:
    """The recognised commands of a process that no script starts (a container): its words, or the script in them."""
    inner = unwrap_command(command, context.knowledge)
    given = {
        w.text.pieces[0].span.key(): w for w in command.words if w.text.pieces and w.text.pieces[0].span is not None
    }
    if inner is not None:
        invocation = Invocation(inner.words, dict(inner.env), span)
        for found in _in_command(inner, invocation, context, _Where(directory)):
            words = tuple(_as_given(word, given) for word in found.command.words)
            env = {**command.env, **found.command.env}
            made = replace(found.command, words=words, env=env)
            yield replace(found, span=span, calls=(), directory=None, command=made)


def _as_given(word: Word, given: Mapping[tuple[str, int, int], Word]) -> Word:
    """A word that a script only hands on (``"$@"``) at the place where it is written."""
    place = word.text.pieces[0].span if word.text.pieces else None
    origin = given.get(place.key()) if place is not None else None
    return (
        replace(word, span=origin.span) if origin is not None and origin.text.marked() == word.text.marked() else word
    )


def _in_command(command: Command, invocation: Invocation, context: Context, where: _Where) -> Iterator[Found]:
    if command.script is not None:
        yield from _in_string(command.script, command, invocation, context, where)
        return
    program = recognise(command, context.knowledge)
    if program is not None:
        yield Found(command, program, invocation.span, invocation.calls, cwd=invocation.cwd)
        return
    started = script_behind(command, invocation, context, where.directory)
    if started is not None:
        yield from _in_started(started, command, invocation, context, where)
        return
    for word in _script_words(command, context.knowledge):
        yield from _in_string(word, command, invocation, context, where)
    if invocation.stdin is not None and where.depth < _DEEPEST and _reads_shell(command, context.knowledge):
        if not context.may_read(len(invocation.stdin.text)):
            return
        inner = run_script(
            Script(invocation.stdin), context.world(), project=context.project, directory=where.directory
        )
        context.ran(inner.steps)
        for found in _found(inner, context, where._replace(depth=where.depth + 1)):
            yield replace(found, calls=invocation.calls)


def _in_unit(command: Command, invocation: Invocation, context: Context, directory: Path) -> Iterator[Found]:
    """The engines of a unit that a command writes (``cat > vllm.service``, ``tee``): no other file shows them."""
    text = invocation.stdin_text
    if text is None and invocation.stdin is not None:
        text = Text(tuple(runs(invocation.stdin)))
    names = [invocation.output, *command.words[1:]]
    if text is None or not any(name is not None and name.text.marked().endswith(_UNITS) for name in names):
        return
    from gdnlint.launches import unit

    for found in unit.written(text, invocation.span, context, directory):
        yield replace(found, calls=invocation.calls)


def _reads_shell(command: Command, knowledge: Knowledge) -> bool:
    return bool(command.words) and base_name(command.words[0]) in knowledge.shells


def _script_words(command: Command, knowledge: Knowledge) -> Iterator[Word]:
    """Words of a command nobody knows that hold a whole command line themselves (``tmux new -d "vllm serve ..."``)."""
    if not command.words or base_name(command.words[0]) in knowledge.silent_commands:
        return
    for word in command.words[1:]:
        text = word.text.marked()
        if " " in text.strip() and not word.spread and _mentions_program(text, knowledge):
            yield word


def _mentions_program(text: str, knowledge: Knowledge) -> bool:
    return any(word in text for word in knowledge.words)


def _in_started(
    started: Started, command: Command, invocation: Invocation, context: Context, where: _Where
) -> Iterator[Found]:
    """The commands of a script that a command runs, with its arguments and environment."""
    path = started.path
    if where.depth >= _DEEPEST or (path is not None and path in where.reading):
        return
    if not context.may_read(len(started.script.text)):
        return
    texts = _set(command)
    run = run_script(
        started.script,
        context.world(World(texts=texts)),
        project=context.project,
        directory=path.parent if path is not None else where.directory,
        args=started.args,
        cwd=invocation.cwd,
        file=invocation.span.source,
    )
    context.ran(run.steps)
    context.ask(from_outside(run, texts, context))
    inner = _Where(
        path.parent if path is not None else where.directory,
        where.depth + 1,
        (*where.reading, path) if path is not None else where.reading,
    )
    for found in _found(run, context, inner):
        calls = (*invocation.calls, invocation.span, *found.calls)
        yield replace(_inside(found, command), calls=calls, directory=found.directory or inner.directory)


def in_file(path: Path, command: Command, invocation: Invocation, context: Context) -> Iterator[Found]:
    """The recognised commands of a script of the project that a process runs with a command's words and variables."""
    started = of_file(path, command.words[1:], context)
    for found in _in_started(started, command, invocation, context, _Where(path.parent)) if started is not None else ():
        yield replace(found, span=invocation.span, calls=())


def _inside(found: Found, command: Command) -> Found:
    """What a script starts, with what is known of the command that runs the script."""
    made = replace(
        found.command,
        env={**command.env, **found.command.env},
        hints=found.command.hints + command.hints,
        extras=found.command.extras + command.extras,
        mounts=found.command.mounts + command.mounts,
    )
    return replace(found, command=made)


def _in_string(
    word: Word, command: Command, invocation: Invocation, context: Context, where: _Where
) -> Iterator[Found]:
    if where.depth >= _DEEPEST or word.spread or not context.may_read(len(word.text.marked())):
        return
    inner = Script.of(word.text, word.span)
    texts = _set(command)
    run = run_script(
        inner,
        context.world(World(texts=texts)),
        project=context.project,
        directory=where.directory,
        args=command.script_args[1:],
        cwd=invocation.cwd,
    )
    context.ran(run.steps)
    context.ask(from_outside(run, texts, context))
    surroundings = _in_image(command, context)
    for found in _found(run, surroundings, where._replace(depth=where.depth + 1)):
        # A string may be put together from texts of other files; a script that it starts has a place of its own.
        own = found.span.source is invocation.span.source or found.directory is not None
        yield replace(
            _inside(found, command),
            span=found.span if own else invocation.span,
            calls=(*invocation.calls, *found.calls) if found.directory is not None else invocation.calls,
        )
    context.steps = surroundings.steps


def _in_image(command: Command, context: Context) -> Context:
    """What a shell in a container finds there."""
    if command.image is None or context.container is not None:
        return context
    return replace(context, container=Contents(command.mounts))


def _set(command: Command) -> dict[str, Text]:
    """The environment that a command gets; a variable that is only passed on may be unset."""
    return {
        name: text
        for name, text in command.env.items()
        if not (len(text.pieces) == 1 and isinstance(hole := text.pieces[0].content, Hole) and hole.name == name)
    }


def from_outside(run: Run, texts: Mapping[str, Text], context: Context) -> Iterator[Question]:
    """The questions of an inner script that something outside the files can answer."""
    for question in run.questions:
        if question.name in context.passed:
            yield question._replace(name=context.passed[question.name])
        elif question.name not in texts:
            yield question


def _in_exports(run: Run, context: Context, where: _Where) -> Iterator[Found]:
    """Command lines in exported variables: another script runs them (``COMMAND="uv run ..." sbatch ray.sub``)."""
    for text in run.exports.values():
        marked = text.marked()
        if "\n" not in marked and " " not in marked.strip():
            continue
        if not _mentions_program(marked, context.knowledge):
            continue
        span = _span_of(text)
        if span is None or not context.may_read(len(marked)):
            continue
        inner = run_script(Script.of(text, span), context.world(), project=context.project, directory=where.directory)
        context.ran(inner.steps)
        for found in _found(inner, context, where._replace(depth=1)):
            yield replace(found, span=_widest(text, found.span))


def _span_of(text: Text) -> Span | None:
    return next((piece.span for piece in text.pieces if piece.span is not None), None)


def _widest(text: Text, span: Span) -> Span:
    """The lines of a command that stands in several pieces of one file."""
    spans = [p.span for p in text.pieces if p.span is not None and p.span.source is span.source]
    start = min((s.start for s in spans if s.start >= span.start), default=span.start)
    return Span(span.source, min(span.start, start), max([span.end, *(s.end for s in spans)]))
