"""RLinf: Hydra YAML, the engine by name, prefix caching on by default, no way to draft."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import HYBRID, history, launch, value

SOURCE = "rlinf/config.py:296@a3816b59"


def recipe(backend: str = "vllm", vllm: str = "{attention_backend: FLASH_ATTN}") -> str:
    return (
        f"rollout:\n  model:\n    model_path: /models/{HYBRID}\n  rollout_backend: {backend}\n"
        f"  vllm: {vllm}\n  sglang: {{attention_backend: triton}}\n"
    )


def test_the_default_is_on_and_names_its_source(tmp_path: Path) -> None:
    found = launch(tmp_path, {"grpo.yaml": recipe()}, "--vllm-version", "0.19.1")
    assert (found["framework"], found["combination"]) == ("rlinf", "absent")
    assert value(found, "enable_prefix_caching") is True
    assert SOURCE in history(found, "enable_prefix_caching")[-1][0]


def test_an_explicit_value_counts(tmp_path: Path) -> None:
    found = launch(tmp_path, {"grpo.yaml": recipe(vllm="{enable_prefix_caching: false}")}, "--vllm-version", "0.28.0")
    assert value(found, "enable_prefix_caching") is False


@pytest.mark.parametrize(("backend", "note"), [("sglang", "SGLang, left alone"), ("huggingface", "left alone")])
def test_another_engine_is_left_alone(tmp_path: Path, backend: str, note: str) -> None:
    assert note in launch(tmp_path, {"grpo.yaml": recipe(backend)})["note"]
