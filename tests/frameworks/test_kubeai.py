"""KubeAI: the Model object."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, report, rules

SPEC = '--speculative-config={"method":"mtp","num_speculative_tokens":1}'


def model(
    *args: str, engine: str = "VLLM", url: str = f"hf://{HYBRID}", api: str = "kubeai.org/v1", more: str = ""
) -> str:
    words = "".join(f"  - '{word}'\n" for word in args)
    return f"apiVersion: {api}\nkind: Model\nspec:\n  engine: {engine}\n  url: {url}\n{more}  args:\n{words}"


CASES = {
    # internal/modelcontroller/engine_vllm.go:34-41@f442a2cd
    "asked for": ("present", model(SPEC, "--enable-prefix-caching")),
    "an opt-out": ("absent", model(SPEC, "--no-enable-prefix-caching")),
    "the chart's image is not in the file": ("undecided", model(SPEC)),
    "an image of one's own": ("present", model(SPEC, more="  image: vllm/vllm-openai:v0.28.0\n")),
    "a dense model": ("absent", model(SPEC, "--enable-prefix-caching", url=f"hf://{DENSE}")),
    "args name another model": ("absent", model(f"--model={DENSE}", SPEC, "--enable-prefix-caching")),
    "another engine": ("absent", model(SPEC, "--enable-prefix-caching", engine="Infinity")),
    "another API's Model": ("absent", model(SPEC, "--enable-prefix-caching", api="ml.example.com/v1")),
}


@pytest.mark.parametrize(("verdict", "text"), CASES.values(), ids=CASES)
def test_what_a_model_comes_to(tmp_path: Path, verdict: str, text: str) -> None:
    found = report(tmp_path, {"model.yaml": text})
    assert {item["combination"] for item in found["launches"]} <= {verdict}
    assert ("GDN001" in rules(found)) is (verdict == "present")
    assert bool(found["launches"]) is ("ml.example.com" not in text)
