"""NeMo-Gym: model servers below names of their own, with vLLM's own arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, launch, report, rules, value

SPEC = "speculative_config: {method: mtp, num_speculative_tokens: 3}"
ON, OFF = "enable_prefix_caching: true", "enable_prefix_caching: false"


def server(name: str, *arguments: str, model: str = HYBRID, kind: str = "local_vllm_model") -> str:
    lines = "".join(f"        {line}\n" for line in ("tensor_parallel_size: 4", *arguments))
    return (
        f"{name}:\n  responses_api_models:\n    {kind}:\n      entrypoint: app.py\n      model: {model}\n"
        f"      vllm_serve_kwargs:\n{lines}"
    )


LEFT_ALONE = {
    "nothing drafts": server("policy", ON),
    "a drafter in comments": server("policy", ON, f"# {SPEC}"),
    "off": server("policy", OFF, SPEC),
    "a dense model": server("policy", ON, SPEC, model=DENSE),
}


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(text: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"model.yaml": text})
    assert [(item["framework"], item["combination"]) for item in found["launches"]] == [("nemo_gym", "absent")]
    assert found["findings"] == []


@pytest.mark.parametrize("kind", ["local_vllm_model", "genrm_model"])
def test_reported(kind: str, tmp_path: Path) -> None:
    text = server("policy", ON, SPEC, kind=kind)
    found = launch(tmp_path, {"model.yaml": text})
    assert (found["combination"], rules(found)) == ("present", ["GDN001"])
    assert fixed(tmp_path, found["findings"][0]) == text.replace(ON, OFF)


def test_each_server_of_a_file_is_a_launch_at_its_own_lines(tmp_path: Path) -> None:
    text = server("policy", OFF, SPEC) + server("judge", ON, SPEC) + "suite:\n  resources_servers: {x: {}}\n"
    found = report(tmp_path, {"model.yaml": text})
    assert [(item["line"], item["end_line"], item["combination"]) for item in found["launches"]] == [
        (1, 9, "absent"),
        (10, 18, "present"),
    ]


def test_a_name_with_dots_gets_no_key_in_a_wrong_place(tmp_path: Path) -> None:
    text = server("Qwen3.5-9B", SPEC)
    found = launch(tmp_path, {"model.yaml": text}, "--vllm-version", "0.28.0")
    assert found["combination"] == "present"
    assert [fix["edits"] for finding in found["findings"] for fix in finding["fixes"] if fix["edits"]] == []


@pytest.mark.parametrize(("version", "on"), [("0.24.0", False), ("0.28.0", True)])
def test_unset_is_vllms_own_default(tmp_path: Path, version: str, on: bool) -> None:
    # responses_api_models/local_vllm_model/app.py:101-113@07d6b0d0: vllm_serve_kwargs and nothing else
    found = launch(tmp_path, {"model.yaml": server("policy", SPEC)}, "--vllm-version", version)
    assert value(found, "enable_prefix_caching") is on
