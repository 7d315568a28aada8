"""How Compose puts files together: which belong to one project, and how one is merged over another.

After https://docs.docker.com/reference/compose-file/merge/ and compose-go's ``cli/options.go`` (file names) and
``override/merge.go`` (rules).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gdnlint.project import Project
from gdnlint.values import Value, members_of

_NAMES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
"""Of the file that is read without ``-f``; the first that is there."""
_OVERRIDES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)
"""Of the file that is then merged over it."""

_REPLACED = frozenset({"command", "entrypoint"})
"""Lists of a service that are replaced and not continued."""
_NAMED = frozenset({"environment", "args", "labels", "extra_hosts"})
"""Mappings that may be written as lists of ``NAME=value``."""

TagOf = Callable[[Value], str]
"""The merge tag (``!reset``, ``!override``) of a value."""


def together(file: Path, project: Project) -> list[Path]:
    """The files that are read as one where a person starts this one without ``-f``, the base first."""
    names = {file.name} | set(project.names(file.parent))
    base = next((file.parent / name for name in _NAMES if name in names), None)
    over = next((file.parent / name for name in _OVERRIDES if name in names), None)
    if base is None or over is None or file.name not in (base.name, over.name):
        return [file]
    return [base, over]


def merged(base: Value, over: Value, tag: TagOf) -> Value:
    """One project, file or service over another: mappings merge, lists continue, a service's command is replaced."""
    if not isinstance(base.data, dict) or not isinstance(over.data, dict):
        return over
    data = dict(base.data)
    for name, value in over.data.items():
        how = tag(value)
        if how == "!reset":
            data.pop(name, None)
        elif name not in data or how == "!override":
            data[name] = without_resets(value, tag)
        else:
            data[name] = _member(name, data[name], value, tag)
    return Value(data, over.span or base.span, over.places, over.route, over.name)


def without_resets(value: Value, tag: TagOf) -> Value:
    """A value that is merged over nothing: what it resets is not there."""
    if not isinstance(value.data, dict):
        return value
    data = {name: without_resets(member, tag) for name, member in value.data.items() if tag(member) != "!reset"}
    return Value(data, value.span, value.places, value.route, value.name)


def _member(name: str, base: Value, over: Value, tag: TagOf) -> Value:
    if name in _REPLACED:
        return over
    if over.data is None and isinstance(base.data, dict | list):
        return base
    if name == "build":
        base, over = _as_build(base), _as_build(over)
    if name == "env_file":
        base, over = _as_list(base), _as_list(over)
    if name in _NAMED and not (isinstance(base.data, dict) and isinstance(over.data, dict)):
        base, over = _as_items(base), _as_items(over)
    if isinstance(base.data, dict) and isinstance(over.data, dict):
        return merged(base, over, tag)
    if isinstance(base.data, list) and isinstance(over.data, list):
        return Value([*base.data, *over.data], over.span, over.places, over.route, over.name)
    return over


def _as_build(value: Value) -> Value:
    return value if isinstance(value.data, dict) else Value({"context": value}, value.span, value.places)


def _as_list(value: Value) -> Value:
    return value if isinstance(value.data, list) else Value([value], value.span, value.places)


def _as_items(value: Value) -> Value:
    """``{X: 1}`` as ``[X=1]``."""
    if isinstance(value.data, list):
        return value
    items = []
    for name, member in members_of(value).items():
        if isinstance(member.data, dict | list):
            continue
        plain = name if member.data is None else f"{name}={member.plain()}"
        items.append(Value(plain, member.span, member.places))
    return Value(list(items), value.span, value.places)
