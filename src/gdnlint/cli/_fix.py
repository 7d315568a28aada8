"""``--fix`` and ``--diff``: what is written, what would be, and what is not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gdnlint.options import Options
from gdnlint.report._terminal import clean
from gdnlint.results import Report

if TYPE_CHECKING:
    from gdnlint.fixes.plan import Plan
    from gdnlint.report._terminal import Style


def planned(report: Report, paths: Sequence[Path], options: Options, unsafe: bool) -> Plan:
    """The fixes that can be written for a report on some paths."""
    from gdnlint import pipeline
    from gdnlint.fixes.plan import plan

    def judge(texts: Mapping[Path, str], files: Collection[str]) -> Report:
        return pipeline.run(list(paths), options, texts, files)

    return plan(report, judge, unsafe)


def write(plan: Plan) -> int:
    """Write the edited files and say on standard error what was done. How many could not be written."""
    from gdnlint.fixes.writing import NotWritten, replace

    failed: set[str] = set()
    for path, change in plan.changes.items():
        try:
            replace(path, change.source, change.text)
        except NotWritten as error:
            failed.add(change.source.path)
            click.echo(f"error: not fixed: {clean(str(error))}", err=True)
    for chosen in plan.fixed:
        if chosen.fix.edits[0].span.source.path not in failed:
            click.echo(_line("fixed", chosen.finding.launch, chosen.finding.rule, chosen.fix.title), err=True)
    told_refusals(plan)
    return len(failed)


def told_refusals(plan: Plan) -> None:
    """What stays, and why."""
    for refused in plan.refused:
        click.echo(_line("not fixed", refused.finding.launch, refused.finding.rule, refused.reason), err=True)


def _line(what: str, place: str, rule: str, text: str) -> str:
    return clean(f"{what}: {place}: {rule}: {text}")


def diff(plan: Plan, style: Style) -> str:
    """A unified diff of what ``--fix`` would write, as ``patch -p0`` takes it."""
    lines: list[str] = []
    for change in sorted(plan.changes.values(), key=lambda change: change.source.path):
        lines += _file_diff(change.source.path, change.source.text, change.text, style)
    return "".join(lines)


def _file_diff(path: str, old: str, new: str, style: Style) -> list[str]:
    from difflib import unified_diff

    # Only a line feed ends a line for patch; str.splitlines has more.
    before, after = old.split("\n"), new.split("\n")
    rows = unified_diff(
        [f"{line}\n" for line in before[:-1]] + ([before[-1]] if before[-1] else []),
        [f"{line}\n" for line in after[:-1]] + ([after[-1]] if after[-1] else []),
        path,
        path,
    )
    roles = {"-": "removed", "+": "added", "@": "related"}
    out: list[str] = []
    for row in rows:
        text = row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"
        shown = text if not style.color else clean(text.rstrip("\n")) + "\n"
        role = roles.get(row[:1], "")
        out.append(style.paint(shown.rstrip("\n"), role) + "\n" if role and style.color else shown)
    return out
