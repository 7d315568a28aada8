"""Checks SARIF files with Microsoft's validator, by the rules of GitHub code scanning.

    python scripts/sarif_multitool.py fetch            downloads it with npm into .cache/
    python scripts/sarif_multitool.py validate FILE...

Exits 1 if a file has an error or a warning. The npm wrapper of the package hands its arguments to a shell, so the
binary itself is run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "@microsoft/sarif-multitool-linux@5.7.0"
CACHE = Path(__file__).resolve().parent.parent / ".cache" / "sarif-multitool"
BINARY = CACHE / "node_modules" / "@microsoft" / "sarif-multitool-linux" / "Sarif.Multitool"


def fetch() -> None:
    """Needs npm and the network; does nothing the second time."""
    if BINARY.exists():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE.parent / ".gitignore").write_text("*\n")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(CACHE), PACKAGE]
    subprocess.run(command, check=True)
    BINARY.chmod(0o755)


def validate(file: Path) -> list[str]:
    """The errors and warnings, as ``RULE: message``. Raises CalledProcessError if the validator itself fails."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.sarif"
        command = [str(BINARY), "validate", str(file), "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning"]
        environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
        done = subprocess.run(
            [*command, "--output", str(output), "--log", "ForceOverwrite"],
            env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        if not output.exists():
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        results = json.loads(output.read_text("utf-8-sig"))["runs"][0].get("results", [])
    return [f"{result['ruleId']}: {result['message']}" for result in results if result.get("level") != "note"]


def main(arguments: list[str]) -> int:
    if arguments == ["fetch"]:
        fetch()
        return 0
    if len(arguments) < 2 or arguments[0] != "validate":
        print(__doc__, file=sys.stderr)
        return 2
    wrong = 0
    for name in arguments[1:]:
        for line in validate(Path(name)):
            print(f"{name}: {line}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
