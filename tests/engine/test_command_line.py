"""How vLLM reads its command line and its ``--config`` file.

Each row was executed on vLLM's own argument parser of the releases that it names. A row's words are one line of a
script; all rows of a release are one run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support import checked, launch, value, write

OLD, MIDDLE, NEW = EXECUTED = ("0.11.1", "0.28.0", "0.33.0")
MAMBA = "nvidia/NVIDIA-Nemotron-Nano-9B-v2"
"""Prefix caching unset: off in 0.11.1 and on in the others, and an explicit true or false is kept by all three."""
GDN = "Qwen/Qwen3-Next-80B-A3B-Instruct"
SPEC = {"method": "mtp", "num_speculative_tokens": 2}
JSON = """'{"method": "mtp", "num_speculative_tokens": 2}'"""


@dataclass(frozen=True, eq=False)
class Row:
    """Words after ``vllm serve`` and what they come to."""

    words: str
    releases: tuple[str, ...] = EXECUTED
    prefix_caching: bool | None = None
    speculation: dict[str, object] | str | None = "unset"
    model: str = ""
    refused: str = ""
    config: str = ""
    """The content of the file that ``@config`` in the words stands for."""
    told: str = ""
    """A part of the provenance of the setting."""


def on(words: str, **more: Any) -> Row:
    return Row(f"{MAMBA} {words}", prefix_caching=True, **more)


def off(words: str, **more: Any) -> Row:
    return Row(f"{MAMBA} {words}", prefix_caching=False, **more)


def drafts(words: str, speculation: dict[str, object] | None = SPEC, **more: Any) -> Row:
    return Row(f"{GDN} {words}", speculation=speculation, **more)


def refused(reason: str, words: str, **more: Any) -> Row:
    return Row(f"{GDN} {words}", refused=reason, **more)


UNRECOGNIZED = "unrecognized arguments"
SINCE_SPEC_FLAGS = ("0.22.0", "0.33.0")
BEFORE_SPEC_FLAGS = ("0.11.1", "0.21.0")

PREFIX_CACHING = [
    on("", releases=(MIDDLE, NEW), told="default"),
    off("", releases=(OLD,), told="default"),
    on("--enable-prefix-caching", told="flag --enable-prefix-caching"),
    on("--enable_prefix_caching", told="flag --enable-prefix-caching"),
    on("--enable-prefix", told="flag --enable-prefix-caching"),
    off("--no-enable-prefix-caching"),
    off("--no_enable_prefix_caching"),
    off("--no-enable-prefix"),
    off("--disable-prefix-caching", releases=(NEW,)),
    off("--disable_prefix_caching", releases=(NEW,)),
    refused(UNRECOGNIZED, "--disable-prefix-caching", releases=(OLD, MIDDLE, "0.32.0")),
    # The other spelling is there for `--enable-X` and `--disable-X` alone.
    refused(UNRECOGNIZED, "--disable-async-scheduling", releases=(OLD, MIDDLE, "0.32.0", NEW)),
    on("--disable-hybrid-kv-cache-manager --enable-hybrid-kv-cache-manager", releases=(NEW,), told="default"),
    refused(UNRECOGNIZED, "--enable-hybrid-kv-cache-manager", releases=(OLD, MIDDLE, "0.32.0")),
    refused("ignored explicit argument", "--enable-prefix-caching=false"),
    refused("ignored explicit argument", "--enable-prefix-caching=true"),
    refused("ignored explicit argument", "--no-enable-prefix-caching=true"),
    refused(UNRECOGNIZED, "--enable-prefix-caching false"),
    refused(UNRECOGNIZED, "--enable-prefix-caching True"),
    off("--enable-prefix-caching --no-enable-prefix-caching"),
    on("--no-enable-prefix-caching --enable-prefix-caching"),
    on("--no_enable_prefix_caching --port 8000 --enable_prefix_caching"),
    off("--mamba-cache-mode align --no-enable-prefix-caching", releases=("0.15.0", MIDDLE, NEW)),
]

SPECULATION = [
    drafts("", speculation=None),
    drafts(f"--speculative-config {JSON}"),
    drafts(f"--speculative_config {JSON}"),
    drafts(f"--speculative-config={JSON}"),
    drafts(f"-sc {JSON}", releases=("0.19.0", MIDDLE, NEW)),
    refused(UNRECOGNIZED, f"-sc {JSON}", releases=(OLD, "0.18.1")),
    drafts("-sc.method mtp -sc.num_speculative_tokens 2", releases=("0.19.0", MIDDLE, NEW)),
    refused(UNRECOGNIZED, "-sc.method mtp -sc.num_speculative_tokens 2", releases=(OLD, "0.18.1")),
    drafts("--speculative-config.method mtp --speculative-config.num_speculative_tokens 2"),
    drafts("--speculative-config.method=mtp --speculative-config.num_speculative_tokens=2"),
    drafts("--speculative_config.method mtp --speculative_config.num_speculative_tokens 2"),
    drafts("--speculative-config.method mtp --speculative-config.num-speculative-tokens 2"),
    drafts(
        """--speculative-config '{"method": "eagle3", "model": "x/y", "num_speculative_tokens": 5}' """
        "--speculative-config.method mtp --speculative-config.num_speculative_tokens 2"
    ),
    drafts(
        "--speculative-config.method mtp --speculative-config.num_speculative_tokens 2 "
        """--speculative-config '{"method": "eagle3", "model": "x/y", "num_speculative_tokens": 5}'"""
    ),
    drafts(f"--speculative-config {JSON} --speculative-config null", speculation=None),
    drafts("--speculative-config null", speculation=None),
    drafts(f"--speculative-config null --speculative-config {JSON}"),
    refused("not valid JSON", """--speculative-config "{'method': 'mtp', 'num_speculative_tokens': 2}" """),
    refused("not valid JSON", "--speculative-config mtp"),
    refused("greater than 0", """--speculative-config '{"method": "ngram", "num_speculative_tokens": 0}'"""),
    refused("expected one argument", "--speculative-config"),
]

SPEC_FLAGS = [
    drafts("--spec-method mtp --spec-tokens 2", releases=SINCE_SPEC_FLAGS),
    drafts("--spec_method=mtp --spec_tokens=2", releases=SINCE_SPEC_FLAGS),
    drafts("--spec-model ngram --spec-tokens 2", {"model": "ngram", "method": "ngram", "num_speculative_tokens": 2},
           releases=SINCE_SPEC_FLAGS),
    drafts("""--speculative-config '{"method": "mtp"}' --spec-tokens 2""", releases=SINCE_SPEC_FLAGS),
    refused("spec_method", f"--speculative-config {JSON} --spec-method mtp", releases=SINCE_SPEC_FLAGS),
    refused("spec_tokens", f"--speculative-config {JSON} --spec-tokens 3", releases=SINCE_SPEC_FLAGS),
    refused("spec_model", """--spec-model a/b --speculative-config '{"model": "a/b", "num_speculative_tokens": 1}'""",
            releases=SINCE_SPEC_FLAGS),
    refused(UNRECOGNIZED, "--spec-method mtp --spec-tokens 2", releases=BEFORE_SPEC_FLAGS),
    drafts(f"--spec {JSON}", releases=(OLD,)),
    refused("ambiguous option: --spec could match", f"--spec {JSON}", releases=SINCE_SPEC_FLAGS),
]  # fmt: skip

MODEL = [
    Row(GDN, model=GDN),
    Row(f"--model {GDN}", model=GDN),
    Row(f"--model={GDN}", model=GDN),
    Row(f"--enable-prefix-caching {GDN}", model=GDN),
    Row(f"--max-model-len 4096 {GDN} --port 8000", model=GDN),
    Row(f"--served-model-name a b --model {GDN}", model=GDN),
    Row(f"{GDN} --model {MAMBA}", refused=UNRECOGNIZED),
    Row(f"{GDN} {MAMBA}", refused=UNRECOGNIZED),
]

REMOVED = [
    refused(UNRECOGNIZED, "--speculative-model x/y"),
    refused(UNRECOGNIZED, "--num-speculative-tokens 5"),
    refused(UNRECOGNIZED, "--speculative_model=x/y"),
    refused(UNRECOGNIZED, "--use-v2-block-manager"),
    refused("was removed in vLLM 0.32.0", "--mamba-cache-mode all --enable-prefix-caching", releases=("0.32.0",)),
]

# flag -> first release, last release
LIVES = {
    "--mamba-block-size 1024 --enable-prefix-caching": ("0.11.1", None),
    "--mamba-cache-mode align": ("0.15.0", None),
    "--prefix-match-unit 16": ("0.26.0", None),
    "--use-replayssm": ("0.27.0", None),
    "--replayssm-buffer-len 8": ("0.27.0", None),
    "--prefix-cache-retention-interval 4": ("0.29.0", None),
    "--enable-mamba-fine-grained-prefix-cache": ("0.30.0", "0.30.0"),
    "--enable-mamba-shared-prefix-checkpoint": ("0.31.0", None),
}
BEFORE = {
    "0.11.1": "0.11.0",
    "0.15.0": "0.14.1",
    "0.26.0": "0.25.1",
    "0.27.0": "0.26.0",
    "0.29.0": "0.28.0",
    "0.30.0": "0.29.0",
    "0.31.0": "0.30.0",
}
BIRTHDAYS = [
    row
    for words, (since, until) in LIVES.items()
    for row in (
        Row(f"{MAMBA} {words}", releases=(since, *([] if until else [NEW]))),
        refused(UNRECOGNIZED, words, releases=(BEFORE[since], *(["0.31.0"] if until else []))),
    )
]

NESTED = "speculative-config: {method: mtp, num_speculative_tokens: 2}\n"
CONFIG_FILE = [
    on("--config @config", config="enable-prefix-caching: true\n"),
    on("--config @config", config="enable_prefix_caching: true\n"),
    on("--config @config", config="enable-prefix-caching: false\n", releases=(MIDDLE, NEW), told="default"),
    off("--config @config", config="enable-prefix-caching: false\n", releases=(OLD,), told="default"),
    on("--config @config", config="enable_prefix_caching: false\n", releases=(MIDDLE, NEW), told="default"),
    off("--config @config", config="no-enable-prefix-caching: true\n"),
    off("--config @config", config="no_enable_prefix_caching: true\n"),
    on("--enable-prefix-caching --config @config", config="no-enable-prefix-caching: true\n"),
    off("--no-enable-prefix-caching --config @config", config="enable-prefix-caching: true\n"),
    on("--config=@config", config="no-enable-prefix-caching: true\n", releases=(MIDDLE, NEW), told="default"),
    Row("--config @config", config=f'model: {GDN}\nenable-prefix-caching: "false"\n', model="false"),
    refused("unrecognized arguments: false", "--config @config", config='enable-prefix-caching: "false"\n'),
    Row("--config @config", config=f"model: {GDN}\n", model=GDN),
    Row(f"{MAMBA} --config @config", config=f"model: {GDN}\n", model=MAMBA),
    drafts("--config @config", config=NESTED, releases=("0.16.0", MIDDLE, NEW)),
    refused("not valid JSON", "--config @config", config=NESTED, releases=(OLD, "0.15.1")),
    drafts("--config @config", config=f"speculative-config: {JSON}\n"),
    drafts("--config @config", config=f"speculative_config: {JSON}\n"),
    drafts(
        "--config @config",
        config="speculative-config.method: mtp\nspeculative-config.num_speculative_tokens: 2\n",
    ),
    drafts("--speculative-config null --config @config", speculation=None, config=f"speculative-config: {JSON}\n"),
    drafts(f"--speculative-config {JSON} --config @config", config="speculative-config: 'null'\n"),
]

TABLES = {
    "prefix caching": PREFIX_CACHING,
    "speculation": SPECULATION,
    "spec flags": SPEC_FLAGS,
    "model": MODEL,
    "removed": REMOVED,
    "birthdays": BIRTHDAYS,
    "config file": CONFIG_FILE,
}
ROWS = [row for table in TABLES.values() for row in table]
CASES = [(row, release) for row in ROWS for release in row.releases]


def case_id(case: object) -> str:
    if isinstance(case, Row):
        return f"{case.words} {case.config!r}" if case.config else case.words
    return str(case)


@pytest.fixture(scope="module")
def launches(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[Row, Any]]:
    """For a release: the launch of each row that names it."""
    folder = tmp_path_factory.mktemp("rows")
    write(folder, {f"config{number}.yaml": row.config for number, row in enumerate(ROWS) if row.config})

    @cache
    def of_release(release: str) -> dict[Row, Any]:
        rows = [(number, row) for number, row in enumerate(ROWS) if release in row.releases]
        lines = [f"vllm serve {row.words.replace('@config', f'config{number}.yaml')}\n" for number, row in rows]
        write(folder, {"serve.sh": "".join(lines)})
        found = checked(folder, "serve.sh", "--vllm-version", release)["launches"]
        return {rows[item["line"] - 1][1]: item for item in found}

    return of_release


@pytest.mark.parametrize(("row", "release"), CASES, ids=case_id)
def test_words_are_read_as_the_release_reads_them(launches: Any, row: Row, release: str) -> None:
    found = launches(release)[row]
    settings = found["settings"]
    if row.refused:
        assert (found["startup"], found["combination"]) == ("refused", "absent")
        assert row.refused in found["startup_reason"]
        return
    assert (found["startup"], found["startup_reason"]) == ("ok", "")
    if row.prefix_caching is not None:
        assert settings["enable_prefix_caching"]["value"] is row.prefix_caching
        told = settings["enable_prefix_caching"]["provenance"][-1]["what"]
        assert row.told in told
    if row.speculation != "unset":
        assert (settings["speculative_config"]["value"] or {}).items() >= (row.speculation or {}).items()
        assert (settings["speculative_config"]["value"] is None) is (row.speculation is None)
    if row.model:
        assert settings["model"]["value"] == row.model


PROGRAMS = {
    "vllm serve": GDN,
    "/opt/venv/bin/vllm serve": GDN,
    "python3 -m vllm.entrypoints.cli.main serve": GDN,
    "python3 -m vllm.entrypoints.openai.api_server --model": GDN,
    # This parser takes the word and does nothing with it.
    f"python3 -m vllm.entrypoints.openai.api_server --model {MAMBA}": MAMBA,
}


@pytest.mark.parametrize(("program", "model"), PROGRAMS.items())
def test_the_model_of_each_program_that_starts_a_server(tmp_path: Path, program: str, model: str) -> None:
    found = launch(tmp_path, {"serve.sh": f"{program} {GDN} --port 8000\n"}, "--vllm-version", NEW)
    assert (value(found, "model"), found["startup"]) == (model, "ok")


def test_a_word_behind_a_flag_that_nobody_knows_may_belong_to_it(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": f"vllm serve {GDN} --plug-in-flag a b\n"}, "--vllm-version", NEW)
    assert (value(found, "model"), found["startup"]) == (GDN, "ok")


@pytest.mark.parametrize("word", ["...", "[OPTIONS]", "<your flags: see above, or none>"])
def test_words_of_an_example_that_stand_for_others_are_not_held_against_it(tmp_path: Path, word: str) -> None:
    found = launch(tmp_path, {"README.md": f"```bash\nvllm serve {GDN} {word}\n```\n"}, "--vllm-version", NEW)
    assert (value(found, "model"), found["startup"]) == (GDN, "ok")
