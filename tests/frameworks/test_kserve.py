"""KServe: InferenceService and LLMInferenceService."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, fixed, report, rules

DRAFT = '{"method":"mtp","num_speculative_tokens":1}'
SPEC = f"--speculative-config={DRAFT}"


def service(args: list[str], model: str = f"hf://{HYBRID}", more: str = "", form: str = "huggingface") -> str:
    words = "".join(f"      - '{word}'\n" for word in args)
    uri = f"      storageUri: {model}\n" if model else ""
    return (
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: m}\nspec:\n  predictor:\n"
        f"    model:\n      modelFormat: {{name: {form}}}\n{uri}{more}      args:\n{words}"
    )


def llm(env: str = "", args: str = "", more: str = "", container: str = "", model: str = HYBRID) -> str:
    variable = f"      env:\n      - name: VLLM_ADDITIONAL_ARGS\n        value: >-\n{env}" if env else ""
    words = f"      args: [{args}]\n" if args else ""
    return (
        "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: m}\nspec:\n"
        f"{more}  model: {{uri: 'hf://{model}', name: m}}\n  template:\n    containers:\n    - name: main\n"
        f"      image: vllm/vllm-openai:v0.28.0\n{container}{variable}{words}"
    )


def lines(*words: str) -> str:
    return "".join(f"          {word}\n" for word in words)


ENV = lines("--max-model-len 8192", f"--speculative-config '{DRAFT}'")

CASES = {
    # pkg/controller/v1beta1/inferenceservice/utils/utils.go:260@aaac4e29: args are appended to the runtime's
    "a storage URI names the model": ("present", service([SPEC, "--enable-prefix-caching"])),
    "an opt-out": ("absent", service([SPEC, "--enable-prefix-caching", "--no-enable-prefix-caching"])),
    # python/huggingfaceserver/huggingfaceserver/__main__.py:53-57@aaac4e29
    "model_id names the model": (
        "present", service([f"--model_id={HYBRID}", SPEC, "--enable-prefix-caching"], model="")
    ),
    "a dense model": ("absent", service([SPEC, "--enable-prefix-caching"], model=f"hf://{DENSE}")),
    "a path on a volume": ("present", service([SPEC, "--enable-prefix-caching"], model="pvc://claim/Qwen3.5-9B")),
    "a volume that says nothing": ("undecided", service([SPEC, "--enable-prefix-caching"], model="pvc://claim/m")),
    "vLLM's default hangs on an unknown version": ("undecided", service([SPEC])),
    "the image names the version": (
        "present", service([SPEC], more="      image: vllm/vllm-openai:v0.28.0\n", form="vLLM")
    ),
    "another engine's format": ("absent", service([SPEC, "--enable-prefix-caching"], form="sklearn")),
    "the transformers backend": (
        "absent", service([SPEC, "--enable-prefix-caching", "--backend=huggingface"])
    ),
    "a runtime of one's own may add arguments": (
        "undecided", service(["--enable-prefix-caching"], more="      runtime: mine\n")
    ),
    "a shipped runtime adds none": (
        "absent", service(["--enable-prefix-caching"], more="      runtime: kserve-huggingfaceserver\n")
    ),
    # config/llmisvcconfig/config-llm-template.yaml:166-179@aaac4e29
    "arguments in the variable": ("present", llm(ENV)),
    "an opt-out in the variable": ("absent", llm(ENV + lines("--no-enable-prefix-caching"))),
    "arguments come behind the variable": ("absent", llm(ENV, "--no-enable-prefix-caching")),
    "arguments alone": ("present", llm("", f"--speculative-config, '{DRAFT}'")),
    "a dense model of an LLM service": ("absent", llm(ENV, model=DENSE)),
    "nothing drafts": ("absent", llm("", "--enable-prefix-caching")),
    "a base may hold more": ("undecided", llm("", "--enable-prefix-caching", more="  baseRefs: [{name: base}]\n")),
    "a command of one's own": (
        "present", llm("", "", container=f"      command: [vllm, serve, {HYBRID}, '{SPEC}']\n")
    ),
}  # fmt: skip


@pytest.mark.parametrize(("verdict", "text"), CASES.values(), ids=CASES)
def test_what_a_service_comes_to(tmp_path: Path, verdict: str, text: str) -> None:
    found = report(tmp_path, {"service.yaml": text})
    assert [item["combination"] for item in found["launches"]] in ([verdict], [] if verdict == "absent" else [verdict])
    assert ("GDN001" in rules(found)) is (verdict == "present")


def test_prefill_and_decode_are_launches_of_their_own(tmp_path: Path) -> None:
    prefill = (
        "  prefill:\n    template:\n      containers:\n      - name: main\n        image: vllm/vllm-openai:v0.28.0\n"
        f"        args: [--no-enable-prefix-caching, --speculative-config, '{DRAFT}']\n"
    )
    found: Any = report(tmp_path, {"service.yaml": llm(ENV) + prefill})
    assert sorted(item["combination"] for item in found["launches"]) == ["absent", "present"]
    assert {item["settings"]["model"]["value"] for item in found["launches"]} == {HYBRID}


def test_services_in_a_list_are_found(tmp_path: Path) -> None:
    item = llm("", f"--enable-prefix-caching, --speculative-config, '{DRAFT}'")
    text = "apiVersion: v1\nkind: List\nitems:\n- " + item.replace("\n", "\n  ").rstrip(" ")
    found = report(tmp_path, {"list.yaml": text})
    assert [(i["line"], i["kind"], i["combination"]) for i in found["launches"]] == [(4, "manifest", "present")]


def test_the_edit_changes_the_argument(tmp_path: Path) -> None:
    text = service([SPEC, "--enable-prefix-caching"])
    (finding,) = report(tmp_path, {"service.yaml": text})["findings"]
    assert fixed(tmp_path, finding) == text.replace("--enable-prefix", "--no-enable-prefix")


@pytest.mark.parametrize(("size", "verdict"), [("$(SIZE)", "undecided"), ("$$(SIZE)", "undecided")])
def test_a_variable_that_nothing_sets_is_no_model(tmp_path: Path, size: str, verdict: str) -> None:
    text = service([f"--model_id=Acme/{size}", SPEC, "--enable-prefix-caching"], model="")
    assert [item["combination"] for item in report(tmp_path, {"service.yaml": text})["launches"]] == [verdict]
