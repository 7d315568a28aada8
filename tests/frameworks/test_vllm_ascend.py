"""Test configurations that hold one server a case, as lists of words behind anchors."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, report, rules, value

CASES = """\
_cmd: &cmd
  - --tensor-parallel-size
  - "4"
  - --enable-prefix-caching
_draft: &draft
  - --speculative_config
  - '{{"method": "mtp", "num_speculative_tokens": 2}}'
test_cases:
  - name: plain
    model: {model}
    envs: {{SERVER_PORT: 8080}}
    server_cmd: *cmd
  - name: drafts
    model: {model}
    envs: {{SERVER_PORT: 8080}}
    server_cmd: *cmd
    server_cmd_extra: *draft
  - name: off
    model: {model}
    envs: {{SERVER_PORT: 8080}}
    server_cmd: *cmd
    server_cmd_extra: [--no-enable-prefix-caching, -sc, '{{"method": "mtp", "num_speculative_tokens": 1}}']
  - name: other
    model: {dense}
    envs: {{SERVER_PORT: 8080}}
    server_cmd: *cmd
    server_cmd_extra: *draft
  - name: several servers
    model: {model}
    service_mode: epd
    epd_server_cmds: []
"""


def test_each_case_is_a_launch_at_its_own_lines(tmp_path: Path) -> None:
    found = report(tmp_path, {"cases.yaml": CASES.format(model=HYBRID, dense=DENSE)})
    assert [(item["line"], item["framework"], item["combination"]) for item in found["launches"]] == [
        (9, "vllm_ascend", "absent"),
        (13, "vllm_ascend", "present"),
        (18, "vllm_ascend", "absent"),
        (23, "vllm_ascend", "absent"),
        (28, "vllm_ascend", "absent"),
    ]
    assert found["launches"][4]["note"] == "the case engine is not started"
    assert rules(found) == ["GDN001"]


@pytest.mark.parametrize(("version", "on"), [("0.27.1", False), ("0.28.0", True)])
def test_unset_is_vllms_own_default(tmp_path: Path, version: str, on: bool) -> None:
    # tests/e2e/nightly/single_node/models/scripts/single_node_config.py:177-179@182b75ea: the words and nothing else
    text = CASES.format(model=HYBRID, dense=DENSE).replace("  - --enable-prefix-caching\n", "")
    found = report(tmp_path, {"cases.yaml": text}, "--vllm-version", version)
    assert value(found["launches"][1], "enable_prefix_caching") is on


def test_words_of_an_anchor_are_for_a_person_to_change(tmp_path: Path) -> None:
    text = CASES.format(model=HYBRID, dense=DENSE)
    found = report(tmp_path, {"cases.yaml": text})
    assert [fix for fix in found["findings"][0]["fixes"] if fix["edits"]] == []
    own = text.replace(
        "server_cmd: *cmd\n    server_cmd_extra: *draft",
        'server_cmd: [--enable-prefix-caching, -sc, \'{"method": "mtp", "num_speculative_tokens": 1}\']',
        1,
    )
    (finding,) = [f for f in report(tmp_path, {"cases.yaml": own})["findings"] if f["rule"] == "GDN001"]
    assert "server_cmd: [--no-enable-prefix-caching, -sc," in fixed(tmp_path, finding)
