"""Containers: the process that an image, an entrypoint, arguments and an environment make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gdnlint.launches import scripts
from gdnlint.launches.commands import Command, in_container
from gdnlint.launches.context import Contents, Context
from gdnlint.launches.model import ModelHint, VersionHint, Written
from gdnlint.launches.scripts import Found
from gdnlint.source import Span
from gdnlint.values import Text, Word

KIND = "container"


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
    written: tuple[Written, ...] = ()
    """Files in it whose text stands in the description."""
    name: str = ""


def found(container: Container, context: Context, directory: Path) -> Iterator[Found]:
    """The engines that a container starts in one scenario."""
    env = dict(container.env)
    env.update({name: Text.of(value) for name, value in context.env.items() if name in env})
    hints = container.installed
    if container.image is not None:
        hints = (*hints, VersionHint(container.image, container.image_span or container.span, "image"))
    command = Command(container.command, env=env, hints=hints, image=container.image, mounts=container.mounts)
    made = in_container(command, container.entrypoint, container.image, context.knowledge)
    if made is None:
        return
    inner = replace(context, passed=dict(container.passed), container=Contents(container.mounts, container.written))
    yield from scripts.in_process(made, container.span, inner, directory)
    context.steps = inner.steps
