"""The house's own rules: no framework's name in code, no heavy import before it is needed, no machine's paths."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gdnlint

ROOT = Path(__file__).parent.parent
FRAMEWORKS = re.compile(r"skyrl|verl|nemo|prime_rl|production.stack", re.IGNORECASE)
TEXT = {".py", ".yaml", ".yml", ".toml", ".md", ".json", ".sh", ".txt", ".cfg", ".ini", ""}
WORKPLACE = ["/" + "work/", "/" + "tmp/corpus", "/" + "home/runner", "/" + "Users/"]
MADE = {
    ".git",
    ".cache",
    ".hypothesis",
    ".mypy_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "dist",
    "build",
    "shared",
}


def files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in MADE and not path.name.endswith(".egg-info"):
                yield from files(path)
        # In a worktree, .git is a file that says where the repository lies.
        elif path.suffix in TEXT and path.name != ".git":
            yield path


def lines(paths: Iterator[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


def test_no_framework_is_named_in_code() -> None:
    assert [(place, line) for place, line in lines(files(ROOT / "src")) if FRAMEWORKS.search(line)] == []


def test_no_path_of_a_machine_is_in_the_project() -> None:
    found = [(place, line) for place, line in lines(files(ROOT)) if any(path in line for path in WORKPLACE)]
    assert found == []


def imported(folder: Path, *arguments: str) -> set[str]:
    """The modules that a run of the command line imports."""
    command = [sys.executable, "-X", "importtime", "-m", "gdnlint", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(gdnlint.__file__).parent.parent)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (0, 3), done.stderr[-2000:]
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_the_version_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    assert not imported(tmp_path, "--version") & {"yaml", "ruamel", "libcst", "tree_sitter", "tree_sitter_bash"}


NO_CANDIDATE = {
    "run.sh": "#!/bin/bash\nfor i in 1 2 3; do echo $i; done\n",
    "run.py": "import os\n\nprint(os.environ)\n",
    "run.yaml": "services: {a: {image: nginx}}\n",
}


@pytest.mark.parametrize("name", NO_CANDIDATE)
def test_a_file_without_a_candidate_word_is_not_parsed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(NO_CANDIDATE[name])
    assert not imported(tmp_path, "check", name) & {"libcst", "tree_sitter", "tree_sitter_bash", "ruamel"}


def test_a_file_is_parsed_with_its_own_reader_alone(tmp_path: Path) -> None:
    (tmp_path / "serve.sh").write_text("vllm serve Qwen/Qwen3-8B\n")
    (tmp_path / "offline.py").write_text('from vllm import LLM\n\nLLM("Qwen/Qwen3-8B")\n')
    shell, python = imported(tmp_path, "check", "serve.sh"), imported(tmp_path, "check", "offline.py")
    assert "gdnlint.documents.shell.run" in shell
    assert "libcst" not in shell
    assert "libcst" in python
