"""Annotations of GitHub Actions: workflow commands, one a line.

The grammar and its escapes are those of GitHub's page "Workflow commands" and of ``@actions/core`` (command.ts). GitHub
shows ten errors and ten warnings of a step; the log holds all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gdnlint.report._paths import from_root
from gdnlint.report._terminal import clean
from gdnlint.report._words import headline
from gdnlint.report.sarif import first_line
from gdnlint.results import Diagnostic, Finding, Report

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, root: Path) -> str:
    """Paths are relative to ``root``, the top of the repository."""
    lines = [*(_finding(f, root) for f in report.findings), *_diagnostics(report.diagnostics, root)]
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding, root: Path) -> str:
    span = first_line(finding.span)
    place = {
        "file": from_root(span.source, root),
        "line": str(span.line),
        "col": str(span.column),
        "endColumn": str(span.end_column),
        "title": f"{finding.rule} {finding.name}",
    }
    text = [headline(finding) + ".", *finding.notes, f"gdnlint explain {finding.rule}"]
    return _command(COMMANDS[finding.severity], place, "\n".join(map(clean, text)))


def _diagnostics(found: list[Diagnostic], root: Path) -> Iterator[str]:
    for diagnostic in found:
        place = {"file": from_root(diagnostic.span.source if diagnostic.span else diagnostic.path, root)}
        if diagnostic.span is not None:
            place["line"] = str(diagnostic.span.line)
        place["title"] = diagnostic.code
        yield _command(COMMANDS[diagnostic.level], place, clean(" ".join(diagnostic.message.split())))


def _command(name: str, properties: dict[str, str], message: str) -> str:
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {given}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
