"""Files that a launch lays over the engine's own: mounts into its package, and folders of patches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from gdnlint.knowledge.schema import Engine
from gdnlint.launches.model import Launch, ModelHint, Variant

_PARTS_OF_A_COMMON_FOLDER = 2
"""Of ``/opt``: such a folder holds much else."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A mount that changes the engine, or that is there to change it."""

    mount: ModelHint
    applied: bool
    """Whether it replaces a file of the package, or the launch names it; else nothing in the launch uses it."""


def patches(launch: Launch, variant: Variant, engine: Engine) -> tuple[Patch, ...]:
    """The patches of a launch, as the files have them. A folder in the package that nothing names is left out.

    Such a folder may replace one of the engine's own, or be a new one that nobody imports: the files do not say.
    """
    found = []
    for mount in sorted(variant.mounts, key=lambda mount: mount.span.key()):
        inside = re.search(rf"-packages/{re.escape(engine.package)}/", mount.path) is not None
        if not inside and not _is_patch(mount, engine):
            continue
        applied = (inside and mount.path.endswith(".py")) or _names(launch, variant, mount, inside)
        if applied or not inside:
            found.append(Patch(mount, applied))
    return tuple(found)


def _is_patch(mount: ModelHint, engine: Engine) -> bool:
    """Whether a mount's own path on the host calls it a patch: code, or a folder that may hold some."""
    host = mount.text.marked()
    name = PurePosixPath(host).name
    suffix = PurePosixPath(name).suffix
    # `v0.22.0` at the end of a folder's name is no suffix of a file.
    code = suffix in engine.patch_suffixes or not re.fullmatch(r"\.[A-Za-z]\w*", suffix)
    return code and any(word in host.lower() for word in engine.patch_words)


def _names(launch: Launch, variant: Variant, mount: ModelHint, inside: bool) -> bool:
    """Whether something of the launch besides its mounts names what is mounted.

    By its path, or by a folder that holds it and is no common one; ``inside`` the package by the module's name too.
    """
    text = launch.span.text
    for other in variant.mounts:
        if other.path in other.span.text:
            text = text.replace(other.span.text, " ")
        text = re.sub(rf"\S*:{re.escape(other.path)}(?::\w+)?(?=[\s\"']|$)", " ", text)
    path = PurePosixPath(mount.path)
    folder = str(path.parent) if len(path.parts) > _PARTS_OF_A_COMMON_FOLDER + 1 and not inside else mount.path
    wanted = re.compile(
        rf"{re.escape(folder)}(?![\w-])" + (rf"|(?<![\w-]){re.escape(path.stem)}(?![\w-])" if inside else "")
    )
    given = [*(word.text.marked() for word in variant.words), *(value.marked() for value in variant.env.values())]
    return any(wanted.search(part) for part in (text, *given))
