"""``gdnlint rules``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gdnlint.cli._exit import Exit
from gdnlint.cli._run import color_option, configuration_here, knowledge_options, load_knowledge, write
from gdnlint.report import catalog_text
from gdnlint.report._terminal import style_for


@click.command("rules", short_help="List what gdnlint knows: rules, engines, frameworks, models.")
@knowledge_options
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@color_option
def command(rules: tuple[Path, ...], format_: str, color: str) -> int:
    """List what gdnlint knows: rules, engines, frameworks and model families."""
    knowledge = load_knowledge((*configuration_here().rules, *rules))
    if format_ == "json":
        write(catalog_text.as_json(knowledge), None)
        return Exit.OK
    style = style_for(sys.stdout, color)
    write(catalog_text.as_text(knowledge, style), None, style)
    return Exit.OK
