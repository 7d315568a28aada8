"""The command line as a process: output, exit codes, streams."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gdnlint import __version__
from support import heed_interrupts

UNSAFE = """\
vllm serve Qwen/Qwen3.5-9B --enable-prefix-caching \\
  --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
"""
DENSE = "vllm serve Qwen/Qwen3-8B --enable-prefix-caching\n"


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gdnlint", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **{"encoding": "utf-8", **more})


def report(*arguments: str) -> tuple[Any, int]:
    """The JSON document on standard output, which must be the only thing there, and the exit code."""
    done = run(*arguments, "--format", "json")
    return json.loads(done.stdout), done.returncode


def write(path: str, text: str) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


# -- the program itself ------------------------------------------------------------------------------------------------


def test_version() -> None:
    done = run("--version")
    assert (done.stdout, done.returncode) == (f"gdnlint {__version__}\n", 0)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_the_commands_and_exit_codes(flag: str) -> None:
    done = run(flag)
    assert done.returncode == 0
    assert re.findall(r"^  (\w+)  ", done.stdout, re.MULTILINE) == ["check", "resolve", "explain", "rules", "verify"]
    assert "Exit codes: 0 clean, 1 findings" in done.stdout
    for command in ("check", "resolve", "explain", "rules", "verify"):
        done = run(command, flag)
        assert done.returncode == 0
        assert done.stdout.startswith(f"Usage: gdnlint {command} ")


def test_the_version_is_told_without_importing_what_reads_files() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "gdnlint", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "click" in imported
    heavy = {"yaml", "ruamel.yaml", "libcst", "tree_sitter", "pathspec", "json", "subprocess"}
    assert not imported & heavy
    assert not {name for name in imported if name.startswith("gdnlint.") and not name.startswith("gdnlint.cli")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "Error: No such command 'chek'. Did you mean 'check'?"),
        (["x.sh"], "Error: No such command 'x.sh'. To check this path: gdnlint check x.sh"),
        (["check", "gone.sh"], "Error: Invalid value for PATHS: 'gone.sh' does not exist."),
        (["check", "--assume", "X"], "'X' is not NAME=VALUE, such as MODEL=Qwen/Qwen3.5-9B."),
        (["check", "--vllm-version", "latest"], "'latest' is not a version such as 0.28.0."),
        (["check", "--vllm-version", "0.28.1rc1"], "'0.28.1rc1' is no final release"),
        (["resolve", "--vllm-version", "v0.28.1.dev5+g0123abc"], "Give the release that it behaves like: 0.28.1"),
        (["check", "--rules", "gone"], "'gone' does not exist."),
        (["check", "--format", "xml"], "'xml' is not one of"),
        (["resolve", "gone.sh"], "'gone.sh' does not exist."),
        (["explain"], "Error: Missing argument 'RULE...'."),
        (["explain", "GDN1"], "'GDN1' is no rule. Did you mean GDN001 (hybrid-speculation-prefix-caching)?"),
        (["check", "--select", "hybrid-speculation"], "'hybrid-speculation' is no rule. Did you mean GDN001"),
        (["check", "--ignore", "zzz"], "'zzz' is no rule. `gdnlint rules` lists them."),
        (["check", "x.sh", "--output-file", "gone/x"], "Error: cannot write gone/x: No such file or directory"),
    ],
)
def test_mistakes_exit_2_and_say_what_to_do(arguments: list[str], message: str) -> None:
    write("x.sh", DENSE)
    done = run(*arguments)
    assert message in done.stderr
    assert (done.stdout, done.returncode) == ("", 2)


def test_a_mistake_gives_a_whole_json_report_too() -> None:
    for arguments in (["check", "gone.sh"], ["resolve", "gone.sh"], ["check", "--assume", "X"], ["check", "--nope"]):
        found, code = report(*arguments)
        assert code == 2
        assert (found["schema"], found["findings"]) == ("gdnlint-report/1", [])
        assert [diagnostic["level"] for diagnostic in found["diagnostics"]] == ["error"]


def test_a_broken_rules_folder_exits_2_and_names_the_place() -> None:
    write("x.sh", UNSAFE)
    write("mine/rule.yaml", "schema: nonsense\n")
    done = run("check", "x.sh", "--rules", "mine")
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr.startswith("Error: mine/rule.yaml:1: schema: 'nonsense' is unknown;")
    found, code = report("check", "x.sh", "--rules", "mine")
    assert (found["diagnostics"][0]["code"], code) == ("config", 2)


# -- check -------------------------------------------------------------------------------------------------------------


def test_findings_exit_1_and_clean_files_0() -> None:
    write("bad.sh", UNSAFE)
    write("good.sh", DENSE)
    done = run("check", "bad.sh", "--vllm-version", "0.28.0")
    assert done.returncode == 1
    assert re.match(r"bad\.sh:1:\d+: error\[GDN001\] ", done.stdout)
    assert done.stdout.splitlines()[-1] == "Why, and what each way out costs: gdnlint explain GDN001"
    done = run("check", "good.sh")
    assert (done.stdout, done.returncode) == ("No findings. 1 file, 1 launch\n", 0)


def test_the_current_directory_is_the_default() -> None:
    write("sub/bad.sh", UNSAFE)
    found, code = report("check")
    assert code == 1
    assert {finding["path"] for finding in found["findings"]} == {"sub/bad.sh"}


@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("never", 0)])
def test_fail_on_decides_the_exit_code_and_hides_nothing(fail_on: str, code: int) -> None:
    write("bad.sh", UNSAFE)
    found, actual = report("check", "bad.sh", "--vllm-version", "0.28.0", "--fail-on", fail_on)
    assert (len(found["findings"]) > 0, actual) == (True, code)


def test_a_milder_finding_than_fail_on_exits_0() -> None:
    write("bad.sh", UNSAFE)
    found, code = report("check", "bad.sh", "--vllm-version", "0.29.0", "--select", "GDN001", "--fail-on", "error")
    assert ([finding["severity"] for finding in found["findings"]], code) == (["warning"], 0)
    assert report("check", "bad.sh", "--vllm-version", "0.29.0", "--select", "GDN001")[1] == 1


def test_select_and_ignore_take_ids_and_names() -> None:
    write("bad.sh", UNSAFE)
    rules = {finding["rule"] for finding in report("check", "bad.sh")[0]["findings"]}
    assert "GDN001" in rules
    name = "hybrid-speculation-prefix-caching"
    assert {finding["rule"] for finding in report("check", "--select", name)[0]["findings"]} == {"GDN001"}
    left = {finding["rule"] for finding in report("check", "--ignore", "gdn001")[0]["findings"]}
    assert left == rules - {"GDN001"}


def test_nothing_to_check_exits_3_but_0_for_a_hook() -> None:
    done = run("check")
    assert (done.stdout, done.returncode) == ("", 3)
    assert done.stderr.startswith("Nothing to check: no launch file in . (")
    assert run("check", "--hook").returncode == 0
    assert run("resolve").returncode == 3
    found, code = report("check")
    assert (found["summary"]["files"], code) == (0, 3)


def test_a_file_that_cannot_be_read_hides_nothing() -> None:
    write("bad.sh", UNSAFE)
    Path("binary.sh").write_bytes(b"\xff\xfe\xff")
    Path("broken.sh").symlink_to("nowhere")
    done = run("check", "broken.sh", "binary.sh", "bad.sh")
    assert done.returncode == 1
    assert "bad.sh:1:" in done.stdout
    assert re.findall(r"^(\S+): error\[(\S+)\]", done.stderr, re.MULTILINE) == [
        ("binary.sh", "encoding"),
        ("broken.sh", "unreadable"),
    ]
    assert run("check", "--quiet", "broken.sh", "bad.sh").stderr == ""


def test_only_launches_with_findings_are_listed_unless_asked_for() -> None:
    write("bad.sh", UNSAFE)
    write("good.sh", DENSE)
    assert [launch["path"] for launch in report("check")[0]["launches"]] == ["bad.sh"]
    assert [launch["path"] for launch in report("check", "--show-launches")[0]["launches"]] == ["bad.sh", "good.sh"]
    assert "absent: good.sh:1" in run("check", "--show-launches").stdout


def test_assumptions_reach_the_engine() -> None:
    write("a.sh", UNSAFE.replace("Qwen/Qwen3.5-9B", '"$MODEL"'))
    assert report("resolve", "a.sh")[0]["launches"][0]["combination"] == "undecided"
    found, _ = report("resolve", "a.sh", "--assume", "MODEL=Qwen/Qwen3.5-9B", "--vllm-version", "v0.28.0")
    assert found["launches"][0]["combination"] == "present"
    assert found["launches"][0]["vllm_version"]["value"] == "0.28.0"


def test_the_report_goes_to_a_file() -> None:
    write("bad.sh", UNSAFE)
    for name, arguments in (("a.json", ["--format", "json"]), ("a.sarif", ["--format", "sarif"]), ("a.txt", [])):
        done = run("check", "bad.sh", "--output-file", name, *arguments, "--color", "auto")
        assert (done.stdout, done.returncode) == ("", 1)
    assert json.loads(Path("a.json").read_text())["schema"] == "gdnlint-report/1"
    assert json.loads(Path("a.sarif").read_text())["version"] == "2.1.0"
    assert Path("a.txt").read_text().startswith("bad.sh:1:")


def test_sarif_lists_every_rule_and_paths_from_the_top_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q"], check=True)
    write("sub/bad.sh", UNSAFE)
    monkeypatch.chdir("sub")
    found = json.loads(run("check", "--format", "sarif").stdout)["runs"][0]
    listed = [rule["id"] for rule in json.loads(run("rules", "--format", "json").stdout)["rules"]]
    assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == listed
    location = found["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "sub/bad.sh"}


def test_concise() -> None:
    write("bad.sh", UNSAFE)
    lines = run("check", "--format", "concise", "--select", "GDN001").stdout.splitlines()
    assert len(lines) == 1
    assert re.fullmatch(r"bad\.sh:1:\d+: error\[GDN001\] .*[^.]", lines[0])


# -- resolve, explain, rules -------------------------------------------------------------------------------------------


def test_resolve_lists_all_launches_and_does_not_judge() -> None:
    write("bad.sh", UNSAFE)
    write("good.sh", DENSE)
    found, code = report("resolve")
    assert ([launch["path"] for launch in found["launches"]], code) == (["bad.sh", "good.sh"], 0)
    done = run("resolve", "bad.sh", "--vllm-version", "0.28.0")
    assert done.returncode == 0
    assert done.stdout.startswith("bad.sh:1  ")
    assert '    model = "Qwen/Qwen3.5-9B"\n' in done.stdout
    write("none.sh", "echo\n")
    assert run("resolve", "none.sh").stdout == "No launch in 1 file.\n"


@pytest.mark.parametrize("name", ["GDN001", "gdn001", "hybrid-speculation-prefix-caching"])
def test_explain(name: str) -> None:
    done = run("explain", name)
    assert done.returncode == 0
    assert done.stdout.startswith("# hybrid-speculation-prefix-caching (GDN001)\n")
    for heading in ("## Ways out", "## Bad", "## Good", "## References"):
        assert f"\n{heading}\n" in done.stdout
    assert "\x1b[1m## Ways out\x1b[0m" in run("explain", name, "--color", "always").stdout


def test_rules() -> None:
    done = run("rules")
    assert done.returncode == 0
    for line in ("Rules", "Engines", "Frameworks", "Model families"):
        assert line in done.stdout.splitlines()
    found = json.loads(run("rules", "--format", "json").stdout)
    assert found["schema"] == "gdnlint-rules/1"
    assert found["rules"][0]["slug"] == "hybrid-speculation-prefix-caching"
    assert {"vllm"} <= {engine["name"] for engine in found["engines"]}
    assert {"qwen3_5"} <= {family["name"] for family in found["models"]}


# -- terminals and pipes -----------------------------------------------------------------------------------------------


def test_colour_follows_option_and_environment() -> None:
    write("bad.sh", UNSAFE)
    assert "\x1b[" not in run("check").stdout
    assert "\x1b[" in run("check", "--color", "always").stdout
    assert "\x1b[" in run("check", env={**os.environ, "FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in run("check", "--color", "always", "--format", "json").stdout


def test_characters_that_the_terminal_lacks_do_not_end_the_run() -> None:
    write("modèle.sh", UNSAFE.replace(" \\\n", " --served-model-name 模型 \\\n"))
    done = run("check", env={**os.environ, "PYTHONIOENCODING": "latin-1"}, encoding="latin-1")
    assert done.returncode == 1
    assert done.stdout.startswith("modèle.sh:1:")
    assert "\\u6a21\\u578b" in done.stdout


def test_a_closed_pipe_is_quiet() -> None:
    for number in range(60):
        write(f"{number}.sh", UNSAFE)
    with subprocess.Popen(
        [sys.executable, "-m", "gdnlint", "check"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        errors = process.stderr.read()
    assert (errors, process.returncode) == (b"", 141)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_report_that_cannot_be_written_is_no_success() -> None:
    write("good.sh", DENSE)
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "gdnlint", "check"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.stderr, done.returncode) == ("Error: [Errno 28] No space left on device\n", 2)


def test_interrupting_is_quiet() -> None:
    for number in range(4000):
        write(f"{number}.sh", UNSAFE)
    command = [sys.executable, "-m", "gdnlint", "check"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_interrupts
    ) as process:
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert (output, errors.strip()) == (b"", b"Interrupted")
    # Python itself dies of the signal if it came in the middle of an ``exec``: 130 for a shell as well.
    assert process.returncode in (130, -signal.SIGINT)
