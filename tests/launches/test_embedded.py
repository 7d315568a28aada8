"""Commands in strings and lists of YAML files, and in the fences of Markdown pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, MTP, report

DRAFT = '{"method":"mtp","num_speculative_tokens":1}'


def verdicts(found: Any) -> list[tuple[int, int, str]]:
    return [(item["line"], item["end_line"], item["combination"]) for item in found["launches"]]


CASES = f"""\
_server_cmd: &server_cmd
  - vllm
  - serve
  - "{HYBRID}"
  - "--speculative_config"
  - '{DRAFT}'
test_cases:
  - name: cached
    server_cmd: *server_cmd
    server_cmd_extra:
      - "--enable-prefix-caching"
  - name: uncached
    server_cmd: *server_cmd
    server_cmd_extra: ["--no-enable-prefix-caching"]
  - name: default
    server_cmd: *server_cmd
  - name: dense
    server_cmd: vllm serve {DENSE} --enable-prefix-caching
    server_cmd_extra: --speculative-config '{DRAFT}'
"""


def test_four_cases_that_share_an_anchor_are_present_absent_undecided_absent(tmp_path: Path) -> None:
    assert verdicts(report(tmp_path, {"cases.yaml": CASES})) == [
        (9, 11, "present"),
        (13, 14, "absent"),
        (16, 16, "undecided"),
        (18, 19, "absent"),
    ]


PAGE = f"""\
# Serving
```console
$ vllm serve {HYBRID} --enable-prefix-caching \\
    {MTP}
INFO started
```
1. without caching
   ```sh
   vllm serve {HYBRID} --no-enable-prefix-caching {MTP}
   ```
