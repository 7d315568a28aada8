"""Markdown for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gdnlint.report._paths import from_root
from gdnlint.report._terminal import clean
from gdnlint.report._words import headline, summary
from gdnlint.results import Finding, Report

LONGEST = 60_000
"""Characters: a comment on GitHub holds 65,536."""

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def render(report: Report, root: Path) -> str:
    """A table of findings and, below it, what is known of each. Paths are relative to ``root``."""
    parts = [f"### gdnlint: {escaped(summary(report))}\n"]
    if report.findings:
        parts.append("\n| Severity | Rule | Where | What |\n| --- | --- | --- | --- |\n")
    size = sum(map(len, parts))
    for number, row in enumerate(_row(finding, root) for finding in report.findings):
        if size + len(row) > LONGEST // 2:
            parts.append(f"\n{len(report.findings) - number} more findings are left out here.\n")
            break
        parts.append(row)
        size += len(row)
    for finding in report.findings:
        details = "".join(_details(finding, root))
        if size + len(details) > LONGEST:
            break
        parts.append(details)
        size += len(details)
    return "".join(parts)


def _row(finding: Finding, root: Path) -> str:
    where = code(f"{from_root(finding.span.source, root)}:{finding.span.line}")
    return f"| {finding.severity} | {finding.rule} | {where} | {escaped(headline(finding))} |\n"


def _details(finding: Finding, root: Path) -> Iterator[str]:
    place = f"{from_root(finding.span.source, root)}:{finding.span.line}"
    yield f"\n<details><summary>{finding.rule}: {escaped(place)}</summary>\n\n"
    for note in finding.notes:
        yield f"{escaped(note)}\n\n"
    for fix in finding.fixes:
        yield f"* {escaped(fix.title)}{f' (cost: {escaped(fix.cost)})' if fix.cost else ''}\n"
    for reference in finding.references:
        yield f"* [{escaped(reference.title)}]({reference.url})\n"
    yield "\n</details>\n"


def escaped(text: str) -> str:
    """Text from a linted file that is nothing but text: no markup, no cell, no mention of a person or a thread."""
    plain = _MARKUP.sub(r"\\\1", clean(" ".join(text.split())))
    # A zero-width character would be copied along; an entity is not.
    return plain.replace("@", "&#64;").replace("://", "&#58;//").replace("\\#", "&#35;")


def code(text: str) -> str:
    """Text as code inside a cell of a table."""
    plain = clean(" ".join(text.split()))
    return f"`{plain}`" if not re.search(r"[`|\\]", plain) else escaped(plain)
