"""Reports for code hosts: github, gitlab, junit and markdown, read back as their readers do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema_rs
import pytest
from report_samples import cut, finding, serve

from gdnlint.report import github, gitlab, junit, markdown
from gdnlint.results import Diagnostic, Report
from gdnlint.source import Source

EVIL = "a::b,c%0A]]><script>|`@someone #1\n::error::owned\x1b[31m\u202e\ufffe"
COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def evil() -> Report:
    source = Source("bad,name%:x|`<y>.sh", "x\n")
    found = finding(cut(source, "x"), EVIL, notes=(EVIL,), severity="note", fails=False)
    return Report([found], diagnostics=[Diagnostic("unreadable", EVIL, "a,b", level="error")], files=1)


def annotations(report: Report) -> list[tuple[str, dict[str, str], str]]:
    """Each line read as the runner reads it."""
    read = []
    for line in github.render(report, Path.cwd()).splitlines():
        match = COMMAND.fullmatch(line)
        assert match is not None, line
        pairs = (pair.split("=", 1) for pair in match[2].split(","))
        read.append((match[1], {name: unquote(value) for name, value in pairs}, unquote(match[3])))
    return read


def test_github_annotations_say_what_and_where() -> None:
    (level, place, text), syntax, unreadable = annotations(serve())
    assert level == "error"
    assert place == {
        "file": "serve.sh",
        "line": "8",
        "col": "3",
        "endColumn": "26",
        "title": "GDN001 hybrid-speculation-prefix-caching",
    }
    assert text.startswith("Qwen/Qwen3.5-9B runs with MTP and prefix caching on vLLM 0.28.0")
    assert text.endswith("\ngdnlint explain GDN001")
    assert (syntax[0], syntax[1]["file"], syntax[1]["line"]) == ("warning", "conf/base.yaml", "1")
    assert unreadable[1] == {"file": "a pipe", "title": "unreadable"}


def test_github_annotations_cannot_be_forged() -> None:
    (level, place, text), broken = annotations(evil())
    assert (level, place["file"]) == ("notice", "bad,name%:x|`<y>.sh")
    assert "::error::owned" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", text)
    assert broken[0] == "error"


GITLAB = jsonschema_rs.validator_for(
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
                "location": {
                    "type": "object",
                    "required": ["path", "lines"],
                    "properties": {
                        "path": {"type": "string", "pattern": "^(?!\\./|/)"},
                        "lines": {"required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
                    },
                },
            },
        },
    }
)


@pytest.mark.parametrize("made", [serve, evil])
def test_gitlab(made: Any) -> None:
    report = made()
    report.findings *= 2
    read = json.loads(gitlab.render(report, Path.cwd()))
    GITLAB.validate(read)
    assert len({issue["fingerprint"] for issue in read}) == 2
    assert read[0]["location"]["path"] == report.findings[0].span.source.path
    assert read[0]["severity"] == {"error": "critical", "note": "info"}[report.findings[0].severity]


def test_junit_fails_where_the_run_does() -> None:
    read = ElementTree.fromstring(junit.render(serve(), Path.cwd()))
    assert (read.tag, read.get("tests"), read.get("failures"), read.get("errors")) == ("testsuites", "2", "1", "0")
    suites = {suite.get("name"): suite for suite in read}
    assert list(suites) == ["conf/base.yaml", "serve.sh"]
    assert [case.get("name") for case in suites["conf/base.yaml"]] == ["recipe (line 1): undecided"]
    case = suites["serve.sh"][0]
    assert (case.get("classname"), case.get("line")) == ("serve.sh", "8")
    assert case[0].tag == "failure"
    assert case[0].get("type") == "error"
    assert (case[0].text or "").startswith("serve.sh:8:3\nQwen/Qwen3.5-9B runs")


def test_junit_is_xml_whatever_a_file_holds() -> None:
    read = ElementTree.fromstring(junit.render(evil(), Path.cwd()))
    assert (read.get("tests"), read.get("failures"), read.get("errors")) == ("2", "0", "1")
    assert [[child.tag for child in case] for suite in read for case in suite] == [["error"], ["system-out"]]


def test_markdown() -> None:
    text = markdown.render(serve(), Path.cwd())
    assert text.startswith("### gdnlint: 1 error in 1 of 3 files; 2 launches: 1 present, 1 undecided\n")
    assert "| error | GDN001 | `serve.sh:8` | Qwen/Qwen3.5-9B runs with MTP" in text
    assert "* Turn prefix caching off (cost: a prompt that was seen before is computed again)" in text
    assert "<details><summary>GDN001: serve.sh:8</summary>" in text


def test_markdown_of_hostile_text_is_text() -> None:
    text = markdown.render(evil(), Path.cwd())
    row = next(line for line in text.splitlines() if line.startswith("| note"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 5
    assert "<script>" not in text
    assert "@someone" not in text
    assert not re.search(r"(?<!&)#1", text)


def test_markdown_fits_a_comment() -> None:
    source = Source("a.sh", "x\n")
    report = Report([finding(cut(source, "x"), f"Number {number} of many.") for number in range(2_000)], files=1)
    text = markdown.render(report, Path.cwd())
    assert len(text) < 65_536
    assert re.search(r"\d+ more findings are left out here", text)
