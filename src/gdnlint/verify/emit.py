"""The matrix as commands, for a cluster that only its owner can reach. The words come from the framework's knowledge
file.

Its ``run:`` table has two templates: ``no_speculation`` and ``prefix_caching``. ``{command}`` stands for the launch as
it is written, ``{value}`` for true or false, ``{negated}`` for the opposite, ``{flag}`` for vLLM's own flag. A
template without any of the three switches prefix caching on, and without it the launch is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gdnlint.options import Options
from gdnlint.results import LaunchResult, Setting
from gdnlint.verify.matrix import TITLES, NoSubject

ARMS = ("plain", "apc", "spec", "both")


class Command(NamedTuple):
    arm: str
    title: str
    text: str


def commands(launch: LaunchResult, run: Mapping[str, str]) -> list[Command]:
    """One command for each arm. Raises NoSubject if the templates cannot say it."""
    missing = [name for name in ("no_speculation", "prefix_caching") if name not in run]
    if missing:
        raise NoSubject(
            f"{launch.framework or launch.engine}: its knowledge file has no run template for {' and '.join(missing)}, "
            "so the four commands cannot be written"
        )
    found = []
    for arm in ARMS:
        text = _with_caching(_command(launch), run["prefix_caching"], arm in ("apc", "both"))
        if arm in ("plain", "apc"):
            text = run["no_speculation"].replace("{command}", text)
        found.append(Command(arm, TITLES[arm], text))
    return found


def doubt(launch: LaunchResult, item: Command, options: Options) -> str:
    """Why it is not certain that a command does what its arm says; empty if it does.

    The command is put into the place of the launch, in memory, and resolved as the linter resolves every launch. Raises
    NoSubject if it comes to something else than the arm says.
    """
    from gdnlint import pipeline

    if not _is_command(launch):
        return "the launch is no command that could be resolved again"
    source, start, end = launch.span
    text = source.text[:start] + item.text + source.text[end:]
    report = pipeline.run([Path(source.path)], options, {source.file.resolve(): text})
    found = next((other for other in report.launches if other.id == launch.id), None)
    if found is None:
        return "it could not be resolved again"
    for name, title, wanted in (
        ("enable_prefix_caching", "prefix caching", item.arm in ("apc", "both")),
        ("speculative_config", "speculation", item.arm in ("spec", "both")),
    ):
        setting = found.settings.get(name, Setting(None, "known"))
        if setting.state != "known":
            return f"{title} is {setting.state} in it"
        if bool(setting.value) != wanted:
            raise NoSubject(
                f"{launch.id}: the run templates do not reach {title}: the command of the arm {item.arm} would still "
                f"have it {'off' if wanted else 'on'}"
            )
    return ""


def _is_command(launch: LaunchResult) -> bool:
    return "command" in launch.kind


def _command(launch: LaunchResult) -> str:
    if _is_command(launch):
        return launch.span.text.rstrip()
    return f"<the command that runs {launch.span.source.path}>"


def _with_caching(command: str, template: str, on: bool) -> str:
    if not any(word in template for word in ("{value}", "{negated}", "{flag}")):
        return template.replace("{command}", command) if on else command
    words = {
        "{value}": "true" if on else "false",
        "{negated}": "false" if on else "true",
        "{flag}": "--enable-prefix-caching" if on else "--no-enable-prefix-caching",
    }
    # The command last: it may hold braces of its own.
    for word, text in words.items():
        template = template.replace(word, text)
    return template.replace("{command}", command)
