"""What ``check`` prints for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from gdnlint.report._diff import diff
from gdnlint.report._frame import Mark, edge, frame, gutter_width
from gdnlint.report._terminal import Style, clean, wrap
from gdnlint.report._words import count, first_sentence, headline, row, summary, when_words
from gdnlint.results import Diagnostic, Finding, Fix, LaunchResult, Report, Skipped

UNDECIDED_SHOWN = 5
DIAGNOSTICS_SHOWN = 20

Launches = Literal["few", "undecided", "all"]
"""Which launches follow the findings: some undecided ones, all undecided ones, or every launch."""


def render(report: Report, style: Style, launches: Launches = "few", closing: bool = True) -> str:
    """The whole report: findings, launches and, if ``closing``, the summary. Ends with a line end unless empty."""
    blocks = ["\n".join(finding_lines(finding, style)) for finding in report.findings]
    listed = list(launch_lines(report.launches, style, launches)) if closing or launches == "all" else []
    if listed:
        blocks.append("\n".join(listed))
    if closing:
        blocks.append("\n".join(_closing(report, style)))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def concise(report: Report, style: Style) -> str:
    """One line a finding: ``path:line:column: error[GDN001] the diagnosis``."""
    return "".join(_first_line(finding, style) + "\n" for finding in report.findings)


def diagnostics(found: Sequence[Diagnostic], style: Style, every: bool = False) -> str:
    """One line a diagnostic, for standard error."""
    shown = found if every else found[:DIAGNOSTICS_SHOWN]
    lines = [_diagnostic(diagnostic, style) for diagnostic in shown]
    if len(found) > len(shown):
        lines.append(f"... and {count(len(found) - len(shown), 'more diagnostic')} (--verbose prints all)")
    return "".join(line + "\n" for line in lines)


def skipped(found: Sequence[Skipped]) -> str:
    """One line a file that is not checked, for standard error."""
    return "".join(f"{clean(item.path)}: not checked: {clean(item.reason)}\n" for item in found)


def finding_lines(finding: Finding, style: Style) -> Iterator[str]:
    """One finding: the diagnosis, the code that makes it, what else is known, the ways out."""
    marks = [Mark(finding.span, finding.label, finding.severity)]
    marks += [Mark(related.span, related.message, "related") for related in finding.related]
    edits = [edit.span for fix in finding.fixes for edit in fix.edits]
    gutter = gutter_width([mark.span for mark in marks] + edits)
    yield _first_line(finding, style)
    yield from frame(marks, style, gutter)
    yield edge(gutter, style)
    rest = first_sentence(finding.message)[1]
    for note in filter(None, (rest, *finding.notes)):
        yield from _remark("note", note, gutter, style)
    for fix in finding.fixes:
        yield from _way_out(fix, finding.span.source.path, gutter, style)
    for reference in finding.references:
        yield from _remark("see", f"{reference.title}: {reference.url}", gutter, style)


def launch_lines(launches: Sequence[LaunchResult], style: Style, which: Launches) -> Iterator[str]:
    """A line a launch: the combination, the place, and why."""
    if which == "all":
        for launch in launches:
            yield _launch(launch, style)
        return
    undecided = [launch for launch in launches if launch.combination == "undecided"]
    shown = undecided if which == "undecided" else undecided[:UNDECIDED_SHOWN]
    for launch in shown:
        yield _launch(launch, style)
    if len(undecided) > len(shown):
        yield f"... and {len(undecided) - len(shown)} more undecided (--verbose lists them)"


def _first_line(finding: Finding, style: Style) -> str:
    span = finding.span
    place = style.paint(f"{clean(span.source.path)}:{span.source.where(span.start)}:", "strong")
    tag = style.paint(f"{finding.severity}[{finding.rule}]", finding.severity)
    return f"{place} {tag} {style.paint(clean(headline(finding)), 'strong')}"


def _diagnostic(diagnostic: Diagnostic, style: Style) -> str:
    place = clean(diagnostic.path)
    if diagnostic.span is not None:
        place = f"{clean(diagnostic.span.source.path)}:{diagnostic.span.source.where(diagnostic.span.start)}"
    tag = style.paint(f"{diagnostic.level}[{diagnostic.code}]", diagnostic.level)
    return f"{place}: {tag} {clean(' '.join(diagnostic.message.split()))}"


def _remark(word: str, text: str, gutter: int, style: Style, role: str = "strong") -> Iterator[str]:
    """``= note: ...``, wrapped."""
    plain = f"{' ' * gutter} = {word}: "
    first, *more = wrap(text, style.width, plain)
    yield f"{' ' * gutter} {style.paint('=', 'gutter')} {style.paint(word + ':', role)}{first[len(plain) - 1 :]}"
    yield from more


def _way_out(fix: Fix, path: str, gutter: int, style: Style) -> Iterator[str]:
    about = [f"{fix.applicability} edit"] if fix.edits and fix.applicability != "manual" else []
    about += [f"cost: {fix.cost.rstrip('.')}"] if fix.cost else []
    text = f"{fix.title.rstrip('.')} ({'; '.join(about)})" if about else fix.title
    yield from _remark("help", text, gutter, style, "help")
    yield from diff(fix.edits, path, gutter, style)


def _launch(launch: LaunchResult, style: Style) -> str:
    role = {"present": "error", "undecided": "warning", "absent": "faint"}[launch.combination]
    word = style.paint(f"{launch.combination}:", role)
    place = f"{clean(launch.span.source.path)}:{row(launch.span)}"
    why = launch.decided_by or launch.note or " ".join(filter(None, (launch.kind, launch.engine)))
    other = [
        f"{scenario.combination} {when_words(scenario.when)}"
        for scenario in launch.scenarios
        if scenario.combination != launch.combination
    ]
    return f"{word} {place}  {clean('; '.join([*other, ' '.join(why.split())]))}"


def _closing(report: Report, style: Style) -> Iterator[str]:
    yield style.paint(summary(report), "strong")
    rules = sorted({finding.rule for finding in report.findings})
    if rules:
        yield f"Why, and what each way out costs: gdnlint explain {' '.join(rules)}"
