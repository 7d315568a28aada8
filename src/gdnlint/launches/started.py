"""The script that a command starts: a file of the project, one in a container, or one that was written before."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gdnlint.documents.shell import Invocation, Script
from gdnlint.documents.shell.sourced import script_of
from gdnlint.documents.shell.state import file_key
from gdnlint.launches.commands import Command
from gdnlint.launches.context import Contents, Context
from gdnlint.launches.model import ModelHint
from gdnlint.source import Source
from gdnlint.values import Hole, Text, Word

SCRIPT = re.compile(r"(?:\.(?:sh|bash)|/[^./]+|^[^./]+)$")
"""Names of files that a shell may read."""
_SHEBANG = re.compile(r"#!.*\b(?:ba|da|z|k|a)?sh\b")


@dataclass(frozen=True, slots=True)
class Started:
    """A script that a command runs."""

    script: Script
    args: tuple[Word, ...]
    path: Path | None = None
    """None: its text stands in the files that were read already."""


def script_behind(command: Command, invocation: Invocation, context: Context, directory: Path) -> Started | None:
    """What a command that is no program of its own runs; None if that is no script of the project."""
    if command.entry or not command.words or command.words[0].spread:
        return None
    word = command.words[0]
    args = command.words[1:]
    if command.image is not None or context.container is not None:
        known = word.known
        if not known or "\0" in known or not SCRIPT.search(known):
            return None
        contents = context.container or Contents()
        written = next((one for one in contents.written if _same(known, one.path)), None)
        if written is not None:
            return Started(Script.of(written.text, written.span), args)
        mounts = (*command.mounts, *contents.mounts)
        return of_file(_in_container(known, mounts, context, directory), args, context)
    if invocation.files:
        text = invocation.files.get(file_key(word.text, invocation.cwd))
        if text is not None:
            return Started(Script.of(text, word.span), args)
    known = word.known
    if not known or "\0" in known or not SCRIPT.search(known):
        return None
    return of_file(_on_host(known, invocation.cwd, context, directory), args, context)


def _same(name: str, path: str) -> bool:
    """Whether a name in a container is the file at a path there."""
    return name == path or (not name.startswith("/") and os.path.basename(name) == os.path.basename(path))


def of_file(path: Path | None, args: tuple[Word, ...], context: Context) -> Started | None:
    """A file of the project as a script; None if it is none."""
    if path is None:
        return None
    source = context.source(path)
    if source is None or not _is_shell(source):
        return None
    return Started(script_of(source), args, context.project.real(path))


def _is_shell(source: Source) -> bool:
    return source.file.suffix in (".sh", ".bash") or _SHEBANG.match(source.text) is not None


def _on_host(name: str, cwd: str | None, context: Context, directory: Path) -> Path | None:
    if "/" not in name and not name.endswith((".sh", ".bash")):
        # A bare name is a program that is installed.
        return None
    for base in folders(cwd, context, directory):
        path = Path(os.path.normpath(base / name))
        if context.project.exists(path):
            return path
    return None


def folders(cwd: str | None, context: Context, directory: Path) -> Iterator[Path]:
    """Where a relative path of a command is looked up: where it is run if that is known, else where people run it."""
    if cwd is not None and cwd.startswith("/"):
        yield Path(cwd)
        return
    for base in (directory, context.project.root, context.project.start):
        yield base / cwd if cwd is not None else base


def _in_container(name: str, mounts: tuple[ModelHint, ...], context: Context, directory: Path) -> Path | None:
    """The file that a path in a container is: mounted or copied there, or named by itself."""
    base = name.rpartition("/")[2]
    for hint in mounts:
        tails = _tails(name, base, hint)
        for host in _hosts(hint, context, directory) if tails else ():
            for tail in tails:
                path = Path(f"{host}{tail}")
                if (path.name == base or name == hint.path) and context.project.exists(path):
                    return path
    return None


def _tails(name: str, base: str, hint: ModelHint) -> list[str]:
    """What may stand behind the host's path of a mount so that it is the file ``name``."""
    folder = hint.path.rstrip("/")
    if name == hint.path or (not name.startswith("/") and hint.text.show().rstrip("/").rpartition("/")[2] == base):
        return [""]
    if name.startswith(folder + "/"):
        # A file is copied into a folder under its own name; a folder's files keep theirs.
        return ["", name[len(folder) :]]
    return [f"/{name.removeprefix('./')}"] if not name.startswith("/") else []


def _hosts(hint: ModelHint, context: Context, directory: Path) -> Iterator[str]:
    """Where on the host a mount may lie: ``$PWD`` is where people run a script."""
    text = hint.text
    known = text.known
    bases: list[Path] = [hint.directory or directory]
    if known is None:
        known = _below_here(text)
        bases += [context.project.root, context.project.start]
    if known is not None and "\0" not in known:
        yield from (os.path.normpath(base / known) for base in dict.fromkeys(bases))


def _below_here(text: Text) -> str | None:
    """``$PWD/x`` as ``./x``."""
    first = text.pieces[0].content if text.pieces else ""
    if not isinstance(first, Hole) or first.name != "PWD":
        return None
    rest = text.cut(1).known
    return f".{rest}" if rest is not None and (not rest or rest.startswith("/")) else None
