"""The ``config.json`` of a model: in a folder of the project, or in the Hugging Face cache of the machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gdnlint.project import Project, Unreadable, read_bounded

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(?:/[A-Za-z0-9][\w.-]{0,95}){0,3}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SCHEMES = ("hf://", "huggingface://")
_LARGEST = 1 << 20
"""Bytes of a cached configuration that is read."""


@dataclass(frozen=True, slots=True)
class Described:
    """What a checkpoint says of itself."""

    data: Mapping[str, object]
    where: str
    """For people: ``models/mine/config.json``, ``the Hugging Face cache of this machine (org/name at 0123abcd)``."""


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """The Hugging Face cache that the user's own environment names, as huggingface_hub finds it; None if there is none.

    It lies outside the project. It is read because the user's environment names it, never because a linted file does.
    """
    home = environment.get("HF_HOME") or os.path.join(
        environment.get("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "huggingface"
    )
    named = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE") or os.path.join(home, "hub")
    folder = Path(os.path.expanduser(named))
    try:
        return folder if folder.is_absolute() and folder.is_dir() else None
    except (OSError, ValueError):
        return None


def in_project(project: Project, directory: Path, name: str) -> Described | None:
    """A folder of the project, named relative to the launch's folder or to the project's root."""
    if not re.match(r"[./\w]", name) or "\0" in name or len(name) > 1024:
        return None
    for folder in dict.fromkeys((directory, project.root)):
        path = folder / name / "config.json"
        if not project.exists(path):
            continue
        try:
            data = _parsed(project.source(path).text)
        except Unreadable:
            continue
        if data is not None:
            return Described(data, project.display(path))
    return None


def in_cache(project: Project, cache: Path | None, name: str, revision: str) -> Described | None:
    """A repository (``org/name``) in the cache, at a revision (``main`` if none is said)."""
    scheme = next((scheme for scheme in _SCHEMES if name.startswith(scheme)), "")
    plain = name[len(scheme) :].partition(":")[0].partition("@")[0]
    wanted = revision or "main"
    if cache is None or not _is_repository(plain) or not _REVISION.fullmatch(wanted) or ".." in wanted:
        return None
    key = ("checkpoint", plain, wanted)
    if key not in project.memory:
        project.memory[key] = _read(cache, plain, wanted)
    found = project.memory[key]
    assert found is None or isinstance(found, Described)
    return found


def _is_repository(name: str) -> bool:
    """Whether a text is a repository's name, and so no path that leads anywhere."""
    return _REPOSITORY.fullmatch(name) is not None and ".." not in name and "--" not in name


def _read(cache: Path, name: str, revision: str) -> Described | None:
    folder = cache / ("models--" + name.replace("/", "--"))
    try:
        if not folder.is_dir():
            return None
        commit = revision
        if not _COMMIT.fullmatch(revision):
            commit = read_bounded(folder / "refs" / revision, 100).decode("ascii").strip()
        if not _COMMIT.fullmatch(commit):
            return None
        # A snapshot is made of links to the blobs beside it; one that leads anywhere else is not followed.
        real, root = os.path.realpath(folder / "snapshots" / commit / "config.json"), os.path.realpath(folder)
        if not real.startswith(root + os.sep):
            return None
        data = _parsed(read_bounded(Path(real), _LARGEST).decode("utf-8"))
    except (OSError, ValueError):
        return None
    where = f"the Hugging Face cache of this machine ({name} at {commit[:8]})"
    return Described(data, where) if data is not None else None


def _parsed(text: str) -> dict[str, object] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def overridden(data: Mapping[str, object], overrides: Mapping[str, object]) -> dict[str, object]:
    """A configuration with what ``--hf-overrides`` changes: tables key by key, anything else as it is given."""
    merged = dict(data)
    for name, value in overrides.items():
        below = merged.get(name)
        merged[name] = overridden(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def verifier(data: Mapping[str, object]) -> str | None:
    """The model that a repository in the speculators format drafts for, and that is served with it.

    None: it is no such repository; empty: it does not say.
    """
    config = data.get("speculators_config")
    if not isinstance(config, dict):
        return None
    target = config.get("verifier")
    name = target.get("name_or_path") if isinstance(target, dict) else None
    return name if isinstance(name, str) else ""
