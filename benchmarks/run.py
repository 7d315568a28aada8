"""Times whole processes of gdnlint against tools that people know, over given source trees.

    python benchmarks/run.py TREE...            trees of your own, such as a checkout of a training framework
    python benchmarks/run.py --synthetic 200    200 copies of the launches in examples/, in a scratch folder

Three questions, all answered in one call so that their ratios share one machine and one moment:

* how far is ``gdnlint check`` from ``grep -rE`` for the words by which it tells files of interest?
* how far from yamllint on the same YAML, and from shellcheck on the same scripts?
* what does the hook cost on one small file, against ``python -c pass``?

The commands of one comparison run in turn (A B A B ...), once unmeasured and then ``--runs`` times. What counts is the
processor time of the finished process and its children, user and system; wall time on a shared machine says little.
A ratio is the median of the ratios of the pairs. Only the standard library is used; a tool that is not installed is
left out. Nothing is compiled while it is measured: the unmeasured run writes the byte code.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from gdnlint import discovery, knowledge  # noqa: E402

BATCH = 500
"""Files that one command line names."""
HOOK = {
    "shell": "examples/skyrl/unsafe_mtp.sh",
    "YAML": "examples/nemo_rl/unsafe_grpo.yaml",
    "Python": "examples/ray_serve/unsafe_app.py",
}
PLAIN = '#!/bin/bash\nset -euo pipefail\nfor name in a b c; do echo "$name"; done\n'
"""A script in which no word says that it launches anything."""


class Command(NamedTuple):
    name: str
    words: Sequence[str]
    files: Sequence[str] = ()
    """Files that are named behind the words, as many as fit at a time."""
    folder: Path = ROOT


class Row(NamedTuple):
    what: str
    ours: list[float]
    theirs: list[float]
    other: str

    @property
    def ratios(self) -> list[float]:
        """Of each pair of runs, ours over theirs."""
        return [a / b for a, b in zip(self.ours, self.theirs, strict=True) if b > 0]


def seconds(command: Command, environment: dict[str, str]) -> float:
    """Processor time of a command and its children, over all its batches."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for start in range(0, max(len(command.files), 1), BATCH):
        words = [*command.words, *command.files[start : start + BATCH]]
        # Into a file: grep stops at the first match if nobody can read what it says.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                words, cwd=command.folder, env=environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.PIPE, check=False,
            )  # fmt: skip
        if done.returncode not in (0, 1, 2, 3):
            raise SystemExit(f"{command.name} ended with {done.returncode}: {done.stderr[-500:].decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compared(what: str, ours: Command, theirs: Command, runs: int, environment: dict[str, str]) -> Row:
    """Both commands in turn; the first turn is not counted."""
    print(f"{what}: {ours.name} against {theirs.name}", file=sys.stderr, flush=True)
    pairs = [(seconds(ours, environment), seconds(theirs, environment)) for _ in range(runs + 1)][1:]
    return Row(what, [pair[0] for pair in pairs], [pair[1] for pair in pairs], theirs.name)


def installed(name: str) -> str | None:
    """A tool of this environment, else of the PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def rows_of(tree: Path, name: str, runs: int, environment: dict[str, str]) -> Iterator[Row]:
    """A tree as a whole against grep, its YAML against yamllint, its scripts against shellcheck."""
    gdnlint = [sys.executable, "-m", "gdnlint", "check", "--quiet", "--fail-on", "never"]
    words = "|".join(word.replace(".", r"\.") for word in knowledge.load().words)
    files = discovery.discover([tree], tree).files
    suffixes = sorted({Path(file.path).suffix for file in files} - {""})
    grep = ["grep", "-rE", *(f"--include=*{suffix}" for suffix in suffixes), "-e", words, "."]
    whole = Command("gdnlint", [*gdnlint, "."], folder=tree)
    yield compared(f"{name}: {len(files):,} files", whole, Command("grep -rE", grep, folder=tree), runs, environment)
    for kind, tool, options in (("yaml", "yamllint", ["-d", "default"]), ("shell", "shellcheck", [])):
        chosen = [os.path.relpath(file.path, tree) for file in files if file.kind == kind]
        found = installed(tool)
        if chosen and found:
            label = "YAML files" if kind == "yaml" else "scripts"
            ours = Command("gdnlint", gdnlint, chosen, tree)
            theirs = Command(tool, [found, *options], chosen, tree)
            yield compared(f"{name}: {len(chosen):,} {label}", ours, theirs, runs, environment)


def hook_rows(scratch: Path, runs: int, environment: dict[str, str]) -> Iterator[Row]:
    """The hook on one small file."""
    plain = scratch / "plain.sh"
    plain.write_text(PLAIN, encoding="utf-8")
    bare = Command("python -c pass", [sys.executable, "-c", "pass"])
    for kind, file in {**HOOK, "no launch": str(plain)}.items():
        words = [sys.executable, "-m", "gdnlint", "check", "--hook", "--fail-on", "never"]
        yield compared(f"hook, one small file ({kind})", Command("gdnlint", words, [file]), bare, runs, environment)


def shown(row: Row) -> str:
    """A line of the table."""

    def spread(values: list[float], show: Callable[[float], str]) -> str:
        return f"{show(statistics.median(values))} ({show(min(values))}-{show(max(values))})"

    def time(value: float) -> str:
        return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"

    ratios = row.ratios
    if statistics.median(ratios) < 1:
        ratio = f"{spread([1 / r for r in ratios], lambda v: f'{v:.1f}')} x faster"
    else:
        ratio = f"{spread(ratios, lambda v: f'{v:.1f}')} x"
    return f"| {row.what} | {spread(row.ours, time)} | {row.other} | {spread(row.theirs, time)} | {ratio} |"


def synthetic(folder: Path, count: int) -> Path:
    """A tree of ``count`` files: the launches of ``examples/``, each in a folder of its own."""
    kinds = {".sh", ".yaml", ".yml", ".py"}
    sources = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in kinds)
    for number in range(count):
        source = sources[number % len(sources)]
        place = folder / f"group_{number // 50:03}" / f"{number:05}{source.suffix}"
        place.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text(encoding="utf-8")
        # No two are the same, so that nothing is won by remembering one of them.
        place.write_text(f"{text.rstrip()}\n# {number}\n", encoding="utf-8")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE")
    parser.add_argument("--synthetic", type=int, metavar="N", help="also N files made from examples/")
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each command (default: 5)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPATH"] = str(ROOT / "src")
        environment["PYTHONPYCACHEPREFIX"] = str(Path(scratch) / "bytecode")
        environment["XDG_CACHE_HOME"] = str(Path(scratch) / "cache")
        trees = [(tree.resolve(), tree.resolve().name) for tree in given.trees]
        if given.synthetic or not trees:
            made = synthetic(Path(scratch) / "tree", given.synthetic or 200)
            trees.append((made, "synthetic"))
        print("| What | gdnlint | against | takes | ratio |\n| --- | --- | --- | --- | --- |", flush=True)
        for row in hook_rows(Path(scratch), max(given.runs, 7), environment):
            print(shown(row), flush=True)
        for tree, name in trees:
            for row in rows_of(tree, name, given.runs, environment):
                print(shown(row), flush=True)


if __name__ == "__main__":
    main()
