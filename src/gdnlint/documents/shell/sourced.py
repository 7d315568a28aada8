"""Finding the file that ``source`` names, inside the project and nowhere else."""

from __future__ import annotations

import os.path
from functools import lru_cache
from pathlib import Path

from gdnlint.documents.shell.script import Script
from gdnlint.documents.shell.state import MOST_SOURCES, Shell, file_key
from gdnlint.project import Unreadable
from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Problem, Word


@lru_cache(maxsize=64)
def script_of(source: Source) -> Script:
    """A sourced file, parsed once for all runs."""
    return Script(Fragment.whole(source))


def locate(shell: Shell, word: Word, span: Span) -> tuple[Path | None, Script] | None:
    """The file (None: one that this run has written) and its script.

    None if it is not known or not there, or after a problem was reported.
    """
    assert shell.project is not None
    written = shell.files.get(file_key(word.text, shell.cwd)) if shell.files else None
    if written is not None:
        return None, Script.of(written, span)
    known = word.known
    if not known or known.startswith("~") or "\0" in known or len(known) > 4096:
        return None
    if known.startswith("/") and _names_the_machine(word) and not _below(shell.project.root, Path(known)):
        return None
    path = _candidate(shell, known, span)
    if path is None:
        return None
    if path in shell.reading:
        _report(shell, "source-cycle", f"{shell.project.display(path)} sources itself", span)
        return None
    if len(shell.reading) > MOST_SOURCES:
        _report(shell, "too-deep", f"more than {MOST_SOURCES} files source one another; the rest is not read", span)
        return None
    try:
        return path, script_of(shell.project.source(path))
    except Unreadable as error:
        _report(shell, error.problem.code, error.problem.message, span)
        return None


def _names_the_machine(word: Word) -> bool:
    """Whether a path is absolute as it is written (``/etc/profile``): it is no file of the project."""
    first = word.text.pieces[0]
    return first.span is not None and first.span.text.startswith("/")


def _candidate(shell: Shell, known: str, span: Span) -> Path | None:
    project = shell.project
    assert project is not None
    bases = [Path(shell.cwd)] if shell.cwd is not None else []
    bases += [base for base in (shell.here, shell.directory, project.root) if base is not None]
    if known.startswith("/"):
        bases = [Path("/")]
    outside: Path | None = None
    for base in dict.fromkeys(bases):
        path = Path(os.path.normpath(base / known))
        if project.exists(path):
            return Path(os.path.realpath(path))
        if not project.inside(path) and (known.startswith(("..", "/")) or _below(project.root, path)):
            outside = outside or path
    if outside is not None:
        _report(
            shell, "outside-root", f"{project.display(outside)} lies outside the project root and is not read", span
        )
    return None


def _below(root: Path, path: Path) -> bool:
    """Whether a path lies below the root by its name (a symbolic link may lead out)."""
    return os.path.normpath(path).startswith(str(root) + os.sep)


def _report(shell: Shell, code: str, message: str, span: Span) -> None:
    problem = Problem(code, message, span)
    if problem not in shell.problems:
        shell.problems.append(problem)
