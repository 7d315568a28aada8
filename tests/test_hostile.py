"""Files made to break a reader: a diagnostic for the bad one, the others judged, the right exit code.

Whole processes with a limit on memory; the fuzzing runs in this process, through the library's own entry.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gdnlint import engine
from gdnlint.options import Options

UNSAFE = """vllm serve Qwen/Qwen3.5-9B --enable-prefix-caching \\
  --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
"""
MEMORY = 600 << 20
"""Bytes of address space: Python and its libraries alone map about half of it."""
ROOT = Path(__file__).parent.parent


def check(folder: Path, *paths: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON report and standard error of a run in its own process, with bounded memory and time."""
    command = [sys.executable, "-m", "gdnlint", "check", "--format", "json", "--show-launches", *(paths or (".",))]
    run = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    return run.returncode, json.loads(run.stdout), run.stderr


def with_unsafe(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "unsafe.sh").write_text(UNSAFE)
    return tmp_path


def codes(report: dict[str, Any]) -> set[str]:
    return {item["code"] for item in report["diagnostics"]}


DEEP_JSON = "[" * 100_000
BAD: dict[str, tuple[str, bytes, str]] = {
    "invalid UTF-8": ("bad.sh", b"vllm serve \xff\xfe\xfa --x\n", "encoding"),
    "a NUL byte": ("bad.sh", b"vllm serve \0 m\n", "encoding"),
    "a Python syntax error": ("bad.py", b"from vllm import LLM\nLLM(model=\n", "syntax"),
    "deep YAML": ("bad.yaml", b"vllm: " + b"[" * 50_000, ""),
    "aliases that expand": (
        "bad.yaml",
        b"vllm: &a [x, x, x, x, x, x, x, x, x]\n"
        + b"".join(
            b"b%d: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n" % (i, 98 + i, *[97 + i] * 8) for i in range(12)
        ),
        "",
    ),
    "too many bytes": ("bad.sh", b"# vllm\n" + b"echo x\n" * 400_000, "unreadable"),
    "deep parentheses in Python": ("bad.py", b"from vllm import LLM\nLLM(" + b"(" * 20_000, ""),
    "deep command substitution": ("bad.sh", b"vllm serve " + b"$(echo " * 5_000 + b"x" + b")" * 5_000, ""),
    "deep defaults": ("bad.sh", b"vllm serve " + b"${A:-" * 5_000 + b"m" + b"}" * 5_000, ""),
    "huge braces": (
        "bad.sh",
        b"vllm serve {1..99999999} {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\n",
        "",
    ),
    "many pipes": ("bad.sh", b"vllm serve x " + b"| cat " * 20_000, ""),
    "deep JSON in a word": ("bad.sh", f"vllm serve m --speculative-config '{DEEP_JSON}'".encode(), ""),
    "numbers without end": (
        "bad.py",
        b"from vllm import LLM\nx = 10**10**10\ny = 'a' * 10**12\nLLM(model=y, seed=x)\n",
        "",
    ),
    "a model name that is a regex bomb": ("bad.sh", b"vllm serve " + b"qwen3-" * 20_000 + b"!\n", ""),
    "ten thousand words": ("bad.sh", b"vllm serve m " + b"--x y " * 10_000, ""),
}


@pytest.mark.parametrize(("name", "data", "code"), BAD.values(), ids=BAD)
def test_a_bad_file_hides_no_other(tmp_path: Path, name: str, data: bytes, code: str) -> None:
    with_unsafe(tmp_path)
    (tmp_path / name).write_bytes(data)
    exit_code, report, stderr = check(tmp_path)
    assert exit_code == 1
    assert [f["path"] for f in report["findings"] if f["rule"] == "GDN001"] == ["unsafe.sh"]
    assert "internal-error" not in codes(report)
    assert "Traceback" not in stderr
    if code:
        assert any(item["code"] == code and item["path"] == name for item in report["diagnostics"])


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    socket.socket(socket.AF_UNIX).bind(str(path))


def folder(path: Path) -> None:
    path.mkdir()


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def broken(path: Path) -> None:
    path.symlink_to("nothing")


@pytest.mark.parametrize("make", [fifo, unix_socket, folder, loop, broken], ids=lambda make: make.__name__)
def test_what_is_no_file_never_blocks(tmp_path: Path, make: Callable[[Path], None]) -> None:
    with_unsafe(tmp_path)
    make(tmp_path / "x.sh")
    exit_code, report, _ = check(tmp_path)
    assert exit_code == 1
    assert "internal-error" not in codes(report)
    exit_code, report, _ = check(tmp_path, "x.sh", "unsafe.sh")
    assert exit_code == 1
    assert [f["path"] for f in report["findings"] if f["rule"] == "GDN001"] == ["unsafe.sh"]


