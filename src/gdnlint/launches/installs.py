"""Packages that a script installs before it launches: ``pip install vllm==0.28.0``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gdnlint.knowledge.schema import Knowledge
from gdnlint.launches.commands import Command, base_name
from gdnlint.launches.model import VersionHint
from gdnlint.values import Word

_PIP = re.compile(r"pip[\d.]*")


def installed(command: Command, knowledge: Knowledge) -> Iterator[VersionHint]:
    """The pins of an engine's package among the words of a command that installs packages, if it is one."""
    for word in _packages(command):
        text = word.text.marked()
        for engine in knowledge.engines.values():
            package = re.escape(engine.package)
            if re.match(rf"{package}\s*(?:\[[^\]]*\])?\s*(?:[=<>~!]=|[<>@])", text) or re.search(
                rf"(?:^|/){package}-\d[^/]*\.whl$", text
            ):
                yield VersionHint(word.text, word.span, "installed")


def _packages(command: Command) -> Sequence[Word]:
    """The words behind ``pip install``, ``uv pip install`` and ``python -m pip install``."""
    words = command.words
    if not words:
        return ()
    name = command.entry if command.is_module else base_name(words[0]) or ""
    if name == "uv" and len(words) > 1 and words[1].known == "pip":
        words = words[1:]
    elif not _PIP.fullmatch(name):
        return ()
    return words[2:] if len(words) > 2 and words[1].known == "install" else ()
