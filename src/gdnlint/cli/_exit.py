"""How a process ends. Documented in the README: scripts rely on it."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    OK = 0
    """Nothing at or above ``--fail-on``."""
    FINDINGS = 1
    USAGE = 2
    """A mistake in the options or in a configuration file, or a report that cannot be written."""
    NOTHING = 3
    """No file to check was found. A green run over nothing would be false safety."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class PipeClosed(Exception):
    """Whoever reads standard output has gone."""
