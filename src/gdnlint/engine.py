"""One run from paths to a report: discover, read, find launches, resolve, check."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gdnlint.options import Options
from gdnlint.project import Project, Unreadable
from gdnlint.results import Diagnostic, Report
from gdnlint.values import Problem

if TYPE_CHECKING:
    from gdnlint.knowledge.schema import Knowledge
    from gdnlint.launches.context import Context
    from gdnlint.launches.model import Launch
    from gdnlint.source import Source

_ERRORS = frozenset({"unreadable", "encoding", "outside-root", "syntax", "internal-error"})


def run(paths: list[Path], options: Options) -> Report:
    """Everything that the launches below some paths come to."""
    from gdnlint import discovery, knowledge

    loaded = knowledge.load(options.rules)
    report = Report()
    for root, group in _by_root(paths):
        found = discovery.discover(group, root)
        report.files += len(found.files)
        report.diagnostics += [_diagnostic(p) for p in found.problems]
        project = Project(root, Path.cwd())
        for file in found.files:
            _one_file(file.path, file.display, file.kind, loaded, project, options, report)
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
    path: Path, display: str, kind: str, knowledge: Knowledge, project: Project, options: Options, report: Report
) -> None:
    """Adds what one file holds to the report. A bug in the reading of one file never hides another's findings."""
    try:
        source = project.source(path, display)
    except Unreadable as error:
        report.diagnostics.append(_diagnostic(error.problem))
        return
    if not any(word in source.text for word in knowledge.words):
        return
    try:
        _judge(source, kind, knowledge, project, options, report)
    except Exception as error:
        from gdnlint.report._words import internal_error

        report.diagnostics.append(
            Diagnostic("internal-error", f"{display}: {internal_error(error)}", display, level="error")
        )


def _judge(source: Source, kind: str, knowledge: Knowledge, project: Project, options: Options, report: Report) -> None:
    from gdnlint.launches.context import Context

    answers = {name: value for name, value in options.assume.items() if ":" in name}
    env = {name: value for name, value in options.assume.items() if ":" not in name}
    context = Context(knowledge, project, env, answers)
    launches = _FINDERS[kind](source, context)
    if launches:
        from gdnlint import check
        from gdnlint.resolve.outcome import Settings, resolve

        facts = {name.removeprefix("fact:"): value for name, value in answers.items() if name.startswith("fact:")}
        settings = Settings(options.vllm_version, facts)
        counts: dict[int, int] = {}
        for launch in sorted(launches, key=lambda launch: launch.span.start):
            for resolved in resolve(launch, knowledge, project, settings):
                line = launch.span.line
                counts[line] = counts.get(line, 0) + 1
                result = check.launch_result(resolved, counts[line])
                report.launches.append(result)
                report.findings += check.findings(resolved, result, knowledge)
    report.diagnostics += [_diagnostic(p, source.path) for p in context.problems]


def _shell(source: Source, context: Context) -> list[Launch]:
    from gdnlint.documents.shell import Script
    from gdnlint.launches import scripts
    from gdnlint.source import Fragment

    return scripts.launches(Script(Fragment.whole(source)), context, source.file.parent)


def _yaml(source: Source, context: Context) -> list[Launch]:
    from gdnlint.launches import manifests, recipes

    return recipes.launches(source, context) + manifests.launches(source, context)


def _python(source: Source, context: Context) -> list[Launch]:
    from gdnlint.launches import calls

    return calls.launches(source, context)


def _toml(source: Source, context: Context) -> list[Launch]:
    from gdnlint.launches import toml_recipes

    return toml_recipes.launches(source, context)


def _markdown(source: Source, context: Context) -> list[Launch]:
    from gdnlint.launches import fences

    return fences.launches(source, context)


def _dockerfile(source: Source, context: Context) -> list[Launch]:
    from gdnlint.launches import dockerfile

    return dockerfile.launches(source, context)


_FINDERS: dict[str, Callable[[Source, Context], list[Launch]]] = {
    "shell": _shell,
    "yaml": _yaml,
    "python": _python,
    "markdown": _markdown,
    "toml": _toml,
    "dockerfile": _dockerfile,
}


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
