"""Real bash as the oracle: runs a script with programs that only write their words down."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gdnlint.documents.shell import Run, Script
from gdnlint.source import Fragment, Source
from gdnlint.values import MARK_BASE, MARK_LIMIT, Word, World

PROGRAMS = ("vllm", "uv", "python3", "docker")

_STUB = """#!/bin/sh
printf '%s\\0' "$#" "${0##*/}" "$@" >> "$STUB_LOG"
"""


def cases(path: Path) -> dict[str, tuple[str, dict[str, str]]]:
    """Scripts with their environment by name: ``#### name``, then ``#### VARIABLE=value`` lines, then the script."""
    out: dict[str, tuple[str, dict[str, str]]] = {}
    name = ""
    env: dict[str, str] = {}
    lines: list[str] = []
    cut = False
    for line in [*path.read_text(encoding="utf-8").splitlines(keepends=True), "#### "]:
        if not line.startswith("#### "):
            lines.append(line)
            continue
        title = line[5:].rstrip("\n")
        if lines:
            text = "".join(lines)
            assert name not in out, name
            out[name] = (text[:-1] if cut else text, env)
            name, env, lines, cut = title, {}, [], False
        elif "=" in title:
            variable, _, value = title.partition("=")
            env[variable] = value
        elif title == "without a line end":
            cut = True
        else:
            name = title
    return out


class Oracle:
    """A scratch folder with the programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name in PROGRAMS:
            stub = self.programs / name
            stub.write_text(_STUB)
            stub.chmod(0o755)
        self.log = folder / "log"
        self.script = folder / "script.sh"

    def run(self, text: str, env: Mapping[str, str]) -> list[list[str]]:
        """The words of each program that a script calls, in order."""
        self.script.write_bytes(text.encode())
        self.log.write_bytes(b"")
        subprocess.run(
            ["/bin/bash", str(self.script)],
            env={**env, "LC_ALL": "C.UTF-8", "PATH": f"{self.programs}:/usr/bin:/bin", "STUB_LOG": str(self.log)},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        fields = self.log.read_bytes().decode().split("\0")[:-1]
        out: list[list[str]] = []
        while fields:
            count = int(fields[0])
            out.append(fields[1 : count + 2])
            fields = fields[count + 2 :]
        return out


def read(text: str, env: Mapping[str, str], directory: Path) -> Run:
    source = Source("script.sh", text, directory / "script.sh")
    return Script(Fragment.whole(source)).run(World(dict(env)), directory=directory)


def invoked(run: Run) -> list[tuple[Word, ...]]:
    """The invocations of the programs."""
    return [i.words for i in run.invocations if i.words[0].known in PROGRAMS]


def agrees(words: Sequence[Word], actual: Sequence[str]) -> bool:
    """Whether words could be the actual ones: a hole may be any text, a spread word any number of words."""
    if not words:
        return not actual
    first, rest = words[0], words[1:]
    if first.spread:
        return any(agrees(rest, actual[skip:]) for skip in range(len(actual) + 1))
    if not actual:
        return False
    pattern = "".join(
        ".*" if MARK_BASE <= ord(char) < MARK_BASE + MARK_LIMIT else re.escape(char) for char in first.text.marked()
    )
    return re.fullmatch(pattern, actual[0], re.DOTALL) is not None and agrees(rest, actual[1:])


def known(run: Run) -> bool:
    """Whether nothing in the invocations is left open."""
    return all(word.known is not None for words in invoked(run) for word in words)


def has_bash() -> bool:
    return os.access("/bin/bash", os.X_OK)
