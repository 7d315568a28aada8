"""Kubernetes manifests, as `gdnlint check` sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, MTP, report

DRAFT = '{"method":"mtp","num_speculative_tokens":1}'

MANY = f"""\
apiVersion: v1
kind: ConfigMap
metadata: {{name: scripts}}
data:
  start.sh: |
    #!/bin/bash
    exec vllm serve {HYBRID} --enable-prefix-caching \\
      {MTP}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: direct}}
spec:
  template:
    spec:
      initContainers:
      - name: download
        image: python:3.11
        command: [sh, -c, "hf download {HYBRID}"]
      containers:
      - name: proxy
        image: nginx:1
      - name: server
        image: vllm/vllm-openai:v0.28.0
        env:
        - name: MODEL
          value: {HYBRID}
        - name: HF_TOKEN
          valueFrom: {{secretKeyRef: {{name: a, key: b}}}}
        args: ["--model", "$(MODEL)", "--speculative-config", '{DRAFT}']
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: group}}
spec:
  leaderWorkerTemplate:
    leaderTemplate:
      spec:
        containers:
        - name: leader
          image: vllm/vllm-openai:v0.27.1
          command: ["/bin/sh", "-c"]
          args:
          - |
            ray start --head
            vllm serve {HYBRID} --no-enable-prefix-caching \\
              --speculative-config '{DRAFT}'
    workerTemplate:
      spec:
        containers:
        - name: worker
          image: vllm/vllm-openai:v0.27.1
          command: ["/bin/sh", "-c", "ray start --block"]
---
apiVersion: v1
kind: Pod
metadata: {{name: dense}}
spec:
  containers:
  - {{name: s, image: "vllm/vllm-openai:v0.28.0", args: [--model, {DENSE}, --enable-prefix-caching, -sc, '{DRAFT}']}}
"""


@pytest.mark.parametrize(
    ("line", "last", "kind", "verdict"),
    [
        pytest.param(7, 8, "embedded command", "present", id="a-script-in-a-config-map-is-present"),
        pytest.param(23, 30, "container", "present", id="arguments-of-the-image's-own-command-are-present"),
        pytest.param(40, 47, "container", "absent", id="a-leader-without-caching-is-absent"),
        pytest.param(60, 60, "container", "absent", id="a-dense-pod-is-absent"),
    ],
)
def test_each_container_is_a_launch_of_its_own(tmp_path: Path, line: int, last: int, kind: str, verdict: str) -> None:
    found = {item["line"]: item for item in report(tmp_path, {"all.yaml": MANY})["launches"]}
    assert sorted(found) == [7, 23, 40, 60]
    assert (found[line]["end_line"], found[line]["kind"], found[line]["combination"]) == (last, kind, verdict)


def test_a_variable_of_the_container_is_followed_to_where_it_is_set(tmp_path: Path) -> None:
    found = report(tmp_path, {"all.yaml": MANY})
    launch = next(item for item in found["launches"] if item["line"] == 23)
    assert launch["settings"]["model"]["value"] == HYBRID
    assert ("MODEL is set here", 27) in [(s["what"], s.get("line")) for s in launch["settings"]["model"]["provenance"]]
    finding = next(f for f in found["findings"] if f["launch"] == launch["id"])
    assert finding["fixes"][0]["edits"][0]["text"] == ", '--no-enable-prefix-caching'"


def pod(*lines: str) -> str:
    head = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: s\n    image: vllm/vllm-openai:v0.28.0\n"
    return head + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("verdict", "lines"),
    [
        pytest.param("present", [f"command: [vllm, serve, {HYBRID}, -sc, '{DRAFT}']"], id="a-command-is-present"),
        pytest.param(
            "undecided",
            ["env: [{name: M, valueFrom: {configMapKeyRef: {name: a, key: b}}}]", f"args: [$(M), -sc, '{DRAFT}']"],
            id="a-model-from-the-cluster-is-undecided",
        ),
        pytest.param(
            "undecided",
            [f"env: [{{name: M, value: {HYBRID}}}]", f"args: [--model, $$(M), -sc, '{DRAFT}']"],
            id="an-escaped-reference-is-undecided",
        ),
        pytest.param(
            "undecided",
            [f"args: [--model, '{{{{ .Values.model }}}}', -sc, '{DRAFT}']"],
            id="a-value-of-a-chart-is-undecided",
        ),
        pytest.param("absent", ["command: [sleep, '1']", f"args: [--model, {HYBRID}]"], id="another-command-is-absent"),
    ],
)
def test_what_a_container_comes_to(tmp_path: Path, verdict: str, lines: list[str]) -> None:
    found: Any = report(tmp_path, {"pod.yaml": pod(*lines)})
    assert max((item["combination"] for item in found["launches"]), default="absent") == verdict
