"""The hooks as pre-commit runs them, on a repository made for the purpose."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())

UNSAFE = """\
vllm serve Qwen/Qwen3.5-9B --enable-prefix-caching \\
  --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """With a ``gdnlint`` on the path that is this checkout, as ``language: system`` wants it."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "gdnlint"
    program.write_text(f"#!{sys.executable}\nfrom gdnlint.cli import main\nmain()\n")
    program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "PATH": f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("cache")),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }


class Checkout:
    """A git repository that uses the hooks of this project."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.git("init", "-q")
        # The hooks as they are published, except that nothing is installed: this must work without a network.
        local = [{**hook, "language": "system"} for hook in HOOKS]
        self.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]}))

    def git(self, *arguments: str) -> None:
        subprocess.run(self._git(*arguments), cwd=self.folder, env=self.environment, check=True, capture_output=True)

    def commit(self, message: str) -> tuple[int, str]:
        """A commit as a person makes it, with the installed hooks."""
        return self._finished(self._git("commit", "-m", message))

    def _git(self, *arguments: str) -> list[str]:
        return ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]

    def _finished(self, command: list[str]) -> tuple[int, str]:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=240, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self.git("add", path)

    def subjects(self) -> list[str]:
        """Of the commits, newest first."""
        done = subprocess.run(
            ["git", "log", "--format=%s"], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    def run(self, hook: str, *arguments: str) -> tuple[int, str]:
        return self.pre_commit("run", hook, *arguments)

    def try_repo(self, project: Path) -> tuple[int, str]:
        """All hooks of a project on the files that are staged, installed as pre-commit installs them."""
        return self.pre_commit("try-repo", str(project))

    def pre_commit(self, command: str, *arguments: str) -> tuple[int, str]:
        return self._finished([sys.executable, "-m", "pre_commit", command, "--color", "never", *arguments])


@pytest.fixture
def checkout(tmp_path: Path, environment: dict[str, str]) -> Checkout:
    return Checkout(tmp_path, environment)


def test_the_hook_judges_the_files_of_the_commit(checkout: Checkout) -> None:
    checkout.write("run/serve.sh", UNSAFE)
    checkout.git("commit", "-qm", "bad", "--no-verify")
    checkout.write("other.sh", "echo hello\n")
    assert checkout.run("gdnlint") == (0, "gdnlint" + "." * 66 + "Passed\n")
    checkout.write("run/serve.sh", UNSAFE + "\n")
    code, output = checkout.run("gdnlint")
    assert code == 1
    assert "run/serve.sh:1:" in output
    assert "error[GDN001]" in output


def test_the_hook_is_skipped_without_files_of_its_kinds(checkout: Checkout) -> None:
    checkout.git("commit", "-qm", "config", "--no-verify")
    checkout.write("notes.rst", "vllm serve\n")
    code, output = checkout.run("gdnlint")
    assert (code, "(no files to check)Skipped" in output) == (0, True)


def test_a_script_without_suffix_is_judged(checkout: Checkout) -> None:
    checkout.write("serve", "#!/bin/bash\n" + UNSAFE)
    (checkout.folder / "serve").chmod(0o755)
    checkout.git("add", "serve")
    code, output = checkout.run("gdnlint")
    assert (code, "serve:2:" in output) == (1, True)


def test_the_repository_hook_judges_everything_once(checkout: Checkout) -> None:
    checkout.write("run/serve.sh", UNSAFE)
    checkout.git("commit", "-qm", "bad", "--no-verify")
    checkout.write("other.sh", "echo hello\n")
    code, output = checkout.run("gdnlint-repo")
    assert code == 1
    assert output.count("error[GDN001]") == 1
    checkout.git("commit", "-qm", "other", "--no-verify")
    checkout.write("notes.rst", "nothing\n")
    assert checkout.run("gdnlint-repo")[0] == 0, "no launch file changed"


PARENT = """\
policy:
  model_name: Qwen/Qwen3.5-9B
  generation:
    backend: vllm
    vllm_cfg: {enable_prefix_caching: %s}
"""
CHILD = """\
defaults: base.yaml
policy:
  generation:
    vllm_kwargs:
      speculative_config: {method: mtp, num_speculative_tokens: 1}
"""


def test_a_commit_that_adds_the_combination_is_stopped(checkout: Checkout) -> None:
    checkout.git("commit", "-qm", "config", "--no-verify")
    checkout.pre_commit("install")
    checkout.write("serve.sh", UNSAFE.replace("--enable-", "--no-enable-"))
    code, output = checkout.commit("safe")
    assert code == 0, output
    checkout.write("serve.sh", UNSAFE)
    code, output = checkout.commit("unsafe")
    assert code == 1
    assert "serve.sh:1:" in output
    assert checkout.subjects() == ["safe", "config"]


def test_the_parent_of_a_recipe_is_read_from_disk(checkout: Checkout) -> None:
    checkout.write("recipes/base.yaml", PARENT % "true")
    checkout.git("commit", "-qm", "base", "--no-verify")
    checkout.write("recipes/child.yaml", CHILD)
    code, output = checkout.run("gdnlint")
    assert (code, "recipes/child.yaml:1:" in output) == (1, True)
    checkout.write("recipes/base.yaml", PARENT % "false")
    assert checkout.run("gdnlint")[0] == 0


def test_only_the_repository_hook_sees_the_child_of_a_changed_parent(checkout: Checkout) -> None:
    checkout.write("recipes/base.yaml", PARENT % "false")
    checkout.write("recipes/child.yaml", CHILD)
    checkout.git("commit", "-qm", "recipes", "--no-verify")
    checkout.write("recipes/base.yaml", PARENT % "true")
    assert checkout.run("gdnlint")[0] == 0
    code, output = checkout.run("gdnlint-repo")
    assert (code, "recipes/child.yaml:1:" in output) == (1, True)


# -- as published: pre-commit makes an environment and installs the project, with its dependencies from PyPI -----------


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """A repository of this project, as it lies here, with one commit."""
    project = tmp_path_factory.mktemp("project")
    for name in ("src", "rules"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", "README.md", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, project / name)
    for arguments in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "release"]):
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        subprocess.run(command, cwd=project, env=environment, check=True)
    return project


