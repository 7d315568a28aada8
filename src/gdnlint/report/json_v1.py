"""The report as JSON, ``gdnlint-report/1``. docs/report-v1.schema.json describes it.

Within version 1 members are added, never renamed or removed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from gdnlint import __version__
from gdnlint.report._fingerprint import fingerprints
from gdnlint.report._terminal import harmless_json
from gdnlint.report._words import COMBINATIONS
from gdnlint.results import Diagnostic, Edit, Finding, Ingredient, LaunchResult, Related, Report, Setting, Step
from gdnlint.source import Span

SCHEMA = "gdnlint-report/1"

Json = dict[str, object]


def render(report: Report, every_launch: bool) -> str:
    """One document. Launches that no finding names are listed only with ``every_launch``."""
    text = json.dumps(document(report, every_launch), indent=2, ensure_ascii=False, allow_nan=False)
    return harmless_json(text) + "\n"


def document(report: Report, every_launch: bool) -> Json:
    """The document as Python data."""
    named = {finding.launch for finding in report.findings}
    numbers = {name: sum(launch.combination == name for launch in report.launches) for name in COMBINATIONS}
    return {
        "schema": SCHEMA,
        "tool": {"name": "gdnlint", "version": __version__},
        "findings": [_finding(f, print_) for f, print_ in zip(report.findings, fingerprints(report), strict=True)],
        "launches": [_launch(launch) for launch in report.launches if every_launch or launch.id in named],
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in report.diagnostics],
        "summary": {"files": report.files, "launches": numbers},
    }


def _finding(finding: Finding, fingerprint: str) -> Json:
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        **_place(finding.span),
        "label": finding.label,
        "launch": finding.launch,
        "when": _sorted(finding.when),
        "related": [_related(related) for related in finding.related],
        "chain": [_related(related) for related in finding.chain],
        "notes": list(finding.notes),
        "fixes": [
            {
                "title": fix.title,
                "applicability": fix.applicability,
                "cost": fix.cost,
                "edits": [_edit(edit) for edit in fix.edits],
            }
            for fix in finding.fixes
        ],
        "references": [{"title": reference.title, "url": reference.url} for reference in finding.references],
        "fingerprint": fingerprint,
    }


def _launch(launch: LaunchResult) -> Json:
    version: Json = {"value": launch.version.value, "provenance": launch.version.provenance}
    if launch.version.span is not None:
        version |= _place(launch.version.span)
    return {
        "id": launch.id,
        **_place(launch.span),
        "kind": launch.kind,
        "engine": launch.engine,
        "framework": launch.framework,
        "combination": launch.combination,
        "ingredients": {name: ingredient.present for name, ingredient in launch.ingredients.items()},
        "evidence": {name: _evidence(ingredient) for name, ingredient in launch.ingredients.items()},
        "decided_by": launch.decided_by,
        "startup": "refused" if launch.refused else "ok",
        "startup_reason": launch.refused,
        "note": launch.note,
        "vllm_version": version,
        "settings": {name: _setting(launch.settings[name]) for name in sorted(launch.settings)},
        "scenarios": [
            {"when": _sorted(scenario.when), "combination": scenario.combination} for scenario in launch.scenarios
        ],
    }


def _evidence(ingredient: Ingredient) -> Json:
    return {
        "sentence": ingredient.sentence,
        "places": [{"label": label, **_place(span)} for span, label in ingredient.places],
    }


def _setting(setting: Setting) -> Json:
    found: Json = {"value": plain(setting.value), "state": setting.state}
    if setting.reason:
        found["reason"] = setting.reason
    return {**found, "provenance": [_step(step) for step in setting.provenance]}


def _step(step: Step) -> Json:
    found: Json = {"what": step.what, "value": plain(step.value), "outcome": step.outcome}
    if step.span is not None:
        found |= _place(step.span)
    if step.source:
        found["source"] = step.source
    return found


def _diagnostic(diagnostic: Diagnostic) -> Json:
    found: Json = {"code": diagnostic.code, "level": diagnostic.level, "message": diagnostic.message}
    if diagnostic.span is None:
        return {**found, "path": diagnostic.path}
    return {**found, **_place(diagnostic.span)}


def _related(related: Related) -> Json:
    return {"message": related.message, **_place(related.span)}


def _edit(edit: Edit) -> Json:
    return {**_place(edit.span), "text": edit.text}


def _place(span: Span) -> Json:
    return {
        "path": span.source.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _sorted(when: Mapping[str, str]) -> dict[str, str]:
    return {name: when[name] for name in sorted(when)}


def plain(value: object) -> object:
    """A setting's value as JSON. What JSON has no word for (a date, an infinity) becomes its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return str(value)
