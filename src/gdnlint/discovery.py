"""Which files are looked at, and of which kind each is.

A file that is named is always taken. In a folder, git says which files belong to the project; outside a
checkout the .gitignore files do. Symbolic links to folders are never followed.
"""

# Paths are strings here: a large checkout has tens of thousands of them.

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gdnlint.values import Problem

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})

DEEPEST = 64
"""Folders below a named one that are walked into."""

SNIFFED = 4096
"""Bytes of a file that are read to tell its kind."""

GIT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file and how it is told."""

    name: str
    suffixes: tuple[str, ...]
    """Of the name, in lower case."""
    names: tuple[str, ...] = ()
    """Patterns of whole names (``fnmatch``), in lower case; with a folder where it tells the kind. They beat
    suffixes."""
    shebang: re.Pattern[bytes] | None = None
    """Of the first line, for files without a suffix."""
    content: re.Pattern[bytes] | None = None
    """For named files that nothing else tells: matches from the first line on."""
    largest: int = 0
    """Bytes of a file that a folder holds; a larger one is data and no launch. 0: as for every file."""


KINDS = (
    Kind(
        "yaml",
        (".yaml", ".yml", ".tpl"),
        content=re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:---\s|[\w.-]+:\s|-\s+[\w.-]+:\s)"),
    ),
    Kind(
        "shell",
        (".sh", ".bash"),
        shebang=re.compile(rb"#!\s*(\S*/)?(env\s+(-\S+\s+|\w+=\S*\s+)*)?(ba|da|z|k|a)?sh(\s|$)"),
        content=re.compile(
            rb"(?:.*\n)*?[ \t]*(?:export \w+=|set -\w|vllm serve |(?:\w+=\S* )*(?:python3?|uv run|docker run) -)"
        ),
    ),
    Kind(
        "python",
        (".py",),
        shebang=re.compile(rb"#!\s*(\S*/)?(env\s+(-\S+\s+)*)?python[\d.]*(\s|$)"),
        content=re.compile(rb"(?:.*\n)*?(?:from [\w.]+ import |import [\w.]+\s|def \w+\(|class \w+)"),
    ),
    Kind("dockerfile", (".dockerfile",), ("dockerfile", "dockerfile.*", "containerfile", "containerfile.*")),
    Kind("toml", (".toml",)),
    Kind("markdown", (".md", ".mdx", ".markdown")),
    Kind("json", (".json", ".jsonc"), largest=1 << 17),
    Kind("notebook", (".ipynb",)),
    Kind("makefile", (".mk",), ("makefile", "gnumakefile", "makefile.*")),
    Kind("unit", (".service", ".container"), ("*.service.d/*.conf", "*.container.d/*.conf")),
)
"""A new kind is a row. The first that says yes is taken."""

FOREIGN = frozenset(
    {
        ".rst",
        ".jsonl",
        ".ini",
        ".cfg",
        ".lock",
        ".html",
        ".js",
        ".ts",
        ".c",
        ".rs",
        ".go",
    }
)
"""Suffixes of kinds that are not read (yet): what such a file looks like inside says nothing."""


@dataclass(frozen=True, slots=True)
class Found:
    path: Path
    """Absolute, as reached from the argument: symbolic links are not resolved."""
    display: str
    """As reports print it: POSIX, relative to the current directory."""
    kind: str
    named: bool = False
    """Whether an argument names the file itself, not a folder that holds it."""


@dataclass(slots=True)
class Discovered:
    files: list[Found] = field(default_factory=list)
    """Each file once, sorted by ``display``."""
    problems: list[Problem] = field(default_factory=list)
    """Named paths that cannot be looked at."""


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    display: str
    kind: str
    link: bool
    real: str
    named: bool = False


def discover(paths: Iterable[Path], project_root: Path) -> Discovered:
    """The files that ``paths`` name or hold. Links out of ``project_root`` are left alone unless named."""
    result = Discovered()
    entries: list[_Entry] = []
    for path in paths:
        absolute = os.path.abspath(path)
        try:
            folder = stat.S_ISDIR(os.stat(absolute).st_mode)
        except (OSError, ValueError) as error:
            result.problems.append(_unreachable(absolute, error))
            continue
        entries += _folder(absolute, os.path.realpath(project_root)) if folder else _named(absolute, result.problems)
    # A file that is reached twice is taken once, rather by its own path than by a link to it.
    once: dict[str, _Entry] = {}
    for entry in sorted(entries, key=lambda entry: (not entry.named, entry.link, entry.display)):
        once.setdefault(entry.real, entry)
    found = sorted(once.values(), key=lambda entry: entry.display)
    result.files = [Found(Path(entry.path), entry.display, entry.kind, entry.named) for entry in found]
    return result


def kind_of_name(path: str) -> str:
    """The kind that a file's name and the folder it lies in tell, or an empty string."""
    folder, _, lower = path.lower().rpartition("/")
    below = f"{folder.rpartition('/')[2]}/{lower}"
    for kind in KINDS:
        if any(_fits(below if "/" in pattern else lower, pattern) for pattern in kind.names):
            return kind.name
    suffix = os.path.splitext(lower)[1]
    return next((kind.name for kind in KINDS if suffix in kind.suffixes), "")


