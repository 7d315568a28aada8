"""SARIF 2.1.0 as GitHub code scanning reads it, and as the standard and other readers want it.

Facts: the properties, limits and habits of code scanning are those of GitHub's page "SARIF support for code
scanning"; section numbers are of the OASIS standard.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from gdnlint import __version__
from gdnlint.report._fingerprint import fingerprints, line_hash
from gdnlint.report._terminal import harmless_json
from gdnlint.report._words import first_sentence, headline
from gdnlint.report.rule_info import RuleInfo, markdown
from gdnlint.results import SEVERITIES, Diagnostic, Edit, Finding, Fix, Related, Report
from gdnlint.source import Source, Span

HOME = "https://pypi.org/project/gdnlint/"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

# More than these and code scanning refuses the file; it keeps fewer relatedLocations and steps than it takes.
MOST_RESULTS = 25_000
MOST_RELATED = 100
MOST_STEPS = 1_000
MOST_TAGS = 10
LONGEST_DESCRIPTION = 1024

Json = dict[str, object]


def render(report: Report, rules: Sequence[RuleInfo], root: Path) -> str:
    """One log with one run. Paths are relative to ``root``, the top of the repository."""
    return harmless_json(json.dumps(document(report, rules, root), indent=2, ensure_ascii=False)) + "\n"


def document(report: Report, rules: Sequence[RuleInfo], root: Path) -> Json:
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [_Writer(report, rules, root).run()]}


class _Writer:
    """One run. Holds what every location needs: the root, and the numbers of the rules."""

    def __init__(self, report: Report, rules: Sequence[RuleInfo], root: Path) -> None:
        self.report = report
        self.rules = rules
        self.root = os.path.realpath(root)
        self.numbers = {rule.id: number for number, rule in enumerate(rules)}

    def run(self) -> Json:
        findings, left_out = self._most_severe()
        names = dict(zip(map(id, self.report.findings), fingerprints(self.report), strict=True))
        driver: Json = {
            "name": "gdnlint",
            "informationUri": HOME,
            "semanticVersion": __version__,
            "version": __version__,
            "rules": [_rule(rule) for rule in self.rules],
        }
        notifications = [self._notification(diagnostic) for diagnostic in self.report.diagnostics]
        if left_out:
            text = f"{left_out} of the mildest findings are left out: a SARIF file holds {MOST_RESULTS:,}."
            notifications.append({"descriptor": {"id": "results-cut"}, "level": "warning", "message": {"text": text}})
        return {
            "tool": {"driver": driver},
            # Without the slash at the end, code scanning reads the whole name as a run id and the category is empty.
            "automationDetails": {"id": "gdnlint/"},
            "columnKind": "utf16CodeUnits",
            "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
            "results": [self._result(finding, names[id(finding)]) for finding in findings],
        }

    def _most_severe(self) -> tuple[list[Finding], int]:
        """The findings to write, in the report's order, and how many do not fit."""
        findings = self.report.findings
        if len(findings) <= MOST_RESULTS:
            return findings, 0
        ranked = sorted(range(len(findings)), key=lambda at: -SEVERITIES.index(findings[at].severity))
        return [findings[at] for at in sorted(ranked[:MOST_RESULTS])], len(findings) - MOST_RESULTS

    def _result(self, finding: Finding, name: str) -> Json:
        related = finding.related[:MOST_RELATED]
        result: Json = {"ruleId": finding.rule}
        if finding.rule in self.numbers:
            result["ruleIndex"] = self.numbers[finding.rule]
        result |= {
            "level": finding.severity,
            "message": {"text": _message(finding, related)},
            "locations": [self._location(finding.span, finding.label, context=True)],
            "partialFingerprints": {
                "primaryLocationLineHash": line_hash(finding.span.source, finding.span.line),
                "gdnlint/v1": name,
            },
            "properties": {"confidence": finding.confidence, "launch": finding.launch, "when": finding.when},
        }
        if related:
            result["relatedLocations"] = [
                {"id": number, **self._location(place.span, place.message)} for number, place in enumerate(related, 1)
            ]
        if finding.chain:
            result["codeFlows"] = [{"threadFlows": [{"locations": self._steps(finding.chain)}]}]
        fixes = [self._fix(fix) for fix in finding.fixes if fix.edits]
        if fixes:
            result["fixes"] = fixes
        return result

    def _steps(self, chain: Sequence[Related]) -> list[Json]:
        return [{"location": self._location(place.span, place.message)} for place in chain[:MOST_STEPS]]

    def _fix(self, fix: Fix) -> Json:
        by_path: dict[str, list[Edit]] = {}
        for edit in fix.edits:
            by_path.setdefault(edit.span.source.path, []).append(edit)
        return {
            "description": {"text": _sentence(fix.title)},
            "artifactChanges": [
                {
                    "artifactLocation": {"uri": self._uri(edits[0].span.source)},
                    "replacements": [
                        {"deletedRegion": region(edit.span), "insertedContent": {"text": edit.text}} for edit in edits
                    ],
                }
                for edits in by_path.values()
            ],
        }

    def _notification(self, diagnostic: Diagnostic) -> Json:
        found: Json = {
            "descriptor": {"id": diagnostic.code},
            "level": diagnostic.level,
            "message": {"text": _sentence(diagnostic.message)},
        }
        if diagnostic.span is not None:
            found["locations"] = [self._location(diagnostic.span, "")]
        elif diagnostic.path:
            uri = self._relative(diagnostic.path)
            found["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": uri}}}]
        return found

    def _location(self, span: Span, message: str, context: bool = False) -> Json:
        """A physical location. Its region is one line tall: an alert whose lines are not all in the diff of a pull
        request does not show there."""
        shown = first_line(span)
        physical: Json = {
            "artifactLocation": {"uri": self._uri(span.source)},
            "region": {**region(shown), "snippet": {"text": shown.text}},
        }
        if context:
            physical["contextRegion"] = _context(span)
        found: Json = {"physicalLocation": physical}
        if message:
            found["message"] = {"text": message}
        return found

    def _uri(self, source: Source) -> str:
        return self._relative(str(source.file))

    def _relative(self, path: str) -> str:
        """Percent-encoded, relative to the root. Symbolic links are resolved: code scanning shows nothing for one."""
        try:
            name = os.fsencode(path)
        except UnicodeEncodeError:
            name = path.encode("utf-8", "replace")
        # A path that a linted file names can hold what no file's name can.
        name = name.replace(b"\0", b"?")
        return quote(os.path.relpath(os.path.realpath(name), os.fsencode(self.root)))


