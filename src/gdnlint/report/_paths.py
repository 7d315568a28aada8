"""How reports for code hosts name a file."""

from __future__ import annotations

import os
from pathlib import Path

from gdnlint.source import Source


def from_root(source: Source | str, root: Path) -> str:
    """The path of a file (or a displayed one) relative to the top of the repository, POSIX, without ``./``."""
    path = source if isinstance(source, str) else str(source.file)
    return os.path.relpath(os.path.realpath(path.replace("\0", "?")), os.path.realpath(root)).replace(os.sep, "/")
