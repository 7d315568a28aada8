"""gdnlint as a person meets it: files in a folder, one command, its JSON report."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from gdnlint.cli import cli

MTP = """--speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'"""
HYBRID = "Qwen/Qwen3.5-9B"
DENSE = "Qwen/Qwen3-8B"


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def report(folder: Path, files: dict[str, str], *options: str) -> Any:
    """The report on the first of some files; the others only lie around it. Every launch is listed."""
    write(folder, files)
    return checked(folder, next(iter(files)), *options)


def checked(folder: Path, *arguments: str) -> Any:
    """The report of ``gdnlint check`` run in a folder."""
    with inside(folder):
        done = CliRunner().invoke(cli, ["check", *arguments, "--show-launches", "--format", "json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    found = json.loads(done.stdout)
    assert not [d for d in found["diagnostics"] if d["code"] == "internal-error"], found["diagnostics"]
    return found


def launch(folder: Path, files: dict[str, str], *options: str) -> Any:
    """The only launch of the first file, with its findings under ``findings``."""
    found = report(folder, files, *options)
    assert len(found["launches"]) == 1, [(item["id"], item["kind"]) for item in found["launches"]]
    return {**found["launches"][0], "findings": found["findings"], "diagnostics": found["diagnostics"]}


def rules(found: Any) -> list[str]:
    """The ids of the rules that found something, sorted."""
    return sorted(finding["rule"] for finding in found["findings"])


def value(found: Any, setting: str) -> Any:
    """The effective value of a setting of a launch; the setting must be known."""
    assert found["settings"][setting]["state"] == "known", found["settings"][setting]
    return found["settings"][setting]["value"]


def history(found: Any, setting: str) -> list[tuple[str, str]]:
    """(what, outcome) of each step of a setting's provenance, oldest first."""
    return [(step["what"], step["outcome"]) for step in found["settings"][setting]["provenance"]]


def related(finding: Any) -> list[str]:
    """The places a finding relates to, as ``path:line``."""
    return [f"{place['path']}:{place['line']}" for place in finding["related"]]


def fixed(folder: Path, finding: Any, title: str = "") -> str:
    """The text of the finding's file after the first of its fixes that has edits (and ``title`` in its title)."""
    fix = next(item for item in finding["fixes"] if item["edits"] and title in item["title"])
    assert {edit["path"] for edit in fix["edits"]} == {finding["path"]}
    lines = (folder / finding["path"]).read_text(encoding="utf-8").splitlines(keepends=True)
    for edit in sorted(fix["edits"], key=lambda item: (item["line"], item["column"]), reverse=True):
        last = lines[edit["end_line"] - 1] if edit["end_line"] <= len(lines) else ""
        head = lines[edit["line"] - 1][: edit["column"] - 1] if edit["line"] <= len(lines) else ""
        lines[edit["line"] - 1 : edit["end_line"]] = [head + edit["text"] + last[edit["end_column"] - 1 :]]
        lines = "".join(lines).splitlines(keepends=True)
    return "".join(lines)


def verdict(folder: Path, files: dict[str, str], *options: str) -> tuple[str, str]:
    """The combination of the only launch of the first file, and the rules that found something there."""
    found = launch(folder, files, *options)
    return found["combination"], " ".join(rules(found))


def heed_interrupts() -> None:
    """For a child, before it starts: what runs in the background of a script has SIGINT ignored, children included."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