```
vllm serve ... --enable-prefix-caching {MTP}
```
```yaml
services:
  a:
    image: vllm/vllm-openai:v0.28.0
    command: --model {HYBRID} --speculative-config '{DRAFT}'
```
```python
from vllm import LLM
llm = LLM(model="{HYBRID}", enable_prefix_caching=True, speculative_config={DRAFT})
```
```bash
vllm serve <model-dir> --enable-prefix-caching \\   # why
   {MTP}
vllm serve {DENSE}
```
Inline `vllm serve {HYBRID} --enable-prefix-caching` is prose.
```json
{{"note": "vllm serve {HYBRID}"}}
```
"""


def test_six_fences_are_launches_of_their_own(tmp_path: Path) -> None:
    assert verdicts(report(tmp_path, {"page.md": PAGE})) == [
        (3, 4, "present"),
        (9, 9, "absent"),
        (12, 12, "undecided"),
        (16, 18, "present"),
        (22, 22, "present"),
        (25, 26, "undecided"),
        (27, 27, "absent"),
    ]


def test_a_gap_in_an_example_changes_nothing_that_is_known(tmp_path: Path) -> None:
    page = f"```bash\nvllm serve {HYBRID} --enable-prefix-caching {MTP} \\\n  ...\n```\n"
    assert verdicts(report(tmp_path, {"page.md": page})) == [(2, 3, "present")]


THREE_WAYS = f"""\
serve() {{
  vllm serve "$1" "${{@:2}}" {MTP}
}}
serve {HYBRID} --enable-prefix-caching
serve {HYBRID} --no-enable-prefix-caching
serve {DENSE} --enable-prefix-caching
"""


def test_a_function_called_three_ways_is_present_absent_absent(tmp_path: Path) -> None:
    found = report(tmp_path, {"run.sh": THREE_WAYS})
    assert [item["combination"] for item in found["launches"]] == ["present", "absent", "absent"]


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        pytest.param(
            "present",
            f"jobs:\n  a:\n    env:\n      M: {HYBRID}\n    steps:\n      - run: |\n          set -e\n"
            f"          vllm serve $M --enable-prefix-caching {MTP}\n",
            id="a-step-of-a-workflow-with-the-job's-variables-is-present",
        ),
        pytest.param(
            "undecided",
            "jobs:\n  a:\n    steps:\n      - run: |\n"
            f"          vllm serve ${{{{ inputs.model }}}} --enable-prefix-caching {MTP}\n",
            id="an-expression-as-the-model-is-undecided",
        ),
        pytest.param(
            "present",
            f"start_command: >\n  sh -c \"vllm serve {HYBRID} --enable-prefix-caching\n"
            "  --speculative-config '{\\\"method\\\": \\\"mtp\\\", \\\"num_speculative_tokens\\\": 1}'\"\n",
            id="a-folded-shell-string-is-present",
        ),
        pytest.param(
            "present",
            f"command: |\n  vllm serve {HYBRID} -tp {{tp}} --enable-prefix-caching \\\n"
            "    --speculative-config '{{\"method\": \"mtp\", \"num_speculative_tokens\": {n}}}'\n"
            "defaults:\n  tp: 2\n  n: 3\n",
            id="doubled-braces-and-fields-with-defaults-are-present",
        ),
        pytest.param(
            "absent",
            f"command: |\n  vllm serve {HYBRID} {{cache}} {MTP.replace('{', '{{').replace('}', '}}')}\n"
            "defaults: {cache: --no-enable-prefix-caching}\n",
            id="a-field-whose-default-switches-caching-off-is-absent",
        ),
        pytest.param(
            "undecided",
            f"run: |\n  vllm serve {{{{ model }}}} --enable-prefix-caching {MTP}\n",
            id="a-jinja-expression-as-the-model-is-undecided",
        ),
        pytest.param(
            "present",
            f"process:\n  command: vllm\n  args: [serve, {HYBRID}, --enable-prefix-caching, -sc, '{DRAFT}']\n",
            id="a-command-with-its-arguments-beside-it-is-present",
        ),
        pytest.param(
            "absent",
            f"description: vllm serve {HYBRID} --enable-prefix-caching -sc '{DRAFT}'\n",
            id="a-description-is-absent",
        ),
        pytest.param(
            "absent",
            f"step: Then run vllm serve {HYBRID} --enable-prefix-caching -sc '{DRAFT}'\n",
            id="a-sentence-is-absent",
        ),
        pytest.param("absent", f"text: x\n# vllm serve {HYBRID} -sc '{DRAFT}'\n", id="a-comment-is-absent"),
        pytest.param(
            "absent",
            f"run: |\n  python -m sglang.launch_server --model-path {HYBRID} --speculative-algorithm NEXTN\n",
            id="another-engine-is-absent",
        ),
    ],
)  # fmt: skip
def test_what_a_string_comes_to(tmp_path: Path, verdict: str, text: str) -> None:
    found = report(tmp_path, {"job.yaml": text})
    assert not [d for d in found["diagnostics"] if d["code"] == "syntax"], text
    assert max((item["combination"] for item in found["launches"]), default="absent") == verdict


def test_an_image_around_a_command_tells_the_version(tmp_path: Path) -> None:
    image = "base_image: {image: 'vllm/vllm-openai:v0.27.1'}\n"
    text = f"{image}server:\n  start_command: vllm serve {HYBRID} -sc '{DRAFT}'\n"
    (launch,) = report(tmp_path, {"config.yaml": text})["launches"]
    assert (launch["vllm_version"]["value"], launch["combination"]) == ("0.27.1", "absent")


def test_a_guide_in_a_string_has_its_own_places(tmp_path: Path) -> None:
    text = f"guide: |\n  ## MTP\n  ```bash\n  vllm serve {HYBRID} --enable-prefix-caching {MTP}\n  ```\n"
    found = report(tmp_path, {"recipe.yaml": text})
    assert verdicts(found) == [(4, 4, "present")]
    finding = next(f for f in found["findings"] if f["rule"] == "GDN001")
    line = text.splitlines()[finding["line"] - 1]
    assert line[finding["column"] - 1 : finding["end_column"] - 1] == "--enable-prefix-caching"