ESCAPES = {
    "a source": ("run.sh", "source ../secret.sh\nvllm serve $SECRET\n"),
    "an absolute source": ("run.sh", "source {outside}/secret.sh\nvllm serve $SECRET\n"),
    "a config file": ("run.sh", "vllm serve --config ../secret.yaml\n"),
    "a chain of defaults": ("run.yaml", "defaults: ../secret.yaml\npolicy: {generation: {vllm_cfg: {x: 1}}}\n"),
    "a compose file": (
        "compose.yaml",
        "services:\n  a:\n    extends: {file: ../secret.yaml, service: a}\n    command: vllm serve\n",
    ),
    "an env_file": ("compose.yaml", "services:\n  a:\n    env_file: ../secret.env\n    command: vllm serve $SECRET\n"),
}


@pytest.mark.parametrize(("name", "text"), ESCAPES.values(), ids=ESCAPES)
def test_nothing_outside_the_root_is_read(tmp_path: Path, name: str, text: str) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    with_unsafe(inside)
    (tmp_path / "secret.sh").write_text("SECRET=classified-model\n")
    (tmp_path / "secret.env").write_text("SECRET=classified-model\n")
    (tmp_path / "secret.yaml").write_text(
        "model: classified-model\npolicy: {model_name: classified-model}\n"
        "services: {a: {command: vllm serve classified-model}}\n"
    )
    (inside / name).write_text(text.replace("{outside}", str(tmp_path)))
    exit_code, report, stderr = check(inside)
    assert exit_code == 1
    assert "classified" not in json.dumps(report) + stderr


def test_a_link_out_of_the_root_is_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    with_unsafe(inside)
    (tmp_path / "secret.sh").write_text(UNSAFE.replace("Qwen3.5-9B", "Qwen3.5-classified"))
    (inside / "link.sh").symlink_to(tmp_path / "secret.sh")
    _, report, _ = check(inside, ".", "link.sh")
    assert "classified" not in json.dumps(report)


CYCLES = {
    "source": {"a.sh": "source ./b.sh\n" + UNSAFE, "b.sh": "source ./a.sh\n"},
    "defaults": {"a.yaml": "defaults: b.yaml\npolicy: {generation: {vllm_cfg: {}}}\n", "b.yaml": "defaults: a.yaml\n"},
    "extends": {"compose.yaml": "services:\n  a: {extends: b, command: vllm serve m}\n  b: {extends: a}\n"},
    "recursion": {"a.sh": "f() { f; }\nf\n" + UNSAFE},
}


@pytest.mark.parametrize("files", CYCLES.values(), ids=CYCLES)
def test_a_cycle_ends(tmp_path: Path, files: dict[str, str]) -> None:
    with_unsafe(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    exit_code, report, _ = check(tmp_path)
    assert exit_code == 1
    assert "unsafe.sh" in {f["path"] for f in report["findings"]}
    assert "internal-error" not in codes(report)


def test_terminal_codes_of_a_file_never_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "x\x1b[31m.sh").write_text(UNSAFE.replace("Qwen3.5-9B", "Qwen3.5-9B\x1b]0;owned\x07"))
    run = subprocess.run(
        [sys.executable, "-m", "gdnlint", "check", "--color", "always", "."],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "\x1b]0;" not in run.stdout + run.stderr
    assert "\x07" not in run.stdout + run.stderr
    assert "x\x1b[31m.sh" not in run.stdout + run.stderr


def test_crlf_and_a_byte_order_mark_change_no_verdict(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.sh").write_bytes(UNSAFE.replace("\n", "\r\n").encode())
    (tmp_path / "b.yaml").write_bytes(
        b"\xef\xbb\xbfmodel: Qwen/Qwen3.5-9B\r\nenable-prefix-caching: true\r\n"
        b"speculative-config: {method: mtp, num_speculative_tokens: 2}\r\n"
    )
    _, report, _ = check(tmp_path)
    assert {launch["path"]: launch["combination"] for launch in report["launches"]} == {
        "a.sh": "present",
        "b.yaml": "present",
    }


EXAMPLES = [
    (path.suffix, path.read_text())
    for path in sorted((ROOT / "examples").rglob("*"))
    if path.suffix in {".sh", ".yaml", ".py", ".md"}
]


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_examples_are_read_to_the_end(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    suffix, text = data.draw(st.sampled_from(EXAMPLES))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        put = data.draw(
            st.sampled_from(
                [
                    "",
                    "(",
                    "}",
                    "${",
                    "'",
                    '"',
                    "\\",
                    "$(",
                    "\n",
                    ": ",
                    "- ",
                    "\U000f0000",
                    "*a",
                    "&a ",
                    "<<: ",
                    "[",
                    "\t",
                ]
            )
        )
        text = text[:at] + put + text[at + cut :]
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / f"x{suffix}").write_text(text)
    report = engine.run([folder / f"x{suffix}"], Options())
    assert not [d for d in report.diagnostics if d.code == "internal-error"]