def test_try_repo_stops_the_combination(checkout: Checkout, published: Path) -> None:
    checkout.environment = bare(checkout.environment)
    checkout.write("serve.sh", UNSAFE)
    code, output = checkout.try_repo(published)
    assert code == 1
    assert output.count("serve.sh:1:") == 2, output
    assert output.count("error[GDN001]") == 2
    assert output.count("- exit code: 1") == 2


def test_try_repo_lets_the_rest_pass(checkout: Checkout, published: Path) -> None:
    checkout.environment = bare(checkout.environment)
    checkout.write("serve.sh", UNSAFE.replace("Qwen3.5-9B", "Qwen3-8B"))
    checkout.write("deploy.yaml", "replicas: 2\n")
    code, output = checkout.try_repo(published)
    assert code == 0, output
    assert output.count("Passed") == 2


def bare(environment: dict[str, str]) -> dict[str, str]:
    """Without the ``gdnlint`` of this checkout: only what pre-commit installs is found."""
    folders = environment["PATH"].split(os.pathsep)[1:]
    kept = [folder for folder in folders if not Path(folder, "gdnlint").exists()]
    return {**environment, "PATH": os.pathsep.join(kept), "PYTHONPATH": ""}


def test_the_hooks_are_valid_and_installable(tmp_path: Path) -> None:
    """pre-commit's own reading of the manifest, and what it says of the entry points."""
    manifest = tmp_path / ".pre-commit-hooks.yaml"
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", manifest)
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(manifest)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert [(hook["id"], hook["language"]) for hook in HOOKS] == [("gdnlint", "python"), ("gdnlint-repo", "python")]
