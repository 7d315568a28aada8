"""SARIF: valid, and such that code scanning shows what it should."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from report_samples import Rule, cut, finding, serve

from gdnlint.report import sarif
from gdnlint.report._fingerprint import line_hash
from gdnlint.results import Diagnostic, Edit, Fix, Reference, Related, Report
from gdnlint.source import Source

SCHEMA = jsonschema_rs.validator_for(
    json.loads((Path(__file__).parents[1] / "data" / "sarif-schema-2.1.0.json").read_text())
)
RULES = [
    Rule(),
    Rule("GDN002", "prefix-caching-left-to-default", "PrefixCachingLeftToDefault", severity="note", references=()),
]


def log(report: Report, rules: list[Rule] = RULES, root: Path | None = None) -> Any:
    found = json.loads(sarif.render(report, rules, root or Path.cwd()))  # type: ignore[arg-type]
    assert [str(error) for error in SCHEMA.iter_errors(found)] == []
    return found


def run(report: Report, rules: list[Rule] = RULES, root: Path | None = None) -> Any:
    return log(report, rules, root)["runs"][0]


def result(*findings: Any, root: Path | None = None) -> Any:
    return run(Report(list(findings)), root=root)["results"][0]


def test_every_rule_is_listed_with_all_that_code_scanning_requires() -> None:
    rules = run(Report())["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["GDN001", "GDN002"]
    first = rules[0]
    assert first["name"] == "HybridSpeculationPrefixCaching"
    assert first["shortDescription"] == {"text": "A hybrid model runs with speculation and prefix caching."}
    assert first["fullDescription"] == {"text": "The recurrent state goes wrong."}
    assert first["help"]["text"] == "Turn one of the three off."
    assert first["help"]["markdown"].startswith("# hybrid-speculation-prefix-caching (GDN001)\n\nA hybrid model")
    assert first["properties"] == {"tags": ["vllm"], "precision": "high", "problem.severity": "error"}
    assert rules[1]["properties"]["problem.severity"] == "recommendation"
    assert rules[1]["defaultConfiguration"] == {"level": "note"}
    assert "helpUri" not in rules[1]


def test_descriptions_and_tags_stay_below_the_limits() -> None:
    long = Rule(summary="word " * 500, description="word " * 500, tags=tuple(f"t{number}" for number in range(30)))
    rule = run(Report(), [long])["tool"]["driver"]["rules"][0]
    assert len(rule["shortDescription"]["text"]) <= 1024
    assert len(rule["fullDescription"]["text"]) <= 1024
    assert len(rule["properties"]["tags"]) == 10


def test_a_result_names_its_rule_twice_and_agrees() -> None:
    found = run(Report([finding(cut(Source("a.sh", "x"), "x"), rule="GDN002")]))
    only = found["results"][0]
    assert found["tool"]["driver"]["rules"][only["ruleIndex"]]["id"] == only["ruleId"] == "GDN002"
    assert only["level"] == "error"


def test_the_title_stands_alone_and_places_are_linked() -> None:
    only = result(*serve().findings)
    assert only["message"]["text"] == (
        "Qwen/Qwen3.5-9B runs with MTP and prefix caching on vLLM 0.28.0, which gives wrong tokens "
        "(with ENABLE_MTP=1). "
        "The draft steps write the recurrent state that later requests read from the cache. "
        "Known for this version: D1, D3. "
        "See [the hybrid model is chosen here](1), [speculation is switched on here](2), "
        "[the same model in the recipe](3)."
    )
    assert [place["id"] for place in only["relatedLocations"]] == [1, 2, 3]
    assert only["relatedLocations"][2]["physicalLocation"]["artifactLocation"] == {"uri": "conf/base.yaml"}


def test_brackets_in_a_message_make_no_links() -> None:
    source = Source("a.py", "x = 1\n")
    related = Related(cut(source, "1"), r"list[0]\n")
    only = result(finding(cut(source, "x"), "See [a](5) here", related=(related,)))
    assert only["message"]["text"] == r"See [a\](5) here. See [list\[0\]\\n](1)."


def test_columns_count_utf16_units_and_the_log_says_so() -> None:
    source = Source("a.sh", 'echo "😀é" | model\n')
    found = run(Report([finding(cut(source, "model"))]))
    assert found["columnKind"] == "utf16CodeUnits"
    region = found["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 14, "endLine": 1, "endColumn": 19, "snippet": {"text": "model"}}


def test_a_byte_order_mark_is_no_column() -> None:
    source = Source("a.yaml", "\ufeffmodel: x\n")
    region = result(finding(cut(source, "model")))["locations"][0]["physicalLocation"]["region"]
    assert (region["startColumn"], region["endColumn"]) == (1, 6)


def test_regions_are_one_line_tall_but_a_fix_replaces_all_lines() -> None:
    source = Source("a.py", "x = LLM(\r\n    model,\r\n)\r\n")
    span = source.span(4, source.text.index(")") + 1)
    only = result(finding(span, fixes=(Fix("Do it", "safe", (Edit(span, "None"),)),)))
    region = only["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 5, "endLine": 1, "endColumn": 9, "snippet": {"text": "LLM("}}
    replacement = only["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replacement["deletedRegion"] == {"startLine": 1, "startColumn": 5, "endLine": 3, "endColumn": 2}
    assert replacement["insertedContent"] == {"text": "None"}


def test_paths_are_relative_to_the_repository_and_percent_encoded(tmp_path: Path) -> None:
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "a b#é.yaml").write_text("x\n")
    (folder / "link.yaml").symlink_to("a b#é.yaml")
    for name in ("a b#é.yaml", "link.yaml"):
        source = Source(f"../elsewhere/{name}", "x\n", folder / name)
        only = result(finding(cut(source, "x")), root=tmp_path)
        location = only["locations"][0]["physicalLocation"]["artifactLocation"]
        assert location == {"uri": "conf/a%20b%23%C3%A9.yaml"}


def test_a_finding_has_one_location_and_the_chain_is_a_path() -> None:
    only = result(*serve().findings)
    assert len(only["locations"]) == 1
    steps = only["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == [
        "model = Qwen/Qwen3.5-9B",
        "enable_prefix_caching = true",
    ]


def test_only_fixes_with_edits_are_written() -> None:
    fixes = result(*serve().findings)["fixes"]
    assert [fix["description"]["text"] for fix in fixes] == ["Turn prefix caching off.", "Turn speculation off."]


def test_diagnostics_are_notifications() -> None:
    found = run(serve())["invocations"][0]
    assert found["executionSuccessful"] is True
    first, second = found["toolExecutionNotifications"]
    assert first["descriptor"] == {"id": "syntax"}
    assert first["locations"][0]["physicalLocation"]["region"]["endColumn"] == 9
    assert second["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "a%20pipe"}}}]


def test_the_category_ends_with_a_slash() -> None:
    assert run(Report())["automationDetails"] == {"id": "gdnlint/"}


def test_limits_keep_the_worst() -> None:
    source = Source("a.sh", "x\n")
    many = tuple(Related(cut(source, "x"), str(number)) for number in range(2000))
    only = result(finding(cut(source, "x"), related=many, chain=many))
    assert len(only["relatedLocations"]) == 100
    assert len(only["codeFlows"][0]["threadFlows"][0]["locations"]) == 1000
    mild, bad = finding(cut(source, "x"), severity="note"), finding(cut(source, "x"))
    found = run(Report([mild] * 25_000 + [bad] * 2))
    assert len(found["results"]) == 25_000
    assert [one["level"] for one in found["results"][-2:]] == ["error", "error"]
    assert found["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith("2 of the mildest")


VECTORS = [
    ("", ["c129715d7a2bc9a3:1"]),
    (" a\nb\n  \t\tc\n d", ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]),
    (
        " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
        [
            "8b7cf3e952e7aeb2:1",
            "b1ae1287ec4718d9:1",
            "bff680108adb0fcc:1",
            "c6805c5e1288b612:1",
            "b86d3392aea1be30:1",
            "e6ceba753e1a442:1",
        ],
    ),
    (
        " hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n",
        [
            "e9496ae3ebfced30:1",
            "fb7c023a8b9ccb3f:1",
            "ce8ba1a563dcdaca:1",
            "e20e36e16fcb0cc8:1",
            "b3edc88f2938467e:1",
            "c8e28b0b4002a3a0:1",
            "c129715d7a2bc9a3:1",
        ],
    ),
    (
        "Lorem ipsum dolor sit amet.\n" * 10,
        [f"a7f2ff13bc495cf2:{number}" for number in range(1, 7)]
        + [
            "a7f2ff1481e87703:1",
            "a9cf91f7bbf1862b:1",
            "55ec222b86bcae53:1",
            "cc97dc7b1d7d8f7b:1",
            "c129715d7a2bc9a3:1",
        ],
    ),
    (
        "x = 2\nx = 1\nprint(x)\nx = 3\nprint(x)\nx = 4\nprint(x)\n",
        [
            "e54938cc54b302f1:1",
            "bb609acbe9138d60:1",
            "1131fd5871777f34:1",
            "5c482a0f8b35ea28:1",
            "54517377da7028d2:1",
            "2c644846cb18d53e:1",
            "f1b89f20de0d133:1",
            "c129715d7a2bc9a3:1",
        ],
    ),
]
"""Published with GitHub's upload action as the tests of its own implementation (codeql-action, f3f1edb)."""


