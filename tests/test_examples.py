"""``examples/``: the verdict stands in each file's name, and the proposed edit leads from one twin to the other."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import checked, fixed, rules

ROOT = Path(__file__).parent.parent
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "examples").rglob("*")
    if path.suffix in {".sh", ".yaml", ".py", ".md", ".mk", ".service"} and path.name != "README.md"
)
UNSAFE = [path for path in FILES if Path(path).name.startswith("unsafe_")]
SAFE = [path for path in FILES if Path(path).name.startswith("safe_")]


@pytest.fixture(scope="module")
def report() -> Any:
    return checked(ROOT, "examples")


def test_every_folder_has_twins() -> None:
    folders = {Path(path).parent for path in FILES}
    assert folders == {Path(path).parent for path in UNSAFE} == {Path(path).parent for path in SAFE}
    assert len(folders) >= 7
    others = {Path(path).name for path in FILES} - {Path(path).name for path in UNSAFE + SAFE}
    assert others == {"parent.yaml"}


@pytest.mark.parametrize("path", UNSAFE)
def test_an_unsafe_recipe_is_found(report: Any, path: str) -> None:
    found = [finding for finding in report["findings"] if finding["path"] == path and finding["rule"] == "GDN001"]
    assert [finding["severity"] for finding in found] == ["error"]
    assert [item["combination"] for item in report["launches"] if item["path"] == path] == ["present"]


@pytest.mark.parametrize("path", [path for path in FILES if path not in UNSAFE])
def test_a_safe_recipe_has_no_finding(report: Any, path: str) -> None:
    assert [finding["rule"] for finding in report["findings"] if finding["path"] == path] == []
    assert [item["combination"] for item in report["launches"] if item["path"] == path] == ["absent"]


def test_the_versions_are_pinned_beside_the_recipes(report: Any) -> None:
    assert all(launch["vllm_version"]["value"] for launch in report["launches"])
    assert not report["diagnostics"]


@pytest.mark.parametrize("path", UNSAFE)
def test_the_proposed_edit_makes_an_unsafe_recipe_safe(report: Any, path: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    finding = next(item for item in report["findings"] if item["path"] == path and item["rule"] == "GDN001")
    text = fixed(tmp_path, finding, "prefix caching off")
    (tmp_path / path).write_text(text)
    again = checked(tmp_path, path)
    assert "GDN001" not in rules(again)
    assert [launch["combination"] for launch in again["launches"]] == ["absent"]


def test_the_exit_code_says_that_there_are_findings() -> None:
    for paths, code in ((["examples/"], 1), (SAFE, 0)):
        command = [sys.executable, "-m", "gdnlint", "check", *paths]
        assert subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, check=False).returncode == code


@pytest.mark.parametrize("path", FILES)
def test_a_comment_says_why(path: str) -> None:
    verdict = Path(path).name.split("_")[0].capitalize()
    beginning = (ROOT / path).read_text().splitlines()[:2]
    if path in UNSAFE + SAFE:
        assert any(f"{verdict}: " in line for line in beginning)
