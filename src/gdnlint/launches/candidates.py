"""Which files can hold a launch: a cheap look at their text before anything is parsed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from gdnlint.project import Project, Unreadable
from gdnlint.source import Source

_SOURCES = re.compile(r"(?:^|[;&|({]|\b(?:then|do|else))[ \t]*(?:source|\.)[ \t]+([^\n]{1,400})", re.MULTILINE)
_SCRIPTS = re.compile(r"(?<![\w.+-])([\w.+/-]{1,200}\.(?:sh|bash))\b")
"""Scripts that a text mentions; those that it starts are among them."""
_PATH = re.compile(r"[\w.+-]*(?:/[\w.+-]+)+|[\w.+-]+")

_MOST_NAMES = 500
"""Words behind the ``source`` of one file that are looked for."""
_DEEPEST = 8
"""Files that source one another on the way to a word."""


def may_launch(source: Source, kind: str, words: Sequence[str], project: Project) -> bool:
    """Whether a text holds one of ``words``, is a script that sources or starts a file which does, or a unit."""
    if any(word in source.text for word in words) or kind == "unit":
        # A unit is short, and the script that it starts has a name of its own.
        return True
    if kind == "yaml" and "values" in source.file.name and project.exists(source.file.parent / "Chart.yaml"):
        # What values mean is told by the templates beside them.
        return True
    return kind == "shell" and _sources_one(source, words, project, 0)


def _sources_one(source: Source, words: Sequence[str], project: Project, depth: int) -> bool:
    return any(_holds(path, words, project, depth) for path in _sourced(source, project))


def _holds(path: Path, words: Sequence[str], project: Project, depth: int) -> bool:
    key = ("may launch", path)
    found = project.memory.get(key)
    if found is None:
        # Files that source one another end here: no word so far.
        project.memory[key] = False
        found = project.memory[key] = _looks(path, words, project, depth)
    return found is True


def _looks(path: Path, words: Sequence[str], project: Project, depth: int) -> bool:
    try:
        source = project.source(path)
    except Unreadable:
        return False
    if any(word in source.text for word in words):
        return True
    return depth < _DEEPEST and _sources_one(source, words, project, depth + 1)


def _sourced(source: Source, project: Project) -> Iterator[Path]:
    """The files that ``source`` and ``.`` may name, and the scripts that are mentioned.

    What stands in a path for a folder (``$DIR``) is left out.
    """
    here = source.file.parent
    names = [name for statement in _SOURCES.finditer(source.text) for name in _PATH.findall(statement.group(1))]
    mentioned = (found.group(1) for found in _SCRIPTS.finditer(source.text))
    for name in dict.fromkeys(islice(chain(names, mentioned), _MOST_NAMES)):
        tail = name.lstrip("/")
        for folder in (here, project.root):
            path = Path(os.path.normpath(folder / tail))
            if tail and project.exists(path):
                yield path
