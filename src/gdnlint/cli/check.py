"""``gdnlint check``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from gdnlint.cli._exit import Exit
from gdnlint.cli._run import (
    Failed,
    color_option,
    configuration_here,
    engine_report,
    load_knowledge,
    nothing_found,
    repository,
    rule_named,
    run_options,
    write,
)
from gdnlint.options import Options
from gdnlint.report._terminal import style_for
from gdnlint.results import SEVERITIES
from gdnlint.settings.judgement import CONFIDENCES
from gdnlint.settings.keys import FAIL_ON, FORMATS

if TYPE_CHECKING:
    from gdnlint.report import text
    from gdnlint.results import Confidence, Severity


@click.command("check", short_help="Judge launch files.")
@run_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    metavar="FORMAT",
    help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
)
@click.option("--output-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to FILE.")
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    metavar="SEVERITY",
    help="The mildest that exits 1, or never (warning).",
)
@click.option(
    "--min-severity",
    type=click.Choice(SEVERITIES),
    metavar="SEVERITY",
    help="No findings below note, warning or error.",
)
@click.option(
    "--min-confidence",
    type=click.Choice(CONFIDENCES),
    metavar="LEVEL",
    help="No findings below low, medium or high.",
)
@click.option("--select", multiple=True, metavar="RULE", help="Only findings of this rule.")
@click.option("--ignore", multiple=True, metavar="RULE", help="No findings of this rule.")
@click.option("--fix", is_flag=True, help="Write the safe fixes; report what is left.")
@click.option("--diff", is_flag=True, help="Print what --fix would write.")
@click.option("--unsafe-fixes", is_flag=True, help="With these, also fixes that cost or change more.")
@click.option("--show-launches", is_flag=True, help="List every launch.")
@click.option("--hook", is_flag=True, help="Exit 0 if there is nothing to check.")
@color_option
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Leave nothing out; say which files are excluded.",
)
@click.option("-q", "--quiet", is_flag=True, help="Findings only.")
def command(
    paths: tuple[Path, ...],
    vllm_version: str | None,
    assume: dict[str, str],
    rules: tuple[Path, ...],
    config: Path | None,
    no_config: bool,
    force_exclude: bool,
    no_hf_cache: bool,
    format_: str | None,
    output_file: Path | None,
    fail_on: str | None,
    min_severity: str | None,
    min_confidence: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    diff: bool,
    unsafe_fixes: bool,
    show_launches: bool,
    hook: bool,
    color: str,
    verbose: bool,
    quiet: bool,
) -> int:
    """Judge launch files and folders of them (the current directory by default).

    Exits 0 if no finding is at or above --fail-on, 1 if one is, 2 for a mistake in the options or the
    configuration, and 3 if no file to check was found. Options that take a name
    may be repeated.
    """
    if fix and diff:
        raise click.UsageError("--fix writes and --diff writes nothing: give one of them.")
    settings = configuration_here(config, no_config)
    own = (*settings.rules, *rules)
    named = load_knowledge(own).rules if select or ignore else ()
    format_ = format_ or settings.format or "text"
    options = Options(
        vllm_version,
        assume,
        rules,
        config,
        not no_config,
        frozenset(rule_named(name, named).id for name in select) if select else None,
        frozenset(rule_named(name, named).id for name in ignore),
        fail_on,
        cast("Severity | None", min_severity),
        cast("Confidence | None", min_confidence),
        force_exclude,
        hf_cache=not no_hf_cache,
    )
    report, failure = engine_report(paths, options)
    if (fix or diff) and not failure:
        from gdnlint.cli import _fix

        plan = _fix.planned(report, paths, options, unsafe_fixes)
        if diff:
            write(_fix.diff(plan, style_for(None if output_file else sys.stdout, color)), output_file)
            _fix.told_refusals(plan)
            return Exit.FINDINGS if plan.changes else Exit.OK
        unwritten = _fix.write(plan)
        if plan.changes:
            report, failure = engine_report(paths, options)
        if unwritten:
            failure = failure or f"{unwritten} of {len(plan.changes)} files could not be written"
    style = style_for(None if output_file else sys.stdout, color)
    if format_ == "json":
        from gdnlint.report import json_v1

        write(json_v1.render(report, show_launches), output_file)
    elif format_ == "sarif":
        from gdnlint.report import sarif

        known = [] if failure else load_knowledge(own).rules
        write(sarif.render(report, known, repository()), output_file)
    elif format_ in ("github", "gitlab", "junit", "markdown"):
        import importlib

        module = importlib.import_module(f"gdnlint.report.{format_}")
        write(module.render(report, repository()), output_file)
    elif format_ == "concise":
        from gdnlint.report import text

        write(text.concise(report, style), output_file, style)
    elif report.files:
        from gdnlint.report import text

        shown: text.Launches = "all" if show_launches else "undecided" if verbose else "few"
        write(text.render(report, style, shown, closing=not quiet), output_file, style)
    if failure:
        raise Failed(failure, reported=True)
    if report.diagnostics and format_ in ("text", "concise") and not quiet:
        from gdnlint.report import text

        click.echo(text.diagnostics(report.diagnostics, style_for(sys.stderr, color), verbose), nl=False, err=True)
    if verbose and report.skipped:
        from gdnlint.report import text

        click.echo(text.skipped(report.skipped), nl=False, err=True)
    if not report.files:
        click.echo(nothing_found(paths, len(report.skipped)), err=True)
        return Exit.OK if hook else Exit.NOTHING
    return Exit.FINDINGS if any(finding.fails for finding in report.findings) else Exit.OK
