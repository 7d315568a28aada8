"""Scenarios: what a switch, an argument or an option of a script makes of a launch."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gdnlint.cli import cli
from gdnlint.documents.shell import Script
from gdnlint.source import Fragment, Source
from gdnlint.values import World
from support import DENSE, HYBRID, MTP, inside, launch, report, rules, write

JSON = """{"method":"mtp","num_speculative_tokens":2}"""


def scenarios(found: Any) -> dict[str, str]:
    return {
        " ".join(f"{name}={value}" for name, value in scenario["when"].items()): scenario["combination"]
        for scenario in found["scenarios"]
    }


REQUIRED = f"""
MODE=${{1:?usage: serve.sh MODE}}
case "$MODE" in
  plain) SPEC= ;;
  mtp) SPEC='--speculative-config {JSON}' ;;
  *) echo "MODE is plain or mtp" >&2; exit 2 ;;
esac
vllm serve {HYBRID} --enable-prefix-caching $SPEC
"""


def test_an_argument_that_must_be_given_leaves_the_verdict_open(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": REQUIRED})
    assert found["combination"] == "undecided"
    assert found["decided_by"] == "it depends on argument 1 (plain or mtp), which has no default"
    assert scenarios(found) == {"arg:1=plain": "absent", "arg:1=mtp": "present"}
    finding = next(f for f in found["findings"] if f["rule"] == "GDN001")
    assert (finding["severity"], finding["when"]) == ("warning", {"arg:1": "mtp"})


@pytest.mark.parametrize("given", ["1=mtp", "$1=mtp", "arg:1=mtp"])
def test_an_argument_that_is_assumed_decides(tmp_path: Path, given: str) -> None:
    found = launch(tmp_path, {"serve.sh": REQUIRED}, "--assume", given)
    assert found["combination"] == "present"
    assert next(f for f in found["findings"] if f["rule"] == "GDN001")["severity"] == "error"


def test_choices_that_agree_are_no_question(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": REQUIRED.replace("SPEC= ;;", f"SPEC='-sc {JSON}' ;;")})
    assert (found["combination"], found["scenarios"]) == ("present", [])
    assert launch(tmp_path, {"dense.sh": REQUIRED.replace(HYBRID, DENSE)})["combination"] == "absent"


def test_the_default_of_an_argument_is_the_default_scenario(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": REQUIRED.replace("${1:?usage: serve.sh MODE}", "${1:-plain}")})
    assert (found["combination"], scenarios(found)) == ("absent", {"arg:1=mtp": "present"})


def test_two_choices_are_combined_and_told_by_what_matters(tmp_path: Path) -> None:
    text = f"""
MODE=$1
CACHE=$2
case "$MODE" in plain) S= ;; mtp) S='-sc {JSON}' ;; *) exit 2 ;; esac
if [ "$CACHE" = on ]; then C=--enable-prefix-caching
elif [ "$CACHE" = off ]; then C=--no-enable-prefix-caching
else echo usage; exit 2; fi
vllm serve {HYBRID} $C $S
"""
    found = launch(tmp_path, {"serve.sh": text})
    assert found["combination"] == "undecided"
    assert scenarios(found) == {
        "arg:1=plain": "absent",
        "arg:2=off": "absent",
        "arg:1=mtp arg:2=on": "present",
    }


def test_a_script_that_starts_nothing_by_itself_is_judged_with_each_argument(tmp_path: Path) -> None:
    text = f"""
case "$1" in
  plain) vllm serve {HYBRID} --enable-prefix-caching ;;
  mtp) vllm serve {HYBRID} --enable-prefix-caching {MTP} ;;
  *) echo "usage: serve.sh plain|mtp" ;;
esac
"""
    found = report(tmp_path, {"serve.sh": text})
    assert [item["combination"] for item in found["launches"]] == ["absent", "present"]
    assert [f["severity"] for f in found["findings"] if f["rule"] == "GDN001"] == ["error"]


OPTIONS = f"""
MODE=single
SPEC=0
while [[ $# -gt 0 ]]; do
  case "$1" in
    -s|--mtp) SPEC=1; shift ;;
    --mode) MODE="$2"; shift 2 ;;
    --port) PORT="$2"; shift 2 ;;
    *) echo "unknown: $1"; exit 1 ;;
  esac
done
[ "$MODE" = batch ] && SPEC=1
if [ "$SPEC" = 1 ]; then EXTRA='--speculative-config {JSON}'; else EXTRA=; fi
vllm serve {HYBRID} --port "${{PORT:-8000}}" --enable-prefix-caching $EXTRA
"""


def test_options_of_a_loop_over_the_arguments_are_switches(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": OPTIONS})
    assert (found["combination"], scenarios(found)) == (
        "absent",
        {"arg:--mtp=on": "present", "arg:--mode=batch": "present"},
    )
    assert launch(tmp_path, {"serve.sh": OPTIONS}, "--assume", "--mtp=on")["combination"] == "present"
    assert not launch(tmp_path, {"off.sh": OPTIONS.replace("SPEC=1", "SPEC=2")})["scenarios"]


def test_options_of_getopts_and_of_a_function_are_switches(tmp_path: Path) -> None:
    flags = f"""