@pytest.mark.parametrize(("text", "hashes"), VECTORS)
@pytest.mark.parametrize("end", ["\n", "\r"])
def test_the_line_hash_is_the_one_of_the_upload_action(text: str, hashes: list[str], end: str) -> None:
    source = Source("a", text.replace("\n", end) if "\r" not in text else text)
    assert [line_hash(source, number) for number in range(1, len(hashes) + 1)] == hashes


def test_the_line_hash_of_a_result_is_that_of_its_line() -> None:
    source = Source("a.sh", " a\nb\n  \t\tc\n d")
    prints = result(finding(cut(source, "c")))["partialFingerprints"]
    assert prints["primaryLocationLineHash"] == "180aee12dab6264:1"


def test_the_line_hash_of_a_large_file_counts_equal_lines() -> None:
    source = Source("a.sh", "vllm serve model --flag\n" * 80_000)
    assert line_hash(source, 79_000).endswith(":79000")


def test_hostile_text_is_still_valid() -> None:
    text = "\x1b[0m\0\u202e\ud800"
    source = Source("a\x1b.sh", f"x {text} y\n")
    report = Report([finding(cut(source, "y"), text, text, notes=(text,))], [], [Diagnostic("x", text, "a\0b")])
    data = sarif.render(report, RULES, Path.cwd()).encode("utf-8", "replace")  # type: ignore[arg-type]
    assert [str(error) for error in SCHEMA.iter_errors(json.loads(data))] == []


def multitool() -> Any:
    script = Path(__file__).parents[2] / "scripts" / "sarif_multitool.py"
    spec = importlib.util.spec_from_file_location("sarif_multitool", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.multitool
@pytest.mark.skipif(not multitool().BINARY.exists(), reason="run `python scripts/sarif_multitool.py fetch` first")
def test_the_validator_of_code_scanning_has_no_error_and_no_warning(tmp_path: Path) -> None:
    file = tmp_path / "report.sarif"
    mild = finding(cut(Source("a b.sh", "x 😀 y\n"), "y"), rule="GDN002", severity="note")
    report = serve()
    report.findings += [mild, replace(mild, references=(Reference("a", "https://example.org/"),))]
    file.write_text(sarif.render(report, RULES, tmp_path))  # type: ignore[arg-type]
    assert multitool().validate(file) == []
    broken = log(report)
    del broken["runs"][0]["tool"]["driver"]["rules"][0]["fullDescription"]
    file.write_text(json.dumps(broken))
    assert multitool().validate(file) != [], "the validator must be able to say no"
