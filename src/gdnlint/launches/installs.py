"""Packages that a script installs before it launches: ``pip install vllm==0.28.0``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gdnlint.knowledge.schema import Engine, Knowledge
from gdnlint.launches.commands import Command, base_name
from gdnlint.launches.model import VersionHint
from gdnlint.values import Text, Word

_PIP = re.compile(r"[!%]?pip[\d.]*")
_CONDA = ("conda", "mamba", "micromamba")
_VERBS: dict[str, tuple[tuple[str, ...], ...]] = {
    "pip": (("install",),),
    "uv": (("pip", "install"), ("add",), ("tool", "install"), ("sync",)),
    "pipx": (("install",),),
    "poetry": (("add",), ("install",)),
    "conda": (("install",), ("create",)),
}
"""Commands that install packages, and how."""
_FILES = ("-r", "--requirement", "--requirements", "-c", "--constraint", "--constraints", "--with-requirements")
_UPGRADES = ("-U", "--upgrade", "--force-reinstall", "-Uq", "-qU")
_EXTRAS = ("--extra", "--group", "-E", "--extras", "--with", "--only-group")
_LOCAL = re.compile(r"(?:\.{0,2}/?|[\w./-]*/)[\w./-]*\[([\w\s,.-]+)\]")
"""``.[vllm]``: the project itself with an optional dependency."""
_BUILDERS = ("docker", "podman", "nerdctl", "buildah")
_BUILD_SWITCHES = (
    "--no-cache",
    "--pull",
    "--push",
    "--load",
    "-q",
    "--quiet",
    "--rm",
    "--force-rm",
    "--squash",
    "--debug",
)
_NAMED = ("VERSION", "VER", "TAG", "REF", "GIT_REF", "RELEASE")
_COMMITS = ("COMMIT", "COMMIT_SHA", "COMMIT_HASH", "SHA", "GIT_SHA")


def installed(command: Command, knowledge: Knowledge) -> Iterator[VersionHint]:
    """The pins of an engine's package among the words of a command that installs packages, if it is one.

    The sure ones first, then the files of requirements, then a package without a version.
    """
    found = _installs(command)
    if found is None:
        return
    kind, words = found
    engines = tuple(knowledge.engines.values())
    files: list[VersionHint] = []
    bare: list[VersionHint] = []
    upgrades = any(word.known in _UPGRADES for word in words)
    at = 0
    while at < len(words):
        word = words[at]
        name, equals, _ = word.text.marked().partition("=")
        at += 1
        if name in _FILES:
            value = word.text.cut(len(name) + 1) if equals else words[at].text if at < len(words) else Text()
            at += 0 if equals else 1
            files.append(VersionHint(value, word.span, "requirements"))
            continue
        if name[:2] in ("-r", "-c") and len(name) > 2 and name[1:2] != "-" and kind in ("pip", "uv"):
            files.append(VersionHint(word.text.cut(2), word.span, "requirements"))
            continue
        for engine in engines:
            hint = _package(word, engine, kind)
            if hint is None:
                continue
            if hint.text.known is not None and _is_bare(hint.text.known, engine):
                bare.append(VersionHint(hint.text, hint.span, "latest" if upgrades else "installed"))
            else:
                yield hint
    yield from files
    yield from bare


def extras(command: Command) -> tuple[str, ...]:
    """Optional dependencies and groups of the project that a command installs: ``pip install -e .[vllm]``."""
    found = _installs(command)
    out: list[str] = []
    words = found[1] if found is not None else ()
    for at, word in enumerate(words):
        text = word.known or ""
        name, equals, value = text.partition("=")
        if name in _EXTRAS and found is not None and found[0] in ("uv", "poetry"):
            following = words[at + 1].known if at + 1 < len(words) else None
            out += re.split(r"[,\s]+", value if equals else following or "")
        local = _LOCAL.fullmatch(text)
        if local is not None:
            out += re.split(r"[,\s]+", local.group(1))
    return tuple(filter(None, out))


def built(command: Command) -> tuple[tuple[str, ...], VersionHint] | None:
    """The names of an image that a command builds, and the Dockerfile: ``docker build --build-arg A=1 -t NAME DIR``."""
    words = command.words
    if not words or base_name(words[0]) not in _BUILDERS:
        return None
    verbs = [word.known for word in words[1:3]]
    at = 2 if verbs[:1] == ["build"] else 3 if verbs in (["buildx", "build"], ["image", "build"]) else 0
    names: list[str] = []
    arguments: list[tuple[str, Text]] = []
    file: Text | None = None
    folder: Text | None = None
    while 0 < at < len(words):
        name, equals, _ = words[at].text.marked().partition("=")
        if not name.startswith("-"):
            folder = words[at].text
            at += 1
            continue
        value = words[at].text.cut(len(name) + 1) if equals else words[at + 1].text if at + 1 < len(words) else Text()
        at += 1 if equals or name in _BUILD_SWITCHES else 2
        if name in ("-t", "--tag") and value.known:
            names.append(value.known)
        elif name in ("-f", "--file"):
            file = value
        elif name == "--build-arg":
            variable = value.marked().partition("=")[0]
            arguments.append((variable, value.cut(len(variable) + 1)))
    if folder is None or not names:
        return None
    path = file if file is not None else folder + Text.of("/Dockerfile")
    return tuple(names), VersionHint(path, words[0].span, "dockerfile", arguments=tuple(arguments))


def named_for_the_version(engine: Engine, variables: Mapping[str, Text]) -> Iterator[VersionHint]:
    """``VLLM_COMMIT`` and ``VLLM_VERSION``: a build of a commit is no release, whatever version it is given."""
    prefix = re.sub(r"\W", "_", engine.package).upper()
    for tail in (*_COMMITS, *_NAMED):
        text = variables.get(f"{prefix}_{tail}")
        span = next((piece.span for piece in text.pieces if piece.span is not None), None) if text is not None else None
        if text is not None and span is not None and text.known:
            yield VersionHint(text, span, "commit" if tail in _COMMITS else "variable", f"{prefix}_{tail}")


def _installs(command: Command) -> tuple[str, Sequence[Word]] | None:
    """Which program installs, and the words behind ``pip install``, ``uv pip install``, ``python -m pip install``."""
    words = command.words
    if not words:
        return None
    name = command.entry if command.is_module else base_name(words[0]) or ""
    kind = "pip" if _PIP.fullmatch(name) else "conda" if name in _CONDA else name
    for verbs in _VERBS.get(kind, ()):
        if tuple(word.known for word in words[1 : 1 + len(verbs)]) == verbs:
            return kind, words[1 + len(verbs) :]
    return None


def _package(word: Word, engine: Engine, kind: str) -> VersionHint | None:
    package = re.escape(engine.package)
    text = word.text.marked()
    if kind == "conda" and (match := re.match(rf"(?:[\w-]+::)?({package})=(?!=)", text)):
        # conda's single sign.
        made = Text.of(f"{engine.package}==", word.span) + word.text.cut(match.end())
        return VersionHint(made, word.span, "installed")
    versioned = rf"{package}\s*(?:\[[^\]]*\])?\s*(?:$|[=<>~!]=|[<>@])"
    wheel = rf"(?:^|/){package}-[^/]*\.whl$"
    source = rf"git\+\w+://.*/{package}(?:\.git)?/?(?:@|#|$)"
    if re.match(versioned, text) or re.search(wheel, text) or re.match(source, text):
        return VersionHint(word.text, word.span, "installed")
    return None


def _is_bare(text: str, engine: Engine) -> bool:
    return re.fullmatch(rf"{re.escape(engine.package)}\s*(?:\[[^\]]*\])?", text) is not None