def kind_of_shebang(data: bytes) -> str:
    """The kind that the first line tells, or an empty string."""
    if not data.startswith(b"#!"):
        return ""
    first = data.split(b"\n", 1)[0].rstrip()
    return next((kind.name for kind in KINDS if kind.shebang and kind.shebang.match(first)), "")


def kind_of_content(data: bytes) -> str:
    """The kind that the beginning of a file looks like, or an empty string."""
    if b"\0" in data:
        return ""
    return next((kind.name for kind in KINDS if kind.content and kind.content.match(data)), "")


def _fits(name: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


def _display(absolute: str) -> str:
    return os.path.relpath(absolute).replace(os.sep, "/")


def _unreachable(absolute: str, error: OSError | ValueError) -> Problem:
    display = _display(absolute)
    if os.path.islink(absolute):
        return Problem("unreadable", f"{display} is a broken symbolic link", path=display)
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return Problem("unreadable", f"cannot read {display}: {reason}", path=display)


def _named(absolute: str, problems: list[Problem]) -> Iterator[_Entry]:
    """A file that a person named."""
    display = _display(absolute)
    if not stat.S_ISREG(os.stat(absolute).st_mode):
        problems.append(Problem("unreadable", f"{display} is not a regular file; it was not read", path=display))
        return
    kind = kind_of_name(absolute)
    if not kind and os.path.splitext(absolute)[1].lower() not in FOREIGN:
        data = _beginning(absolute)
        kind = kind_of_shebang(data) or kind_of_content(data)
    if not kind:
        known = ", ".join(kind.name for kind in KINDS)
        message = f"{display} is of no kind that gdnlint reads ({known}); it was not read"
        problems.append(Problem("unknown-kind", message, path=display))
        return
    yield _Entry(absolute, display, kind, os.path.islink(absolute), os.path.realpath(absolute), named=True)


def _folder(absolute: str, root: str) -> Iterator[_Entry]:
    """The files of a folder that are of a known kind, and links to such files inside the root."""
    base, real, root = _display(absolute), os.path.realpath(absolute), root.rstrip("/") + "/"
    prefix = "" if base == "." else f"{base}/"
    listed = _listed(absolute)
    for relative, link in _walked(absolute) if listed is None else listed:
        path = f"{absolute}/{relative}"
        kind = kind_of_name(f"{base}/{relative}") or kind_of_shebang(_beginning(path))
        if not kind or _is_data(path, kind):
            continue
        target = os.path.realpath(path) if link else f"{real}/{relative}"
        if link and not (target.startswith(root) and os.path.isfile(target)):
            continue
        yield _Entry(path, prefix + relative, kind, link, target)


def _is_data(path: str, kind: str) -> bool:
    """Whether a file is larger than one of its kind that people write."""
    largest = next(one.largest for one in KINDS if one.name == kind)
    try:
        return bool(largest) and os.stat(path).st_size > largest
    except OSError:
        return False


def _beginning(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, SNIFFED)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _listed(folder: str) -> list[tuple[str, bool]] | None:
    """The files that git tracks or would track below a folder, each with whether it is a link.

    None outside a checkout, or if git cannot say.
    """
    if not _in_checkout(folder):
        return None
    names = _git_names(folder)
    # Nothing: the folder is ignored or empty. Who names an ignored folder wants it looked at.
    if not names:
        return None
    listed: list[tuple[str, bool]] = []
    for name in dict.fromkeys(names):
        if SKIPPED_FOLDERS.intersection(name.split("/")[:-1]):
            continue
        try:
            mode = os.lstat(f"{folder}/{name}").st_mode if name.endswith("/") or _may_be_of_interest(name) else 0
        except OSError:
            continue
        if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            listed.append((name, stat.S_ISLNK(mode)))
        elif stat.S_ISDIR(mode):
            # A checkout in the checkout (a submodule, a clone) is one entry of the outer one.
            inner = f"{folder}/{name.rstrip('/')}"
            below = _listed(inner)
            listed += [(f"{name.rstrip('/')}/{path}", link) for path, link in below or _walked(inner)]
    return listed


def _may_be_of_interest(name: str) -> bool:
    """Whether a name tells a kind, or tells nothing so that the content has to."""
    return "." not in name.rpartition("/")[2] or bool(kind_of_name(name))


def _in_checkout(folder: str) -> bool:
    path = Path(os.path.realpath(folder))
    return any((parent / ".git").exists() for parent in (path, *path.parents))


def _git_names(folder: str) -> list[str]:
    """What ``git ls-files`` says; empty if it fails. The configuration of the checkout cannot make it run anything."""
    import subprocess

    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    command += ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "."]
    try:
        done = subprocess.run(
            command, cwd=folder, env=_git_environment(), capture_output=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return []
    if done.returncode:
        return []
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def _git_environment() -> dict[str, str]:
    """Without the GIT_DIR, GIT_INDEX_FILE ... that git sets for hooks: they name the outer repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "LC_ALL": "C",
    }


def _walked(folder: str) -> Iterator[tuple[str, bool]]:
    """The files below a folder that no .gitignore on the way leaves out, each with whether it is a link."""
    yield from _walk(folder, "", [], 0)


def _walk(
    folder: str, relative: str, ignores: list[tuple[str, GitIgnoreSpec]], depth: int
) -> Iterator[tuple[str, bool]]:
    try:
        with os.scandir(f"{folder}/{relative}") as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return
    if any(entry.name == ".gitignore" for entry in entries):
        spec = _ignore_file(f"{folder}/{relative}.gitignore")
        ignores = [*ignores, (relative, spec)] if spec is not None else ignores
    for entry in entries:
        path = f"{relative}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in SKIPPED_FOLDERS and depth < DEEPEST and not _ignored(f"{path}/", ignores):
                yield from _walk(folder, f"{path}/", ignores, depth + 1)
            continue
        link = entry.is_symlink()
        if (link or entry.is_file()) and _may_be_of_interest(path) and not _ignored(path, ignores):
            yield path, link


def _ignore_file(path: str) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    from gdnlint.project import read_bounded

    try:
        return GitIgnoreSpec.from_lines(read_bounded(Path(path)).decode("utf-8", "replace").splitlines())
    except (OSError, ValueError):
        return None


def _ignored(path: str, ignores: list[tuple[str, GitIgnoreSpec]]) -> bool:
    """Whether the deepest .gitignore that says anything of a path leaves it out."""
    for base, spec in reversed(ignores):
        verdict = spec.check_file(path[len(base) :]).include
        if verdict is not None:
            return verdict
    return False