while getopts "m:s" opt; do
  case $opt in s) SPEC=1 ;; m) MODEL=$OPTARG ;; esac
done
vllm serve "${{MODEL:-{HYBRID}}}" --enable-prefix-caching ${{SPEC:+-sc '{JSON}'}}
"""
    assert scenarios(launch(tmp_path, {"flags.sh": flags}))["arg:-s=on"] == "present"
    function = f"""
SPEC=
parse() {{ for arg in "$@"; do case $arg in --mtp) SPEC=1 ;; --mode=*) MODE="${{arg#*=}}" ;; esac; done; }}
parse "$@"
if [ "$MODE" = spec ]; then SPEC=1; fi
vllm serve {HYBRID} --enable-prefix-caching ${{SPEC:+-sc '{JSON}'}}
"""
    found = scenarios(launch(tmp_path, {"function.sh": function}))
    assert (found["arg:--mtp=on"], found["arg:--mode=spec"]) == ("present", "present")


BOTH = f"""
ARGS=()
if [ "${{SPEC:-0}}" -ge 1 ]; then ARGS+=(--speculative-config '{JSON}'); fi
if [ "${{APC:-0}}" = 1 ]; then ARGS+=(--enable-prefix-caching); else ARGS+=(--no-enable-prefix-caching); fi
vllm serve {HYBRID} "${{ARGS[@]}}"
"""


def test_two_switches_that_only_together_are_unsafe_are_told_together(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": BOTH})
    assert (found["combination"], scenarios(found)) == ("absent", {"APC=1 SPEC=1": "present"})
    assert [(f["rule"], f["when"]) for f in found["findings"]] == [("GDN001", {"APC": "1", "SPEC": "1"})]
    one = BOTH.replace("${APC:-0}", "${APC:-1}")
    assert scenarios(launch(tmp_path, {"one.sh": one})) == {"SPEC=1": "present"}


def test_env_files_answer_and_assumptions_beat_them(tmp_path: Path) -> None:
    write(tmp_path, {"a.env": "# both\nexport SPEC=1\nAPC='1'\n", "b.env": "APC=0\n"})
    assert launch(tmp_path, {"serve.sh": BOTH}, "--env-file", "a.env")["combination"] == "present"
    assert launch(tmp_path, {"serve.sh": BOTH}, "--env-file", "a.env", "--env-file", "b.env")["combination"] == "absent"
    found = launch(tmp_path, {"serve.sh": BOTH}, "--assume", "SPEC=0", "--env-file", "a.env")
    assert (found["combination"], found["scenarios"], rules(found)) == ("absent", [], [])


@pytest.mark.parametrize(
    ("content", "message"), [(b"A=1\nno variable\n", "bad.env:2: this line is not NAME=value"), (b"\xff", "UTF-8")]
)
def test_a_bad_env_file_is_a_mistake_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.env").write_bytes(content)
    write(tmp_path, {"serve.sh": BOTH})
    with inside(tmp_path):
        done = CliRunner().invoke(cli, ["check", "serve.sh", "--env-file", "bad.env"])
    assert (done.exit_code, message in done.output) == (2, True), done.output


def words(text: str, world: World) -> list[str | None]:
    run = Script(Fragment.whole(Source("serve.sh", text))).run(world)
    return [word.known for word in run.invocations[-1].words]


def ran(tmp_path: Path, text: str, arguments: list[str], env: dict[str, str]) -> list[str]:
    stub = "vllm() { printf '%s\\0' vllm \"$@\"; }\n"
    (tmp_path / "serve.sh").write_text(stub + text, encoding="utf-8")
    kept = {"PATH": os.environ["PATH"], **env}
    done = subprocess.run(["bash", "serve.sh", *arguments], cwd=tmp_path, env=kept, capture_output=True, text=True)
    return done.stdout.split("\0")[:-1]


@pytest.mark.parametrize(
    ("text", "answers", "arguments", "env"),
    [
        (REQUIRED, {"arg:1": "mtp"}, ["mtp"], {}),
        (REQUIRED, {"arg:1": "plain"}, ["plain"], {}),
        (OPTIONS, {"arg:--mtp": "on"}, ["--mtp"], {}),
        (OPTIONS, {"arg:--mode": "batch"}, ["--mode", "batch"], {}),
        (OPTIONS, {"arg:--mtp": "on", "arg:--port": "81"}, ["--mtp", "--port", "81"], {}),
        *((BOTH, {}, [], {"SPEC": spec, "APC": apc}) for spec, apc in itertools.product("01", "01")),
    ],
)
def test_bash_runs_what_a_scenario_says(
    tmp_path: Path, text: str, answers: dict[str, str], arguments: list[str], env: dict[str, str]
) -> None:
    assert words(text, World(env, answers)) == ran(tmp_path, text, arguments, env)
