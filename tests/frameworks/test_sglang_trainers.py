"""Trainers that roll out with SGLang: flags with its prefix say so, and the launch is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gdnlint.cli import cli
from support import inside, report

SPEC = "--sglang-speculative-algorithm EAGLE --sglang-speculative-num-steps 3"

SCRIPTS = {
    "direct": f"python3 train.py --hf-checkpoint /models/Qwen3.5-27B {SPEC}\n",
    "an array": f'SGLANG_ARGS=({SPEC})\npython train_async.py --hf-checkpoint Qwen3.5-27B "${{SGLANG_ARGS[@]}}"\n',
    "behind a job": f"ray job submit --address=x -- python3 train.py --hf-checkpoint Qwen3.5-27B {SPEC}\n",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_left_alone_with_the_reason(script: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"run.sh": script})
    ((launch),) = found["launches"]
    assert (launch["engine"], launch["combination"]) == ("sglang", "absent")
    assert "SGLang has its own radix cache" in launch["note"]
    assert found["findings"] == []


def test_a_program_without_such_flags_is_no_launch(tmp_path: Path) -> None:
    script = "python3 train.py --hf-checkpoint Qwen3.5-27B --mtp-num-layers 1 --enable-mtp-training\n"
    assert report(tmp_path, {"run.sh": script})["launches"] == []


def test_resolve_says_once_why_an_engine_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("python3 -m sglang.launch_server --model-path Qwen/Qwen3.5-9B\n")
    with inside(tmp_path):
        done = CliRunner().invoke(cli, ["resolve", "run.sh"])
    said = "note: SGLang, left alone: SGLang has its own radix cache and its own handling of recurrent state"
    assert " ".join(done.output.split()) == f"run.sh:1 shell command, sglang combination: absent {said}"
