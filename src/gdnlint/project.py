"""The files of one run: read once, bounded, never outside the project root."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from gdnlint.source import Source
from gdnlint.values import Problem

LARGEST = 1 << 20
"""Bytes of a file that is read; a larger one is a diagnostic (launch files are small)."""


LARGEST_LOCK = 32 << 20
"""Bytes of a lock file that is read."""


class Unreadable(Exception):
    """A file that cannot be read; ``problem`` says why, for the person whose file it is."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Project:
    """Reads files below ``root`` and follows references between them.

    ``start`` is the directory that paths in reports are relative to.
    """

    def __init__(self, root: Path, start: Path | None = None, texts: Mapping[Path, str] | None = None) -> None:
        """``texts`` are read in place of what lies at some real paths."""
        self._texts = texts or {}
        self.root = Path(os.path.realpath(root))
        self.start = Path(os.path.realpath(start)) if start is not None else self.root
        self._sources: dict[Path, Source | Unreadable] = {}
        self._names: dict[Path, tuple[str, ...]] = {}
        self._exists: dict[str, bool] = {}
        self._real_folders: dict[str, str] = {}
        self.pins: dict[object, object] = {}
        """What the version search found in a directory; many launches share it."""
        self.memory: dict[object, object] = {}
        """Results that other readers keep for the length of a run."""

    def display(self, path: Path) -> str:
        """How reports name a path."""
        return os.path.relpath(path, self.start).replace(os.sep, "/")

    def inside(self, path: Path) -> bool:
        """Whether a path, its symbolic links resolved, lies below the root."""
        real = self._real(os.fspath(path))
        return real == str(self.root) or real.startswith(str(self.root) + os.sep)

    def real(self, path: Path) -> Path:
        """A path with its symbolic links resolved."""
        return Path(self._real(os.fspath(path)))

    def _real(self, path: str) -> str:
        """``os.path.realpath``. Many files of few folders are asked for, so those of folders are kept."""
        folder, _, name = path.rpartition("/")
        if not folder or name in ("", ".", "..") or os.sep != "/":
            return os.path.realpath(path)
        real = self._real_folders.get(folder)
        if real is None:
            real = self._real_folders[folder] = os.path.realpath(folder)
        whole = f"{real.rstrip('/')}/{name}"
        return os.path.realpath(whole) if os.path.islink(whole) else whole

    def exists(self, path: Path) -> bool:
        """Whether a regular file lies there, inside the root."""
        name = os.fspath(path)
        found = self._exists.get(name)
        if found is None:
            try:
                # Most of what is asked for is not there, which is cheaper to find out than where a path leads to.
                found = stat.S_ISREG(os.stat(name).st_mode) and self.inside(path)
            except (OSError, ValueError):
                found = False
            self._exists[name] = found
        return found

    def source(self, path: Path, display: str | None = None) -> Source:
        """The text of a file. Raises Unreadable: outside the root, not a regular file, too large, not UTF-8."""
        absolute = Path(os.path.abspath(path))
        found = self._sources.get(absolute)
        if found is None:
            found = self._read(absolute, display or self.display(absolute))
            self._sources[absolute] = found
        if isinstance(found, Unreadable):
            raise found
        return found

    def large(self, path: Path) -> Source | None:
        """A lock file, which may be larger than a launch file; None if it cannot be read."""
        absolute = Path(os.path.abspath(path))
        if absolute not in self._sources:
            try:
                data = read_bounded(absolute, LARGEST_LOCK) if self.inside(absolute) else b""
            except (OSError, ValueError):
                return None
            self._sources[absolute] = decode(data, self.display(absolute), absolute)
        found = self._sources[absolute]
        return None if isinstance(found, Unreadable) else found

    def names(self, folder: Path) -> tuple[str, ...]:
        """The names in a directory, sorted; none if it cannot be listed or lies outside the root."""
        found = self._names.get(folder)
        if found is None:
            try:
                found = tuple(sorted(os.listdir(folder))) if self.inside(folder) else ()
            except OSError:
                found = ()
            self._names[folder] = found
        return found

    def drop(self, path: Path) -> None:
        """Forget a text that is not needed any more: a tree may hold tens of thousands."""
        self._sources.pop(Path(os.path.abspath(path)), None)

    def add(self, path: Path, source: Source) -> None:
        """Keep a source that was read elsewhere (standard input, discovery)."""
        self._sources[Path(os.path.abspath(path))] = source

    def _read(self, path: Path, display: str) -> Source | Unreadable:
        if not self.inside(path):
            return Unreadable(
                Problem("outside-root", f"{display} lies outside the project root and is not read", path=display)
            )
        given = self._texts.get(self.real(path)) if self._texts else None
        if given is not None:
            return Source(display, given, path)
        try:
            data = read_bounded(path)
        except OSError as error:
            return Unreadable(Problem("unreadable", f"cannot read {display}: {error.strerror}", path=display))
        except ValueError as error:
            return Unreadable(Problem("unreadable", f"cannot read {display}: {error}", path=display))
        return decode(data, display, path)


def read_bounded(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a regular file. Never blocks on a FIFO or a device; ValueError says what it is instead."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a regular file")
        if status.st_size > largest:
            raise ValueError(f"it has {status.st_size:,} bytes, more than {largest:,}")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(largest + 1)
        if len(data) > largest:
            raise ValueError(f"it grew past {largest:,} bytes while it was read")
        return data
    finally:
        os.close(descriptor)


def decode(data: bytes, display: str, path: Path) -> Source | Unreadable:
    """Bytes to a source. UTF-8 (a BOM stays as one character) or UTF-16 with a BOM."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{display} is not valid {encoding.upper()} (byte {error.start}, line {line}); it was not read"
        return Unreadable(Problem("encoding", message, path=display))
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        return Unreadable(
            Problem("encoding", f"{display} holds a NUL byte (line {line}); it was not read", path=display)
        )
    return Source(display, text, path)
