"""GitLab's Code Quality report: the part of Code Climate's format that its documentation page names."""

from __future__ import annotations

import json
from pathlib import Path

from gdnlint.report._fingerprint import fingerprints
from gdnlint.report._paths import from_root
from gdnlint.report._terminal import harmless_json
from gdnlint.report._words import headline
from gdnlint.results import Finding, Report

SEVERITIES = {"error": "critical", "warning": "minor", "note": "info"}
"""Of info, minor, major, critical and blocker. An error is silent corruption: more than `major`."""


def render(report: Report, root: Path) -> str:
    """A list with one object a finding. Paths are relative to ``root``, the top of the repository."""
    found = [_issue(f, name, root) for f, name in zip(report.findings, fingerprints(report), strict=True)]
    return harmless_json(json.dumps(found, indent=2, ensure_ascii=False)) + "\n"


def _issue(finding: Finding, fingerprint: str, root: Path) -> dict[str, object]:
    return {
        "description": f"{finding.rule}: {headline(finding)}.",
        "check_name": f"{finding.rule} {finding.name}",
        "fingerprint": fingerprint,
        "severity": SEVERITIES[finding.severity],
        "location": {"path": from_root(finding.span.source, root), "lines": {"begin": finding.span.line}},
    }
