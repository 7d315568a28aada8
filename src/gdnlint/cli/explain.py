"""``gdnlint explain``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gdnlint.cli._exit import Exit
from gdnlint.cli._run import color_option, configuration_here, knowledge_options, load_knowledge, rule_named, write
from gdnlint.report._terminal import style_for
from gdnlint.report.catalog_text import explanation


@click.command("explain", short_help="Say what a rule finds, why it matters, and the ways out.")
@knowledge_options
@color_option
@click.argument("names", nargs=-1, required=True, metavar="RULE...")
def command(names: tuple[str, ...], rules: tuple[Path, ...], color: str) -> int:
    """Say what a rule finds, why it matters, and the ways out.

    RULE is an id (GDN001) or a name (hybrid-speculation-prefix-caching).
    """
    known = load_knowledge((*configuration_here().rules, *rules)).rules
    style = style_for(sys.stdout, color)
    write("\n".join(explanation(rule_named(name, known), style) for name in names), None, style)
    return Exit.OK
