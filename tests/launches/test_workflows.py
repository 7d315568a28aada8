"""Jobs of continuous integration: each combination of a matrix is a run, inputs have defaults and options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, launch

SPEC = """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'"""
ON, OFF = "--enable-prefix-caching", "--no-enable-prefix-caching"


def github(matrix: str, command: str = "${{ matrix.model }} ${{ matrix.flags }}", more: str = "") -> dict[str, str]:
    job = f"  serve:\n    strategy:\n      matrix:\n{matrix}    steps:\n    - run: vllm serve {command} {SPEC}\n"
    return {"ci.yml": f"on: [push]\njobs:\n{job}{more}"}


def unsafe(found: Any) -> list[dict[str, str]]:
    scenarios = [item["when"] for item in found["scenarios"] if item["combination"] == "present"]
    return [{}, *scenarios] if found["combination"] == "present" else scenarios


FIRST = f"        model: [{HYBRID}, {DENSE}]\n        flags: [{ON}, {OFF}]\n"
LAST = f"        model: [{DENSE}, {HYBRID}]\n        flags: [{OFF}, {ON}]\n"
BOTH = {"matrix:model+flags": f"{HYBRID}, {ON}"}
LISTED = f"""\
        include:
        - {{model: {DENSE}, flags: {ON}}}
        - {{model: {HYBRID}, flags: APC}}
"""
EXCLUDED = f"        exclude: [{{model: {HYBRID}, flags: {ON}}}]\n"
EXTENDED = f"""\
        model: [{DENSE}, {HYBRID}]
        include: [{{model: {HYBRID}, flags: APC}}]
"""
MAPPINGS = f"""\
        run:
        - {{model: {DENSE}, flags: {ON}}}
        - {{model: {HYBRID}, flags: {ON}}}
"""

MATRICES = {
    "the first combination": (FIRST, [{}]),
    "another combination": (LAST, [BOTH]),
    "a combination that is left out": (LAST + EXCLUDED, []),
    "listed one by one": (LISTED.replace("APC", ON), [BOTH]),
    "listed, without it": (LISTED.replace("APC", OFF), []),
    "added to a combination": (EXTENDED.replace("APC", ON), [BOTH]),
    "added, without it": (EXTENDED.replace("APC", OFF), []),
    "made elsewhere": ("        model: ${{ fromJSON(needs.a.outputs.models) }}\n        flags: [x]\n", []),
}


@pytest.mark.parametrize(("matrix", "expected"), MATRICES.values(), ids=MATRICES)
def test_each_combination_of_a_matrix_is_a_run(tmp_path: Path, matrix: str, expected: list[dict[str, str]]) -> None:
    assert unsafe(launch(tmp_path, github(matrix))) == expected


def test_values_of_a_mapping_belong_together(tmp_path: Path) -> None:
    found = launch(tmp_path, github(MAPPINGS, "${{ matrix.run.model }} ${{ matrix.run.flags }}"))
    assert unsafe(found) == [{"matrix:run": "2"}]


def test_a_matrix_reaches_a_command_through_a_variable(tmp_path: Path) -> None:
    files = github(LAST, "$MODEL ${{ env.FLAGS }}", "    env: {MODEL: '${{ matrix.model }}', FLAGS: '" + ON + "'}\n")
    assert unsafe(launch(tmp_path, files)) == [{"matrix:model": HYBRID}]


def test_what_a_command_does_not_use_is_no_scenario(tmp_path: Path) -> None:
    found = launch(tmp_path, github(LAST + "        python: ['3.10', '3.12']\n"))
    assert unsafe(found) == [BOTH]


def dispatched(text: str, command: str) -> dict[str, str]:
    job = f"jobs:\n  serve:\n    steps:\n    - run: vllm serve {HYBRID} {command} {SPEC}\n"
    return {"ci.yml": f"on:\n  workflow_dispatch:\n    inputs:\n      apc: {text}\n{job}"}


INPUTS = {
    "a default": (f"{{default: {ON}}}", "${{ inputs.apc }}", [{}]),
    "a default that opts out": (f"{{default: {OFF}}}", "${{ inputs.apc }}", []),
    "an option": (f"{{type: choice, options: [{OFF}, {ON}]}}", "${{ github.event.inputs.apc }}", [{"input:apc": ON}]),
    "without one": ("{required: false}", "${{ inputs.apc || '" + ON + "' }}", [{}]),
    "without one, opting out": ("{required: false}", "${{ inputs.apc || '" + OFF + "' }}", []),
}


@pytest.mark.parametrize(("text", "command", "expected"), INPUTS.values(), ids=INPUTS)
def test_an_input_has_its_default(tmp_path: Path, text: str, command: str, expected: list[dict[str, str]]) -> None:
    assert unsafe(launch(tmp_path, dispatched(text, command))) == expected


@pytest.mark.parametrize(("apc", "expected"), [(ON, [{"matrix:MODEL+APC": f"{HYBRID}, {ON}"}]), (OFF, [])])
def test_a_parallel_matrix_sets_variables(tmp_path: Path, apc: str, expected: list[dict[str, str]]) -> None:
    matrix = f"serve:\n  parallel:\n    matrix:\n    - MODEL: [{DENSE}, {HYBRID}]\n      APC: {apc}\n"
    files = {"ci.yml": f"{matrix}  script:\n  - vllm serve $MODEL $APC {SPEC}\n"}
    assert unsafe(launch(tmp_path, files)) == expected


def test_a_scenario_can_be_assumed(tmp_path: Path) -> None:
    found = launch(tmp_path, github(LAST), "--assume", f"matrix:model+flags={HYBRID}, {ON}")
    assert found["combination"] == "present"
