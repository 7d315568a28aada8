"""A file's text replaced: the old file or the new one, never a part of either."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from gdnlint.project import decode, read_bounded
from gdnlint.source import Source


class NotWritten(Exception):
    """Why a file stays as it is. The message names the file and what to do."""


def replace(path: Path, source: Source, text: str) -> None:
    """The new text goes to a file beside the old one, to disk, and then takes its name, mode and owner.

    ``source`` is what was read: a file that holds anything else by now stays as it is. Raises NotWritten.
    """
    shown = source.path
    try:
        data = read_bounded(path)
        status = os.lstat(path)
    except (OSError, ValueError) as error:
        raise NotWritten(f"{shown}: it cannot be read any more ({error})") from error
    found = decode(data, shown, path)
    if not isinstance(found, Source) or found.text != source.text:
        raise NotWritten(f"{shown}: it has changed since it was read; run gdnlint again")
    new = _encoded(text, data)
    if _encoded(source.text, data) != data or new is None:
        raise NotWritten(f"{shown}: its encoding cannot be kept; edit it by hand")
    if status.st_nlink > 1:
        raise NotWritten(f"{shown}: its {status.st_nlink} names (hard links) would come apart; edit it by hand")
    if not os.access(path, os.W_OK):
        raise NotWritten(f"{shown}: it is write-protected")
    try:
        _swap(path, status, new)
    except OSError as error:
        raise NotWritten(f"{shown}: it cannot be written ({error.strerror or error})") from error


def _encoded(text: str, like: bytes) -> bytes | None:
    """A text in the encoding of a file, its byte order mark kept."""
    try:
        for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
            if like.startswith(mark):
                return mark + text.encode(encoding)
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return None


def _swap(path: Path, status: os.stat_result, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".gdnlint-new", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            _like(file.fileno(), path, status)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # Without this the new name may be lost with the power.
        with suppress(OSError):
            os.fsync(folder)
    finally:
        os.close(folder)


def _like(descriptor: int, path: Path, status: os.stat_result) -> None:
    """Owner, mode and extended attributes of the file that is replaced. Raises OSError if the owner cannot be kept."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (status.st_uid, status.st_gid):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):
        for name in os.listxattr(path):
            # Some belong to the system and cannot be set.
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(path, name))
