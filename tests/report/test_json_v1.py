"""The JSON report: what the contract says, and what the schema says of real reports."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path

import jsonschema_rs
import pytest
from report_samples import cut, finding, serve

from gdnlint import __version__
from gdnlint.report import json_v1
from gdnlint.results import Report, Setting
from gdnlint.source import Source

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report-v1.schema.json").read_text())


def document(report: Report, every_launch: bool = False) -> dict[str, object]:
    """The report as a reader gets it, checked against the schema."""
    found = json.loads(json_v1.render(report, every_launch))
    assert [str(error) for error in jsonschema_rs.validator_for(SCHEMA).iter_errors(found)] == []
    assert isinstance(found, dict)
    return found


def test_an_empty_report_is_whole() -> None:
    assert document(Report()) == {
        "schema": "gdnlint-report/1",
        "tool": {"name": "gdnlint", "version": __version__},
        "findings": [],
        "launches": [],
        "diagnostics": [],
        "summary": {"files": 0, "launches": {"present": 0, "undecided": 0, "absent": 0}},
    }


def test_a_finding() -> None:
    place = {"path": "serve.sh", "line": 8, "column": 3, "end_line": 8, "end_column": 26}
    found = document(serve())["findings"][0]  # type: ignore[index]
    assert {name: found[name] for name in place} == place
    assert {name: found[name] for name in ("rule", "severity", "confidence", "launch", "when")} == {
        "rule": "GDN001",
        "severity": "error",
        "confidence": "high",
        "launch": "serve.sh:7",
        "when": {"ENABLE_MTP": "1"},
    }
    assert found["related"][2] == {
        "message": "the same model in the recipe",
        "path": "conf/base.yaml",
        "line": 3,
        "column": 3,
        "end_line": 3,
        "end_column": 30,
    }
    assert found["fixes"][0] == {
        "title": "Turn prefix caching off",
        "applicability": "safe",
        "cost": "a prompt that was seen before is computed again",
        "edits": [{**place, "text": "--no-enable-prefix-caching"}],
    }
    assert [fix["edits"] for fix in found["fixes"]][2] == []


def test_a_launch() -> None:
    launch = document(serve())["launches"][0]  # type: ignore[index]
    assert launch["ingredients"] == {"hybrid": True, "speculation": True, "prefix_caching": True}
    assert (launch["startup"], launch["startup_reason"]) == ("ok", "")
    assert (launch["line"], launch["end_line"]) == (7, 9)
    assert launch["vllm_version"]["value"] == "0.28.0"
    assert (launch["vllm_version"]["path"], launch["vllm_version"]["line"]) == ("conf/base.yaml", 2)
    assert launch["scenarios"] == [{"when": {"ENABLE_MTP": "0"}, "combination": "absent"}]
    assert launch["settings"]["enable_prefix_caching"] == {
        "value": True,
        "state": "known",
        "provenance": [
            {
                "what": "default of vLLM from 0.28.0",
                "value": True,
                "outcome": "lost",
                "source": "vllm/config/cache.py:71@v0.28.0",
            },
            {
                "what": "the flag --enable-prefix-caching",
                "value": True,
                "outcome": "won",
                "path": "serve.sh",
                "line": 8,
                "column": 3,
                "end_line": 8,
                "end_column": 26,
            },
        ],
    }
    assert launch["settings"]["max_model_len"] == {
        "value": None,
        "state": "unknown",
        "reason": "it depends on the environment variable MAX_LEN",
        "provenance": [],
    }


def test_launches_without_findings_are_listed_on_demand() -> None:
    assert [launch["id"] for launch in document(serve())["launches"]] == ["serve.sh:7"]  # type: ignore[attr-defined]
    every = document(serve(), every_launch=True)
    assert [launch["id"] for launch in every["launches"]] == ["conf/base.yaml:1", "serve.sh:7"]  # type: ignore[attr-defined]
    assert every["launches"][0]["ingredients"]["prefix_caching"] is None  # type: ignore[index]
    assert every["summary"] == document(serve())["summary"]


def test_a_refused_launch() -> None:
    report = serve()
    report.launches = [report.launches[0]._replace(refused="vLLM 0.28.0 has no flag --x")]
    launch = document(report, every_launch=True)["launches"][0]  # type: ignore[index]
    assert (launch["startup"], launch["startup_reason"]) == ("refused", "vLLM 0.28.0 has no flag --x")


def test_diagnostics_have_a_place_if_one_is_known() -> None:
    first, second = document(serve())["diagnostics"]  # type: ignore[misc]
    assert (first["path"], first["line"], first["end_column"]) == ("conf/base.yaml", 1, 9)
    assert second == {"code": "unreadable", "level": "warning", "message": "it is a pipe", "path": "a pipe"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        ({1: (True, None)}, {"1": [True, None]}),
        (10**30, 10**30),
        (0.5, 0.5),
    ],
)
def test_every_value_that_yaml_can_hold_is_json(value: object, expected: object) -> None:
    report = serve()
    report.launches = [report.launches[0]._replace(settings={"x": Setting(value, "known")})]
    launch = document(report, every_launch=True)["launches"][0]  # type: ignore[index]
    assert launch["settings"]["x"]["value"] == expected


def test_the_same_report_is_the_same_text() -> None:
    first, second = serve(), serve()
    for report in (first, second):
        report.findings = [replace(report.findings[0], when={"B": "1", "A": "2"})]
    second.findings = [replace(second.findings[0], when={"A": "2", "B": "1"})]
    second.launches = [
        launch._replace(settings=dict(reversed(list(launch.settings.items())))) for launch in second.launches
    ]
    assert json_v1.render(first, True) == json_v1.render(second, True)


def fingerprint(text: str, **more: object) -> str:
    source = Source("a.sh", text)
    report = Report([finding(cut(source, "vllm"), **more)])
    return str(document(report)["findings"][0]["fingerprint"])  # type: ignore[index]


def test_a_fingerprint_survives_moved_lines_and_indentation() -> None:
    assert fingerprint("vllm serve x\n") == fingerprint("# new\n\n  vllm serve x\n")
    assert fingerprint("vllm serve x\n") == fingerprint("vllm serve x\n", message="Other words", severity="note")


def test_a_fingerprint_changes_with_what_the_finding_is() -> None:
    prints = [
        fingerprint("vllm serve x\n"),
        fingerprint("vllm serve y\n"),
        fingerprint("vllm serve x\n", rule="GDN002"),
        fingerprint("vllm serve x\n", when={"A": "1"}),
    ]
    assert len(set(prints)) == len(prints)


def test_equal_findings_are_told_apart_by_their_number() -> None:
    source = Source("a.sh", "vllm serve x\nvllm serve x\n")
    spans = [source.span(at, at + 4) for at in (0, 13)]
    prints = [found["fingerprint"] for found in document(Report([finding(span) for span in spans]))["findings"]]  # type: ignore[attr-defined]
    assert len(set(prints)) == 2
    assert prints[0] == fingerprint("vllm serve x\n")
