"""AReaL: a key that says no, which is true by default; a false there hands the choice back to vLLM."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import HYBRID, launch, report, value

SOURCE = "areal/api/cli_args.py:1656@4aef98d8"


def recipe(vllm: str = "", backend: str = "vllm:d4p1t1", more: str = "") -> str:
    return (
        f'rollout:\n  backend: "{backend}"\nactor:\n  backend: fsdp:d4\n  path: {HYBRID}\n{more}'
        f"vllm:\n  model: ${{actor.path}}\n  max_model_len: 32768\n{vllm}"
    )


def test_the_default_is_off_and_names_its_source(tmp_path: Path) -> None:
    found = launch(tmp_path, {"grpo.yaml": recipe()}, "--vllm-version", "0.28.0")
    assert (found["framework"], value(found, "model")) == ("areal", HYBRID)
    assert value(found, "enable_prefix_caching") is False
    assert SOURCE in found["settings"]["enable_prefix_caching"]["provenance"][-1]["source"]


@pytest.mark.parametrize(("version", "on"), [("0.19.1", False), ("0.28.0", True)])
def test_a_false_hands_the_choice_back(tmp_path: Path, version: str, on: bool) -> None:
    text = recipe("  no_enable_prefix_caching: false\n")
    found = launch(tmp_path, {"grpo.yaml": text}, "--vllm-version", version)
    assert value(found, "enable_prefix_caching") is on


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        (recipe(backend="sglang:d4p1t1"), "SGLang, left alone"),
        (
            recipe(backend="x").replace('  backend: "x"\n', "  z: 1\nallocation_mode: sglang:d1+d1\n"),
            "the engine is SGLang",
        ),
    ],
)
def test_another_engine_is_left_alone(tmp_path: Path, text: str, engine: str) -> None:
    found = launch(tmp_path, {"grpo.yaml": text})
    assert found["combination"] == "absent"
    assert engine in found["note"]


def test_nothing_drafts_here(tmp_path: Path) -> None:
    # areal/api/cli_args.py:1625@4aef98d8: vLLMConfig has no speculative field, so no recipe is unsafe.
    found = report(tmp_path, {"grpo.yaml": recipe("  no_enable_prefix_caching: false\n")}, "--vllm-version", "0.33.0")
    assert [item["combination"] for item in found["launches"]] == ["absent"]
    assert found["findings"] == []


def test_a_launcher_reads_its_config_and_overrides(tmp_path: Path) -> None:
    command = "python3 -m areal.launcher.local examples/rl.py --config grpo.yaml vllm.no_enable_prefix_caching=false"
    files = {"run.sh": f"{command}\n", "grpo.yaml": recipe()}
    assert value(launch(tmp_path, files, "--vllm-version", "0.28.0"), "enable_prefix_caching") is True
