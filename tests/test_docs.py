"""The documentation: generated parts are current, links lead somewhere, and what the README says is so."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from gdnlint import knowledge
from gdnlint.cli import cli

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]  # fmt: skip


def generate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(folder / "scripts" / "generate_docs.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_generated_documentation_is_current() -> None:
    done = generate(ROOT, "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_stale_documentation_is_named_and_rewritten(tmp_path: Path) -> None:
    for name in ("src", "rules", "docs", "examples", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    # One page with commands that are run is enough here.
    for name in ("docs/resolution.md", "examples/README.md"):
        (tmp_path / name).unlink()
    readme = tmp_path / "README.md"
    readme.write_text(README.replace("= note: ", "= aside: ", 1), "utf-8")
    rule = tmp_path / "docs" / "rules" / "GDN001.md"
    rule.write_text(rule.read_text("utf-8").replace("hybrid", "plain", 1), "utf-8")
    (tmp_path / "docs" / "rules" / "GDN999.md").write_text("a rule that is gone\n")
    done = generate(tmp_path, "--check")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "README.md is stale", "docs/rules/GDN001.md is stale", "docs/rules/GDN999.md is stale",
    ]  # fmt: skip
    assert generate(tmp_path).returncode == 0
    assert readme.read_text("utf-8") == README
    assert not (tmp_path / "docs" / "rules" / "GDN999.md").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_to_files_lead_to_files(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_every_rule_has_a_page_that_says_how_it_is_made() -> None:
    for rule in knowledge.load().rules:
        page = (ROOT / "docs" / "rules" / f"{rule.id}.md").read_text("utf-8")
        assert page.startswith(f"<!-- Generated from rules/combinations/{rule.path.name} by ")
        assert "Do not edit" in page.splitlines()[0]
        assert f"docs/rules/{rule.id}.md" in README


def test_the_options_that_the_readme_names_exist() -> None:
    named = set(re.findall(r"gdnlint check [^`\n]*?(--[a-z-]+)", README)) | set(re.findall(r"`(--[a-z-]+)", README))
    known = CliRunner().invoke(cli, ["check", "--help"]).output
    assert named - {"--config"} > {"--vllm-version", "--assume", "--rules", "--fail-on", "--hook"}
    assert not [option for option in named - {"--config"} if f"{option} " not in known and f"{option}\n" not in known]


def test_the_hook_of_the_readme_is_one_of_the_hooks() -> None:
    block = next(text for text in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL) if "repos:" in text)
    used = [hook["id"] for repository in yaml.safe_load(block)["repos"] for hook in repository["hooks"]]
    hooks = [hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())]
    assert used == ["gdnlint"]
    assert used[0] in hooks
    assert "gdnlint-repo" in hooks
    assert "gdnlint-repo" in block


def test_the_commands_of_the_readme_are_there() -> None:
    assert ".venv/bin/pip install -q . && .venv/bin/gdnlint check examples/" in README
    for script in ("scripts/test", ".ci/run"):
        assert (ROOT / script).stat().st_mode & 0o111, f"{script} is not executable"
