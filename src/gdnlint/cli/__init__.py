"""The command line. A command is a module of its own and is imported when it is asked for."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from gdnlint import __version__
from gdnlint.cli._exit import Exit, PipeClosed

COMMANDS = ("check", "resolve", "explain", "rules", "verify")


class Commands(click.Group):
    """Imports ``gdnlint.cli.<command>`` and takes its ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"gdnlint.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f"Did you mean '{near[0]}'?" if near else f"Commands: {', '.join(COMMANDS)}."
            if os.path.lexists(args[0]):
                hint = f"To check this path: gdnlint check {args[0]}"
            raise click.UsageError(f"No such command '{args[0]}'. {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 clean, 1 findings, 2 usage or configuration error, 3 nothing to check was found.",
)
@click.version_option(__version__, prog_name="gdnlint", message="%(prog)s %(version)s")
def cli() -> None:
    """Finds vLLM launch configurations that are known to give wrong tokens.

    \b
      gdnlint check                      judge every launch file below the current directory
      gdnlint check serve.sh --vllm-version 0.28.0
      gdnlint resolve serve.sh           what vLLM would really run with, and why
      gdnlint explain GDN001
      gdnlint verify serve.sh            run it on a real vLLM, and prove or clear it
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code. A broken pipe and Ctrl-C are quiet."""
    for stream in (sys.stdout, sys.stderr):
        # A file name or a line of code must not end the run because the terminal has no such character.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, PipeClosed):
        code = Exit.BROKEN_PIPE
        _silence()
    except OSError as error:
        code = Exit.USAGE
        click.echo(_harmless(f"Error: {error}"), err=True)
        _silence()
    except Exception as error:  # a traceback would exit 1, which says that there are findings
        from gdnlint.report._words import internal_error

        code = Exit.USAGE
        click.echo(_harmless(f"Error: {internal_error(error)}"), err=True)
    sys.exit(int(code))


def _run(arguments: Sequence[str]) -> int:
    try:
        code = cli.main(args=list(arguments), prog_name="gdnlint", standalone_mode=False)
    except click.Abort:
        click.echo("Interrupted", err=True)
        return Exit.INTERRUPTED
    except click.ClickException as error:
        from gdnlint.cli._run import report_mistake

        shown = io.StringIO()
        error.show(shown)
        click.echo(_harmless(shown.getvalue()), nl=False, err=True)
        report_mistake(arguments, error)
        return Exit.USAGE
    return code if isinstance(code, int) else Exit.OK


def _harmless(message: str) -> str:
    """A message as a terminal may get it: file names and arguments may come from anyone (``gdnlint check *``)."""
    from gdnlint.report._terminal import clean

    return "\n".join(map(clean, message.split("\n")))


def _silence() -> None:
    """Nothing more goes to standard output, so that the interpreter does not fail to flush it at exit."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
