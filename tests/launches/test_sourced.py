"""Launches in files that scripts source: found from the script, and told once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import HYBRID, MTP, checked, report, rules, write

SERVE = f"vllm serve {HYBRID} --enable-prefix-caching {MTP}"
FUNCTION = f"serve() {{\n  {SERVE}\n}}\n"


def ids(found: Any) -> list[str]:
    return [item["id"] for item in found["launches"]]


@pytest.mark.parametrize(
    "statement",
    [
        "source ./lib.sh",
        ". ./lib.sh",
        'source "$(dirname "$0")/lib.sh"',
        'set -e; source "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/lib.sh"',
        "if true; then . lib.sh; fi",
        "source middle.sh",
    ],
)
def test_a_launch_behind_a_sourced_function_is_found(tmp_path: Path, statement: str) -> None:
    files = {"run.sh": f"{statement}\nserve\n", "lib.sh": FUNCTION, "middle.sh": ". ./lib.sh\n"}
    found = report(tmp_path, files)
    assert ids(found) == ["lib.sh:2"]
    assert rules(found) == ["GDN001"]


def test_a_switch_of_a_sourced_file_is_a_scenario(tmp_path: Path) -> None:
    library = f'A=()\nif [ "${{USE_MTP:-0}}" = 1 ]; then A=({MTP}); fi\n'
    library += f'serve() {{ vllm serve {HYBRID} --enable-prefix-caching "${{A[@]}}"; }}\n'
    found = report(tmp_path, {"run.sh": ". ./lib.sh\nserve\n", "lib.sh": library})
    (launch,) = found["launches"]
    assert launch["combination"] == "absent"
    assert launch["scenarios"] == [{"when": {"USE_MTP": "1"}, "combination": "present"}]


def test_files_that_source_each_other_end(tmp_path: Path) -> None:
    found = report(tmp_path, {"a.sh": ". ./b.sh\n", "b.sh": ". ./c.sh\n. ./a.sh\n", "c.sh": f"{SERVE}\n"}, "b.sh")
    assert ids(found) == ["c.sh:1"]


def test_nothing_outside_the_project_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"lib.sh": FUNCTION, "in/.git/HEAD": "", "in/run.sh": ". ../lib.sh\nserve\n"})
    found = checked(tmp_path / "in", "run.sh")
    assert ids(found) == []


def test_a_file_that_several_scripts_source_is_told_once(tmp_path: Path) -> None:
    write(tmp_path, {"lib.sh": f"{SERVE}\n", "one.sh": "# vllm\n. ./lib.sh\n", "two.sh": "# vllm\nsource ./lib.sh\n"})
    found = checked(tmp_path, ".")
    assert ids(found) == ["lib.sh:1"]
    assert [(finding["rule"], finding["launch"]) for finding in found["findings"]] == [("GDN001", "lib.sh:1")]


def test_scripts_that_differ_have_launches_of_their_own_with_their_own_ids(tmp_path: Path) -> None:
    library = f"vllm serve $MODEL --enable-prefix-caching {MTP}\n"
    scripts = {f"{name}.sh": f"MODEL={model}\n. ./lib.sh\n" for name, model in (("a", HYBRID), ("b", "Qwen/Qwen3-8B"))}
    write(tmp_path, {"lib.sh": library, **scripts})
    found = checked(tmp_path, "a.sh", "b.sh")
    assert ids(found) == ["lib.sh:1", "lib.sh:1#2"]
    assert [item["combination"] for item in found["launches"]] == ["present", "absent"]
    assert [finding["launch"] for finding in found["findings"]] == ["lib.sh:1"]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_is_no_column(tmp_path: Path, mark: str) -> None:
    found = report(tmp_path, {"run.sh": f"{mark}{SERVE}\n"})
    (launch,), (finding,) = found["launches"], found["findings"]
    assert (launch["line"], launch["column"]) == (1, 1)
    column = SERVE.index("--enable-prefix-caching") + 1
    assert (finding["line"], finding["column"], finding["end_column"]) == (1, column, column + 23)
    edit = next(fix["edits"][0] for fix in finding["fixes"] if fix["edits"])
    assert edit["column"] == column


def test_a_function_that_is_called_twice_is_two_launches_and_one_finding(tmp_path: Path) -> None:
    found = report(tmp_path, {"run.sh": f"{FUNCTION}serve\nserve\n"})
    assert ids(found) == ["run.sh:2", "run.sh:2#2"]
    assert rules(found) == ["GDN001"]
