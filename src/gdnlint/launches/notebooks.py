"""Launches in Jupyter notebooks: the code cells are one program, commands behind ``!`` one script beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gdnlint.documents.markdown import Fence
from gdnlint.documents.notebook import Cell, cells, joined
from gdnlint.documents.shell import Script, run_script
from gdnlint.launches import calls, fences, scripts
from gdnlint.launches.commands import unwrap
from gdnlint.launches.context import Context
from gdnlint.launches.installs import installed
from gdnlint.launches.model import Launch, VersionHint
from gdnlint.launches.scalars import runs
from gdnlint.launches.scripts import Found
from gdnlint.launches.templates import filled, without_placeholders
from gdnlint.source import Fragment, Source
from gdnlint.values import Text, World

KIND = "notebook cell"

_MOST_PINS = 32
"""Packages that the cells install."""

_CELL_MAGIC = re.compile(r"\s*%%(\w+)([^\n]*)\n?")
_SHELLS = frozenset({"bash", "sh", "shell", "script", "system", "sx", "!"})
_PYTHON = frozenset({"time", "timeit", "capture", "python", "python3", "prun", "memit", "mprun", "skip"})
_LINE = re.compile(r"([ \t]*)(?:([A-Za-z_]\w*)[ \t]*=[ \t]*)?([!%])(.*)$", re.DOTALL)
_HELP = re.compile(r"[ \t]*\??[\w.]+\?{1,2}[ \t]*$")
_CONSTANT = re.compile(
    r"""^([A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|([\d.]+))[ \t]*(?:\#.*)?$""",
    re.MULTILINE,
)
_SUFFIXES = {"sh": "bash", "bash": "bash", "py": "python", "yaml": "yaml", "yml": "yaml", "json": "json"}


@dataclass(slots=True)
class _Parts:
    """A notebook taken apart."""

    python: list[Fragment] = field(default_factory=list)
    shell: list[Fragment] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    """Cells that are a text of their own: a script, a file that is written."""
    prose: list[Fragment] = field(default_factory=list)


def launches(source: Source, context: Context) -> list[Launch]:
    """The launches in a notebook."""
    found, problems = cells(source)
    context.report(problems)
    parts = _Parts()
    for cell in found:
        _take(cell, source, parts)
    program = joined(parts.python, source)
    script = joined(parts.shell, source)
    pins, made = _commands(script, program, source, context)
    if context.may_read(len(program.text)):
        for launch in calls.in_fragment(program, source, context):
            made.append(_with(launch, pins))
    for fence in parts.fences:
        if context.may_read(len(fence.body.text)):
            made += [_with(launch, pins) for launch in fences.in_fence(fence, source, context)]
    for prose in parts.prose:
        made += fences.in_fragment(prose, source, context)
    return made


def _with(launch: Launch, hints: tuple[VersionHint, ...]) -> Launch:
    launch.variants = [replace(variant, hints=variant.hints + hints) for variant in launch.variants]
    return launch


def _take(cell: Cell, source: Source, parts: _Parts) -> None:
    """Puts the lines of a cell where they belong."""
    if cell.kind == "markdown":
        parts.prose.append(cell.body)
    if cell.kind != "code":
        return
    body = cell.body
    magic = _CELL_MAGIC.match(body.text)
    if magic is not None:
        name, rest = magic.group(1), body.cut(magic.end(), len(body.text))
        if name in _SHELLS:
            parts.fences.append(Fence("bash", rest))
        elif name == "writefile":
            suffix = magic.group(2).strip().rpartition(".")[2].lower()
            if suffix in _SUFFIXES:
                parts.fences.append(Fence(_SUFFIXES[suffix], rest))
        if name not in _PYTHON:
            return
        body = rest
    python: list[Fragment] = []
    shell: list[Fragment] = []
    for line in _lines(body):
        _line(line, python, shell)
    parts.shell += shell
    whole = joined(python, source)
    if fences.is_python(whole.text):
        parts.python += [whole, _made("\n", whole)]


def _lines(body: Fragment) -> Iterator[Fragment]:
    """The lines of a cell with their ends; a command that goes on behind a backslash is one."""
    at = start = 0
    for text in body.text.splitlines(keepends=True):
        at += len(text)
        if text.rstrip().endswith("\\") and _LINE.match(body.text, start) and at < len(body.text):
            continue
        yield body.cut(start, at)
        start = at
    if start < at:
        yield body.cut(start, at)


def _line(line: Fragment, python: list[Fragment], shell: list[Fragment]) -> None:
    match = _LINE.match(line.text)
    if match is None:
        python.append(_made("pass\n", line) if _HELP.match(line.text) and "?" in line.text else line)
        return
    # The program goes on without the command; a name that gets its output has a value that nobody knows.
    stands_for = "input()\n" if match.group(2) else "pass\n"
    python += [line.cut(0, match.start(3)), _made(stands_for, line.cut(match.start(3), len(line.text)))]
    command = line.cut(match.start(4), len(line.text))
    if match.group(3) == "!":
        shell += [command, _made("\n", command)]
        return
    magic = re.match(r"(pip|conda|uv|sx|system|env|set_env)\s+", command.text)
    if magic is None:
        return
    name = magic.group(1)
    rest = command.cut(magic.end(), len(command.text))
    if name in ("env", "set_env"):
        spaced = re.match(r"(\w+)[ \t]+(?!=)", rest.text)
        parts = [_made("export ", command), rest]
        if spaced is not None:
            parts = [parts[0], rest.cut(0, spaced.end(1)), _made("=", rest), rest.cut(spaced.end(), len(rest.text))]
        shell += [*parts, _made("\n", command)]
    else:
        shell += [rest if name in ("sx", "system") else command, _made("\n", command)]


def _made(text: str, at: Fragment) -> Fragment:
    """Text that stands in no file, at the place of another."""
    return Fragment(text, at.source, [at.offset(0)] * len(text))


def _commands(
    body: Fragment, program: Fragment, source: Source, context: Context
) -> tuple[tuple[VersionHint, ...], list[Launch]]:
    """What the commands of the cells install, and the engines that they start."""
    if not body.text or not context.may_read(len(body.text)):
        return (), []
    directory = source.file.parent
    constants = dict(_constants(program))
    text = without_placeholders(filled(Text(tuple(runs(body))), constants.get))
    script = Script.of(text, body.span(0, len(body.text)))

    def find(inner: Context) -> Iterator[Found]:
        world = inner.world(World(texts=constants))
        run = run_script(script, world, project=inner.project, directory=directory, name=source.path)
        inner.ran(run.steps)
        inner.ask(question for question in run.questions if question.name not in constants)
        yield from scripts.in_run(run, inner, directory)

    run = run_script(script, context.world(), project=context.project, directory=directory, name=source.path)
    pins: tuple[VersionHint, ...] = ()
    for invocation in run.invocations:
        command = unwrap(invocation.words, invocation.env, context.knowledge)
        if command is not None and command.image is None:
            pins = (*installed(command, context.knowledge), *pins)[:_MOST_PINS]
    return pins, scripts.explore(find, context, directory, KIND, body.text)


def _constants(program: Fragment) -> Iterator[tuple[str, Text]]:
    """Names that the program gives a plain value once: a command may use them (``{NAME}``, ``$NAME``)."""
    found = list(_CONSTANT.finditer(program.text))
    names = [match.group(1) for match in found]
    for match in found:
        group = next(number for number in (2, 3, 4) if match.group(number) is not None)
        if names.count(match.group(1)) == 1:
            yield match.group(1), Text(tuple(runs(program.cut(match.start(group), match.end(group)))))
