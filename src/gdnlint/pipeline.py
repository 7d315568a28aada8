"""One run from paths to a report: discover, read, find launches, resolve, check."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from gdnlint.launches.candidates import may_launch
from gdnlint.options import Options
from gdnlint.project import Project, Unreadable
from gdnlint.results import Diagnostic, Finding, LaunchResult, Report, Skipped
from gdnlint.settings.search import Configurations
from gdnlint.values import Problem

if TYPE_CHECKING:
    from gdnlint.knowledge.schema import Knowledge
    from gdnlint.launches.context import Context
    from gdnlint.launches.model import Launch
    from gdnlint.settings.judgement import Judgement
    from gdnlint.source import Source

_ERRORS = frozenset({"unreadable", "encoding", "outside-root", "syntax", "internal-error"})


@dataclass(slots=True)
class _Told:
    """What the report of this run holds already. A file may be read on its own and by each script that sources it."""

    numbers: dict[tuple[str, int], int] = field(default_factory=dict)
    """Launches at a path and line: what makes their ids unique."""
    origins: dict[object, str] = field(default_factory=dict)
    """Launches by all that they say, each with the file that was read when it was found."""
    findings: set[object] = field(default_factory=set)


def run(
    paths: list[Path], options: Options, texts: Mapping[Path, str] | None = None, only: Collection[str] | None = None
) -> Report:
    """Everything that the launches below some paths come to.

    ``texts`` are read in place of the files at some real paths (edits that are not written yet); ``only`` leaves out
    every file but those, named as reports name them.
    """
    from gdnlint import discovery, knowledge

    report = Report()
    told = _Told()
    for root, group in _by_root(paths):
        found = discovery.discover(group, root)
        report.diagnostics += [_diagnostic(p) for p in found.problems]
        project = Project(root, Path.cwd(), texts)
        configurations = Configurations(root, options)
        # A mistake in any configuration stops the run before anything is judged.
        judgements = [(file, configurations.judgement(file.path, file.named)) for file in found.files]
        for file, judgement in judgements:
            if only is not None and file.display not in only:
                continue
            if isinstance(judgement, str):
                report.skipped.append(Skipped(file.display, judgement))
                continue
            report.files += 1
            loaded = knowledge.load(judgement.options.rules)
            _one_file(file.path, file.display, file.kind, loaded, project, judgement, report, told)
    _sort(report)
    return report


def _by_root(paths: list[Path]) -> Iterator[tuple[Path, list[Path]]]:
    """The paths of each project: the git checkout they lie in, else the current directory, else their own."""
    groups: dict[Path, list[Path]] = {}
    here = Path.cwd()
    for path in paths:
        groups.setdefault(_root(path, here), []).append(path)
    yield from groups.items()


def _root(path: Path, here: Path) -> Path:
    absolute = Path(os.path.abspath(path))
    start = absolute if absolute.is_dir() else absolute.parent
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return here if here == start or here in start.parents else start


def _one_file(
    path: Path,
    display: str,
    kind: str,
    knowledge: Knowledge,
    project: Project,
    judgement: Judgement,
    report: Report,
    told: _Told,
) -> None:
    """Adds what one file holds to the report. A bug in the reading of one file never hides another's findings."""
    try:
        source = project.source(path, display)
    except Unreadable as error:
        report.diagnostics.append(_diagnostic(error.problem))
        return
    if not may_launch(source, kind, knowledge.words, project):
        project.drop(path)
        return
    before = len(report.launches), len(report.diagnostics)
    try:
        _judge(source, kind, knowledge, project, judgement, report, told)
    except Exception as error:
        from gdnlint.report._words import internal_error

        report.diagnostics.append(
            Diagnostic("internal-error", f"{display}: {internal_error(error)}", display, level="error")
        )
    if before == (len(report.launches), len(report.diagnostics)):
        project.drop(path)


