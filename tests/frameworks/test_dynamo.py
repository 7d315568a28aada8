"""NVIDIA Dynamo: `python3 -m dynamo.vllm`, in graphs and scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, history, launch, report, rules, value

SPEC = """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'"""


def worker(*words: str, model: str = HYBRID) -> str:
    return f"python3 -m dynamo.vllm --model {model} {' '.join(words)}\n"


@pytest.mark.parametrize("version", ["0.19.1", "0.27.1", "0.28.0"])
def test_prefix_caching_is_on_by_default_on_every_release(tmp_path: Path, version: str) -> None:
    """components/src/dynamo/vllm/args.py:320-325@000a36a7: an unset value becomes true before vLLM sees it."""
    found = launch(tmp_path, {"run.sh": worker(SPEC)}, "--vllm-version", version)
    assert (found["framework"], found["combination"]) == ("dynamo", "present")
    assert value(found, "enable_prefix_caching") is True
    assert any(
        "Dynamo sets an unset enable_prefix_caching" in what for what, _ in history(found, "enable_prefix_caching")
    )


CASES = {
    "the default": ("present", worker(SPEC)),
    "explicit": ("present", worker("--enable-prefix-caching", SPEC)),
    "an opt-out": ("absent", worker(SPEC, "--no-enable-prefix-caching")),
    "its own flags are no words of the engine": (
        "present", worker("--is-decode-worker", "--dyn-tool-call-parser hermes", SPEC, "--connector none")
    ),
    "nothing drafts": ("absent", worker("--enable-prefix-caching")),
    "a dense model": ("absent", worker(SPEC, model=DENSE)),
    "an unknown model": ("undecided", worker(SPEC, model='"$MODEL"')),
    "another backend": ("absent", worker(SPEC).replace("dynamo.vllm", "dynamo.sglang")),
    "the frontend": ("absent", "# vllm\npython3 -m dynamo.frontend --http-port 8000\n"),
}  # fmt: skip


@pytest.mark.parametrize(("verdict", "text"), CASES.values(), ids=CASES)
def test_what_a_worker_comes_to(tmp_path: Path, verdict: str, text: str) -> None:
    found = report(tmp_path, {"run.sh": text})
    assert {item["combination"] for item in found["launches"]} <= {verdict}
    assert ("GDN001" in rules(found)) is (verdict == "present")


GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: m}
spec:
  services:
    Frontend:
      extraPodSpec:
        mainContainer: {image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.7.0"}
    Worker:
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.7.0
          command: [%s]
          args:
          - %s
"""
LIST = """--model
          - Qwen/Qwen3.5-9B
          - --speculative-config
          - '{"method":"mtp","num_speculative_tokens":1}\'"""
NEWER = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: m}
spec:
  components:
  - name: agg
    podTemplate:
      spec:
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0
          command: [/bin/bash, -lc]
          args:
          - |
            exec python3 -m dynamo.vllm \\
              --model Qwen/Qwen3.5-9B \\
              --speculative-config '{"method":"mtp","num_speculative_tokens":1}'
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(GRAPH % ("python3, -m, dynamo.vllm", LIST), 13, id="a list of arguments"),
        pytest.param(GRAPH % ("/bin/sh, -c", worker(SPEC).strip().join(["|\n            ", ""])), 13, id="a script"),
        pytest.param(NEWER, 10, id="components"),
    ],
)
def test_a_worker_of_a_graph_is_a_launch(tmp_path: Path, text: str, line: int) -> None:
    found = launch(tmp_path, {"deploy.yaml": text})
    assert (found["framework"], found["combination"], found["line"]) == ("dynamo", "present", line)
    assert found["vllm_version"]["value"] is None
