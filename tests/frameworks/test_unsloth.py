"""Unsloth: an engine inside the trainer with prefix caching on, and one environment variable that drafts."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, history, launch, value

MODEL = "unsloth/Qwen3.5-4B"


def module(
    environment: str = "", model: str = MODEL, fast: str = ", fast_inference=True", name: str = "FastLanguageModel"
) -> str:
    return (
        f"import os\n{environment}from unsloth import {name}\n\n"
        f'model, tokenizer = {name}.from_pretrained(\n    model_name="{model}",\n    max_seq_length=2048{fast},\n)\n'
    )


SUFFIX = 'os.environ["UNSLOTH_VLLM_SUFFIX_DECODING"] = "1"\n'


@pytest.mark.parametrize(
    ("text", "combination"),
    [
        (module(), "absent"),
        (module(SUFFIX), "present"),
        (module(SUFFIX, name="FastVisionModel"), "present"),
        (module(SUFFIX, model=DENSE), "absent"),
        (module(SUFFIX, fast=""), "absent"),
        (module(SUFFIX, fast=", fast_inference=False"), "absent"),
        (module(SUFFIX.replace('"1"', '"0"')), "absent"),
        (module(SUFFIX.replace('"1"', "'{\"num_speculative_tokens\": 8}'")), "present"),
    ],
)
def test_the_variable_that_drafts(tmp_path: Path, text: str, combination: str) -> None:
    found = launch(tmp_path, {"train.py": text})
    assert (found["framework"], found["combination"]) == ("unsloth", combination)
    assert any(f["rule"] == "GDN001" and not f["when"] for f in found["findings"]) is (combination == "present")


def test_the_variable_is_a_scenario_where_nothing_sets_it(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.py": module()})
    assert {"when": {"UNSLOTH_VLLM_SUFFIX_DECODING": "1"}, "combination": "present"} in found["scenarios"]


def test_prefix_caching_is_on_by_default(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.py": module()}, "--vllm-version", "0.25.1")
    assert value(found, "enable_prefix_caching") is True
    # unsloth_zoo 2026.10.9, vllm_utils.py:4393: load_vllm(..., enable_prefix_caching=True)
    assert "Unsloth passes true" in history(found, "enable_prefix_caching")[-1][0]


def test_the_fact_about_the_machine_can_be_given(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.py": module(SUFFIX)}, "--assume", "fact:gpu_capability=7")
    assert found["combination"] != "present"
