"""The shipped rules are read from what an earlier run kept of them, and only if it is theirs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gdnlint
from support import HYBRID, MTP

LAUNCH = f"vllm serve {HYBRID} --enable-prefix-caching {MTP}\n"


def run(folder: Path, **environment: str) -> tuple[set[str], str]:
    """The modules that a run over one launch imports, and its report."""
    (folder / "serve.sh").write_text(LAUNCH)
    known = {**os.environ, "PYTHONPATH": str(Path(gdnlint.__file__).parent.parent)}
    known |= {"XDG_CACHE_HOME": str(folder / "cache"), **environment}
    command = [sys.executable, "-X", "importtime", "-m", "gdnlint", "check", "--format", "json", "serve.sh"]
    done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stderr[-2000:]
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    return imported, done.stdout


def kept(folder: Path) -> Path:
    (file,) = (folder / "cache" / "gdnlint").iterdir()
    return file


def test_the_second_run_reads_no_yaml_and_says_the_same(tmp_path: Path) -> None:
    first, said = run(tmp_path)
    second, says = run(tmp_path)
    assert ("yaml" in first, "yaml" in second) == (True, False)
    assert says == said
    assert [finding["rule"] for finding in json.loads(says)["findings"]] == ["GDN001"]


@pytest.mark.parametrize("damage", ["cut off", "changed", "of other rules", "not JSON", "empty"])
def test_what_is_not_whole_is_made_anew(tmp_path: Path, damage: str) -> None:
    _, said = run(tmp_path)
    head, _, text = kept(tmp_path).read_bytes().partition(b"\n")
    other = {
        "cut off": head + b"\n" + text[:-100],
        "changed": head + b"\n" + text.replace(b"GDN001", b"GDN999"),
        "of other rules": b"0" * 64 + head[64:] + b"\n" + text,
        "not JSON": b"\0",
        "empty": b"",
    }[damage]
    kept(tmp_path).write_bytes(other)
    imported, says = run(tmp_path)
    assert "yaml" in imported
    assert says == said
    assert kept(tmp_path).read_bytes() == head + b"\n" + text


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_what_others_may_write_is_not_read(tmp_path: Path) -> None:
    run(tmp_path)
    kept(tmp_path).chmod(0o666)
    assert "yaml" in run(tmp_path)[0]
    assert kept(tmp_path).stat().st_mode & 0o777 == 0o600


def test_nothing_is_kept_if_that_is_not_wanted_or_not_possible(tmp_path: Path) -> None:
    run(tmp_path, GDNLINT_NO_CACHE="1")
    assert not (tmp_path / "cache").exists()
    (tmp_path / "cache").write_text("a file where a folder is needed\n")
    _, said = run(tmp_path)
    assert json.loads(said)["findings"]
