"""Options that commands share, and the run behind ``check`` and ``resolve``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from gdnlint.cli._exit import Exit, PipeClosed
from gdnlint.options import ConfigError, Options
from gdnlint.report._words import internal_error as internal_error
from gdnlint.results import Diagnostic, Report

if TYPE_CHECKING:
    from gdnlint.knowledge import Knowledge
    from gdnlint.knowledge.schema import Rule
    from gdnlint.report._terminal import Style
    from gdnlint.settings import Config

F = TypeVar("F", bound=Callable[..., object])


class Failed(click.ClickException):
    """A run that cannot start, or a report that cannot be written."""

    exit_code = int(Exit.USAGE)

    def __init__(self, message: str, reported: bool = False, code: str = "usage") -> None:
        super().__init__(message)
        self.code = code
        """Of the diagnostic that tells it."""
        self.reported = reported
        """Whether the report already says so."""


def knowledge_options(command: F) -> F:
    return click.option(
        "--rules",
        "rules",
        multiple=True,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="A folder of rules, frameworks, models of your own.",
    )(command)


def run_options(command: F) -> F:
    """PATHS and the options that decide what is judged."""
    for decorate in (
        knowledge_options,
        click.option(
            "--assume",
            multiple=True,
            metavar="NAME=VALUE",
            callback=_assumptions,
            # The names: a variable, a script's argument or option (1, --mtp), param:function.name, feature:name.
            help="Take a variable, argument or option as given.",
        ),
        click.option(
            "--env-file",
            expose_value=False,
            is_eager=True,
            multiple=True,
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            callback=_environment,
            help="Take the variables of a .env file as set.",
        ),
        click.option(
            "--vllm-version",
            metavar="X",
            callback=_version,
            help="The vLLM that runs, whatever the files pin.",
        ),
        click.option(
            "--config",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Use this configuration, not the nearest one.",
        ),
        click.option("--no-config", is_flag=True, help="Read no configuration file."),
        click.option("--force-exclude", is_flag=True, help="Leave out excluded files even if named."),
        click.option(
            "--no-hf-cache",
            is_flag=True,
            help="Do not look models up in the Hugging Face cache.",
        ),
        click.argument("paths", nargs=-1, callback=_paths, metavar="[PATHS]..."),
    ):
        command = decorate(command)
    return command


color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    metavar="WHEN",
    help="auto, always or never.",
)


def engine_report(paths: Sequence[Path], options: Options) -> tuple[Report, str]:
    """The report, and what stopped the run if something did (the report then holds it as a diagnostic)."""
    from gdnlint import pipeline
    from gdnlint.knowledge import KnowledgeError

    try:
        return pipeline.run(list(paths), options), ""
    except (ConfigError, KnowledgeError) as error:
        return stopped("config", str(error)), str(error)
    except Exception as error:  # a bug outside any one file: the report must still be whole
        message = internal_error(error)
        return stopped("internal-error", message), message


def stopped(code: str, message: str) -> Report:
    """The report of a run that could not start."""
    return Report(diagnostics=[Diagnostic(code, message, ".", level="error")])


def report_mistake(arguments: Sequence[str], error: click.ClickException) -> None:
    """With ``--format json``, a mistake in the options gives a whole report too, as programs expect."""
    given = " ".join(arguments).replace("--format=", "--format ")
    if (
        not arguments
        or arguments[0] not in ("check", "resolve")
        or "--format json" not in given
        or getattr(error, "reported", False)
    ):
        return
    from gdnlint.report import json_v1

    write(json_v1.render(stopped(getattr(error, "code", "usage"), error.format_message()), every_launch=True), None)


def load_knowledge(rules: Sequence[Path]) -> Knowledge:
    """Raises Failed if a rules folder is not valid."""
    from gdnlint import knowledge

    try:
        return knowledge.load(rules)
    except knowledge.KnowledgeError as error:
        raise Failed(str(error), code="config") from error


def configuration_here(config: Path | None = None, no_config: bool = False) -> Config:
    """What holds for the run as a whole: the configuration of the current directory. Raises Failed."""
    from gdnlint.knowledge import KnowledgeError
    from gdnlint.settings.search import Configurations, top

    here = Path.cwd()
    try:
        return Configurations(top(here), Options(config=config, use_config=not no_config)).of(str(here))
    except (ConfigError, KnowledgeError) as error:
        raise Failed(str(error), code="config") from error


def rule_named(wanted: str, rules: Sequence[Rule]) -> Rule:
    """The rule with an id or slug. Raises BadParameter with the nearest one."""
    names = {name.lower(): rule for rule in rules for name in (rule.id, rule.slug)}
    found = names.get(wanted.lower())
    if found is not None:
        return found
    import difflib

    number = re.fullmatch(r"([a-z]+)[ _-]?(\d{1,3})", wanted.lower())
    written = f"{number.group(1)}{int(number.group(2)):03}" if number else wanted.lower()
    near = difflib.get_close_matches(written, names, 1, 0.5)
    hint = f"Did you mean {names[near[0]].id} ({names[near[0]].slug})?" if near else "`gdnlint rules` lists them."
    raise click.BadParameter(f"'{wanted}' is no rule. {hint}", param_hint="RULE")


def write(text: str, file: Path | None, style: Style | None = None) -> None:
    """To a file, or to standard output: text for people as the terminal takes it, data (no style) as UTF-8."""
    data = text.encode("utf-8", "replace")
    if file is None:
        try:
            click.echo(text if style else data, nl=False, color=style.color if style else None)
        except BrokenPipeError as error:
            # click itself would exit 1, which says that there are findings.
            raise PipeClosed from error
        return
    try:
        file.write_bytes(data)
    except OSError as error:
        raise Failed(f"cannot write {file}: {error.strerror}") from error


def repository() -> Path:
    """The top of the git checkout around the current directory, or that directory."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def nothing_found(paths: Sequence[Path], skipped: int = 0) -> str:
    """What to tell a person about a run over nothing."""
    from gdnlint.report._terminal import clean

    where = ", ".join(clean(str(path)) for path in paths)
    if skipped:
        return (
            f"Nothing to check: the configuration leaves out what is in {where} ({skipped:,}; --no-config checks it)."
        )
    return f"Nothing to check: no launch file in {where} (files that git ignores are not read; name one to check it)."


