"""Launches in Python: calls that configure an engine, and command lines that it hands to other programs."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gdnlint.documents.python import SPREAD, Call, Module, fragment_of, mentions_call
from gdnlint.documents.shell import Script
from gdnlint.knowledge.schema import CallForm, Framework, Knowledge, OtherEngine
from gdnlint.launches import requirements, scripts
from gdnlint.launches.commands import Command, engine_of_image, recognise, unwrap
from gdnlint.launches.context import Alternative, Context, affords, alternatives
from gdnlint.launches.installs import installed
from gdnlint.launches.model import Insertion, Launch, Variant, VersionHint
from gdnlint.launches.overrides import variant_of
from gdnlint.source import Fragment, Source
from gdnlint.values import Hole, Text, Value, Word, World

RUNS_ARGV = (
    "subprocess.run",
    "subprocess.Popen",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "os.execvp",
    "os.execv",
    "os.execvpe",
    "asyncio.create_subprocess_exec",
)
RUNS_SHELL = ("os.system", "subprocess.getoutput", "asyncio.create_subprocess_shell")


def forms(knowledge: Knowledge) -> dict[str, tuple[Framework, CallForm]]:
    """Every callable that configures an engine, by dotted name."""
    return {form.name: (framework, form) for framework in knowledge.frameworks for form in framework.recognise.calls}


def launches(source: Source, context: Context) -> list[Launch]:
    """Every launch in a Python module."""
    return in_fragment(Fragment.whole(source), source, context)


def in_fragment(fragment: Fragment, source: Source, context: Context) -> list[Launch]:
    """The launches in Python text that stands somewhere in a file."""
    text = fragment.text
    known = forms(context.knowledge)
    names = {name.rpartition(".")[2] for name in known}
    runners = {name.rpartition(".")[2] for name in (*RUNS_ARGV, *RUNS_SHELL)}
    calls_engine = any(name in text for name in names) and mentions_call(text, names)
    runs_command = _mentions_command(text, context.knowledge) and mentions_call(text, runners)
    if not calls_engine and not runs_command:
        return []
    reported = set(known) | (set(RUNS_ARGV) | set(RUNS_SHELL) if runs_command else set())
    holds = _container_calls(text, context.knowledge)

    def wanted(name: str) -> bool:
        return name in reported or _fits(name, holds)

    module = Module(fragment, project=context.project, directory=source.file.parent)
    first = module.run(context.world(), wanted)
    context.report(first.problems)
    made: dict[tuple[object, ...], Launch] = {}
    _collect(made, first.calls, Alternative(World(), {}, {}), context, source.file.parent, known)
    pins = _held(first.calls, context.knowledge)
    questions = list(context.open(first.questions))
    if not questions or not context.explores(text):
        return _with_hints(made.values(), pins, requirements.in_python(fragment, context.knowledge))
    steps = first.steps
    for alternative in alternatives(questions, context.knowledge.scenario_words):
        if not affords(alternative, steps):
            continue
        run = module.run(context.world(alternative.world), wanted)
        steps += run.steps
        _collect(made, run.calls, alternative, context, source.file.parent, known)
    return _with_hints(made.values(), pins, requirements.in_python(fragment, context.knowledge))


def _container_calls(text: str, knowledge: Knowledge) -> tuple[str, ...]:
    """Patterns of calls that say what a container holds, where their package is named at all."""
    return tuple(p for p in (*knowledge.package_calls, *knowledge.image_calls) if p.partition(".")[0] in text)


def _held(calls: list[Call], knowledge: Knowledge) -> tuple[VersionHint, ...]:
    """What the module's containers hold of an engine; nothing where two of them differ."""
    found: list[VersionHint] = []
    for call in calls:
        words = [word for value in call.args for word in _requirements(value, call)]
        if _fits(call.callee, knowledge.package_calls):
            command = Command((*(Word(Text.of(name), call.span) for name in ("pip", "install")), *words))
            found += installed(command, knowledge)
        elif _fits(call.callee, knowledge.image_calls):
            images = (word for word in words[:1] if engine_of_image(word.text, knowledge) is not None)
            found += [VersionHint(word.text, word.span, "image") for word in images]
    return tuple(found) if len({(hint.kind, hint.text.marked()) for hint in found}) == 1 else ()


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _requirements(value: Value, call: Call) -> list[Word]:
    """One requirement an argument, or a list of them."""
    return [_word(item, call) for item in (value.data if isinstance(value.data, list) else [value])]


def _with_hints(
    launches: Iterable[Launch], held: tuple[VersionHint, ...], somewhere: tuple[VersionHint, ...]
) -> list[Launch]:
    """The launches of a module, each behind its own words with what its containers hold, then with what the module's
    texts name."""
    out = []
    for launch in launches:
        launch.variants = [replace(v, hints=(*(v.hints or held), *somewhere)) for v in launch.variants]
        out.append(scripts.without_repeats(launch))
    return out


def _mentions_command(text: str, knowledge: Knowledge) -> bool:
    """Whether the words of a launch command stand in the file at all."""
    commands = {command[-1] for framework in knowledge.frameworks for command in framework.recognise.commands}
    modules = {module.rstrip(".*") for framework in knowledge.frameworks for module in framework.recognise.modules}
    return any(f'"{name}"' in text or f"'{name}'" in text or f" {name} " in text for name in commands) or any(
        module in text for module in modules if "." in module
    )


