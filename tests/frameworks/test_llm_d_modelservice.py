"""The llm-d-modelservice chart: decode and prefill blocks of containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, launch, report, rules

DRAFT = '{"method":"mtp","num_speculative_tokens":1}'


def values(
    args: str, how: str = "modelCommand: vllmServe", image: str = "vllm/vllm-openai:v0.28.0", **blocks: str
) -> str:
    uri = blocks.pop("uri", "hf://{{ .Values.modelArtifacts.name }}")
    container = f"    - name: vllm\n      image: {image}\n      {how}\n      args: [{args}]\n"
    head = f"modelArtifacts:\n  name: {blocks.pop('name', HYBRID)}\n  uri: '{uri}'\n"
    role, create = blocks.pop("role", "decode"), blocks.pop("create", "true")
    return head + f"{role}:\n  create: {create}\n  containers:\n{container}" + "".join(blocks.values())


SPEC = f"--speculative-config, '{DRAFT}'"

CASES = {
    # charts/llm-d-modelservice/templates/_helpers.tpl:565-594@3051935e: args stand last
    "vllm serve": ("present", values(SPEC)),
    "the image's own command": ("present", values(SPEC, "modelCommand: imageDefault")),
    "an opt-out": ("absent", values(f"{SPEC}, --no-enable-prefix-caching")),
    "an older release": ("absent", values(SPEC, image="vllm/vllm-openai:v0.27.1")),
    "llm-d's own image": ("undecided", values(SPEC, image="ghcr.io/llm-d/llm-d-cuda:v0.9.0")),
    "asked for on llm-d's own image": (
        "present", values(f"{SPEC}, --enable-prefix-caching", image="ghcr.io/llm-d/llm-d-cuda:v0.9.0")
    ),
    "a dense model": ("absent", values(SPEC, name=DENSE)),
    "a model on a volume": ("present", values(SPEC, name="m", uri="pvc://claim/models/Qwen3.5-9B")),
    "another template's value is not known": ("undecided", values(SPEC, name="m", uri="hf://{{ tpl .x . }}")),
    "the prefill block": ("present", values(SPEC, role="prefill")),
    "a block that is not created": ("absent", values(SPEC, create="false")),
    "the simulator": ("absent", values(SPEC, image="ghcr.io/llm-d/llm-d-inference-sim:v1")),
    # :650: custom is what it is without modelCommand
    "a command of one's own": (
        "present", values(f"serve, {HYBRID}, {SPEC}", "modelCommand: custom\n      command: [vllm]")
    ),
    "a command of one's own, the values' model is not read": (
        "absent", values(f"serve, {DENSE}, {SPEC}", "command: [vllm]")
    ),
}  # fmt: skip


@pytest.mark.parametrize(("verdict", "text"), CASES.values(), ids=CASES)
def test_what_the_values_come_to(tmp_path: Path, verdict: str, text: str) -> None:
    found = report(tmp_path, {"values.yaml": text})
    assert {item["combination"] for item in found["launches"]} - {"absent"} == {verdict} - {"absent"}
    assert ("GDN001" in rules(found)) is (verdict == "present")


def test_the_edit_changes_the_argument(tmp_path: Path) -> None:
    text = values(f"{SPEC}, --enable-prefix-caching")
    (finding,) = launch(tmp_path, {"values.yaml": text})["findings"]
    assert fixed(tmp_path, finding) == text.replace("--enable-prefix", "--no-enable-prefix")


def test_the_uri_is_the_charts_default(tmp_path: Path) -> None:
    """charts/llm-d-modelservice/values.yaml:72@3051935e: hf:// and the model's name."""
    text = values(SPEC).replace("  uri: 'hf://{{ .Values.modelArtifacts.name }}'\n", "")
    found = launch(tmp_path, {"values.yaml": text})
    assert (found["combination"], found["settings"]["model"]["value"]) == ("present", HYBRID)
