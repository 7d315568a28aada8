"""ROLL: Hydra YAML with one strategy a worker group, and prefix caching on where nothing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, history, launch, report, rules, value

SPEC = "speculative_config: {method: mtp, num_speculative_tokens: 3}"
SOURCE = "roll/distributed/strategy/vllm_strategy.py:116@8eb27cc2"


def recipe(
    config: str, model: str = f"pretrain: {HYBRID}", strategy: str = "vllm", infer: str = "", more: str = ""
) -> str:
    lines = "".join(f"      {line}\n" for line in config.splitlines())
    return (
        f"seed: 42\n{model}\nactor_train:\n  strategy_args: {{strategy_name: megatron_train}}\n"
        f"actor_infer:\n  model_args: {{dtype: bf16{infer}}}\n  strategy_args:\n    strategy_name: {strategy}\n"
        f"    strategy_config:\n      gpu_memory_utilization: 0.8\n{lines}{more}"
    )


LEFT_ALONE = {
    "nothing drafts": recipe(""),
    "a drafter in comments": recipe("#speculative_config:\n  # method: mtp"),
    "off": recipe(f"enable_prefix_caching: false\n{SPEC}"),
    "a dense model": recipe(SPEC, f"pretrain: {DENSE}"),
    "the group's own model is dense": recipe(SPEC, infer=f", model_name_or_path: {DENSE}"),
    "SGLang": recipe(SPEC, strategy="sglang"),
    "training with the head": recipe("").replace(
        "strategy_name: megatron_train", "strategy_name: megatron_train, strategy_config: {mtp_num_layers: 1}"
    ),
}

REPORTED = {
    "default": recipe(SPEC),
    "explicit": recipe(f"enable_prefix_caching: true\n{SPEC}"),
    "the group's own model": recipe(SPEC, f"pretrain: {DENSE}", infer=f", model_name_or_path: {HYBRID}"),
    "an interpolated model": recipe(SPEC, f"name: {HYBRID}\npretrain: ${{name}}"),
    "a null model is the run's": recipe(SPEC, infer=", model_name_or_path: null"),
}


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(text: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"rlvr.yaml": text})
    assert [item["combination"] for item in found["launches"]] == ["absent"]
    assert found["findings"] == []


@pytest.mark.parametrize("text", REPORTED.values(), ids=REPORTED)
def test_reported(text: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"rlvr.yaml": text})
    assert (found["framework"], found["combination"], rules(found)) == ("roll", "present", ["GDN001"])


def test_the_default_is_on_and_names_its_source(tmp_path: Path) -> None:
    found = launch(tmp_path, {"rlvr.yaml": recipe("")}, "--vllm-version", "0.19.1")
    assert value(found, "enable_prefix_caching") is True
    assert SOURCE in history(found, "enable_prefix_caching")[-1][0]


def test_the_fix_is_a_key_of_the_group(tmp_path: Path) -> None:
    (finding,) = launch(tmp_path, {"rlvr.yaml": recipe(SPEC)})["findings"]
    text = fixed(tmp_path, finding)
    assert "    strategy_config:\n      enable_prefix_caching: false\n      gpu_memory_utilization: 0.8\n" in text
    assert launch(tmp_path, {"rlvr.yaml": text})["combination"] == "absent"


def test_a_run_reads_its_recipe_and_takes_overrides(tmp_path: Path) -> None:
    script = "CONFIG_PATH=$(basename $(dirname $0))\npython examples/start_rlvr_pipeline.py --config_path $CONFIG_PATH"
    files = {"examples/a/run.sh": f"{script} --config_name rlvr\n", "examples/a/rlvr.yaml": recipe(SPEC)}
    assert launch(tmp_path, files)["combination"] == "present"


def test_a_judge_is_a_launch_of_its_own(tmp_path: Path) -> None:
    judge = (
        "rewards:\n  rule:\n    worker_cls: x\n  judge:\n"
        f"    model_args: {{model_name_or_path: {HYBRID}}}\n    strategy_args:\n"
        f"      strategy_name: vllm\n      strategy_config:\n        {SPEC}\n"
    )
    found = report(tmp_path, {"rlvr.yaml": recipe("", f"pretrain: {DENSE}", more=judge)})
    assert [(item["line"], item["combination"]) for item in found["launches"]] == [(1, "absent"), (14, "present")]
    (finding,) = found["findings"]
    after = fixed(tmp_path, finding)
    assert "      strategy_config:\n        enable_prefix_caching: false\n        speculative_config" in after


def test_of_pins_side_by_side_those_that_cannot_run_the_model_do_not_count(tmp_path: Path) -> None:
    pins = {"requirements_a.txt": "vllm==0.8.4\n", "requirements_b.txt": "vllm==0.10.2\n"}
    found = launch(tmp_path, {"rlvr.yaml": recipe(SPEC), **pins})
    assert (found["combination"], found["startup"]) == ("present", "ok")
