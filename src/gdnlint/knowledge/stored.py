"""The shipped rules as they were read last time, kept in the user's cache directory as JSON.

Reading their YAML takes longer than judging a launch file. What is kept belongs to exactly these bytes of
the rules and this version of gdnlint, and only rules without a mistake are kept. JSON runs nothing when it is read;
a file that another user could have written is not read at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gdnlint import __version__

FORMAT = 1
LARGEST = 8 << 20
"""Bytes of a kept file that is read."""
MOST = 4
"""Files that stay: rules of other versions, of a checkout beside an installation."""
_PAIRS = "\0pairs"
"""JSON has only texts as keys; a mapping with another one is a list of pairs under this key."""


def place(key: str) -> Path | None:
    """``$XDG_CACHE_HOME/gdnlint/rules-....json``; None if nothing may be kept."""
    if os.environ.get("GDNLINT_NO_CACHE"):
        return None
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home, "gdnlint", f"rules-{key[:16]}.json") if os.path.isabs(home) else None


def digest(files: Mapping[str, bytes]) -> str:
    """Of the rules, by name, and of what reads them."""
    from hashlib import sha256

    total = sha256(f"{FORMAT} {__version__}".encode())
    for name, data in files.items():
        total.update(f"\0{name}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()


def fetch(key: str) -> dict[str, Any] | None:
    """The data of every rule file by name; None if they are not kept, or what is kept belongs to other rules."""
    path = place(key)
    if path is None:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST or not _own(status):
                return None
            head, text = file.readline(2 * len(key) + 2), file.read()
            if head != _head(key, text):
                return None
            data = json.loads(text, object_hook=_with_any_keys)
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def keep(key: str, data: Mapping[str, Any]) -> None:
    """For the next run. A cache directory that cannot be written is no error."""
    path = place(key)
    if path is None:
        return
    try:
        text = json.dumps(_with_text_keys(data), separators=(",", ":")).encode()
        if json.loads(text, object_hook=_with_any_keys) != data:
            return
    except (TypeError, ValueError, RecursionError):
        return
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            temporary.write_bytes(_head(key, text) + text)
            temporary.chmod(0o600)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        for old in sorted(path.parent.glob("rules-*.json"), key=lambda file: -file.stat().st_mtime)[MOST:]:
            old.unlink(missing_ok=True)


def _head(key: str, text: bytes) -> bytes:
    """The first line: which rules these are, and that they are whole."""
    from hashlib import sha256

    return f"{key} {sha256(text).hexdigest()}\n".encode()


def _own(status: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _with_text_keys(data: Any) -> Any:
    if isinstance(data, list):
        return [_with_text_keys(item) for item in data]
    if not isinstance(data, Mapping):
        return data
    members = {key: _with_text_keys(value) for key, value in data.items()}
    if all(isinstance(key, str) for key in members):
        return members
    return {_PAIRS: [[key, value] for key, value in members.items()]}


def _with_any_keys(members: dict[str, Any]) -> dict[Any, Any]:
    pairs = members.get(_PAIRS)
    return dict(pairs) if pairs is not None and len(members) == 1 else members
