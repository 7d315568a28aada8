"""JUnit's XML, as Jenkins, GitLab and others read it: a suite a file, a case a finding or a launch without one."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from gdnlint.report._paths import from_root
from gdnlint.report._terminal import clean
from gdnlint.report._words import headline
from gdnlint.results import Diagnostic, Finding, LaunchResult, Report

Case = tuple[str, str]
"""What a case is (``failures``, ``errors`` or nothing), and its XML."""


def render(report: Report, root: Path) -> str:
    """Findings that make the run fail are failures, files that cannot be read are errors; milder ones are output."""
    suites: dict[str, list[Case]] = {}
    named = {finding.launch for finding in report.findings}
    for finding in report.findings:
        suites.setdefault(from_root(finding.span.source, root), []).append(_finding(finding, root))
    for diagnostic in report.diagnostics:
        if diagnostic.level == "error":
            path = from_root(diagnostic.span.source if diagnostic.span else diagnostic.path, root)
            suites.setdefault(path, []).append(_diagnostic(diagnostic, path))
    for launch in report.launches:
        if launch.id not in named:
            suites.setdefault(from_root(launch.span.source, root), []).append(_launch(launch, root))
    every = [case for cases in suites.values() for case in cases]
    body = "".join(_suite(path, cases) for path, cases in sorted(suites.items()))
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<testsuites name="gdnlint" {_counts(every)}>\n{body}</testsuites>\n'


def _suite(path: str, cases: list[Case]) -> str:
    return f"  <testsuite name={_attribute(path)} {_counts(cases)}>\n{''.join(xml for _, xml in cases)}  </testsuite>\n"


def _counts(cases: list[Case]) -> str:
    failures, errors = (sum(kind == name for kind, _ in cases) for name in ("failures", "errors"))
    return f'tests="{len(cases)}" failures="{failures}" errors="{errors}" time="0"'


def _case(name: str, path: str, line: int, body: str) -> str:
    head = f"    <testcase name={_attribute(name)} classname={_attribute(path)} file={_attribute(path)}"
    return f'{head} line="{line}" time="0">{body}</testcase>\n'


def _finding(finding: Finding, root: Path) -> Case:
    path, line = from_root(finding.span.source, root), finding.span.line
    text = _text("\n".join((f"{path}:{line}:{finding.span.column}", finding.message, *finding.notes)))
    name = f"{finding.rule} {finding.name} (line {line})"
    if not finding.fails:
        return "", _case(name, path, line, f"<system-out>{text}</system-out>")
    message = f"message={_attribute(headline(finding))} type={_attribute(finding.severity)}"
    return "failures", _case(name, path, line, f"<failure {message}>{text}</failure>")


def _diagnostic(diagnostic: Diagnostic, path: str) -> Case:
    line = diagnostic.span.line if diagnostic.span is not None else 1
    error = f"<error message={_attribute(diagnostic.message)} type={_attribute(diagnostic.code)}/>"
    return "errors", _case(diagnostic.code, path, line, error)


def _launch(launch: LaunchResult, root: Path) -> Case:
    path, line = from_root(launch.span.source, root), launch.span.line
    return "", _case(f"{launch.kind} (line {line}): {launch.combination}", path, line, "")


def _attribute(text: str) -> str:
    return quoteattr(_allowed(clean(" ".join(text.split()))))


def _text(text: str) -> str:
    return escape(_allowed("\n".join(map(clean, text.split("\n")))))


def _allowed(text: str) -> str:
    """Without the two characters that XML has no word for and ``clean`` lets through."""
    return text.replace("\ufffe", "?").replace("\uffff", "?")
