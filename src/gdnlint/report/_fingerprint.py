"""Names for findings that survive moved lines."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter

from gdnlint.results import Finding, Report
from gdnlint.source import Source

WINDOW = 100
"""UTF-16 units that code scanning hashes from the start of a line."""
BASE = 37
END_OF_FILE = 0xFFFF


def fingerprints(report: Report) -> list[str]:
    """One name a finding, in order.

    Made of what stays when lines are added above: the rule, the path, what kind of launch it is, the text of the
    primary line without its indentation, the environment, and a number that tells equal ones apart.
    """
    launches = {launch.id: (launch.kind, launch.framework) for launch in report.launches}
    seen: Counter[str] = Counter()
    names = []
    for finding in report.findings:
        key = _key(finding, launches.get(finding.launch, ("", "")))
        seen[key] += 1
        names.append(hashlib.sha256(f"{key}\n{seen[key]}".encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return names


def _key(finding: Finding, launch: tuple[str, str]) -> str:
    source = finding.span.source
    line = source.line(finding.span.line).strip()
    return json.dumps([finding.rule, source.path, *launch, line, sorted(finding.when.items())])


def line_hash(source: Source, number: int) -> str:
    """The ``primaryLocationLineHash`` of a line, exactly as GitHub's upload action computes it.

    A polynomial hash of the next 100 characters that are neither space nor tab, with the number of times that it
    has come up in the file. A made-up value would be kept by code scanning and alerts would not follow their line.
    """
    units, starts = _units(source.text)
    start = starts[min(number, len(starts)) - 1]
    window = units[start : start + 2 * WINDOW]
    twins = sum(units[other : other + 2 * WINDOW] == window for other in starts[:number])
    value = 0
    for index in range(0, 2 * WINDOW, 2):
        value = value * BASE + int.from_bytes(window[index : index + 2], "little")
    return f"{value % (1 << 64):x}:{twins}"


def _units(text: str) -> tuple[bytes, list[int]]:
    """UTF-16 without blanks, every line end one LF, with the end mark and zeros; and where each line starts in it."""
    dense = re.sub(r"\r\n?", "\n", text).translate({ord(" "): None, ord("\t"): None})
    units = dense.encode("utf-16-le", "surrogatepass") + END_OF_FILE.to_bytes(2, "little") + bytes(2 * WINDOW)
    starts, at = [0], 0
    for line in dense.split("\n")[:-1]:
        at += len(line.encode("utf-16-le", "surrogatepass")) + 2
        starts.append(at)
    return units, starts
