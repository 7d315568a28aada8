"""ms-swift: flags or a YAML of the same names; what is on by default hangs on the subcommand."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, history, launch, report, rules, value

DRAFTS = """--vllm_speculative_config '{"method":"qwen3_next_mtp","num_speculative_tokens":2}'"""
KWARGS = """--vllm_engine_kwargs '{"speculative_config": {"method": "mtp", "num_speculative_tokens": 2}}'"""
COLOCATE = "--rlhf_type grpo --use_vllm true --vllm_mode colocate"
ON, OFF = "--vllm_enable_prefix_caching true", "--vllm_enable_prefix_caching false"


def run(command: str, words: str, model: str = HYBRID) -> str:
    return f"CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 \\\n{command} --model {model} {words}\n"


LEFT_ALONE = {
    "infer, nothing drafts": run("swift infer", f"--infer_backend vllm {ON}"),
    "infer, off": run("swift infer", f"--infer_backend vllm {OFF} {DRAFTS}"),
    "infer without an engine": run("swift infer", f"--infer_backend transformers {ON} {DRAFTS}"),
    "infer with another engine": run("swift infer", f"--infer_backend sglang {ON} {DRAFTS}"),
    "rollout, a dense model": run("swift rollout", f"{ON} {DRAFTS}", DENSE),
    "the colocated engine gets no vllm_speculative_config": run("swift rlhf", f"{COLOCATE} {DRAFTS}"),
    "the typed argument is applied after the engine's": run("swift rlhf", f"{COLOCATE} {KWARGS} {OFF}"),
    "server mode: the engine is elsewhere": run(
        "swift rlhf", f"--rlhf_type grpo --use_vllm true --vllm_mode server {KWARGS}"
    ),
    "training with the head": run("megatron sft", "--mtp_num_layers 1"),
    "in a comment": run("swift infer", f"--infer_backend vllm {ON}") + f"# swift infer --infer_backend vllm {DRAFTS}\n",
}

REPORTED = {
    "infer, on": run("swift infer", f"--infer_backend vllm {ON} {DRAFTS}"),
    "deploy": run("swift deploy", f"--infer_backend vllm {ON} {DRAFTS}"),
    "rollout needs no backend": run("swift rollout", f"{ON} {DRAFTS}"),
    "rollout, a drafter in the engine's arguments": run("swift rollout", f"{ON} {KWARGS}"),
    "colocated: on by default": run("swift rlhf", f"{COLOCATE} {KWARGS}"),
    "colocated in Megatron": run("megatron rlhf", f"--rlhf_type grpo --vllm_mode colocate {KWARGS}"),
    "the module of the command": run("python -m swift.cli.rlhf", f"{COLOCATE} {KWARGS}"),
    "derived from variables": 'SPEC=\'{"method": "mtp", "num_speculative_tokens": 1}\'\n'
    + run("swift rollout", f'{ON} --vllm_speculative_config "$SPEC"'),
}


@pytest.mark.parametrize("script", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(script: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"run.sh": script})
    assert {item["combination"] for item in found["launches"]} <= {"absent"}
    assert found["findings"] == []


@pytest.mark.parametrize("script", REPORTED.values(), ids=REPORTED)
def test_reported(script: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"run.sh": script})
    assert (found["framework"], found["combination"], rules(found)) == ("ms_swift", "present", ["GDN001"])


@pytest.mark.parametrize(
    ("command", "source"),
    [
        (run("swift rlhf", COLOCATE), "swift/rlhf_trainers/args_mixin.py:173@3602360a"),
        (run("megatron rlhf", "--vllm_mode colocate"), "swift/megatron/arguments/megatron_args.py:107@3602360a"),
    ],
)
def test_training_has_it_on_by_default(tmp_path: Path, command: str, source: str) -> None:
    found = launch(tmp_path, {"run.sh": command}, "--vllm-version", "0.25.1")
    assert value(found, "enable_prefix_caching") is True
    assert source in history(found, "enable_prefix_caching")[-1][0]


@pytest.mark.parametrize(("version", "expected"), [("0.27.1", "absent"), ("0.28.0", "present")])
@pytest.mark.parametrize(
    "command", ["swift rollout", "swift infer --infer_backend vllm", "swift deploy --infer_backend vllm"]
)
def test_serving_leaves_it_to_vllm(tmp_path: Path, command: str, version: str, expected: str) -> None:
    # swift/rlhf_trainers/args_mixin.py:47@3602360a: Optional[bool] = None
    found = launch(tmp_path, {"run.sh": run(command, DRAFTS)}, "--vllm-version", version)
    assert (found["combination"], value(found, "enable_prefix_caching")) == (expected, expected == "present")


def test_a_yaml_of_the_same_names_is_read_as_the_first_word(tmp_path: Path) -> None:
    config = (
        f"model: {HYBRID}\ninfer_backend: vllm\nvllm_speculative_config: {{method: mtp, num_speculative_tokens: 1}}\n"
    )
    files = {"run.sh": f"swift deploy serve.yaml {ON}\n", "serve.yaml": config}
    assert launch(tmp_path, files)["combination"] == "present"
    assert launch(tmp_path, {"serve.yaml": config}, "--vllm-version", "0.28.0")["combination"] == "present"


def test_the_groups_of_a_ray_run_are_launches_of_their_own(tmp_path: Path) -> None:
    spec = '{"speculative_config": {"method": "mtp", "num_speculative_tokens": 1}}'
    config = (
        f"rlhf_type: gkd\nmodel: {DENSE}\nuse_vllm: true\nvllm_mode: colocate\n"
        "rollout:\n  gpus: 4\n  vllm_tensor_parallel_size: 1\n"
        f"teacher:\n  gpus: 4\n  model: {HYBRID}\n  vllm_engine_kwargs: {spec}\n"
    )
    found = report(tmp_path, {"gkd.yaml": config})
    assert {item["settings"]["model"]["value"]: item["combination"] for item in found["launches"]} == {
        DENSE: "absent",
        HYBRID: "present",
    }
    (finding,) = found["findings"]
    assert "teacher:\n  vllm_enable_prefix_caching: false\n  gpus: 4\n" in fixed(tmp_path, finding)


def test_the_fix_replaces_the_flag_and_its_value(tmp_path: Path) -> None:
    script = run("swift rollout", f"{ON} {DRAFTS}")
    (finding,) = launch(tmp_path, {"run.sh": script})["findings"]
    assert fixed(tmp_path, finding) == script.replace(ON, OFF)


@pytest.mark.parametrize(
    ("words", "combination"),
    [
        ("""--sampler_engine vllm --engine_kwargs '{"enable_prefix_caching": true, %s}'""", "present"),
        ("""--sampler_engine vllm --engine_kwargs '{"enable_prefix_caching": false, %s}'""", "absent"),
        ("""--engine_kwargs '{"enable_prefix_caching": true, %s}'""", "absent"),
        ("--sampler_engine vllm --vllm_enable_prefix_caching true", "absent"),
    ],
)
def test_the_sampler_has_an_engine_with_arguments_of_its_own(tmp_path: Path, words: str, combination: str) -> None:
    drafts = '"speculative_config": {"method": "mtp", "num_speculative_tokens": 2}'
    script = f"swift sample --model {HYBRID} {words.replace('%s', drafts)}\n"
    found = launch(tmp_path, {"run.sh": script})
    assert (found["framework"], found["combination"]) == ("ms_swift", combination)