def _paths(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[Path, ...]:
    for path in value:
        # A broken link is there: it is a diagnostic of its own.
        if not os.path.lexists(path):
            raise click.BadParameter(f"'{path}' does not exist.", ctx, parameter, param_hint="PATHS")
    return tuple(map(Path, value)) or (Path(),)


def _version(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    from gdnlint.knowledge.releases import final_release

    try:
        return final_release(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, parameter) from error


_ENVIRONMENT = "gdnlint.env-file"
"""Where the context keeps what ``--env-file`` says."""


def _assumptions(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    found = dict(ctx.meta.get(_ENVIRONMENT, {}))
    for item in value:
        name, equals, answer = item.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"'{item}' is not NAME=VALUE, such as MODEL=Qwen/Qwen3.5-9B.", ctx, parameter)
        argument = name.removeprefix("$").isdigit() or name.startswith("-")
        found[f"arg:{name.removeprefix('$')}" if argument else name] = answer
    return found


def _environment(ctx: click.Context, parameter: click.Parameter, value: tuple[Path, ...]) -> None:
    """Keeps the variables of ``.env`` files for ``--assume``. A person names them, so they may lie anywhere."""
    if not value:
        return
    from gdnlint.documents import dotenv
    from gdnlint.project import Unreadable, decode, read_bounded

    found: dict[str, str] = {}
    for path in value:
        try:
            source = decode(read_bounded(path), str(path), path)
        except OSError as error:
            raise click.BadParameter(f"cannot read '{path}': {error.strerror}.", ctx, parameter) from error
        except ValueError as error:
            raise click.BadParameter(f"cannot read '{path}': {error}.", ctx, parameter) from error
        if isinstance(source, Unreadable):
            raise click.BadParameter(f"{source.problem.message}.", ctx, parameter)
        number = dotenv.first_bad_line(source)
        if number is not None:
            raise click.BadParameter(f"{path}:{number}: this line is not NAME=value.", ctx, parameter)
        for name, variable in dotenv.read(source).items():
            text = variable.text.known or ""
            found[name] = text if variable.literal else text.replace("$$", "$")
    ctx.meta[_ENVIRONMENT] = found