def region(span: Span) -> Json:
    """Lines and columns start at 1; columns count UTF-16 units, and endColumn is one past."""
    return {
        "startLine": span.line,
        "startColumn": _column(span.source, span.line, span.column),
        "endLine": span.end_line,
        "endColumn": _column(span.source, span.end_line, span.end_column),
    }


def first_line(span: Span) -> Span:
    """The part of a span on its first line."""
    if span.end_line == span.line:
        return span
    end = span.source.starts[span.line - 1] + len(span.source.line(span.line))
    return Span(span.source, span.start, max(span.start, end))


def _column(source: Source, line: int, column: int) -> int:
    start = source.starts[line - 1]
    before = source.text[start : start + column - 1]
    return len(before) + sum(char > "\uffff" for char in before) + 1


def _context(span: Span) -> Json:
    """The line with its neighbours."""
    source = span.source
    first, last = max(1, span.line - 1), min(span.line + 1, len(source.starts))
    start = source.starts[first - 1]
    end = source.starts[last - 1] + len(source.line(last))
    around = Span(source, start, end)
    return {**region(around), "snippet": {"text": around.text}}


def _message(finding: Finding, related: Sequence[Related]) -> str:
    """The alert's text. The first sentence is its title; the places are links to ``relatedLocations`` (3.11.6)."""
    rest = first_sentence(finding.message)[1]
    parts = [_escaped(text) for text in (headline(finding) + ".", rest, *map(_sentence, finding.notes)) if text]
    if related:
        links = [f"[{_link_text(place.message)}]({number})" for number, place in enumerate(related, 1)]
        parts.append(f"See {', '.join(links)}.")
    return " ".join(parts)


def _escaped(text: str) -> str:
    """Text that holds no link by accident."""
    return re.sub(r"\](?=\()", r"\\]", text)


def _link_text(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", " ".join(text.split()) or "here")


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if not text or text.endswith((".", "!", "?")) else text + "."


def _rule(rule: RuleInfo) -> Json:
    description = _shortened(_sentence(_plain(rule.description) or rule.summary))
    found: Json = {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": _shortened(_sentence(rule.summary))},
        "fullDescription": {"text": description},
        "help": {"text": _sentence(_plain(rule.remediation)) or description, "markdown": markdown(rule)},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": list(rule.tags)[:MOST_TAGS],
            "precision": rule.precision,
            "problem.severity": "recommendation" if rule.severity == "note" else rule.severity,
        },
    }
    if rule.references:
        found["helpUri"] = rule.references[0].url
    return found


def _plain(markdown: str) -> str:
    """The first paragraph of Markdown as plain text."""
    paragraphs = [part for part in re.split(r"\n\s*\n", markdown.strip()) if not part.lstrip().startswith(("#", "```"))]
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraphs[0] if paragraphs else "")
    return " ".join(re.sub(r"[`*]", "", text).split())


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return text[: LONGEST_DESCRIPTION - 2].rsplit(" ", 1)[0] + "…"
