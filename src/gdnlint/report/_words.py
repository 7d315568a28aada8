"""Wording that several formats share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from gdnlint.results import Finding, LaunchResult, Report
from gdnlint.source import Span

COMBINATIONS = ("present", "undecided", "absent")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(\[])")


def first_sentence(message: str) -> tuple[str, str]:
    """A message as (first sentence, the rest)."""
    parts = _SENTENCE_END.split(" ".join(message.split()), maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def row(span: Span) -> str:
    """The line of a place; in a notebook ``cell 3:4``."""
    return span.source.where(span.start).rpartition(":")[0]


def when_words(when: Mapping[str, str]) -> str:
    """``with A=1, B=x``; empty without conditions."""
    return "with " + ", ".join(_given(name, when[name]) for name in sorted(when)) if when else ""


def _given(name: str, value: str) -> str:
    """An option of a script as a person types it (``--mode batch``), everything else as ``--assume`` takes it."""
    if not name.startswith("arg:-"):
        return f"{name}={value}"
    return name[4:] if value == "on" else f"{name[4:]} {value}"


def headline(finding: Finding) -> str:
    """The diagnosis in one sentence without a full stop, with the environment under which it holds."""
    sentence = first_sentence(finding.message)[0].rstrip(".")
    left = {name: value for name, value in finding.when.items() if f"{name}={value}" not in sentence}
    return f"{sentence} ({when_words(left)})" if left else sentence


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``, ``2 launches``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith(('s', 'ch')) else 's'}"


def tally(launches: list[LaunchResult]) -> list[str]:
    """``2 present``, ``1 undecided`` ...: what there is, the worst first."""
    numbers = ((name, sum(launch.combination == name for launch in launches)) for name in COMBINATIONS)
    return [f"{number:,} {name}" for name, number in numbers if number]


def summary(report: Report) -> str:
    """The last line of a run."""
    files, launches = count(report.files, "file"), count(len(report.launches), "launch")
    kinds = tally(report.launches)
    if not report.findings:
        telling = [part for part in kinds if not part.endswith("absent")]
        return f"No findings. {files}, {launches}" + (f" ({', '.join(telling)})" if telling else "")
    severities = ", ".join(
        count(number, severity)
        for severity in ("error", "warning", "note")
        if (number := sum(finding.severity == severity for finding in report.findings))
    )
    bad = len({finding.span.source.path for finding in report.findings})
    where = files if bad == report.files else f"{bad:,} of {files}"
    return f"{severities} in {where}; {launches}" + (f": {', '.join(kinds)}" if kinds else "")


def internal_error(error: Exception) -> str:
    """What to tell a person about a bug: what was raised and where, and what to do."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" at {PurePath(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at is not None else ""
    return (
        f"internal error{place}: {type(error).__name__}: {error}. This is a bug in gdnlint: "
        "please report it with the file that it was run on"
    )
