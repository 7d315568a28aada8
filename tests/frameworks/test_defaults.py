"""What prefix caching is when nobody says anything, and where each framework says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import HYBRID, launch, value

NEMO_BASE = (
    f"policy:\n  model_name: {HYBRID}\n  generation:\n    backend: vllm\n    vllm_cfg: {{}}\n    vllm_kwargs: {{}}\n"
)
SWIFT = f"--model {HYBRID}"

SET = {
    "skyrl": (
        {"run.sh": f"uv run -m skyrl.train.entrypoints.main_base trainer.policy.model.path={HYBRID}\n"},
        True, "skyrl/train/config/config.py:1134@a9564572",
    ),
    "skyrl_flat": (
        {"run.sh": f"uv run -m skyrl_train.entrypoints.main_base trainer.policy.model.path={HYBRID}\n"},
        True, "ppo_base_config.yaml",
    ),
    "skyrl_tinker": (
        {"run.sh": f"uv run -m skyrl.tinker.api --base-model {HYBRID} --backend megatron\n"},
        True, "skyrl/backends/skyrl_train/inference_servers/utils.py:88-154@a9564572",
    ),
    "verl": (
        {"run.sh": f"python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path={HYBRID}\n"},
        True, "verl/trainer/config/rollout/rollout.yaml:90@1dda039b",
    ),
    "nemo_rl": (
        {"grpo.yaml": NEMO_BASE},
        True, "nemo_rl/models/generation/vllm/vllm_worker.py:84-88@7ea279ab",
    ),
    "unsloth": (
        {"run.py": f"import unsloth\n\nunsloth.FastLanguageModel.from_pretrained('{HYBRID}', fast_inference=True)\n"},
        True, "unsloth_zoo/vllm_utils.py:4393@2026.10.9",
    ),
    "ms_swift": (
        {"run.sh": f"swift rlhf --rlhf_type grpo {SWIFT} --use_vllm true --vllm_mode colocate\n"},
        True, "swift/rlhf_trainers/args_mixin.py:173@3602360a",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected", "source"), SET.values(), ids=SET)
def test_a_framework_that_decides_it(
    tmp_path: Path, request: pytest.FixtureRequest, files: dict[str, str], expected: bool, source: str
) -> None:
    found = launch(tmp_path, files, "--vllm-version", "0.26.0")
    assert found["framework"] == request.node.callspec.id
    assert value(found, "enable_prefix_caching") is expected
    last = found["settings"]["enable_prefix_caching"]["provenance"][-1]
    assert last["outcome"] == "won"
    assert source in f"{last['what']} {last.get('source')}"


LEFT = {
    # ray.serve.llm.LLMConfig: engine_kwargs are vLLM's own, and no other key sets it
    "ray_serve_llm": {
        "serve.py": "from ray.serve.llm import LLMConfig\n\n"
        f"c = LLMConfig(model_loading_config={{'model_id': 'x', 'model_source': '{HYBRID}'}}, engine_kwargs={{}})\n"
    },
    # swift/infer_engine/vllm_engine.py:157@3602360a: enable_prefix_caching: Optional[bool] = None
    "ms_swift": {"run.sh": f"swift sample {SWIFT} --sampler_engine vllm --num_return_sequences 4\n"},
    # entrypoints/llm.py@0.33.0
    "vllm": {"run.sh": f"vllm serve {HYBRID}\n"},
}


@pytest.mark.parametrize("files", LEFT.values(), ids=LEFT)
@pytest.mark.parametrize(("version", "on"), [("0.27.1", False), ("0.28.0", True)])
def test_a_framework_that_leaves_it_to_vllm(
    tmp_path: Path, request: pytest.FixtureRequest, files: dict[str, str], version: str, on: bool
) -> None:
    found = launch(tmp_path, files, "--vllm-version", version)
    assert found["framework"] == request.node.callspec.id.rpartition("-")[2]
    assert value(found, "enable_prefix_caching") is on