def _judge(
    source: Source,
    kind: str,
    knowledge: Knowledge,
    project: Project,
    judgement: Judgement,
    report: Report,
    told: _Told,
) -> None:
    from gdnlint.launches.context import Context

    options = judgement.options
    answers = {name: value for name, value in options.assume.items() if ":" in name}
    env = {name: value for name, value in options.assume.items() if ":" not in name}
    context = Context(knowledge, project, env, answers)
    launches = _launches(source, kind, context)
    if launches:
        from gdnlint import check
        from gdnlint.resolve.checkpoints import cache_folder
        from gdnlint.resolve.outcome import Settings, resolve

        facts = {name.removeprefix("fact:"): value for name, value in answers.items() if name.startswith("fact:")}
        cache = cache_folder(os.environ) if options.hf_cache else None
        settings = Settings(options.vllm_version, facts, judgement.aliases, cache=cache)
        for launch in sorted(launches, key=lambda launch: launch.span.start):
            for resolved in resolve(launch, knowledge, project, settings):
                place = launch.span.source.path, launch.span.line
                result = check.launch_result(resolved, told.numbers.get(place, 0) + 1)
                if told.origins.setdefault(_launch_key(result), source.path) != source.path:
                    # A file that several scripts source, with the same outcome as before.
                    continue
                told.numbers[place] = told.numbers.get(place, 0) + 1
                report.launches.append(result)
                report.read_from[result.id] = source.path
                for finding in filter(None, map(judgement.of, check.findings(resolved, result, knowledge))):
                    key = _finding_key(finding)
                    if key not in told.findings:
                        told.findings.add(key)
                        report.findings.append(finding)
        context.report(settings.effort.problems)
    report.diagnostics += [_diagnostic(p, source.path) for p in context.problems]


def _launch_key(launch: LaunchResult) -> object:
    """Equal for launches at one place that say the same, for the same reasons."""
    settings = [
        (
            name,
            repr(setting.value),
            setting.reason,
            [(s.what, s.outcome, s.span and s.span.key()) for s in setting.provenance],
        )
        for name, setting in launch.settings.items()
    ]
    version = launch.version.value, launch.version.provenance
    said = launch.combination, launch.decided_by, launch.refused, launch.note, version, launch.scenarios, settings
    return launch.span.key(), launch.kind, launch.engine, launch.framework, repr(said)


def _finding_key(finding: Finding) -> object:
    """Equal for findings that tell a reader the same."""
    related = tuple((place.span.key(), place.message) for place in finding.related)
    when = tuple(sorted(finding.when.items()))
    return finding.rule, finding.severity, finding.message, finding.span.key(), when, finding.notes, related


_FINDERS = {
    "shell": "scripts",
    "yaml": "yaml_files",
    "python": "calls",
    "markdown": "fences",
    "toml": "toml_recipes",
    "dockerfile": "dockerfile",
    "unit": "unit",
    "json": "json_files",
    "notebook": "notebooks",
    "makefile": "makefiles",
}
"""A kind of file -> the module of ``launches`` that finds the launches in it; loaded only where one is read."""


def _launches(source: Source, kind: str, context: Context) -> list[Launch]:
    found: list[Launch] = import_module(f"gdnlint.launches.{_FINDERS[kind]}").launches(source, context)
    return found


def _diagnostic(problem: Problem, path: str = "") -> Diagnostic:
    at = problem.span.source.path if problem.span is not None else problem.path or path
    return Diagnostic(
        problem.code, problem.message, at, problem.span, "error" if problem.code in _ERRORS else "warning"
    )


def _sort(report: Report) -> None:
    report.launches.sort(key=lambda item: (item.span.source.path, item.span.line, item.span.start, item.id))
    report.findings.sort(
        key=lambda item: (item.span.source.path, item.span.line, item.span.start, item.rule, sorted(item.when.items()))
    )
    unique = {(d.code, d.message, d.path, d.span.key() if d.span else None): d for d in report.diagnostics}
    report.diagnostics = sorted(
        unique.values(), key=lambda d: (d.path, d.span.line if d.span else 0, d.code, d.message)
    )
