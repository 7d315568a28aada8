"""Which release of the engine a launch runs with: pins in the launch, then in files around it, nearest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gdnlint.knowledge.releases import Release
from gdnlint.knowledge.schema import Engine
from gdnlint.launches.model import VersionHint
from gdnlint.project import Project
from gdnlint.resolve.pin_files import Search, first, in_comments, in_folder, is_bare
from gdnlint.resolve.pins import Pin, exact, unknown
from gdnlint.source import Source

_FARTHEST = 64
"""Folders upwards that are looked into."""


def given(engine: Engine, text: str) -> Pin | None:
    """The pin of ``--vllm-version``, a local version (``0.28.0+cu129``) as its release; None if it is no release."""
    release = Release.parse(text.partition("+")[0])
    return exact(engine, release, "given on the command line", None) if release else None


def find(search: Search, directory: Path, hints: Sequence[VersionHint], source: Source) -> Pin:
    """The nearest pin: in the launch, else in lock files, requirements and Dockerfiles of its directory and upwards,
    else in a comment of its file (``source``)."""
    engine = search.engine
    pin = first(search, directory, hints)
    if pin is not None:
        return pin
    bare: Pin | None = None
    for folder in _upwards(search.project, directory):
        pin = _in_folder(search, folder)
        if pin is not None and not is_bare(engine, pin):
            return pin
        bare = bare or pin
    return _in_comments(search, source) or bare or unknown(engine, "no version found")


def _upwards(project: Project, directory: Path) -> Iterator[Path]:
    folder = directory
    for _ in range(_FARTHEST):
        yield folder
        if folder == project.root or folder == folder.parent or not project.inside(folder.parent):
            return
        folder = folder.parent


def _in_folder(search: Search, folder: Path) -> Pin | None:
    cache = search.project.pins
    key = (folder, search.engine.name, search.extras)
    if key not in cache:
        cache[key] = in_folder(search, folder)
    found = cache[key]
    assert found is None or isinstance(found, Pin)
    return found


def _in_comments(search: Search, source: Source) -> Pin | None:
    cache = search.project.pins
    key = ("comments", source.file, search.engine.name)
    if key not in cache:
        cache[key] = in_comments(search.engine, source)
    found = cache[key]
    assert found is None or isinstance(found, Pin)
    return found
