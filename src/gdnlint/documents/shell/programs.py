"""Programs whose output follows from their arguments alone."""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from pathlib import Path

from gdnlint.documents.shell.state import Shell
from gdnlint.values import Hole, Text, Word

MOST_NUMBERS = 1_000
_PATHS = ("0", "BASH_SOURCE")


def output_of(shell: Shell, words: Sequence[Word], fed: Text | None) -> Text | None:
    """What a program writes to its standard output; None if that is not known."""
    name = words[0].known
    rest = [word for word in words[1:] if word.known not in ("--", "-P", "-L")]
    if any(word.spread for word in rest):
        return None
    if name == "cat":
        return fed if fed is not None and all(w.known == "-" for w in rest) else None
    if name in ("dirname", "basename", "realpath", "readlink"):
        rest = [w for w in rest if w.known not in ("-f", "-e", "-m", "-s", "-q", "-fm", "-n")]
        if name == "dirname":
            return _dirname(shell, rest[0].text) if len(rest) == 1 else None
        if name == "basename":
            return _basename(rest) if 1 <= len(rest) <= 2 else None
        return _real(shell, rest[0].text) if len(rest) == 1 else None
    if name == "seq":
        return _seq(rest)
    if name in ("true", "false", "mkdir", "sleep", "rm", "kill", "touch"):
        return Text()
    return None


def script_directory(shell: Shell, text: Text) -> Path | None:
    """The directory of the script whose path a text stands for (``$0``, ``${BASH_SOURCE[0]}``)."""
    if len(text.pieces) != 1 or not isinstance(text.pieces[0].content, Hole):
        return None
    name = text.pieces[0].content.name
    if name not in _PATHS:
        return None
    return shell.directory if name == "0" else shell.here


def _dirname(shell: Shell, text: Text) -> Text | None:
    here = script_directory(shell, text)
    if here is not None:
        return Text.of(str(here), text.pieces[0].span)
    known = text.known
    if known is None:
        return None
    trimmed = known.rstrip("/") or ("/" if known else "")
    head, slash, _ = trimmed.rpartition("/")
    if not slash:
        return Text.of(".")
    head = head.rstrip("/")
    return text.cut(0, len(head)) if head else Text.of("/")


def _basename(rest: Sequence[Word]) -> Text | None:
    known = rest[0].known
    if known is None:
        return None
    trimmed = known.rstrip("/")
    if not trimmed:
        return Text.of("/" if known else "")
    start = trimmed.rfind("/") + 1
    end = len(trimmed)
    if len(rest) == 2:
        ending = rest[1].known
        if ending is None:
            return None
        if ending and trimmed.endswith(ending) and len(ending) < end - start:
            end -= len(ending)
    return rest[0].text.cut(start, end)


def _real(shell: Shell, text: Text) -> Text | None:
    if script_directory(shell, text) is not None:
        return text
    known = text.known
    if known is None:
        return None
    if not known.startswith("/") and shell.cwd is not None:
        known = f"{shell.cwd}/{known}"
    return Text.of(os.path.normpath(known), text.pieces[0].span) if known.startswith("/") else None


def _seq(rest: Sequence[Word]) -> Text | None:
    numbers = []
    for word in rest:
        known = word.known
        if known is None or not re.fullmatch(r"-?\d{1,9}", known):
            return None
        numbers.append(int(known))
    if not 1 <= len(numbers) <= 3:
        return None
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0 or abs(numbers[-1] - first) // abs(step) >= MOST_NUMBERS:
        return None
    made = range(first, numbers[-1] + (1 if step > 0 else -1), step)
    return Text.of("".join(f"{n}\n" for n in made))
