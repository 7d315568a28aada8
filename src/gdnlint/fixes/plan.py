"""Which fixes can be written: edits are made in memory, judged again there, and kept only if they do just that.

A fix is kept if its finding is gone, no other setting of any launch has changed, no launch has come or gone, and
nothing new is reported. Everything that it could reach is judged again: the launches of the files that it edits,
and those that read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gdnlint.results import SEVERITIES, Edit, Finding, Fix, LaunchResult, Report, Setting
from gdnlint.source import Source

Judge = Callable[[Mapping[Path, str], Collection[str]], Report]
"""The report on some files (named as reports name them) with other texts at some real paths."""

ROUNDS = 8
"""Passes over what is left: after an edit the rest of its file stands elsewhere and is looked at again."""

_MARKS = ("error", "warning")

_Name = tuple[str, int]
"""A launch by its file and its number there: its line may move."""
_Identity = tuple[str, "_Name | None", tuple[tuple[str, str], ...]]
"""A finding by its rule, launch and scenario."""


class Chosen(NamedTuple):
    """A finding and the way out of it that is taken."""

    finding: Finding
    fix: Fix


class Refused(NamedTuple):
    """A finding that stays, and why: a fragment behind ``not fixed: ``."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file."""

    source: Source
    """As it was read."""
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    changes: dict[Path, Change]
    """By real path."""
    fixed: list[Chosen]
    refused: list[Refused]


def plan(report: Report, judge: Judge, unsafe: bool) -> Plan:
    """The fixes for a report's findings, each proved together with the others."""
    state = _State(report, judge)
    for _ in range(ROUNDS):
        wanted = _without_clashes(state.choices(unsafe))
        if not wanted or not state.write(wanted):
            break
    return Plan(state.changes, state.fixed, list(state.refused.values()))


class _State:
    """A report that fixes are taken into, one proved group after the other."""

    def __init__(self, report: Report, judge: Judge) -> None:
        self.report = report
        self.judge = judge
        self.changes: dict[Path, Change] = {}
        self.fixed: list[Chosen] = []
        self.refused: dict[_Identity, Refused] = {}

    def choices(self, unsafe: bool) -> list[Chosen]:
        """What can be done about the findings that are there, the worst first."""
        names = _names(self.report)
        found: list[Chosen] = []
        for finding in sorted(self.report.findings, key=lambda finding: -SEVERITIES.index(finding.severity)):
            identity = _identity(finding, names)
            if identity in self.refused:
                continue
            fix, reason = _way(finding, unsafe)
            if fix is None:
                self.refused[identity] = Refused(finding, reason)
            else:
                found.append(Chosen(finding, fix))
        return found

    def write(self, wanted: list[Chosen]) -> bool:
        """Take what can be proved: all at once, else file by file, else one by one. Whether anything was taken."""
        if not self.tried(wanted):
            return True
        taken = False
        for group in _by_file(wanted):
            reason = self.tried(group) if len(group) < len(wanted) or len(group) == 1 else "not all at once"
            for chosen in group if reason and len(group) > 1 else ():
                if not self.tried([chosen]):
                    # The others of this file stand elsewhere now: they are looked at again.
                    reason = ""
                    break
            taken = taken or not reason
        return taken

    def tried(self, group: list[Chosen]) -> str:
        """Take a group of fixes if they do what they should; else why not, which is kept for a single one."""
        edits = [edit for chosen in group for edit in chosen.fix.edits]
        texts = {path: change.text for path, change in self.changes.items()}
        texts.update((_real(source), text) for source, text in edited(edits))
        reached = _reached(self.report, {edit.span.source.path for edit in edits})
        after = self.judge(texts, reached)
        reason = _difference(self.report, after, group, reached)
        if reason:
            if len(group) == 1:
                self.refused[_identity(group[0].finding, _names(self.report))] = Refused(group[0].finding, reason)
            return reason
        for source, text in edited(edits):
            before = self.changes.get(_real(source))
            self.changes[_real(source)] = Change(before.source if before else source, text)
        self.fixed += group
        self.report = _merged(self.report, after, reached)
        return ""


def _way(finding: Finding, unsafe: bool) -> tuple[Fix | None, str]:
    """The first way out that may be written, or why there is none."""
    written = [fix for fix in finding.fixes if fix.edits]
    if not written:
        return None, "a person has to do it"
    # Under a switch that nobody has turned, an edit also changes the launch as it runs today.
    safe = [fix for fix in written if fix.applicability == "safe" and not finding.when]
    if safe:
        return safe[0], ""
    possible = [fix for fix in written if fix.applicability in ("safe", "unsafe")]
    if not possible:
        return None, "a person has to do it"
    if unsafe:
        return possible[0], ""
    when = " ".join(f"{name}={value}" for name, value in finding.when.items())
    return None, f"it also changes the launch without {when} (--unsafe-fixes)" if when else "--unsafe-fixes does it"


def _without_clashes(wanted: Sequence[Chosen]) -> list[Chosen]:
    """The fixes that can be written together: equal edits are one, others may not touch the same characters."""
    taken: dict[tuple[str, int, int], str] = {}
    kept: list[Chosen] = []
    for chosen in wanted:
        edits = chosen.fix.edits
        if all(taken.get(e.span.key(), e.text) == e.text and not _touches(e, taken) for e in edits):
            taken.update((edit.span.key(), edit.text) for edit in edits)
            kept.append(chosen)
    return kept