def _collect(
    made: dict[tuple[object, ...], Launch],
    calls: list[Call],
    alternative: Alternative,
    context: Context,
    directory: Path,
    known: dict[str, tuple[Framework, CallForm]],
) -> None:
    counts: dict[tuple[object, ...], int] = {}
    for call in calls:
        if any(
            fnmatch.fnmatchcase(call.callee, p)
            for p in (*context.knowledge.package_calls, *context.knowledge.image_calls)
        ):
            continue
        if call.callee in known:
            framework, form = known[call.callee]
            number = counts.get(call.span.key(), 0)
            counts[call.span.key()] = number + 1
            place = (*call.span.key(), number)
            if place not in made and not context.has_room(place):
                return
            launch = made.setdefault(place, Launch(call.span, "python call", framework, None, directory))
            launch.variants.append(
                replace(
                    _variant(call, framework, form),
                    when=alternative.when,
                    guards=alternative.guards,
                    guard_text=alternative.text,
                )
            )
            continue
        for key, launch in _commands(call, alternative, context, directory):
            if key not in made and not context.has_room(key):
                return
            kept = made.setdefault(key, launch)
            if kept is not launch:
                kept.variants += launch.variants


def _variant(call: Call, framework: Framework, form: CallForm) -> Variant:
    arguments = {name: value for name, value in call.kwargs.items() if name != "**"}
    for name, value in zip(form.positional, call.args, strict=False):
        if value.route == SPREAD:
            break
        arguments[name] = replace(value, route="keyword", name=name)
    mapping = Value(arguments, call.span, route="call", name=call.callee)
    env = {name: _text(value) for name, value in call.env.items()}
    insertion = Insertion("keyword", call.span, "python")
    open_reason = call.open_reason
    if framework.dialect == "engine_argv":
        return Variant(arguments=mapping, env=env, entry=call.callee, open_reason=open_reason, insertion=insertion)
    return Variant(tree=mapping, base=mapping, env=env, entry=call.callee, open_reason=open_reason, insertion=insertion)


def _text(value: Value) -> Text:
    if isinstance(value.data, Text):
        return value.data
    if isinstance(value.data, str | int | float | bool):
        return Text.of(str(value.data), value.span)
    return Text.of(Hole("a value that the module computes"), value.span)


def _commands(
    call: Call, alternative: Alternative, context: Context, directory: Path
) -> list[tuple[tuple[object, ...], Launch]]:
    """Launches in the command that a call runs."""
    command = (
        call.args[-1]
        if call.callee.startswith("os.exec") and call.args
        else next(iter(call.args), call.kwargs.get("args"))
    )
    if command is None:
        return []
    if isinstance(command.data, list):
        return _argv(call, command.data, alternative, context, directory)
    return _shell_text(call, command, alternative, context, directory)


def _argv(
    call: Call, items: list[Value], alternative: Alternative, context: Context, directory: Path
) -> list[tuple[tuple[object, ...], Launch]]:
    words = tuple(_word(item, call) for item in items)
    command = unwrap(words, {name: _text(value) for name, value in call.env.items()}, context.knowledge)
    if command is None:
        return []
    if command.script is not None:
        inner = Script.of(command.script.text, command.script.span)
        return _from_script(inner, call, alternative, context, directory)
    program = recognise(command, context.knowledge)
    if program is None:
        return []
    launch = Launch(call.span, "python command", program if isinstance(program, Framework) else None,
                    program if isinstance(program, OtherEngine) else None, directory)  # fmt: skip
    variant = variant_of(program, command, context, directory) if isinstance(program, Framework) else Variant()
    own = [w for w in words if not w.spread]
    insertion = (
        Insertion(
            "flag" if isinstance(program, Framework) and program.dialect == "engine_argv" else "override",
            own[-1].span,
            "list",
        )
        if own
        else None
    )
    launch.variants.append(
        replace(
            variant, when=alternative.when, guards=alternative.guards, guard_text=alternative.text, insertion=insertion
        )
    )
    return [((*call.span.key(), "argv"), launch)]


def _word(item: Value, call: Call) -> Word:
    span = item.span or call.span
    if item.route == SPREAD:
        reason = next((hole.reason for hole in item.holes()), "words that the files do not show")
        return Word(Text.of(Hole(reason), span), span, spread=True)
    text = item.data if isinstance(item.data, Text) else Text.of(str(item.plain()), span)
    return Word(text, span)


def _shell_text(
    call: Call, command: Value, alternative: Alternative, context: Context, directory: Path
) -> list[tuple[tuple[object, ...], Launch]]:
    if isinstance(command.data, Text):
        script = Script.of(command.data, command.span or call.span)
    else:
        fragment = fragment_of(command)
        if fragment is None:
            return []
        script = Script(fragment)
    return _from_script(script, call, alternative, context, directory)


def _from_script(
    script: Script, call: Call, alternative: Alternative, context: Context, directory: Path
) -> list[tuple[tuple[object, ...], Launch]]:
    out: list[tuple[tuple[object, ...], Launch]] = []
    for number, launch in enumerate(scripts.in_script(script, context, directory, "python command")):
        plain = [v for v in launch.variants if not v.when]
        launch.variants = [
            replace(
                v,
                when={**alternative.when, **v.when},
                guards={**alternative.guards, **v.guards},
                guard_text=alternative.text or v.guard_text,
            )
            for v in (plain if alternative.when or alternative.guards else launch.variants)
        ]
        launch.span = call.span
        out.append(((*call.span.key(), number), launch))
    return out
