"""torchforge: the policy's mapping is vLLM's EngineArgs, under two names."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, launch, rules, value

SPEC = "speculative_config: {method: mtp, num_speculative_tokens: 2}"
ON, OFF = "enable_prefix_caching: true", "enable_prefix_caching: false"


def config(*arguments: str, model: str = HYBRID, key: str = "engine_args", sampling: str = "sampling_params") -> str:
    lines = "".join(f"    {line}\n" for line in ("model: ${model}", "tensor_parallel_size: 2", *arguments))
    return f'model: "{model}"\npolicy:\n  {key}:\n{lines}  {sampling}:\n    n: 8\ntrainer:\n  training: {{steps: 9}}\n'


@pytest.mark.parametrize(
    ("key", "sampling"), [("engine_args", "sampling_params"), ("engine_config", "sampling_config")]
)
def test_reported(tmp_path: Path, key: str, sampling: str) -> None:
    found = launch(tmp_path, {"grpo.yaml": config(ON, SPEC, key=key, sampling=sampling)})
    assert (found["framework"], found["combination"], rules(found)) == ("torchforge", "present", ["GDN001"])
    assert fixed(tmp_path, found["findings"][0]) == config(OFF, SPEC, key=key, sampling=sampling)


@pytest.mark.parametrize("text", [config(ON), config(OFF, SPEC), config(ON, SPEC, model=DENSE)])
def test_left_alone(tmp_path: Path, text: str) -> None:
    found = launch(tmp_path, {"grpo.yaml": text})
    assert (found["framework"], found["combination"], found["findings"]) == ("torchforge", "absent", [])


@pytest.mark.parametrize(("version", "on"), [("0.27.1", False), ("0.28.0", True)])
def test_unset_is_vllms_own_default(tmp_path: Path, version: str, on: bool) -> None:
    # src/forge/actors/generator.py:110-111@6e77f0b3: EngineArgs(**engine_args)
    found = launch(tmp_path, {"grpo.yaml": config(SPEC)}, "--vllm-version", version)
    assert value(found, "enable_prefix_caching") is on


def test_the_command_and_its_overrides(tmp_path: Path) -> None:
    command = "python -m apps.grpo.main --config grpo.yaml --policy.engine_args.enable_prefix_caching={}\n"
    files = {"run.sh": command.format("true"), "grpo.yaml": config(OFF, SPEC)}
    assert launch(tmp_path, files)["combination"] == "present"
    assert launch(tmp_path, {"run.sh": command.format("false")})["combination"] == "absent"
