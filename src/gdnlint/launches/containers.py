"""Containers: the process that an image, an entrypoint, arguments and an environment make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gdnlint.documents.shell import Script, run_script
from gdnlint.launches import scripts
from gdnlint.launches.commands import Command, in_container, unwrap_command
from gdnlint.launches.context import Context
from gdnlint.launches.model import ModelHint, VersionHint
from gdnlint.launches.scripts import Found
from gdnlint.project import Unreadable
from gdnlint.source import Fragment, Span
from gdnlint.values import Text, Word, World

KIND = "container"

SCRIPT = re.compile(r"(?:\.(?:sh|bash)|/[^./]+|^[^./]+)$")
"""Names of files that a shell may read."""


@dataclass(frozen=True, slots=True)
class Container:
    """A container as a file describes it."""

    span: Span
    command: tuple[Word, ...]
    """Its arguments, behind the entrypoint."""
    entrypoint: tuple[Word, ...] | None = None
    """None: the image's own."""
    image: Text | None = None
    image_span: Span | None = None
    env: Mapping[str, Text] = field(default_factory=dict)
    mounts: tuple[ModelHint, ...] = ()
    installed: tuple[VersionHint, ...] = ()
    """What is installed in its image, where the files say it."""
    passed: Mapping[str, str] = field(default_factory=dict)
    """Variables that are copies of ones outside -> their names there."""


def found(container: Container, context: Context, directory: Path) -> Iterator[Found]:
    """The engines that a container starts in one scenario."""
    env = dict(container.env)
    env.update({name: Text.of(value) for name, value in context.env.items() if name in env})
    hints = container.installed
    if container.image is not None:
        hints = (*hints, VersionHint(container.image, container.image_span or container.span, "image"))
    command = Command(container.command, env=env, hints=hints, image=container.image, mounts=container.mounts)
    made = in_container(command, container.entrypoint, container.image, context.knowledge)
    if made is not None:
        inner = replace(context, passed=dict(container.passed))
        yield from scripts.in_process(made, container.span, inner, directory)
        yield from _in_file(made, container, inner, directory)


def _in_file(made: Command, container: Container, context: Context, directory: Path) -> Iterator[Found]:
    """The engines that a script of the project starts, where the container runs it."""
    command = unwrap_command(made, context.knowledge)
    name = command.words[0].known if command is not None and command.words and not command.entry else None
    path = _file(name, container.mounts, directory, context) if name else None
    if command is not None and path is not None:
        yield from in_file(path, command, container.span, context)


def in_file(path: Path, command: Command, span: Span, context: Context) -> Iterator[Found]:
    """The engines that a script of the project starts where a process runs it with these words and this environment."""
    try:
        source = context.project.source(path)
    except Unreadable as error:
        context.report([error.problem])
        return
    if not context.may_read(len(source.text)):
        return
    texts = dict(command.env)
    run = run_script(
        Script(Fragment.whole(source)),
        context.world(World(texts=texts)),
        project=context.project,
        directory=path.parent,
        args=command.words[1:],
    )
    context.ran(run.steps)
    context.ask(scripts.from_outside(run, texts, context))
    for one in scripts.in_run(run, context, path.parent):
        kept = replace(
            one.command,
            env={**texts, **one.command.env},
            hints=one.command.hints + command.hints,
            mounts=one.command.mounts + command.mounts,
        )
        yield replace(one, command=kept, span=span)


def _file(name: str, mounts: Sequence[ModelHint], directory: Path, context: Context) -> Path | None:
    """The script in the project that a path in a container is: mounted or copied there, or named by itself."""
    if "\0" in name or not SCRIPT.search(name):
        return None
    for hint in mounts:
        known = hint.text.known
        if known is None or "\0" in known:
            continue
        base = known.rstrip("/").rpartition("/")[2]
        if name == hint.path or (name.rpartition("/")[2] == base and not name.startswith("/")):
            tails = [""]
        elif name.startswith(hint.path.rstrip("/") + "/"):
            # A file is copied into a folder under its own name; a folder's files keep theirs.
            tails = ["", name[len(hint.path.rstrip("/")) :]]
        else:
            continue
        for tail in tails:
            path = directory / (known + tail)
            if (path.name == name.rpartition("/")[2] or name == hint.path) and context.project.exists(path):
                return path
    return None
