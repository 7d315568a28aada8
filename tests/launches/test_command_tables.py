"""Files that start a command for each name, with macros: what stands where a macro is used, and what it comes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import HYBRID, launch, report, rules, value

IMAGE = "vllm/vllm-openai:v0.28.0"
SWAP = f"""\
healthCheckTimeout: 600
macros:
  engine: >
    docker run --rm --name ${{MODEL_ID}} -p ${{PORT}}:8000
    {IMAGE}
  drafts: 2
  draft: --speculative-config '{{"method":"mtp","num_speculative_tokens":${{drafts}}}}'
models:
  cached:
    macros: {{drafts: 3}}
    cmd: |
      # ${{engine}} is what starts it
      ${{engine}}
      --model {HYBRID}
      --enable-prefix-caching
      ${{draft}}
  uncached:
    cmd: |
      ${{engine}} --model {HYBRID} \\
      ${{draft}} --no-enable-prefix-caching
  other:
    cmd: llama-server -m /models/Qwen3.5-9B.gguf --port ${{PORT}}
"""


def one(cmd: str, more: str = "", macros: str = "") -> dict[str, str]:
    return {"swap.yaml": f"startPort: 5800\nmacros:\n  none: x\n{macros}models:\n  m:\n{more}    cmd: {cmd}\n"}


UNSAFE = (
    f"vllm serve {HYBRID} --enable-prefix-caching"
    """ --speculative-config '{"method":"mtp","num_speculative_tokens":1}'"""
)


def test_commands_that_start_through_a_macro_are_launches(tmp_path: Path) -> None:
    found = report(tmp_path, {"swap.yaml": SWAP})
    told = [(item["line"], item["engine"], item["combination"]) for item in found["launches"]]
    assert told == [(11, "vllm", "present"), (18, "vllm", "absent"), (22, "llama_cpp", "absent")]
    assert rules(found) == ["GDN001"]
    cached, uncached = found["launches"][0], found["launches"][1]
    assert cached["vllm_version"]["value"] == "0.28.0"
    assert value(cached, "speculative_config")["num_speculative_tokens"] == 3
    assert value(uncached, "speculative_config")["num_speculative_tokens"] == 2


def test_provenance_names_the_macro_and_its_use(tmp_path: Path) -> None:
    steps = report(tmp_path, {"swap.yaml": SWAP})["launches"][0]["settings"]["speculative_config"]["provenance"]
    assert {(step["outcome"], step["line"]) for step in steps} == {("won", 7), ("via", 16), ("via", 7)}


def test_a_command_needs_no_backslash_at_the_ends_of_its_lines(tmp_path: Path) -> None:
    lines = UNSAFE.replace(" --", "\n      --")
    assert launch(tmp_path, one(f"|\n      {lines}"))["combination"] == "present"


def test_a_shell_that_runs_it_needs_them(tmp_path: Path) -> None:
    lines = UNSAFE.replace(" --", "\n      --")
    files = {"run.yaml": f"jobs:\n  m:\n    cmd: |\n      {lines}\n"}
    assert report(tmp_path, files)["findings"] == []


def test_a_macro_in_a_comment_brings_nothing(tmp_path: Path) -> None:
    macros = f'  all: "x\\n{UNSAFE.replace(chr(34), chr(92) + chr(34))}"\n'
    files = one(f"|\n      # ${{all}}\n      vllm serve {HYBRID}", macros=macros)
    assert launch(tmp_path, files)["combination"] == "absent"


def test_variables_of_a_command_are_its_own(tmp_path: Path) -> None:
    found = launch(tmp_path, one(UNSAFE.replace(HYBRID, f"$X/{HYBRID}"), "    env: [VLLM_USE_V2_MODEL_RUNNER=1]\n"))
    assert value(found, "model_runner") == "v2"
    # No shell expands it.
    assert value(found, "model") == f"$X/{HYBRID}"


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("${env.WHERE}", "the environment variable WHERE"),
        ("${nowhere}", "the macro nowhere, which the file does not define before it is used"),
        ("${self}", "the macro self, which the file does not define before it is used"),
        ("${early}", "the macro late, which the file does not define before it is used"),
    ],
)
def test_what_the_file_does_not_say_is_undecided(tmp_path: Path, reference: str, says: str) -> None:
    found: Any = launch(
        tmp_path, one(UNSAFE.replace(HYBRID, reference), macros="  self: x${self}\n  early: ${late}\n  late: x\n")
    )
    assert found["combination"] == "undecided"
    assert says in found["decided_by"]


def test_an_assumed_variable_is_filled_in(tmp_path: Path) -> None:
    files = one(UNSAFE.replace(HYBRID, "${env.MODEL}"))
    assert launch(tmp_path, files, "--assume", f"MODEL={HYBRID}")["combination"] == "present"


def test_a_fix_is_not_offered_inside_of_a_macro_that_others_use_too(tmp_path: Path) -> None:
    macros = f"  all: {UNSAFE}\n"
    found = launch(tmp_path, one("${all} --port ${PORT}", macros=macros))
    assert found["combination"] == "present"
    for fix in found["findings"][0]["fixes"]:
        assert [edit["line"] for edit in fix["edits"]] in ([], [7])
