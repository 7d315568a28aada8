"""Which files are looked at, and as what."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from gdnlint.discovery import KINDS, discover


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


KNOWN = ", ".join(kind.name for kind in KINDS)


def write(path: str, text: str = "") -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def git(*arguments: str, folder: str = ".") -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def found(*paths: str) -> list[tuple[str, str]]:
    result = discover([Path(path) for path in paths], Path.cwd())
    assert not result.problems
    return [(one.display, one.kind) for one in result.files]


def displays(*paths: str) -> list[str]:
    return [display for display, _ in found(*paths)]


def problems(*paths: str) -> list[tuple[str, str]]:
    result = discover([Path(path) for path in paths], Path.cwd())
    assert not result.files
    return [(problem.code, problem.message) for problem in result.problems]


def test_a_folder_gives_the_files_of_known_kinds() -> None:
    for path in (
        "a.sh",
        "b/c.bash",
        "b/d.yaml",
        "b/e.YML",
        "f.py",
        "g.txt",
        "h.md",
        "h.mdx",
        "i",
        "j.sh.bak",
        "k/Dockerfile",
    ):
        write(path)
    assert found(".") == [
        ("a.sh", "shell"),
        ("b/c.bash", "shell"),
        ("b/d.yaml", "yaml"),
        ("b/e.YML", "yaml"),
        ("f.py", "python"),
        ("h.md", "markdown"),
        ("h.mdx", "markdown"),
        ("k/Dockerfile", "dockerfile"),
    ]


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ("#!/bin/bash", "shell"),
        ("#!/bin/sh -e", "shell"),
        ("#! /usr/bin/env bash", "shell"),
        ("#!/usr/bin/env -S bash -eu", "shell"),
        ("#!/usr/bin/env FOO=1 sh", "shell"),
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/python3.11 -u", "python"),
        ("#!/usr/bin/perl", None),
        ("#!/usr/bin/env shiny", None),
        ("vllm serve x", None),
    ],
)
def test_in_a_folder_the_first_line_tells_the_kind_of_a_file_without_suffix(first: str, kind: str | None) -> None:
    write("launch", f"{first}\n")
    assert found(".") == ([("launch", kind)] if kind else [])


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("run.slurm", "#!/bin/bash\n#SBATCH -N 1\n", "shell"),
        ("job.txt", "# comment\n\nvllm serve Qwen/Qwen3.5-9B\n", "shell"),
        ("job.txt", "CUDA_VISIBLE_DEVICES=0 python3 -m vllm.entrypoints.openai.api_server\n", "shell"),
        ("deploy.tmpl", "# Kubernetes\napiVersion: v1\ncommand: |\n  set -e\n", "yaml"),
        ("list.tmpl", "- name: a\n", "yaml"),
        ("tool", "from vllm import LLM\n", "python"),
    ],
)
def test_a_named_file_is_taken_by_what_it_looks_like(name: str, text: str, kind: str) -> None:
    write(name, text)
    assert found(name) == [(name, kind)]
    assert name not in displays(".") or text.startswith("#!")


@pytest.mark.parametrize(
    ("name", "text"),
    [("notes.rst", "vllm serve x\n"), ("blob", "\0\0export A=1\n"), ("empty", ""), ("LICENSE", "Apache License\n")],
)
def test_a_named_file_of_no_known_kind_is_a_problem(name: str, text: str) -> None:
    write(name, text)
    message = f"{name} is of no kind that gdnlint reads ({KNOWN}); it was not read"
    assert problems(name) == [("unknown-kind", message)]


def test_paths_are_shown_as_reached_from_the_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("real/conf/a.yaml")
    Path("link").symlink_to("real")
    assert displays("link/conf") == ["link/conf/a.yaml"]
    assert displays("link") == ["link/conf/a.yaml"]
    assert displays(str(tmp_path / "real")) == ["real/conf/a.yaml"]
    assert displays("real/../real/conf/a.yaml") == ["real/conf/a.yaml"]
    monkeypatch.chdir("real/conf")
    assert displays("..") == ["../conf/a.yaml"]


def test_a_file_is_found_once() -> None:
    write("conf/a.yaml")
    Path("conf/twin.yaml").symlink_to("a.yaml")
    assert displays("conf", "conf/a.yaml", ".", "conf/twin.yaml") == ["conf/a.yaml"]
    assert displays("conf/twin.yaml") == ["conf/twin.yaml"]


def test_links_to_folders_are_not_followed_and_links_out_of_the_project_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("outside/secret.yaml")
    write("project/conf/a.yaml")
    Path("project/loop").symlink_to(".")
    Path("project/out").symlink_to("../outside")
    Path("project/secret.yaml").symlink_to("../outside/secret.yaml")
    Path("project/gone.yaml").symlink_to("nowhere.yaml")
    monkeypatch.chdir("project")
    assert displays(".") == ["conf/a.yaml"]


def test_what_is_no_file_is_a_problem_when_named_and_silent_in_a_folder() -> None:
    os.mkfifo("pipe.sh")
    Path("broken.sh").symlink_to("nowhere")
    # A socket's path is short of 108 bytes only when it is relative.
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.sh")
    assert found(".") == []
    assert problems("pipe.sh", "broken.sh", "socket.sh", "never.sh") == [
        ("unreadable", "pipe.sh is not a regular file; it was not read"),
        ("unreadable", "broken.sh is a broken symbolic link"),
        ("unreadable", "socket.sh is not a regular file; it was not read"),
        ("unreadable", "cannot read never.sh: No such file or directory"),
    ]


def test_one_bad_path_does_not_hide_the_others() -> None:
    write("a.sh")
    result = discover([Path("never.sh"), Path("a.sh")], Path.cwd())
    assert [one.display for one in result.files] == ["a.sh"]
    assert len(result.problems) == 1


def test_folders_that_hold_other_peoples_code_are_skipped() -> None:
    for folder in (".git", "node_modules", ".venv", "__pycache__", "sub/node_modules"):
        write(f"{folder}/a.yaml")
    write("keep/.hidden/a.yaml")
    assert displays(".") == ["keep/.hidden/a.yaml"]
    assert displays("node_modules") == ["node_modules/a.yaml"]


def test_outside_a_checkout_the_gitignore_files_say_what_belongs() -> None:
    write(".gitignore", "build/\n*.gen.yaml\n/top.sh\n")
    write("sub/.gitignore", "!keep.gen.yaml\nlocal.sh\n")
    for path in ("top.sh", "sub/top.sh", "build/a.yaml", "sub/build/a.yaml", "a.gen.yaml", "sub/keep.gen.yaml"):
        write(path)
    write("sub/local.sh")
    write("local.sh")
    assert displays(".") == ["local.sh", "sub/keep.gen.yaml", "sub/top.sh"]
    assert displays("build", "a.gen.yaml") == ["a.gen.yaml", "build/a.yaml"]


def test_in_a_checkout_git_says_what_belongs() -> None:
    git("init", "-q")
    write(".gitignore", "build/\n*.log.yaml\n")
    for path in ("tracked.sh", "forced.log.yaml", "deleted.sh", "a b\n.sh", "é.yaml"):
        write(path)
    git("add", "-f", ".")
    Path("deleted.sh").unlink()
    for path in ("new.sh", "x.log.yaml", "build/a.yaml", "sub/new.py"):
        write(path)
    assert displays(".") == ["a b\n.sh", "forced.log.yaml", "new.sh", "sub/new.py", "tracked.sh", "é.yaml"]
    assert displays("sub") == ["sub/new.py"]
    assert displays("build") == ["build/a.yaml"], "an ignored folder that is named is wanted"


def test_checkouts_in_a_checkout_are_looked_into() -> None:
    git("init", "-q")
    write("inner/a.sh")
    write("inner/.gitignore", "out/\n")
    write("inner/out/b.sh")
    git("init", "-q", folder="inner")
    assert displays(".") == ["inner/a.sh"]
    git("add", "-A", folder="inner")
    git("commit", "-qm", "x", folder="inner")
    git("add", "inner")
    assert displays(".") == ["inner/a.sh"]


def test_the_environment_of_a_git_hook_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    write("other/a.sh")
    write("mine/b.sh")
    git("init", "-q", folder="other")
    git("init", "-q", folder="mine")
    monkeypatch.setenv("GIT_DIR", str(Path("other/.git").absolute()))
    monkeypatch.setenv("GIT_INDEX_FILE", str(Path("other/.git/index").absolute()))
    assert displays("mine") == ["mine/b.sh"]


def test_the_configuration_of_a_checkout_runs_nothing() -> None:
    git("init", "-q")
    write("a.sh")
    git("add", "a.sh")
    trap = write("trap", "#!/bin/sh\ntouch sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor"):
        git("config", name, str(trap.absolute()))
    git("config", "core.hooksPath", str(Path("hooks").absolute()))
    hook = write("hooks/post-index-change", "#!/bin/sh\ntouch sprung\n")
    hook.chmod(0o755)
    assert displays("a.sh") == ["a.sh"]
    assert "a.sh" in displays(".")
    assert not Path("sprung").exists()


def test_a_damaged_checkout_is_walked() -> None:
    write(".git/HEAD", "nonsense")
    write("a.sh")
    assert displays(".") == ["a.sh"]


def test_names_that_are_not_utf8_are_found() -> None:
    with open(b"bad\xff.sh", "wb"):
        pass
    assert [os.fsencode(display) for display in displays(".")] == [b"bad\xff.sh"]


def test_deep_folders_end_and_wide_ones_are_whole() -> None:
    write("/".join(["d"] * 200) + "/deep.sh")
    for number in range(3000):
        Path(f"f{number}.yaml").touch()
    assert len(displays(".")) == 3000
