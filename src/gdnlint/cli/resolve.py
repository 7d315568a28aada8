"""``gdnlint resolve``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gdnlint.cli._exit import Exit
from gdnlint.cli._run import Failed, color_option, engine_report, nothing_found, run_options, write
from gdnlint.options import Options
from gdnlint.report import json_v1, resolve_text, text
from gdnlint.report._terminal import style_for


@click.command("resolve", short_help="Show what vLLM would really run with, and why.")
@run_options
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--output-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to FILE.")
@color_option
@click.option("-v", "--verbose", is_flag=True, help="Leave nothing out of the lists.")
def command(
    paths: tuple[Path, ...],
    vllm_version: str | None,
    assume: dict[str, str],
    rules: tuple[Path, ...],
    config: Path | None,
    no_config: bool,
    force_exclude: bool,
    no_hf_cache: bool,
    format_: str,
    output_file: Path | None,
    color: str,
    verbose: bool,
) -> int:
    """Show every launch with the value of each setting and where that value came from.

    Exits 0, 2 for a mistake in the options or the configuration, and 3 if no file was found.
    """
    options = Options(
        vllm_version, assume, rules, config, not no_config, force_exclude=force_exclude, hf_cache=not no_hf_cache
    )
    report, failure = engine_report(paths, options)
    style = style_for(None if output_file else sys.stdout, color)
    if format_ == "json":
        write(json_v1.render(report, every_launch=True), output_file)
    elif report.files:
        write(resolve_text.render(report, style), output_file, style)
    if failure:
        raise Failed(failure, reported=True)
    if format_ == "text":
        click.echo(text.diagnostics(report.diagnostics, style_for(sys.stderr, color), verbose), nl=False, err=True)
    if not report.files:
        click.echo(nothing_found(paths, len(report.skipped)), err=True)
        return Exit.NOTHING
    return Exit.OK