def _touches(edit: Edit, taken: Iterable[tuple[str, int, int]]) -> bool:
    path, start, end = edit.span.key()
    return any(
        path == other and (start, end) != (first, last) and start < max(last, first + 1) and first < max(end, start + 1)
        for other, first, last in taken
    )


def _by_file(wanted: Sequence[Chosen]) -> list[list[Chosen]]:
    files: dict[str, list[Chosen]] = {}
    for chosen in wanted:
        files.setdefault(chosen.fix.edits[0].span.source.path, []).append(chosen)
    return list(files.values())


def edited(edits: Iterable[Edit]) -> Iterator[tuple[Source, str]]:
    """Each source that edits are in, with its text after them. Equal edits count once; none may touch another."""
    by_source: dict[Source, set[tuple[int, int, str]]] = {}
    for edit in edits:
        by_source.setdefault(edit.span.source, set()).add((edit.span.start, edit.span.end, edit.text))
    for source, changes in by_source.items():
        text = source.text
        for start, end, new in sorted(changes, reverse=True):
            text = text[:start] + new + text[end:]
        yield source, text


def _real(source: Source) -> Path:
    return source.file.resolve()


def _reached(report: Report, edited_paths: Collection[str]) -> set[str]:
    """The files to judge again: those that are edited, and those whose launches read one of them."""
    found = set(edited_paths)
    for launch in report.launches:
        if found.intersection(_files(launch)):
            found.add(report.read_from[launch.id])
    return found


def _files(launch: LaunchResult) -> Iterator[str]:
    yield launch.span.source.path
    if launch.version.span is not None:
        yield launch.version.span.source.path
    for setting in launch.settings.values():
        yield from (step.span.source.path for step in setting.provenance if step.span is not None)


# -- what an edit did --------------------------------------------------------------------------------------------------


def _names(report: Report, read: Collection[str] | None = None) -> dict[str, _Name]:
    """The launches of some files (None: of all), by id."""
    counts: Counter[str] = Counter()
    names: dict[str, _Name] = {}
    for launch in report.launches:
        if read is None or report.read_from[launch.id] in read:
            path = launch.span.source.path
            names[launch.id] = path, counts[path]
            counts[path] += 1
    return names


def _identity(finding: Finding, names: Mapping[str, _Name]) -> _Identity:
    return finding.rule, names.get(finding.launch), tuple(sorted(finding.when.items()))


def _difference(before: Report, after: Report, group: Sequence[Chosen], read: Collection[str]) -> str:
    """What else the edits did, or what they did not do; empty if they did what they should."""
    old_names, new_names = _names(before, read), _names(after)
    old = {old_names[launch.id]: launch for launch in before.launches if launch.id in old_names}
    new = {new_names[launch.id]: launch for launch in after.launches}
    if old.keys() != new.keys():
        return "the edited file would be read differently"
    meant: dict[_Name, set[str]] = {}
    for chosen in group:
        meant.setdefault(old_names[chosen.finding.launch], set()).add(chosen.fix.setting)
    for name, launch in old.items():
        changed = _changed(launch, new[name], meant.get(name, set()))
        if changed:
            return f"it would also change {changed} of the launch at {launch.id}"
    remaining = Counter(_identity(finding, new_names) for finding in after.findings if finding.severity in _MARKS)
    for chosen in group:
        if _identity(chosen.finding, old_names) in {_identity(finding, new_names) for finding in after.findings}:
            return f"{chosen.finding.rule} would still be there"
    known = Counter(_identity(finding, old_names) for finding in before.findings)
    added = next((identity[0] for identity in remaining - known), None)
    if added is not None:
        return f"{added} would be reported then"
    troubles = Counter((d.code, d.path) for d in after.diagnostics)
    trouble = next(iter(troubles - Counter((d.code, d.path) for d in before.diagnostics)), None)
    return f"{trouble[1]} could not be read whole any more ({trouble[0]})" if trouble is not None else ""


def _changed(old: LaunchResult, new: LaunchResult, meant: Collection[str]) -> str:
    """The first thing of a launch that is other than it was, besides the settings that were meant."""
    for name in ("kind", "engine", "framework", "refused"):
        if getattr(old, name) != getattr(new, name):
            return name
    if old.version.value != new.version.value:
        return "the version"
    for name in dict.fromkeys((*old.settings, *new.settings)):
        if name in meant:
            continue
        was, now = old.settings.get(name), new.settings.get(name)
        if was is None or now is None:
            return name
        if (was.value, was.state) == (now.value, now.state):
            continue
        if not (meant and _follows(was, now)):
            return name
    return ""


def _follows(was: Setting, now: Setting) -> bool:
    """Whether the engine derives a setting anew from the one that is meant, and the files say of it what they said."""
    won = [step for step in now.provenance if step.outcome == "won"]
    return (not won or won[-1].span is None) and _written(was) <= _written(now)


def _written(setting: Setting) -> set[str]:
    return {step.what for step in setting.provenance if step.span is not None and step.outcome != "via"}


def _merged(before: Report, after: Report, read: Collection[str]) -> Report:
    """A report in which what was judged again takes the place of what it was."""
    stays = {launch.id for launch in before.launches if before.read_from[launch.id] not in read}
    launches = [launch for launch in before.launches if launch.id in stays] + after.launches
    return Report(
        findings=[finding for finding in before.findings if finding.launch in stays] + after.findings,
        launches=sorted(launches, key=lambda item: (item.span.source.path, item.span.line, item.span.start, item.id)),
        diagnostics=before.diagnostics,
        files=before.files,
        read_from={**{i: p for i, p in before.read_from.items() if i in stays}, **after.read_from},
    )
