"""Dockerfiles, as `gdnlint check` sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import HYBRID, report

DRAFT = r'"{\"method\":\"mtp\",\"num_speculative_tokens\":1}"'

STAGES = f"""\
# syntax=docker/dockerfile:1
ARG VLLM_VERSION=0.28.0
FROM vllm/vllm-openai:v${{VLLM_VERSION}} AS base
ENV MODEL={HYBRID} \\
    # a comment does not end it
    HF_HOME=/hf
RUN pip install x && \\
    echo vllm serve {HYBRID} --enable-prefix-caching
CMD ["--model", "{HYBRID}", "--speculative-config", {DRAFT}]

FROM base AS script
COPY start.sh /app/
ENTRYPOINT ["bash", "/app/start.sh"]
CMD ["--speculative-config", {DRAFT}]

FROM base
ENTRYPOINT vllm serve $MODEL --no-enable-prefix-caching \\
   --speculative-config '{{"method":"mtp","num_speculative_tokens":1}}'
"""

START = '#!/bin/bash\nexec vllm serve "$MODEL" "$@" ${CACHE:---enable-prefix-caching}\n'


@pytest.fixture
def stages(tmp_path: Path) -> Any:
    found = report(tmp_path, {"Dockerfile": STAGES, "start.sh": START})
    return {item["line"]: item for item in found["launches"]}


@pytest.mark.parametrize(
    ("line", "last", "verdict"),
    [
        pytest.param(9, 9, "present", id="arguments-of-the-parent-image's-command-are-present"),
        pytest.param(13, 14, "present", id="a-script-of-the-project-with-the-arguments-is-present"),
        pytest.param(17, 18, "absent", id="a-shell-form-that-switches-caching-off-is-absent"),
    ],
)
def test_each_stage_that_says_what_runs_is_a_launch(stages: Any, line: int, last: int, verdict: str) -> None:
    assert sorted(stages) == [9, 13, 17]
    assert (stages[line]["combination"], stages[line]["end_line"]) == (verdict, last)
    assert stages[line]["settings"]["model"]["value"] == HYBRID
    assert stages[line]["vllm_version"]["value"] == "0.28.0"


@pytest.mark.parametrize(
    "text",
    [
        "FROM\nCMD\n",
        "CMD [\n",
        'FROM a\nCMD ["vllm", 1]\nENTRYPOINT []\n',
        "FROM vllm/vllm-openai\\\n",
        "RUN <<EOF\nvllm serve x",
    ],
)
def test_odd_files_are_read_to_their_end(tmp_path: Path, text: str) -> None:
    assert report(tmp_path, {"Dockerfile": text + "\n# vllm"})["launches"] == []
