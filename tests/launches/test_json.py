"""JSON files, as `gdnlint check` sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, checked, fixed, launch, report, value, write

DRAFT = {"method": "mtp", "num_speculative_tokens": 2}
ARGS = ["--enable-prefix-caching", "--speculative-config", json.dumps(DRAFT)]
STRING = (
    f"pip install vllm==0.28.0; vllm serve {HYBRID} --enable-prefix-caching --speculative-config '{json.dumps(DRAFT)}'"
)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"command": STRING}, id="a-string"),
        pytest.param({"scripts": {"serve": STRING}}, id="a-script-of-a-package"),
        pytest.param({"cmd": ["vllm", "serve", HYBRID, *ARGS]}, id="a-list"),
        pytest.param({"command": "vllm", "args": ["serve", HYBRID, *ARGS]}, id="a-command-and-its-arguments"),
        pytest.param(
            {"module": "vllm.entrypoints.openai.api_server", "args": ["--model", HYBRID, *ARGS]}, id="a-module"
        ),
        pytest.param(
            {"module": "vllm.entrypoints.cli.main", "args": ["serve", HYBRID, *ARGS]}, id="a-module-with-verbs"
        ),
        pytest.param(
            {"services": {"a": {"image": "vllm/vllm-openai:v0.28.0", "command": ["--model", HYBRID, *ARGS]}}},
            id="a-service",
        ),
    ],
)
@pytest.mark.parametrize("indent", [None, 4, "\t"])
def test_a_command_is_a_launch(tmp_path: Path, entry: Any, indent: int | str | None) -> None:
    text = json.dumps(entry, indent=indent)
    found = launch(tmp_path, {"run.json": text})
    assert (found["combination"], value(found, "speculative_config")) == ("present", DRAFT)
    twin = launch(tmp_path, {"twin.json": text.replace("--enable-prefix", "--no-enable-prefix")})
    assert twin["combination"] == "absent"
    dense = launch(tmp_path, {"dense.json": text.replace(HYBRID, DENSE)})
    assert dense["combination"] == "absent"


EDITOR = f"""\
{{
  // what the editor starts
  "configurations": [
\t{{
      "name": "serve \\ud83d\\ude80", "module": "vllm.entrypoints.openai.api_server", /* "module": "x" */
      "args": [
        "--model",
        "{HYBRID}",
        "--enable-prefix-caching", // on
        "--speculative-config", "{{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": 2}}",
      ],
    }},
    {{"name": "other", "module": "pytest", "args": ["--model", "{HYBRID}"]}},
  ],
}}
"""


def test_comments_and_commas_at_the_end_are_read(tmp_path: Path) -> None:
    found = launch(tmp_path, {".vscode/launch.json": EDITOR})
    assert (found["combination"], found["line"], found["end_line"]) == ("present", 5, 11)
    assert found["findings"][0]["line"] == 9
    text = fixed(tmp_path, found["findings"][0], "prefix caching off")
    assert '        "--no-enable-prefix-caching", // on\n' in text
    write(tmp_path, {".vscode/launch.json": text})
    assert [item["combination"] for item in checked(tmp_path, ".vscode/launch.json")["launches"]] == ["absent"]


def test_data_is_no_launch(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    rows = [{"question": f"what does `{STRING}` do?", "answer": STRING}, {"text": "vllm serve and vLLM"}]
    write(tmp_path, {"run.json": json.dumps({"cmd": STRING}), "data.json": json.dumps({"cmd": [STRING] * 2_000})})
    write(tmp_path, {"rows.json": json.dumps(rows), "lines.jsonl": json.dumps({"cmd": STRING}) + "\n"})
    assert {item["path"] for item in checked(tmp_path, ".")["launches"]} == {"run.json"}


def test_what_is_no_json_is_said_where_it_may_hold_a_launch(tmp_path: Path) -> None:
    found = report(tmp_path, {"run.json": '{"cmd": "vllm serve x --y", "a": [}'})
    assert [item["code"] for item in found["diagnostics"]] == ["syntax"]
    assert not report(tmp_path, {"other.json": '{"about": "vllm", "a": [}'})["diagnostics"]


@pytest.mark.parametrize("language", ["json", "jsonc", ""])
def test_a_block_of_json_in_documentation_is_a_launch(tmp_path: Path, language: str) -> None:
    page = f"# Editor\n\n```{language}\n{EDITOR}```\n"
    assert [(i["line"], i["combination"]) for i in report(tmp_path, {"a.md": page})["launches"]] == [(8, "present")]
